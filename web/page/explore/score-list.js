/**
 * The scores of the chosen head.
 *
 * @import { ScoreName } from '../shared/head-scores.js'
 * @import { Explorer } from './explorer.js'
 */

import { formatFixed, formatPercent } from '../shared/format.js';
import { longName } from '../shared/head-names.js';
import { steadily } from '../shared/steady.js';
import { drawn, html } from '../shared/template.js';
import { areScoresToCome } from './waiting.js';

/** @type {[ScoreName, string, string, (value: number) => string][]} name in words, what it is, and how it is written */
export const SCORES = [
  [
    'entropy',
    'Entropy',
    'how spread a row is: 0 bits is one token, each bit doubles the number',
    (value) => `${formatFixed(value, 2)} bits`,
  ],
  ['first', 'First token', 'weight on the first token of the text', formatPercent],
  ['previous', 'Previous token', 'weight on the token just before', formatPercent],
  [
    'next',
    'Next token',
    'weight on the token just after, over the queries that have one',
    formatPercent,
  ],
  [
    'induction',
    'Induction',
    'weight on what stood after an earlier occurrence of the same token, over the queries whose token has occurred before',
    formatPercent,
  ],
  [
    'distance',
    'Distance',
    'how many tokens away the weights are on average',
    (value) => `${formatFixed(value, 1)} tokens`,
  ],
];

/** Why a text has no such score. @param {ScoreName} score */
export const whyNone = (score) => (score === 'induction' ? 'no token repeats' : 'no such query');

/** Those that the shown run can have. @param {Explorer} room */
const scoresOf = ({ hasMeasure }) => SCORES.filter(([score]) => hasMeasure(score));

/** @param {Explorer} room */
const table = (room) =>
  steadily(() => {
    const { scores, shown, run: now, isBusy } = room;
    const { run, scores: all } = scores.answer.value ?? {};
    const { layer, head } = shown.value;
    const own = all?.[layer * (run?.heads ?? 0) + head];
    if (!own || run !== now.value || isBusy.value) return areScoresToCome(room) ? undefined : '';
    return html`<table class="score-list">
      <caption>${longName(shown.value)}, mean over this text’s queries from the second on</caption>
      <tbody>
        ${scoresOf(room).map(([score, name, what, write]) => {
          const words = Number.isNaN(own[score]) ? whyNone(score) : write(own[score]);
          return html`<tr title=${what}>
            <th scope="row">${name}</th>
            <td>${words}</td>
          </tr>`;
        })}
      </tbody>
    </table>`;
  });

/** @param {Explorer} room */
export const scoreList = (room) =>
  html`${table(room)}
    <details class="explain">
      <summary>What the scores mean</summary>
      <dl>
        ${drawn(() =>
          scoresOf(room).map(
            ([, name, what]) =>
              html`<dt>${name}</dt>
                <dd>${what}</dd>`,
          ),
        )}
      </dl>
    </details>`;
