/**
 * The frame of every exported picture: its title, what is drawn, a legend with its scale, and the settings in words and
 * as data.
 *
 * @import { Legend } from '../legend.js'
 * @import { Palette } from '../palette.js'
 *
 * @typedef {object} Drawing
 * @property {number} width
 * @property {number} height
 * @property {string} content SVG, from the origin
 * @property {string} [note] what the picture leaves out
 *
 * @typedef {object} Wish what the visitor wants of a picture; empty or 0: as it comes
 * @property {string} title
 * @property {string} caption in place of the settings in words
 * @property {number} width in CSS pixels
 * @property {number} font size of a map's labels, in CSS pixels
 */

import { legendEnd } from '../../shared/legend.js';
import { colourStops } from '../colours.js';
import { FONT, SVG, escaped, tag, textAt, widthOf, wrapped } from './svg.js';

export const MARGIN = 24;
const TITLE_PX = 18;
const SMALL_PX = 12;
const LINE_PX = 18;
const BAR = { width: 160, height: 10 };

/** The ground of masked cells. @param {Palette} palette */
export const hatchPattern = ({ mask, maskLine }) =>
  tag(
    'pattern',
    { id: 'masked', width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
    tag('rect', { width: 6, height: 6, fill: mask }),
    tag('path', { d: 'M-1 7L7 -1M-4 4L4 -4M2 10L10 2', stroke: maskLine, 'stroke-width': 1 }),
  );

/** @typedef {Legend & { colours?: string[] }} FigureLegend colours: if they are not the maps' */

/** @param {FigureLegend} legend @param {number} i */
function gradientTag({ isSigned, colours }, i) {
  const stops = colours ?? colourStops(isSigned);
  return tag(
    'linearGradient',
    { id: `scale-${i}` },
    ...stops.map((colour, step) =>
      tag('stop', { offset: `${(100 * step) / (stops.length - 1)}%`, 'stop-color': colour }),
    ),
  );
}

/**
 * @param {FigureLegend} legend
 * @param {number} i
 * @param {number} y
 * @param {Palette} palette
 * @returns {{ content: string, width: number }}
 */
function legendRow({ max, what, masked, start = '0', end, middle }, i, y, { ink, line }) {
  const small = { y: y + 10, 'font-size': SMALL_PX, fill: ink };
  if (max === 0) {
    const words = `${what}: 0 everywhere`;
    return { content: textAt(words, { x: 0, ...small }), width: widthOf(words, SMALL_PX) };
  }
  const parts = [textAt(what, { x: 0, ...small })];
  let x = widthOf(what, SMALL_PX) + 14;
  const add = (/** @type {string} */ words) => {
    parts.push(textAt(words, { x, ...small }));
    x += widthOf(words, SMALL_PX) + 6;
  };
  add(start);
  parts.push(tag('rect', { x, y, ...BAR, fill: `url(#scale-${i})`, stroke: line }));
  if (middle !== undefined) {
    const place = { x: x + BAR.width / 2, y: y + BAR.height + SMALL_PX, 'text-anchor': 'middle' };
    parts.push(textAt(middle, { ...small, ...place, 'font-size': 10 }));
  }
  x += BAR.width + 6;
  add(end ?? legendEnd(max));
  if (masked) {
    x += 14;
    parts.push(
      tag('rect', { x, y: y - 1, width: 12, height: 12, fill: 'url(#masked)', stroke: line }),
    );
    x += 18;
    add('masked: a later token');
  }
  return { content: parts.join(''), width: x };
}

/**
 * @param {object} figure
 * @param {string} figure.title
 * @param {Drawing} figure.drawing
 * @param {FigureLegend[]} figure.legends
 * @param {Record<string, unknown>} figure.settings kept in the file as JSON
 * @param {string} figure.words the settings for people
 * @param {number} [figure.wide] in CSS pixels; 0: as it comes
 * @param {Palette} palette
 * @returns {{ svg: string, width: number, height: number }}
 */
export function figureOf({ title, drawing, legends, settings, words, wide = 0 }, palette) {
  const rowAt = (/** @type {number} */ top) =>
    legends.map((legend, i) => legendRow(legend, i, top + i * (LINE_PX + 4), palette));
  const inner = Math.max(drawing.width, 420, ...rowAt(0).map((row) => row.width));
  const titles = wrapped(title, TITLE_PX * 1.08, inner);
  const notes = [drawing.note ?? '', words]
    .filter(Boolean)
    .flatMap((note) => wrapped(note, SMALL_PX, inner));
  const top = titles.length * 24 + 8;
  const legendTop = top + drawing.height + 18;
  const notesTop = legendTop + legends.length * (LINE_PX + 4) + 6;
  const width = inner + 2 * MARGIN;
  const height = notesTop + notes.length * LINE_PX + 2 * MARGIN;
  const { ground, ink, soft } = palette;
  const scale = wide > 0 ? wide / width : 1;
  const svg = tag(
    'svg',
    {
      xmlns: SVG,
      width: Math.ceil(scale * width),
      height: Math.ceil(scale * height),
      viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
      'font-family': FONT,
      role: 'img',
    },
    tag('title', {}, escaped(title)),
    tag('desc', {}, escaped([drawing.note, words].filter(Boolean).join(' '))),
    tag('metadata', {}, escaped(JSON.stringify(settings))),
    tag('defs', {}, hatchPattern(palette), ...legends.map(gradientTag)),
    tag('rect', { width: '100%', height: '100%', fill: ground }),
    tag(
      'g',
      { transform: `translate(${MARGIN} ${MARGIN})` },
      ...titles.map((line, i) =>
        textAt(line, {
          x: 0,
          y: TITLE_PX + 24 * i,
          'font-size': TITLE_PX,
          'font-weight': 600,
          fill: ink,
        }),
      ),
      tag('g', { id: 'drawing', transform: `translate(0 ${top})` }, drawing.content),
      ...rowAt(legendTop).map(({ content }) => content),
      ...notes.map((line, i) =>
        textAt(line, { x: 0, y: notesTop + LINE_PX * (i + 1), 'font-size': SMALL_PX, fill: soft }),
      ),
    ),
  );
  return { svg, width: Math.ceil(scale * width), height: Math.ceil(scale * height) };
}
