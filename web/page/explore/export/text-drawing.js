/**
 * The text, tinted by what the last pinned token (or the last of all) attends to, or who attends to it.
 *
 * @import { Drawing } from './figure.js'
 * @import { Palette } from '../palette.js'
 * @import { Seen } from './settings.js'
 */

import { SPACE } from '../../shared/tokenize.js';
import { formatCount } from '../../shared/format.js';
import { whatOf } from '../maps.js';
import { paletteColourOf } from '../pin-colours.js';
import { NEWLINE, STRONGEST } from '../text-view.js';
import { subjectOf } from './settings.js';
import { tag, textAt, widthOf } from './svg.js';

const WIDTH = 680;
const FONT_PX = 15;
const LINE_PX = 27;
const SPACE_PX = 4.5;

/**
 * @param {Seen} seen
 * @param {Palette} palette
 * @returns {Promise<{ drawing: Drawing, most: number, what: string }>} most: the weight of the strongest tint
 */
export async function textDrawing(seen, palette) {
  const { state, run, session } = seen;
  const subject = subjectOf(seen);
  const weights = await session.line(whatOf(state), subject);
  const pin = state.pins.at(-1);
  const mark = pin ? paletteColourOf(palette, state.pins, pin) : palette.accent;
  const most = weights.reduce((largest, weight) => Math.max(largest, Math.abs(weight)), 0);
  let x = 0;
  let y = 0;
  const parts = run.tokens.map(({ text, isApart }, i) => {
    const hasSpace = (text.startsWith(SPACE) && text.length > 1) || isApart || session.isApart;
    const words = text.startsWith(SPACE) && text.length > 1 ? text.slice(1) : text;
    const width = widthOf(words, FONT_PX) + 1;
    if (hasSpace && x > 0) x += SPACE_PX;
    if (x > 0 && x + width > WIDTH) {
      x = 0;
      y += LINE_PX;
    }
    const at = x;
    const line = y;
    x += width;
    if (words.includes(NEWLINE)) {
      x = 0;
      y += LINE_PX;
    }
    const share = most > 0 ? Math.abs(weights[i]) / most : 0;
    const box = { x: at, y: line, width, height: LINE_PX - 5, rx: 3 };
    return [
      tag('rect', { ...box, fill: palette.accent, 'fill-opacity': (STRONGEST / 100) * share }),
      i === subject.token
        ? tag('rect', { x: at, y: line + LINE_PX - 7, width, height: 2, fill: mark })
        : '',
      textAt(words, { x: at + 0.5, y: line + 16, 'font-size': FONT_PX, fill: palette.ink }),
    ].join('');
  });
  const name = `“${run.tokens[subject.token].text}” (${formatCount(subject.token + 1)})`;
  return {
    most,
    what: subject.side === 'query' ? `what ${name} attends to` : `who attends to ${name}`,
    drawing: { width: WIDTH, height: y + LINE_PX, content: parts.join('') },
  };
}
