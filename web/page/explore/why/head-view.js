/**
 * The chosen head: how its map is weighed and what its part of the logit is made of, key by key.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { formatWeight } from '../../shared/format.js';
import { isSameHead, shortName } from '../../shared/head-names.js';
import { placeOf, steadily } from '../../shared/steady.js';
import { drawn, html, taking } from '../../shared/template.js';
import { quotedAt, tokenName } from '../bars.js';
import { digitsFor, placeIn } from './bars.js';
import { partTable, rangeFrom0 } from './part-table.js';
import { scoreName } from './score-name.js';
import { sumOf } from './sum.js';

/** Keys that are shown one by one. */
const MOST = 8;

/** @param {Explorer} room */
export const weighing = (room) =>
  drawn(
    () =>
      html`<label class="check" ?hidden=${!room.run.value?.hasNorms}>
        <input type="checkbox" id="explore-norms" .checked=${room.shown.value.of === 'norms'}
          @change=${taking(({ checked }) => room.set({ of: checked ? 'norms' : 'head' }))} />
        Weight by value norms
      </label>`,
  );

/**
 * The keys that matter most, and the others together.
 *
 * @param {ArrayLike<number>} shares
 * @param {number} most
 * @param {number} [always] a key that is shown one by one in any case
 */
function largestKeys(shares, most, always) {
  const all = Array.from(shares, (_, key) => key).filter((key) => shares[key] !== 0);
  all.sort((a, b) => Math.abs(shares[b]) - Math.abs(shares[a]) || a - b);
  const largest = all.slice(0, most);
  const keys = always === undefined || largest.includes(always) ? largest : [...largest, always];
  const rest = all.filter((key) => !keys.includes(key));
  return { keys, rest: rest.length, restShare: sumOf(rest.map((key) => shares[key])) };
}

/** @param {Explorer} room */
function keysOfHead(room) {
  const { shown, headKeys, focus, score, choices } = room;
  const answer = headKeys.answer.value;
  const { run, about } = answer ?? {};
  const isNow = about === room.attribution.value && answer && isSameHead(answer, shown.value);
  if (!answer || !run || !about || !isNow) return undefined;
  const { weights, shares, part } = answer;
  const { at } = about.about;
  const looked = score.looked.value?.key;
  const { keys, rest, restShare } = largestKeys(shares, MOST, looked);
  const values = [...keys.map((key) => shares[key]), restShare, part];
  const name = (/** @type {number} */ key) => {
    const isChosen = key === looked;
    const { text } = run.tokens[key];
    return html`<button type="button" class="sum-part" aria-pressed=${isChosen} tabindex=${isChosen ? 0 : -1}
        title="Why it attends to “${text}” ${key + 1}" @click=${() => choices.look(key)}>${tokenName(run.tokens[key], key)}</button>`;
  };
  return html`<p class="note">
      ${shortName(answer)} attends from ${quotedAt(run.tokens[at], at)} to these tokens. Each gives
      its weight times what its value writes to the ${scoreName(room, about)}.
    </p>
    ${partTable({
      ...{ id: 'explore-keys', titleId: 'explore-keys-title' },
      head: html`<th scope="col">token</th>
        <th scope="col">weight</th>
        <td></td>
        <th scope="col">logits</th>`,
      rows: keys.map((key) => ({
        ...{ name: name(key), value: shares[key], kind: key === looked ? 'chosen' : '' },
        more: html`<td translate="no" title=${weights[key]}>${formatWeight(weights[key])}</td>`,
        point: () => focus.set({ query: at, key }, headView),
      })),
      rest: { count: rest, value: restShare },
      whole: { name: shortName(answer), value: part },
      ...{
        place: placeIn(rangeFrom0(values)),
        digits: digitsFor(Math.max(...values.map(Math.abs))),
      },
      leave: () => focus.clear(headView),
    })}`;
}

/** @param {Explorer} room */
export const headView = (room) =>
  html`<h3 id="explore-keys-title" tabindex="-1">What ${drawn(() => shortName(room.shown.value))} attends to</h3>
    ${steadily(() => keysOfHead(room), placeOf('19rem'))}`;
