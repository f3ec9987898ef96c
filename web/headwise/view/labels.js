import { el } from './element.js';

/** Room that a token's label needs, in CSS pixels. */
const LABEL_PX = 12;
/** Beyond that the axes are numbered, at round distances this far apart. */
const NUMBER_PX = 36;
const ROUND = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const LONGEST_LABEL = 9;

/**
 * @typedef {object} Axis
 * @property {HTMLElement} element
 * @property {readonly string[]} names of its tokens
 * @property {number} length in CSS pixels
 */

/** @param {Axis} axis */
const cellOf = ({ names, length }) => length / names.length;

/** @param {Axis} axis */
function show(axis) {
  const { element, names } = axis;
  const cell = cellOf(axis);
  const n = names.length;
  /** @type {HTMLElement[]} */
  const shown = [];
  /** @param {string} text @param {number} i */
  const add = (text, i) => {
    const label = el('span', {}, text);
    label.style.setProperty('--at', String((i + 0.5) / n));
    shown.push(label);
  };
  if (cell >= LABEL_PX) {
    names.forEach(add);
  } else {
    const step = ROUND.find((tokensApart) => tokensApart * cell >= NUMBER_PX) ?? n;
    for (let i = step; i <= n; i += step) add(String(i), i - 1);
  }
  element.classList.toggle('numbers', cell < LABEL_PX);
  element.replaceChildren(...shown);
}

/**
 * Labels both axes: with every token where there is room, else with numbers.
 *
 * @param {Axis} columns
 * @param {Axis} rows
 * @returns {number} room for the longest label, in characters
 */
export function showLabels(columns, rows) {
  const words = [columns, rows].flatMap((axis) =>
    cellOf(axis) >= LABEL_PX ? axis.names : ['1000'],
  );
  const longest = Math.max(...words.map((text) => [...text].length), 1);
  const cell = cellOf(columns);
  columns.element.classList.toggle('level', cell > LONGEST_LABEL * 7 || cell < LABEL_PX);
  show(columns);
  show(rows);
  return Math.min(longest, LONGEST_LABEL) + 1;
}
