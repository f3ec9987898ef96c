/**
 * What the model says behind a token: the likeliest tokens, before and after heads were muted.
 *
 * @import { Explorer } from './explorer.js'
 */

import { drawn, html } from '../shared/template.js';
import { shortName } from './address.js';
import { bar, tokenName } from './bars.js';

/** @param {number} share */
const percent = (share) => (share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : '< 0.1 %');

/** @param {number} before @param {number} after in points of a hundred */
function changeOf(before, after) {
  const points = 100 * (after - before);
  if (Math.abs(points) < 0.05) return '±0';
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)}`;
}

const OFFER = html`“Mute this head” shows what changes<span class="with-keyboard">
    (key <kbd>M</kbd>)</span>.`;

/** @param {Explorer} room */
export const nextTokens = ({ next, hasModel }) =>
  drawn(() => {
    const { run, at, predictions } = next.answer.value ?? {};
    if (!run || at === undefined || !predictions || !hasModel.value) return '';
    const { muted, tokens } = run;
    const hasMuted = muted.length > 0;
    const most = Math.max(...predictions.map(({ before, after }) => Math.max(before, after)));
    const [heads, they] = muted.length === 1 ? ['head', 'it'] : ['heads', 'them'];
    const names = muted.map(shortName).join(', ');
    return html`<h3>Next after ${tokenName(tokens[at], at)}</h3>
      <table class="bars next-tokens">
        <thead class=${hasMuted ? '' : 'visually-hidden'}>
          <tr>
            <th scope="col">token</th>
            <td></td>
            <th scope="col">${hasMuted ? 'muted' : 'probability'}</th>
            ${hasMuted ? html`<th scope="col">change</th>` : ''}
          </tr>
        </thead>
        <tbody>
          ${predictions.map(
            ({ token, before, after }) =>
              html`<tr>
                <th scope="row"><span class="token">${token.text}</span></th>
                <td class="bar-cell">
                  ${hasMuted ? bar(before, most, 'before') : ''}${bar(after, most, 'after')}
                </td>
                <td>${percent(after)}</td>
                ${hasMuted ? html`<td class="change">${changeOf(before, after)}</td>` : ''}
              </tr>`,
          )}
        </tbody>
      </table>
      <p class="note">
        ${hasMuted ? `Without ${heads} ${names}; the pale bars are with ${they}.` : OFFER}
      </p>`;
  });
