import { el } from './element.js';

/** The size of the labels' font where nobody has changed it, in CSS pixels. */
const USUAL_EM = 12.8;
/** Room that a token's label needs, in shares of the font's size. */
const LABEL_EM = 0.9375;
/** Beyond that the axes are numbered, at round distances this far apart. */
const NUMBER_EM = 2.8125;
const ROUND = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const LONGEST_LABEL = 9;
/** Beside numbers a name that is chosen has room for this many letters; where a map zooms, so have the names of its axes. */
const SHORTEST_ROOM = 6;
const LONGEST_NUMBER = 4;
/** Labels so short are not turned. */
const LEVEL_LABEL = 2;
/** Of a letter. */
const LETTER_EM = 0.56;
/** Between the labels of the rows and the field, as in style.js. */
const GAP_EM = 0.4;

/** @typedef {{ token: number, colour?: string }} Strong */

/**
 * The visible part of one side of a map.
 * @typedef {object} Axis
 * @property {readonly string[]} names of all its tokens
 * @property {number} start
 * @property {number} span
 * @property {number} length in CSS pixels
 * @property {number} em size of the font
 * @property {readonly Strong[]} strong tokens that are named, whether or not the others have room; the first goes before
 */

/**
 * Which tokens of one side have a label: every one where there is room, else those of round numbers.
 *
 * @param {number} start
 * @param {number} span
 * @param {number} n
 * @param {number} length in CSS pixels
 * @param {number} [em] size of the font
 * @returns {{ tokens: number[], isNumbered: boolean }}
 */
export function labelledTokens(start, span, n, length, em = USUAL_EM) {
  const cell = length / span;
  const isNumbered = cell < LABEL_EM * em;
  const step = isNumbered ? (ROUND.find((apart) => apart * cell >= NUMBER_EM * em) ?? n) : 1;
  const tokens = [];
  for (let token = Math.max(0, Math.floor(start)); token < Math.min(n, start + span); token++) {
    const isIn = token + 0.5 >= start && token + 0.5 <= start + span;
    if (isIn && (token + (isNumbered ? 1 : 0)) % step === 0) tokens.push(token);
  }
  return { tokens, isNumbered };
}

/** @param {readonly string[]} names */
const longest = (names) => names.reduce((most, name) => Math.max(most, [...name].length), 1);

/**
 * Room for the labels of a whole map. It stays while the map is zoomed.
 *
 * @param {object} map
 * @param {number} map.width of labels and map, in CSS pixels
 * @param {number} map.em size of the font
 * @param {readonly (readonly string[])[]} map.names of the columns and of the rows
 * @param {number} map.aspect
 * @param {boolean} map.canZoom
 * @returns {{ letters: number, isLevel: boolean }} letters: of the longest label; isLevel: the columns' labels have one line
 */
export function roomFor({ width, em, names, aspect, canZoom }) {
  const [columns, rows] = names;
  const fieldOf = (/** @type {number} */ letters) =>
    width - ((letters + 1) * LETTER_EM + GAP_EM) * em;
  const isNumbered = (/** @type {number} */ field, /** @type {readonly string[]} */ side) =>
    // The browser may round the field up. Names keep their room, though numbers may take it.
    (field + 1) / side.length < LABEL_EM * em;
  const most = longest(names.flat());
  const leastOfNumbers = Math.max(LONGEST_NUMBER, Math.min(SHORTEST_ROOM, most));
  /** Letters that the labels have beside a field. @param {number} field */
  const wanted = (field) => {
    const areNumbered = [isNumbered(field, columns), isNumbered(field / aspect, rows)];
    const named = names.flatMap((side, i) => (areNumbered[i] ? [] : [...side]));
    const least = canZoom ? SHORTEST_ROOM : areNumbered.includes(true) ? leastOfNumbers : 1;
    return Math.max(least, Math.min(LONGEST_LABEL, longest(named)));
  };
  // The shorter the labels, the wider the field: between names in full and numbers, names are cut.
  let letters = LONGEST_LABEL;
  while (letters > wanted(fieldOf(letters))) letters--;
  const field = fieldOf(letters);
  return {
    letters: letters + 1,
    isLevel:
      (isNumbered(field, columns) && !canZoom) || isFlat(columns, (field - 1) / columns.length, em),
  };
}

/**
 * Whether labels of columns are level: short, or with much room.
 * @param {readonly string[]} names
 * @param {number} cell
 * @param {number} em
 */
const isFlat = (names, cell, em) => {
  const letters = longest(names);
  return letters <= LEVEL_LABEL || cell > Math.max(LONGEST_LABEL, letters) * LETTER_EM * em;
};

/**
 * Labels one side of a map.
 *
 * @param {HTMLElement} element
 * @param {Axis} axis
 */
export function showLabels(element, { names, start, span, length, em, strong }) {
  const cell = length / span;
  const letter = LETTER_EM * em;
  const { tokens, isNumbered } = labelledTokens(start, span, names.length, length, em);
  const flat = isNumbered || isFlat(names, cell, em);
  const at = (/** @type {number} */ token) => (token + 0.5 - start) * cell;
  /** @param {string} text @param {number} place @param {Strong} [named] */
  const label = (text, place, named) => {
    const made = el('span', { class: named ? 'strong' : '', dir: 'auto' }, text);
    // A share, so that it stays within a map that shrinks before it is measured again.
    made.style.setProperty('--at', `${(100 * place) / length}%`);
    if (named?.colour) made.style.setProperty('color', named.colour);
    return made;
  };
  /** What stands already: where, and how much room it needs on both sides. @type {[number, number][]} */
  const taken = [];
  const isFree = (/** @type {number} */ place, /** @type {number} */ room) =>
    taken.every(([other, least]) => Math.abs(place - other) >= Math.max(room, least));
  const named = strong.flatMap((one) => {
    const { token } = one;
    if (token < 0 || token >= names.length || token + 1 <= start || token >= start + span)
      return [];
    const half = flat ? ([...names[token]].length * letter) / 2 : 0;
    const place = Math.max(half, Math.min(length - half, at(token)));
    const room = isNumbered ? Math.max((NUMBER_EM * em) / 2, half + letter * 3) : cell / 2;
    if (!isFree(place, 0)) return [];
    taken.push([at(token), room]);
    return [label(names[token], place, one)];
  });
  const shown = tokens
    .filter((token) => isFree(at(token), 0))
    .map((token) => label(isNumbered ? String(token + 1) : names[token], at(token)));
  element.classList.toggle('numbers', isNumbered);
  element.classList.toggle('flat', flat);
  element.replaceChildren(...shown, ...named);
}
