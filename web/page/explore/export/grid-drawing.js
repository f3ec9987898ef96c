/**
 * Every head as a small map, in the order that the grid has.
 *
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { largestOf } from '../../../headwise/view/paint.js';
import { isSameHead, shortName } from '../../shared/head-names.js';
import { largestValue, writeValue } from '../measures.js';
import { INSTEAD } from '../why/signed-scale.js';
import { pooledCells } from '../worker/pool.js';
import { cellsTag } from './cells.js';
import { tag, textAt } from './svg.js';

const SIDE = 72;
const STEP = { x: 82, y: 100 };
/** Cells along a side of a small map, at most. */
const MOST_CELLS = 144;

/** @param {Seen} seen @param {Palette} palette @returns {Promise<Drawing>} */
export async function gridDrawing({ state, run, session, order, values, measure }, palette) {
  const { n, layers, heads, causal } = run;
  const across = state.sort === 'place' ? heads : Math.ceil(Math.sqrt(2 * layers * heads));
  /** @type {Float32Array[]} */
  const maps = [];
  let size = 0;
  for (let layer = 0; layer < layers; layer++) {
    const thumbs = await session.thumbs(layer, Math.min(n, MOST_CELLS));
    size = thumbs.size;
    maps.push(...thumbs.maps);
  }
  /** @type {[number, number]} */
  const all = [0, n];
  const most = largestValue(values ?? []);
  const parts = order.map((name, i) => {
    const at = name.layer * heads + name.head;
    const x = (i % across) * STEP.x;
    const y = Math.floor(i / across) * STEP.y;
    const cells = { queries: all, keys: all, height: size, width: size };
    const how = { scale: state.scale, map: largestOf(maps[at]), isSigned: false, causal };
    const isMuted = state.muted.some((head) => isSameHead(head, name));
    const value = values?.[at] ?? NaN;
    const words = [
      shortName(name),
      Number.isNaN(value) ? '' : writeValue(measure, value, most),
      isMuted ? 'muted' : '',
    ];
    const box = { x: x - 2, y: y - 2, width: SIDE + 4, height: SIDE + 4 };
    const label = { x: x + SIDE / 2, y: y + SIDE + 14, 'font-size': 11, 'text-anchor': 'middle' };
    return [
      cellsTag({ ...cells, ...pooledCells(maps[at], size) }, how, { x, y, side: SIDE }),
      isSameHead(name, state)
        ? tag('rect', { ...box, fill: 'none', stroke: palette.accent, 'stroke-width': 2 })
        : '',
      textAt(words.filter(Boolean).join('  '), { ...label, fill: palette.ink }),
    ].join('');
  });
  return {
    width: Math.min(across, order.length) * STEP.x,
    height: Math.ceil(order.length / across) * STEP.y,
    content: parts.join(''),
    note:
      (values ? `${state.sort === 'place' ? 'Numbers' : 'Sorted by'}: ${WORDS[measure]}. ` : '') +
      (size < n ? 'Pooled: each cell shows the largest of the weights it covers.' : ''),
  };
}

/** @type {Record<string, string>} */
const WORDS = {
  attribution: 'the head’s direct contribution to the prediction',
  effect: `the drop in the prediction ${INSTEAD.zero}`,
  'mean-effect': `the drop in the prediction ${INSTEAD.mean}`,
  'resample-effect': `the drop in the prediction ${INSTEAD.resample}`,
  patching: 'the share of the prediction that the head restores in the other text',
  entropy: 'entropy, in bits',
  first: 'weight on the first token',
  previous: 'weight on the previous token',
  next: 'weight on the next token',
  induction: 'induction',
  distance: 'distance, in tokens',
};
