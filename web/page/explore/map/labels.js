/**
 * Token labels along both sides of a map: every token where there is room, else round numbers.
 *
 * @import { Viewport } from '../address.js'
 *
 * @typedef {object} Frame in CSS pixels
 * @property {number} left of the field
 * @property {number} top
 * @property {number} side of the field
 * @property {number} letters that a label may have; 0: there are none
 */

/** Room that a token's label needs, in CSS pixels. */
const LABEL_PX = 12;
const NUMBER_PX = 36;
const LONGEST_LABEL = 9;
/** Below this a map has no labels: they would take a third of it. */
const NARROW_PX = 220;
/** The axes' names need this, too. */
const SHORTEST_LABEL = 6;
/** Labels so short are not turned. */
const LEVEL_LABEL = 2;
const ROUND = [5, 10, 20, 50, 100, 200, 500, 1000];
const FONT_PX = 12;
const LETTER_PX = 7.2;
const GAP_PX = 6;
/** Half a label stands out beyond the last token. */
export const END_PX = 6;

/** @param {string} text @param {number} most */
const shortened = (text, most) => {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
};

/**
 * Room for the labels at the top and on the left, the rest a square: less room where the whole map has numbers only, and
 * none where there is little.
 *
 * @param {number} width of all
 * @param {readonly string[]} names
 * @returns {Frame}
 */
export function frameOf(width, names) {
  if (width < NARROW_PX) return { left: 0, top: 0, side: Math.max(0, width - END_PX), letters: 0 };
  const longest = names.reduce((most, name) => Math.max(most, [...name].length), SHORTEST_LABEL);
  const isNumbered = width / names.length < LABEL_PX;
  const letters = Math.min(isNumbered ? SHORTEST_LABEL : LONGEST_LABEL, longest);
  const margin = Math.ceil(letters * LETTER_PX + GAP_PX);
  return { left: margin, top: margin, side: Math.max(0, width - margin - END_PX), letters };
}

/**
 * Which tokens of one side have a label.
 *
 * @param {number} start
 * @param {number} span
 * @param {number} n
 * @param {number} side in CSS pixels
 * @returns {{ tokens: number[], isNumbered: boolean }}
 */
export function labelledTokens(start, span, n, side) {
  const cell = side / span;
  const isNumbered = cell < LABEL_PX;
  const step = isNumbered ? (ROUND.find((apart) => apart * cell >= NUMBER_PX) ?? n) : 1;
  const tokens = [];
  for (let token = Math.max(0, Math.floor(start)); token < Math.min(n, start + span); token++) {
    const isIn = token + 0.5 >= start && token + 0.5 <= start + span;
    if (isIn && (token + (isNumbered ? 1 : 0)) % step === 0) tokens.push(token);
  }
  return { tokens, isNumbered };
}

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {Frame} frame
 * @param {Viewport} view
 * @param {object} tokens
 * @param {readonly string[]} tokens.names
 * @param {{ query: number, key: number }} tokens.marked drawn strongly, whether or not the others have room
 * @param {{ font: string, ink: string, soft: string }} style
 */
export function drawLabels(context, frame, view, { names, marked }, { font, ink, soft }) {
  if (frame.letters === 0) return;
  const cell = frame.side / view.span;
  context.textBaseline = 'middle';
  /**
   * @param {number} start
   * @param {number} strong
   * @param {(text: string, at: number) => void} write
   */
  const side = (start, strong, write) => {
    const { tokens, isNumbered } = labelledTokens(start, view.span, names.length, frame.side);
    const at = (/** @type {number} */ token) => (token + 0.5 - start) * cell;
    context.font = `${FONT_PX}px ${font}`;
    context.fillStyle = isNumbered ? soft : ink;
    for (const token of tokens) {
      const hidden =
        token === strong ||
        (strong >= 0 && isNumbered && Math.abs(at(token) - at(strong)) < NUMBER_PX / 2);
      if (!hidden)
        write(isNumbered ? String(token + 1) : shortened(names[token], frame.letters), at(token));
    }
    if (strong < 0 || strong + 1 <= start || strong >= start + view.span) return;
    context.font = `600 ${FONT_PX}px ${font}`;
    context.fillStyle = ink;
    write(shortened(names[strong], frame.letters), Math.max(0, Math.min(frame.side, at(strong))));
  };
  context.font = `${0.9 * FONT_PX}px ${font}`;
  context.fillStyle = soft;
  context.textAlign = 'right';
  context.fillText('key →', frame.left - GAP_PX, 0.5 * FONT_PX);
  context.fillText('query ↓', frame.left - GAP_PX, 2 * FONT_PX);
  side(view.query, marked.query, (text, at) =>
    context.fillText(text, frame.left - GAP_PX, frame.top + at, frame.left - GAP_PX),
  );
  const { isNumbered } = labelledTokens(view.key, view.span, names.length, frame.side);
  if (!isNumbered && names.every((name) => [...name].length <= LEVEL_LABEL)) {
    context.textAlign = 'center';
    side(view.key, marked.key, (text, at) =>
      context.fillText(text, frame.left + at, frame.top - GAP_PX - FONT_PX / 2),
    );
    return;
  }
  context.textAlign = 'left';
  side(view.key, marked.key, (text, at) => {
    context.save();
    context.translate(frame.left + at, frame.top - GAP_PX);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0, frame.top - GAP_PX);
    context.restore();
  });
}
