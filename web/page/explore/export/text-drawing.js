/**
 * The text, tinted as on the page: by what the last pinned token (or the last of all) attends to, or who attends to it; or by
 * how badly each token was predicted.
 *
 * @import { Drawing, FigureLegend } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { NEWLINE, SPACE } from '../../shared/signs.js';
import { formatCount } from '../../shared/format.js';
import { whatOf } from '../maps.js';
import { paletteColourOf } from '../pin-colours.js';
import { lossTints, tintsOf, WORST } from '../text-view.js';
import { titleOf } from '../titles.js';
import { turned } from './right-to-left.js';
import { subjectOf } from './settings.js';
import { tag, textAt, widthOf } from './svg.js';

const WIDTH = 680;
const FONT_PX = 15;
const LINE_PX = 27;
const SPACE_PX = 4.5;

/**
 * What tints the text.
 *
 * @param {Seen} seen
 * @returns {Promise<{ title: string, tints: number[], marked?: number, legend: Pick<FigureLegend, 'max' | 'what' | 'end'> }>}
 *   tints: in hundredths; marked: the token that it is about
 */
async function tintOf(seen) {
  const { state, run, session, losses } = seen;
  if (state.tint === 'loss') {
    return {
      title: 'Surprise: how badly each token was predicted',
      tints: losses ? lossTints(losses) : [],
      marked: state.pins.at(-1)?.token,
      legend: { max: WORST, what: 'loss, in nats', end: `${WORST} or more` },
    };
  }
  const { side, token } = subjectOf(seen);
  const weights = await session.line(whatOf(state), { side, token });
  const name = `“${run.tokens[token].text}” (${formatCount(token + 1)})`;
  const what = side === 'query' ? `what ${name} attends to` : `what attends to ${name}`;
  return {
    title: `${titleOf(state)}: ${what}`,
    tints: tintsOf(weights),
    marked: token,
    legend: {
      max: weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0),
      what: 'weight',
    },
  };
}

/** @param {Seen} seen @param {Palette} palette @returns {Promise<{ drawing: Drawing } & Pick<Awaited<ReturnType<typeof tintOf>>, 'title' | 'legend'>>} */
export async function textDrawing(seen, palette) {
  const { state, run, session } = seen;
  const { title, tints, marked, legend } = await tintOf(seen);
  const pin = state.pins.at(-1);
  const mark = pin ? paletteColourOf(palette, state.pins, pin) : palette.accent;
  let x = 0;
  let y = 0;
  const placed = run.tokens.map(({ text, isApart }) => {
    const hasSpace = (text.startsWith(SPACE) && text.length > 1) || isApart || session.isApart;
    const words = text.startsWith(SPACE) && text.length > 1 ? text.slice(1) : text;
    const width = widthOf(words, FONT_PX) + 1;
    if (hasSpace && x > 0) x += SPACE_PX;
    if (x > 0 && x + width > WIDTH) {
      x = 0;
      y += LINE_PX;
    }
    const place = { words, x, y, width };
    x += width;
    if (words.includes(NEWLINE)) {
      x = 0;
      y += LINE_PX;
    }
    return place;
  });
  const parts = turned(placed).map(({ words, x: at, y: line, width }, i) => {
    const box = { x: at, y: line, width, height: LINE_PX - 5, rx: 3 };
    return [
      tag('rect', { ...box, fill: palette.accent, 'fill-opacity': (tints[i] ?? 0) / 100 }),
      i === marked
        ? tag('rect', { x: at, y: line + LINE_PX - 7, width, height: 2, fill: mark })
        : '',
      textAt(words, { x: at + 0.5, y: line + 16, 'font-size': FONT_PX, fill: palette.ink }),
    ].join('');
  });
  const drawing = { width: WIDTH, height: y + LINE_PX, content: parts.join('') };
  return { title, drawing, legend };
}
