/** What the sections of a report are made of. */

import { formatNumber } from '../../../shared/format.js';
import { escaped } from '../svg.js';

/** @param {number} value */
export const number = (value) => formatNumber(value);

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(2)} %`;

/** A token, which no browser translates. @param {string} text @param {string} [kind] its class */
export const token = (text, kind = 'token') =>
  `<span class="${kind}" translate="no">${escaped(text)}</span>`;

/** The same in a sentence. @param {string} text */
export const quoted = (text) => `“<span translate="no">${escaped(text)}</span>”`;

/** @param {(string | number)[]} cells @param {string} [name] of the cells @param {string} [row] its class */
export const headRow = (cells, name = 'th', row = '') =>
  `<tr class="${row}">${cells.map((cell) => `<${name}>${escaped(cell)}</${name}>`).join('')}</tr>`;

/** @param {string} id @param {string} title @param {string} content */
export const section = (id, title, content) =>
  `<section aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>${content}</section>`;

/** @param {string} label @param {string} table */
export const room = (label, table) =>
  `<div class="room" tabindex="0" role="group" aria-label="${escaped(label)}">${table}</div>`;

/** @typedef {{ name: string, start: number, end: number }} Bar */

/**
 * Parts as bars, with the whole at the foot.
 *
 * @param {string[]} head names of part and number
 * @param {Bar[]} bars
 * @param {{ name: string, value: number }} whole
 * @param {readonly [number, number]} range where all of them fit
 */
export function barTable([part, unit], bars, whole, [low, high]) {
  const place = (/** @type {number} */ value) => (100 * (value - low)) / (high - low);
  const bar = (/** @type {number} */ start, /** @type {number} */ end, kind = '') => {
    const [from, to] = [Math.min(start, end), Math.max(start, end)].map(place);
    const colour = kind || (end < start ? 'against' : 'for');
    return `<td class="cell" style="--zero: ${place(0).toFixed(2)}%"><span class="bar ${colour}" style="left: ${from.toFixed(2)}%; width: ${(to - from).toFixed(2)}%"></span></td>`;
  };
  const row = (/** @type {Bar} */ { name, start, end }) =>
    `<tr><th scope="row">${escaped(name)}</th>${bar(start, end)}<td>${number(end - start)}</td></tr>`;
  return `<table class="sum"><thead>${headRow([part, '', unit])}</thead><tbody>${bars.map(row).join('')}</tbody>
<tfoot><tr><th scope="row">${escaped(whole.name)}</th>${bar(0, whole.value, 'whole')}<td>${number(whole.value)}</td></tr></tfoot></table>`;
}
