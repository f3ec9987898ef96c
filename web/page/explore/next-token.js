/**
 * What the model predicts after a token, or in the place of a hidden one: the likeliest tokens, before and after heads were
 * muted, and the one that is asked about.
 *
 * @import { Token } from '../types.js'
 * @import { Explorer } from './explorer.js'
 */

import { byId } from '../shared/dom.js';
import { shortName } from '../shared/head-names.js';
import { drawn, html } from '../shared/template.js';
import { signal } from '../shared/signals.js';
import { bar, quoted, tokenName } from './bars.js';
import { digitsFor } from './why/bars.js';

/** @param {number} share @param {number} [digits] after the point */
export function percent(share, digits = 1) {
  const least = 10 ** -digits;
  return 100 * share < least / 2
    ? `< ${least.toFixed(digits)} %`
    : `${(100 * share).toFixed(digits)} %`;
}

/** Digits for a list of percents; where all are below 0.1, as many as tell them apart. @param {number} most the largest share */
export const digitsOf = (most) => (most > 0 && most < 0.001 ? digitsFor(100 * most) : 1);

/** @param {number} before @param {number} after @param {number} digits of the change in points of a hundred */
function changeOf(before, after, digits) {
  const points = 100 * (after - before);
  if (Number.isNaN(points)) return 'NaN';
  const words = Math.abs(points).toFixed(digits);
  if (Number(words) === 0) return '±0';
  return `${points > 0 ? '+' : '−'}${words}`;
}

/**
 * What is said of a token in the list.
 *
 * @param {number | null} id
 * @param {{ actual: number | null, target: number | null, against: number | null, isMasked: boolean }} asked
 */
function marksOf(id, { actual, target, against, isMasked }) {
  const [word, title] = isMasked
    ? ['actual', 'stands in the text']
    : ['next', 'comes next in the text'];
  return [
    id === actual && html`<span class="mark" title=${title}>${word}</span>`,
    id === target && html`<span class="visually-hidden"> target</span>`,
    id === against &&
      html`<span class="mark" title="the target is compared with it">against</span>`,
  ].map((mark) => mark || '');
}

/** Asks about another token. @param {Explorer} room */
function otherToken(room) {
  const words = signal('');
  const take = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const input = /** @type {HTMLInputElement} */ (form.elements.namedItem('token'));
    const name = event.submitter?.getAttribute('value') === 'against' ? 'against' : 'target';
    const { model } = room.state.peek();
    try {
      const { token, isWhole } = await room.session.tokenOf(input.value);
      // The number is of a token of the model that was asked.
      if (room.state.peek().model !== model) return;
      if (name === 'against' && token.id === room.next.answer.peek()?.target) {
        words.value = `“${token.text}” is the target: type another token to compare it with.`;
        return;
      }
      words.value = isWhole ? '' : `This is “${token.text}”, the first of several tokens.`;
      room.set({ [name]: token.id });
    } catch (error) {
      words.value = /** @type {Error} */ (error).message;
    }
  };
  const reset = () => {
    words.value = '';
    room.set({ target: null, against: null });
  };
  return html`<details class="other-token" ?hidden=${drawn(() => room.predicts.value === 'nothing')}>
    <summary>Another token</summary>
    <form @submit=${take} autocomplete="off">
      <label for="explore-token">A token, with its space before it</label>
      <input id="explore-token" name="token" size="8" />
      <button type="submit" class="quiet" value="target">Ask about it</button>
      <button type="submit" class="quiet" value="against">Compare with it</button>
      <button type="button" class="quiet" @click=${reset}>Reset</button>
      <p class="note" role="status">${drawn(() => words.value)}</p>
    </form>
  </details>`;
}

/** @param {Token} token @param {number} at @param {boolean} isMasked whether hidden tokens are predicted */
function heading(token, at, isMasked) {
  const place = tokenName(token, at);
  if (!isMasked) return html`Next after ${place}`;
  return token.isMask ? html`In the place of ${place}` : html`If ${place} were masked`;
}

/** @param {Explorer} room */
function list(room) {
  const answer = room.next.answer.value;
  const predicts = room.predicts.value;
  if (predicts === 'nothing') return html`<p class="note">${room.model.value?.why ?? ''}</p>`;
  if (!answer) return room.next.hasFailed.value ? '' : html`<div class="next-to-come"></div>`;
  const isMasked = predicts === 'masked';
  const { run, predictions, at, target, actual, against } = answer;
  const { muted, tokens } = run;
  const hasMuted = muted.length > 0;
  const most = Math.max(...predictions.map(({ before, after }) => Math.max(before, after)));
  const digits = digitsOf(most);
  const [heads, they] = muted.length === 1 ? ['head', 'it'] : ['heads', 'them'];
  const names = muted.map(shortName).join(', ');
  const choose = (/** @type {number | null} */ id, /** @type {boolean} */ isAgainst) =>
    // The target may be asked about without having been chosen: it is not compared with itself.
    room.set(isAgainst ? { against: [against, target].includes(id) ? null : id } : { target: id });
  return html`<h3>${heading(tokens[at], at, isMasked)}</h3>
    <table class="bars next-tokens" aria-label="The likeliest tokens">
      <thead class=${hasMuted ? '' : 'visually-hidden'}>
        <tr>
          <th scope="col">token</th>
          <td></td>
          <th scope="col">${hasMuted ? 'muted' : 'probability'}</th>
          ${hasMuted ? html`<th scope="col">change</th>` : ''}
        </tr>
      </thead>
      <tbody>
        ${predictions.map(({ token, before, after }) => {
          const marks = marksOf(token.id, { target, actual, against, isMasked });
          return html`<tr class=${token.id === target ? 'target' : ''}>
            <th scope="row"><button type="button" class="token" translate="no" aria-pressed=${token.id === target}
              title="${token.text}: ask about this token; with Shift: compare the target with it"
              @click=${(/** @type {MouseEvent} */ { shiftKey }) => choose(token.id, shiftKey)}>${token.text}</button>${marks}</th>
            <td class="bar-cell">
              ${hasMuted ? bar(before, most, 'before') : ''}${bar(after, most, 'after')}
            </td>
            <td translate="no">${percent(after, digits)}</td>
            ${hasMuted ? html`<td class="change" translate="no">${changeOf(before, after, digits)}</td>` : ''}
          </tr>`;
        })}
      </tbody>
    </table>
    <p class="note">
      ${hasMuted ? `Without ${heads} ${names}. The upper, fainter bars are with ${they}.` : ''}
    </p>`;
}

/** @param {Explorer} room */
const whyLink = ({ isWhy, next, predicts, choices }) => {
  const ask = () => {
    choices.why(true);
    byId('explore-target', HTMLSelectElement).focus();
  };
  return drawn(() => {
    const { target, predictions } = next.answer.value ?? {};
    const found = predictions?.find(({ token }) => token.id === target);
    return html`<button type="button" class="quiet" id="explore-why" ?hidden=${isWhy.value || !found || predicts.value !== 'next'}
      @click=${ask}>Why ${quoted(found?.token.text)}?</button>`;
  });
};

/** @param {Explorer} room */
export const nextTokens = (room) =>
  html`<div id="explore-next" ?hidden=${drawn(() => !room.hasModel.value)}>
    ${drawn(() => list(room))}${whyLink(room)}${otherToken(room)}
  </div>`;
