/**
 * Cells of a map as a picture inside of SVG: each cell many pixels, so that no viewer blurs one into the next.
 *
 * @import { MapScale } from '../address.js'
 * @import { Cells, Region } from '../worker/pool.js'
 */

import { pictureOf } from '../../../headwise/view/paint.js';
import { SCALES } from '../colours.js';
import { isDark } from '../palette.js';
import { tag } from './svg.js';

/** Pixels of the picture for each of the drawing. */
const DENSITY = 2;

/**
 * @param {Cells & Region} cells
 * @param {{ scale: MapScale, map: number, isSigned: boolean, causal: boolean }} how map: the whole map's largest weight
 * @param {{ x: number, y: number, side: number }} place
 * @returns {string}
 */
export function cellsTag(cells, { scale, map, isSigned, causal }, { x, y, side }) {
  const how = { ...SCALES[scale], causal, signed: isSigned };
  const size = { queries: 0, keys: 0 }; // as many of the one as of the other
  const picture = pictureOf(cells, how, { size, largest: map, dark: isDark() });
  const factor = Math.max(1, Math.ceil((DENSITY * side) / picture.width));
  const large = document.createElement('canvas');
  large.width = picture.width * factor;
  large.height = picture.height * factor;
  const context = large.getContext('2d');
  if (context) {
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, large.width, large.height);
  }
  const box = { x, y, width: side, height: side };
  return (
    tag('rect', { ...box, fill: 'url(#masked)' }) +
    tag('image', {
      ...box,
      href: large.toDataURL(),
      style: 'image-rendering: pixelated',
    })
  );
}
