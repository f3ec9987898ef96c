/**
 * SVG as text: elements, escaped, and the width of words in the page's font.
 *
 * @typedef {Record<string, string | number>} Attributes
 */

export const SVG = 'http://www.w3.org/2000/svg';

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** What XML cannot hold, even escaped: control characters, halves of characters, and two that are none. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\p{Cs}\ufffe\uffff]/gu;

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** @param {string | number} text as XML has it, in elements and in attributes */
export const escaped = (text) =>
  String(text)
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"]/g, (character) => ENTITIES[character]);

/** @param {number} value in pixels, to a hundredth */
const short = (value) => String(Math.round(100 * value) / 100);

/** @param {string} name @param {Attributes} attributes numbers are rounded to hundredths @param {...string} children */
export function tag(name, attributes, ...children) {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : escaped(value)}"`,
  );
  return children.length > 0
    ? `<${name}${written.join('')}>${children.join('')}</${name}>`
    : `<${name}${written.join('')}/>`;
}

/** @param {string} words @param {Attributes} attributes */
export const textAt = (words, attributes) =>
  tag('text', { 'xml:space': 'preserve', ...attributes }, escaped(words));

/** @type {CanvasRenderingContext2D | null | undefined} */
let context;

/** @param {string} words @param {number} size of the font @param {string} [weight] @returns {number} width in pixels */
export function widthOf(words, size, weight = 'normal') {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return words.length * size * 0.6;
  context.font = `${weight} ${size}px ${FONT}`;
  return context.measureText(words).width;
}

/** @param {string} words @param {number} size @param {number} room @returns {string} as much as there is room for */
export function fitting(words, size, room) {
  if (widthOf(words, size) <= room) return words;
  const letters = [...words];
  while (letters.length > 1 && widthOf(`${letters.join('')}…`, size) > room) letters.pop();
  return `${letters.join('')}…`;
}

/** @param {string} words @param {number} size @param {number} room @returns {string[]} lines */
export function wrapped(words, size, room) {
  /** @type {string[]} */
  const lines = [];
  for (const word of words.split(' ')) {
    const last = lines[lines.length - 1];
    if (last !== undefined && widthOf(`${last} ${word}`, size) <= room) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
