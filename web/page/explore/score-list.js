/**
 * The scores of the chosen head.
 *
 * @import { Explorer } from './explorer.js'
 * @import { ScoreName } from './scores.js'
 */

import { drawn, html } from '../shared/template.js';
import { longName } from './address.js';

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** @type {[ScoreName, string, string, (value: number) => string][]} name in words, what it is, and how it is written */
export const SCORES = [
  [
    'entropy',
    'Entropy',
    'how spread a row is: 0 bits is one token, each bit doubles the number',
    (value) => `${value.toFixed(2)} bits`,
  ],
  ['first', 'First token', 'weight on the first token of the text', percent],
  ['previous', 'Previous token', 'weight on the token just before', percent],
  [
    'induction',
    'Induction',
    'weight on what stood behind an earlier occurrence of the same token',
    percent,
  ],
  [
    'distance',
    'Distance',
    'how far back the weights reach on average',
    (value) => `${value.toFixed(1)} tokens`,
  ],
];

/** @param {Explorer} room */
export const scoreList = ({ scores, shown, run: now, isBusy }) =>
  drawn(() => {
    const { run, scores: all } = scores.answer.value ?? {};
    const { layer, head } = shown.value;
    const own = all?.[layer * (run?.heads ?? 0) + head];
    if (!own || run !== now.value || isBusy.value) return '';
    return html`<table class="score-list">
        <caption>${longName(shown.value)}, mean over this text’s queries</caption>
        <tbody>
          ${SCORES.map(([score, name, what, write]) => {
            const words = Number.isNaN(own[score]) ? 'no token repeats' : write(own[score]);
            return html`<tr title=${what}>
              <th scope="row">${name}</th>
              <td>${words}</td>
            </tr>`;
          })}
        </tbody>
      </table>
      <details class="explain">
        <summary>What the scores mean</summary>
        <dl>
          ${SCORES.map(
            ([, name, what]) =>
              html`<dt>${name}</dt>
                <dd>${what}</dd>`,
          )}
        </dl>
      </details>`;
  });
