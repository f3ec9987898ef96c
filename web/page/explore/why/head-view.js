/**
 * The chosen head: how its map is weighed, and what its part of the logit is made of, key by key.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { formatCount, formatWeight } from '../../shared/format.js';
import { drawn, html, taking } from '../../shared/template.js';
import { isSameHead, shortName } from '../address.js';
import { tokenName } from '../bars.js';
import { digitsFor, exact, partBar, placeIn, signed } from './bars.js';
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
        Weigh by value norms
      </label>`,
  );

/**
 * The keys that matter most, and the others together.
 *
 * @param {ArrayLike<number>} shares
 * @param {number} most
 */
export function largestKeys(shares, most) {
  const all = Array.from(shares, (_, key) => key).filter((key) => shares[key] !== 0);
  all.sort((a, b) => Math.abs(shares[b]) - Math.abs(shares[a]) || a - b);
  const rest = all.slice(most);
  return {
    keys: all.slice(0, most),
    rest: rest.length,
    restShare: sumOf(rest.map((key) => shares[key])),
  };
}

/** @param {Explorer} room */
export const headView = (room) =>
  drawn(() => {
    const { shown, headKeys, focus } = room;
    const answer = headKeys.answer.value;
    const { run, about } = answer ?? {};
    const title = html`<h3 id="explore-keys-title">What ${shortName(shown.value)} reads</h3>`;
    const isNow = about === room.attribution.value && answer && isSameHead(answer, shown.value);
    if (!answer || !run || !about || !isNow) return html`${title}<p class="note">…</p>`;
    const { weights, shares, part } = answer;
    const { at } = about.about;
    const { keys, rest, restShare } = largestKeys(shares, MOST);
    const bars = [...keys.map((key) => shares[key]), restShare, part];
    const place = placeIn([Math.min(0, ...bars), Math.max(0, ...bars, Number.MIN_VALUE)]);
    const digits = digitsFor(Math.max(...bars.map(Math.abs)));
    const cell = (/** @type {number} */ value, /** @type {string} */ kind) =>
      html`<td class="sum-cell">${partBar({ start: 0, end: value }, place, kind)}</td>`;
    const kindOf = (/** @type {number} */ value) => (value < 0 ? 'against' : 'for');
    return html`${title}
      <p class="note">
        ${shortName(answer)} looks from ${tokenName(run.tokens[at], at)} at these tokens. Each gives
        its weight times what its value writes to the ${scoreName(room, about)}.
      </p>
      <table class="sum keys" id="explore-keys" style="--zero: ${place(0)}%; --total: -1%"
        @pointerleave=${() => focus.clear(headView)}>
        <thead>
          <tr>
            <th scope="col">token</th>
            <th scope="col">weight</th>
            <td></td>
            <th scope="col">logits</th>
          </tr>
        </thead>
        <tbody>
          ${keys.map(
            (key) =>
              html`<tr @pointerenter=${() => focus.set({ query: at, key }, headView)}>
                <th scope="row">${tokenName(run.tokens[key], key)}</th>
                <td title=${weights[key]}>${formatWeight(weights[key])}</td>
                ${cell(shares[key], kindOf(shares[key]))}
                <td title=${exact(shares[key])}>${signed(shares[key], digits)}</td>
              </tr>`,
          )}
          ${
            rest > 0
              ? html`<tr>
                  <th scope="row">${formatCount(rest)} more</th>
                  <td></td>
                  ${cell(restShare, kindOf(restShare))}
                  <td title=${exact(restShare)}>${signed(restShare, digits)}</td>
                </tr>`
              : ''
          }
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">${shortName(answer)}</th>
            <td></td>
            ${cell(part, 'whole')}
            <td title=${exact(part)}>${signed(part, digits)}</td>
          </tr>
        </tfoot>
      </table>`;
  });
