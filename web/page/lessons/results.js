/**
 * What a step shows, next to what its document prints.
 *
 * @import { CheckItem, Item, LogItem, MapsItem, ValueItem } from './audience.js'
 * @import { Printed, Step } from './parse.js'
 */

import { el } from '../shared/dom.js';
import { showMaps } from '../shared/map-view.js';
import { judge } from './check.js';
import { factsOf } from './facts.js';
import { pictureFigure } from './pictures/picture.js';
import { tensorFigure } from './tensor-figure.js';

/** @type {readonly string[]} */
const PICTURES = ['chain', 'flow', 'strip', 'lines', 'bars', 'maps'];

/** @param {MapsItem} item */
function mapsFigure({ name, tokens, causal, maps }) {
  const grid = el('div', { class: 'maps' });
  const named = maps.map(({ head, values }) => {
    const title = `${name}, Head H${head}`;
    return { head, values, name: title, caption: title };
  });
  const pin = (/** @type {number} */ row) => {
    for (const map of grid.querySelectorAll('attention-map')) map.pinned = row;
  };
  showMaps(grid, { maps: named, tokens, causal, pin });
  return el('figure', { class: 'result' }, el('figcaption', {}, el('b', {}, name)), grid);
}

/** @param {LogItem[]} lines */
const consoleOf = (lines) =>
  el(
    'div',
    { class: 'console', role: 'log', 'aria-label': 'Console' },
    ...lines.map(({ level, text }) => el('pre', { class: level, translate: 'no' }, text)),
  );

/** @param {CheckItem[]} checks */
const checksOf = (checks) =>
  el(
    'ul',
    { class: 'checks' },
    ...checks.map(({ name, passed, words }) =>
      el(
        'li',
        { class: passed ? 'passed' : 'wrong' },
        el('span', { class: 'sign', 'aria-hidden': 'true' }, passed ? '✓' : '○'),
        el('span', { class: 'visually-hidden' }, passed ? 'Done: ' : 'Not yet: '),
        name,
        ...(passed ? [] : [el('p', {}, words)]),
      ),
    ),
  );

/**
 * Runs of items of the same kind, as long as they go; values are told apart by what they are compared with.
 *
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 */
function groupsOf(items, keyOf) {
  /** @type {{ key: string, items: Item[] }[]} */
  const groups = [];
  for (const item of items) {
    const key = keyOf(item);
    const last = groups[groups.length - 1];
    if (last?.key === key && ['value', 'log', 'check'].includes(item.kind)) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups;
}

/**
 * @param {Item[]} items of one kind
 * @param {Printed[]} printed
 * @param {boolean} changed
 * @returns {HTMLElement[]}
 */
function elementsOf(items, printed, changed) {
  const [first] = items;
  const there = printed.find(({ name }) => name === first.name);
  switch (first.kind) {
    case 'value':
      return factsOf(/** @type {ValueItem[]} */ (items), printed, [], changed);
    case 'log':
      return [consoleOf(/** @type {LogItem[]} */ (items))];
    case 'check':
      return [checksOf(/** @type {CheckItem[]} */ (items))];
    case 'tensor':
      return [tensorFigure(first, there, changed)];
    case 'maps':
      return [mapsFigure(first)];
    default:
      return [pictureFigure(first)];
  }
}

/**
 * @param {Pick<Step, 'printed'>} step
 * @param {Item[]} items what it has shown
 * @param {object} options
 * @param {boolean} options.complete whether it came to its end, so that what is missing is missing
 * @param {boolean} options.changed whether the visitor has changed code: differences are then no mistakes
 * @returns {{ elements: HTMLElement[], equal: number }} equal: how many are as the document has them
 */
export function resultsOf(step, items, options) {
  try {
    return resultsIn(step, items, options);
  } catch (error) {
    // Code may have put together what no tool of the lessons shows.
    const words = `What this step has shown cannot be drawn: ${error}`;
    return { elements: [el('p', { class: 'message error' }, words)], equal: 0 };
  }
}

/** @type {typeof resultsOf} */
function resultsIn({ printed }, items, { complete, changed }) {
  /** What is printed and what is derived have tables of their own. @type {string} */
  let by = '';
  const groups = groupsOf(items, (item) => {
    if (item.kind !== 'value') return item.kind;
    by = printed.find(({ name }) => name === item.name)?.by ?? by;
    return `value ${by}`;
  });
  // Pictures before tables.
  const pictures = groups.filter(({ key }) => PICTURES.includes(key));
  const others = groups.filter(({ key }) => !PICTURES.includes(key));
  const elements = [...pictures, ...others].flatMap((group) =>
    elementsOf(group.items, printed, changed),
  );
  const names = new Set(items.map(({ name }) => name));
  const missing = complete ? printed.filter(({ name }) => !names.has(name)) : [];
  if (missing.length > 0) elements.push(...factsOf([], printed, missing, changed));
  const equal = printed.filter((one) => {
    const item = items.find(({ name }) => name === one.name);
    return item && judge(item, one).equal;
  });
  return { elements, equal: equal.length };
}
