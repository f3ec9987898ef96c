/**
 * Parts of a number as a table of bars, which begin at 0, with the whole at its foot.
 *
 * @typedef {object} Row
 * @property {unknown} name
 * @property {number} value
 * @property {unknown} [more] cells between name and bar
 * @property {string} [kind] its class
 * @property {() => void} [point]
 */

import { formatCount } from '../../shared/format.js';
import { html } from '../../shared/template.js';
import { leavingTo } from '../leaving-to.js';
import { exact, partBar, signed } from './bars.js';
import { followArrows } from './follow-arrows.js';

/** The range of bars, with 0. @param {readonly number[]} values @returns {[number, number]} */
export const rangeFrom0 = (values) => [
  Math.min(0, ...values),
  Math.max(0, ...values, Number.MIN_VALUE),
];

/**
 * @param {object} table
 * @param {string} table.id
 * @param {string} table.titleId of its heading, which takes the focus when the table goes
 * @param {unknown} table.head cells of its head
 * @param {boolean} [table.isHeadHidden] whether it is for the ear alone
 * @param {unknown} [table.caption]
 * @param {Row[]} table.rows
 * @param {{ count: number, value: number }} table.rest what is not shown one by one
 * @param {Row} table.whole
 * @param {(value: number) => number} table.place
 * @param {number} table.digits
 * @param {() => void} [table.leave] called when the pointer does
 */
export function partTable(table) {
  const { id, head, caption = '', rows, rest, whole, place, digits, leave } = table;
  const row = (/** @type {Row} */ { name, value, more = '', kind = '', point = () => {} }) => {
    const bar = kind === 'whole' ? kind : value < 0 ? 'against' : 'for';
    return html`<tr class=${kind} @pointerenter=${point}>
      <th scope="row">${name}</th>
      ${more}
      <td class="sum-cell">${partBar({ start: 0, end: value }, place, bar)}</td>
      <td translate="no" title=${exact(value)}>${signed(value, digits)}</td>
    </tr>`;
  };
  const others = { name: `${formatCount(rest.count)} more`, value: rest.value };
  const hasMore = rows.some(({ more }) => more !== undefined);
  const empty = hasMore ? html`<td></td>` : '';
  return html`<table class="sum parts" id=${id} style="--zero: ${place(0)}%; --total: -1%"
    @pointerleave=${leave} @keydown=${followArrows} ${leavingTo(table.titleId)}>
    ${caption}
    <thead class=${table.isHeadHidden ? 'visually-hidden' : ''}>
      <tr>${head}</tr>
    </thead>
    <tbody>
      ${rows.map(row)} ${rest.count > 0 ? row({ ...others, more: empty }) : ''}
    </tbody>
    <tfoot>
      ${row({ ...whole, more: empty, kind: 'whole' })}
    </tfoot>
  </table>`;
}
