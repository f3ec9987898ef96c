/**
 * Why the chosen head looks from one token at another: its score as a sum over what wrote the residual stream there.
 *
 * @import { QkPart } from '../../../../headwise/understanding.js'
 * @import { Explorer } from '../../explorer.js'
 * @import { Side } from '../../worker/qk-score.js'
 * @import { Part } from '../sum.js'
 *
 * @typedef {{ rows: { name: unknown, value: number }[], rest: { count: number, value: number } }} Shown
 */

import { shortName } from '../../../shared/head-names.js';
import { steadily, steady } from '../../../shared/steady.js';
import { drawn, html, made } from '../../../shared/template.js';
import { quotedAt, tokenName } from '../../bars.js';
import { digitsFor, placeIn, signed } from '../bars.js';
import { partTable, rangeFrom0 } from '../part-table.js';
import { nameOf } from '../part-names.js';
import { largestPairs, partInWords, sideParts } from './parts.js';

/** Parts that are shown one by one. */
const MOST = 6;

/** Stands where the tables of both sides and of the pairs are to be. */
const TO_COME = html`<p class="note">…</p>
  <div class="score-tables"><div class="place"></div><div class="place"></div><div class="place"></div></div>`;

/** @typedef {NonNullable<Explorer['score']['answer']['value']>} Answer */
/** A part's name, and the way to the head that it is. @typedef {(part: QkPart | Part) => unknown} PartName */

/** @param {Explorer} room @returns {PartName} */
const partNames =
  ({ choices }) =>
  (part) => {
    const { kind, layer = 0, head = 0 } = part;
    const name = nameOf({ value: 0, ...part });
    return kind === 'head'
      ? html`<button type="button" class="sum-part" title="Go to ${name}"
          @click=${() => choices.choose({ layer, head })}>${name}</button>`
      : html`<span class="sum-part">${name}</span>`;
  };

/** @param {Side} side @param {PartName} partName @returns {Shown} */
function sideRows(side, partName) {
  const parts = sideParts(side, MOST);
  const rest = parts.find(({ kind }) => kind === 'rest');
  return {
    rows: parts
      .filter((part) => part !== rest)
      .map((part) => ({ name: partName(part), value: part.value })),
    rest: { count: rest?.count ?? 0, value: rest?.value ?? 0 },
  };
}

/** @param {Answer['pairs']} all @param {PartName} partName @returns {Shown} */
function pairRows(all, partName) {
  const { pairs, rest, restValue } = largestPairs(all, MOST);
  const rows = pairs.map(({ query, key, value }) => ({
    name: html`<span class="pair">${partName(query)}<span>·</span>${partName(key)}</span>`,
    value,
  }));
  return { rows, rest: { count: rest, value: restValue } };
}

/** @param {Side} side @param {number} digits */
function largestOf(side, digits) {
  const [part] = sideParts(side, MOST);
  return part
    ? html`${partInWords(/** @type {QkPart} */ (part))}, <b>${signed(part.value, digits)}</b>`
    : 'nothing';
}

/** Tables of the two sides and of the pairs, on one scale. @param {Answer} now @param {unknown[]} names @param {PartName} partName */
function tables(now, names, partName) {
  const all = [
    sideRows(now.query, partName),
    sideRows(now.key, partName),
    pairRows(now.pairs, partName),
  ];
  const values = all.flatMap(({ rows, rest }) => [rest.value, ...rows.map(({ value }) => value)]);
  const place = placeIn(rangeFrom0([...values, now.score]));
  const whole = { name: 'Score', value: now.score };
  const common = { place, whole, digits: digitsOf(now), isHeadHidden: true };
  const head = html`<th scope="col">part</th><td></td><th scope="col">score</th>`;
  return all.map(
    (some, i) =>
      html`<div>${partTable({
        ...{ ...common, ...some, head, titleId: 'explore-score-title' },
        id: `explore-score-${['query', 'key', 'pairs'][i]}`,
        caption: html`<caption>${names[i]}</caption>`,
      })}</div>`,
  );
}

const digitsOf = (/** @type {Answer} */ { score }) => digitsFor(Math.abs(score));

/** @param {Explorer} room */
export function scoreView(room) {
  const { score, shown } = room;
  const partName = partNames(room);
  const headName = () => shortName(score.looked.value ?? shown.value);
  /** The answer's query and key. @param {Answer} answer @param {typeof tokenName | typeof quotedAt} write */
  const ends = ({ run, looked }, write) =>
    [looked.query, looked.key].map((at) => write(run.tokens[at], at));
  const words = () => {
    const now = score.answer.value;
    if (!now) return `Why ${headName()} attends there`;
    const [query, key] = ends(now, tokenName);
    return html`Why ${headName()} attends from ${query} to ${key}`;
  };
  const title = () =>
    html`<h3 id="explore-score-title" tabindex="-1" ${made(steady, score.answer.value !== undefined)}>${words()}</h3>`;
  const parts = () => {
    const now = score.answer.value;
    if (!now) return undefined;
    const [query, key] = ends(now, tokenName);
    const [from, to] = ends(now, quotedAt);
    const digits = digitsOf(now);
    const names = [
      html`What asks, at ${query}`,
      html`What answers, at ${key}`,
      'In pairs: what asks · what answers',
    ];
    return html`<p class="note" id="explore-score-told">
        ${headName()}’s score from ${from} to ${to} is <b>${signed(now.score, digits)}</b>, before the softmax.
        Its largest part at the key is ${largestOf(now.key, digits)}; at the query
        ${largestOf(now.query, digits)}.
      </p>
      <div class="score-tables">${tables(now, names, partName)}</div>`;
  };
  return html`${drawn(title)}
    ${steadily(parts, TO_COME)}`;
}
