/**
 * What can be exported, and in which formats.
 *
 * @import { Drawing, FigureLegend, Wish } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 *
 * @typedef {'svg' | 'png' | 'npy' | 'json' | 'html'} Format
 * @typedef {{ blob: Blob, name: string, isPicture: boolean }} Export
 */

import { titleOf } from '../titles.js';
import { legendsOf } from '../legend.js';
import { STRONGEST } from '../text-view.js';
import { figureOf, MARGIN } from './figure.js';
import { gridDrawing } from './grid-drawing.js';
import { linesDrawing } from './lines-drawing.js';
import { mapsOf } from '../maps.js';
import { LABEL_PX, mapDrawing } from './map-drawing.js';
import { allNpy, mapJson, mapNpy } from './numbers.js';
import { standalonePage } from './page.js';
import { gather } from './report/gather.js';
import { reportPage } from './report/page.js';
import { pngOf } from './raster.js';
import { settingsInWords, settingsOf } from './settings.js';
import { textDrawing } from './text-drawing.js';

/** @type {Record<Format, string>} */
export const FORMATS = {
  svg: 'SVG: lines and letters',
  png: 'PNG: pixels',
  npy: '.npy: NumPy, exact',
  json: 'JSON: exact, with settings and tokens',
  html: 'HTML: one file that works offline',
};

/** What is told of a prediction. */
export const REPORT = 'report';

/** @type {[string, string, Format[]][]} name, words, formats */
export const WHATS = [
  ['map', 'The map or both compared maps', ['svg', 'png']],
  ['grid', 'All heads', ['svg', 'png']],
  ['lines', 'Token to token', ['svg', 'png']],
  ['text', 'The tinted text', ['svg', 'png']],
  ['numbers', 'The map’s numbers', ['npy', 'json']],
  ['all', 'The numbers of all heads', ['npy']],
  ['page', 'The map as a page of its own', ['html']],
  [REPORT, 'A report: why this token', ['html']],
];

/** @type {Wish} */
const AS_IT_COMES = { title: '', caption: '', width: 0, font: 0 };

/** What a figure of the map, or of both compared maps, is called. @param {Pick<Seen, 'state'>} seen */
export function mapTitle({ state }) {
  const [first, second] = mapsOf(state).map(({ title }) => title);
  if (second === undefined) return first;
  if (state.before) return `${titleOf(state)}, after and before muting`;
  return `${first} and ${second[0].toLowerCase()}${second.slice(1)}`;
}

/** @param {string} from @param {string} to @param {number} share */
function mixed(from, to, share) {
  const channels = (/** @type {string} */ hex) =>
    [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const [a, b] = [channels(from), channels(to)];
  return `#${a
    .map((value, i) => Math.round(value + share * (b[i] - value)))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`;
}

/**
 * @param {string} what
 * @param {Seen} seen
 * @param {Palette} palette
 * @param {Wish} wish
 * @returns {Promise<{ title: string, drawing: Drawing, legends: FigureLegend[] }>}
 */
async function drawn(what, seen, palette, { width, font }) {
  const { state, run } = seen;
  const alone = { ...state, other: null, before: false };
  const shown = { largest: 0, causal: run.causal };
  switch (what) {
    case 'grid': {
      const legends = legendsOf(
        { ...alone, of: 'head', hideFirst: false, other: { layer: 0, head: 0 } },
        shown,
      );
      return {
        title: 'All heads',
        drawing: await gridDrawing(seen, palette),
        legends: [legends[0]],
      };
    }
    case 'lines':
      return {
        title: `${titleOf(state)}: token to token`,
        drawing: await linesDrawing(seen, palette),
        legends: [],
      };
    case 'text': {
      const { title, drawing, legend } = await textDrawing(seen, palette);
      const colours = [palette.ground, mixed(palette.ground, palette.accent, STRONGEST / 100)];
      return { title, drawing, legends: [{ ...legend, masked: false, isSigned: false, colours }] };
    }
    default: {
      // Letters keep their size, and the maps get the rest.
      const inner = width > 0 && font > 0 ? (width * LABEL_PX) / font - 2 * MARGIN : 0;
      const { drawing, largest } = await mapDrawing(seen, palette, inner);
      return { title: mapTitle(seen), drawing, legends: legendsOf(state, { ...shown, largest }) };
    }
  }
}

/** @param {string} words for a file's name */
const slug = (words) =>
  words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);

/**
 * @param {string} what of WHATS
 * @param {Format} format one of its formats
 * @param {Seen} seen
 * @param {Palette} palette
 * @param {Wish} [wish]
 * @returns {Promise<Export>}
 */
export async function makeExport(what, format, seen, palette, wish = AS_IT_COMES) {
  const isReport = what === REPORT;
  const isNumbers = format === 'npy' || format === 'json';
  const map = isNumbers ? titleOf(seen.state) : mapTitle(seen);
  const part = ['all', 'grid'].includes(what) ? 'all heads' : isReport ? 'report' : map;
  const file = (/** @type {string} */ view) =>
    `${[slug(seen.source), slug(part), slug(view)].filter(Boolean).join('-')}.${format}`;
  switch (format) {
    case 'npy':
      return {
        blob: await (what === 'all' ? allNpy : mapNpy)(seen),
        name: file(''),
        isPicture: false,
      };
    case 'json':
      return { blob: await mapJson(seen), name: file(''), isPicture: false };
    case 'html':
      if (isReport) {
        const html = reportPage(await gather(seen, wish));
        return { blob: new Blob([html], { type: 'text/html' }), name: file(''), isPicture: false };
      }
      return {
        blob: await standalonePage(seen, wish.title || mapTitle(seen), wish.caption),
        name: file(''),
        isPicture: false,
      };
    case 'svg':
    case 'png': {
      const settings = settingsOf(seen);
      const words = wish.caption || settingsInWords(seen);
      const made = await drawn(what, seen, palette, wish);
      const title = wish.title || made.title;
      const figure = figureOf({ ...made, title, settings, words, wide: wish.width }, palette);
      const blob =
        format === 'png' ? await pngOf(figure) : new Blob([figure.svg], { type: 'image/svg+xml' });
      return { blob, name: file(['map', 'grid'].includes(what) ? '' : what), isPicture: true };
    }
  }
}
