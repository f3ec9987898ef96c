/**
 * A vector cut into heads: equal pieces, each with the numbers that it holds.
 *
 * @import { StripItem } from '../audience.js'
 */

import { html, svg } from '../../shared/template.js';
import { colourOf, fillOf, pathsOf } from './colours.js';

/** Cells side by side in a piece, and the side of each, in units of the drawing. */
const ACROSS = 8;
const CELL = 6;

/** @param {StripItem} item */
export function stripOf({ values, heads }) {
  const share = Math.floor(values.length / heads);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const down = Math.ceil(share / ACROSS);
  const size = { width: ACROSS * CELL, height: down * CELL };
  return html`<div class="strip-pieces">
    ${Array.from({ length: heads }, (_, head) => {
      const first = head * share;
      const last = first + share - 1;
      return html`<div class="of-head" style="--head: ${colourOf(head, heads)}">
        <svg
          role="img"
          aria-label="Head H${head}: columns ${first} to ${last}"
          viewBox="0 0 ${size.width} ${size.height}"
        >
          ${pathsOf(values.subarray(first, last + 1), {
            cols: ACROSS,
            size: { width: CELL, height: CELL },
            gap: 0,
            fill: (value) => fillOf(value, largest, false),
          }).map(([fill, path]) => svg`<path style=${fill} d=${path} />`)}
        </svg>
        <p><b>H${head}</b> <span>${first}–${last}</span></p>
      </div>`;
    })}
  </div>`;
}
