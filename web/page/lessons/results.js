/**
 * What a step shows, next to what its document prints.
 *
 * @import { Item, MapsItem, TensorItem, ValueItem } from './audience.js'
 * @import { Verdict } from './check.js'
 * @import { Printed, Step } from './parse.js'
 */

import { el } from '../shared/dom.js';
import { formatCount, formatNumber, formatWeight, plural } from '../shared/format.js';
import { showMaps } from '../shared/map-view.js';
import { matrixTable } from '../shared/matrix-table.js';
import { judge, sameCell } from './check.js';

const HERE = 'Headwise';

/** @param {Printed[]} printed */
const whose = (printed) => (printed.every(({ by }) => by === 'prints') ? 'Document' : 'Expected');

/** @param {readonly number[]} values */
const formatList = (values) => {
  const format = values.every(Number.isInteger) ? String : formatNumber;
  return `[${values.map(format).join(', ')}]`;
};

/**
 * @param {unknown} value
 * @param {unknown} [other] what it is set against, so that both are written alike
 * @returns {string}
 */
function formatValue(value, other) {
  if (Array.isArray(value)) return formatList(value);
  if (typeof value !== 'number') return String(value);
  if (typeof other !== 'number') {
    return Number.isInteger(value) ? formatCount(value) : formatWeight(value);
  }
  return [value, other].every(Number.isInteger) ? formatCount(value) : formatNumber(value);
}

/**
 * @param {Verdict} verdict
 * @param {boolean} [counted] with numbers
 */
function markOf({ equal, total, differing }, counted = false) {
  const few = equal ? 'equal' : 'differs';
  const many = equal ? `all ${total} equal` : `${differing} of ${total} differ`;
  const sign = el('span', { 'aria-hidden': 'true' }, equal ? '✓' : '✗');
  return el('span', { class: equal ? 'mark' : 'mark differs' }, sign, ` ${counted ? many : few}`);
}

/**
 * Numbers, shapes, truth values: a row each, a column for the document where it has one.
 *
 * @param {ValueItem[]} items
 * @param {Printed[]} printed of the step
 * @param {Printed[]} missing what is not shown
 */
function factsTable(items, printed, missing) {
  const given = items.map(({ name }) => printed.find((one) => one.name === name));
  const known = [...given.filter((one) => one !== undefined), ...missing];
  const compared = known.length > 0;
  const body = el('tbody');
  /**
   * @param {string} name
   * @param {unknown} here
   * @param {Printed | undefined} there
   * @param {Verdict | undefined} verdict
   */
  const row = (name, here, there, verdict) => {
    const line = el('tr', {}, el('th', { scope: 'row' }, name));
    const words = formatValue(here, there?.value);
    if (there && verdict) {
      const theirs = formatValue(there.value, here);
      line.append(el('td', {}, words), el('td', {}, theirs), el('td', {}, markOf(verdict)));
    } else {
      line.append(el('td', compared ? { colspan: 3 } : {}, words));
    }
    body.append(line);
  };
  items.forEach((item, i) => {
    const there = given[i];
    row(item.name, item.value, there, there && judge(item, there));
  });
  for (const there of missing) {
    row(there.name, 'not shown', there, { equal: false, total: 1, differing: 1 });
  }
  const heads = ['what', HERE, ...(compared ? [whose(known), 'compared'] : [])];
  const head = el('tr', {}, ...heads.map((name) => el('th', { scope: 'col' }, name)));
  return el('table', { class: compared ? 'facts compared' : 'facts' }, el('thead', {}, head), body);
}

/**
 * @param {TensorItem} item
 * @param {Printed | undefined} printed
 */
function tensorFigure(item, printed) {
  const { name, shape, parts } = item;
  const verdict = printed && judge(item, printed);
  const caption = el(
    'figcaption',
    {},
    el('span', {}, el('b', {}, name), ` ${formatList(shape)}`),
    ...(verdict ? [markOf(verdict, true)] : []),
  );
  const figure = el('figure', { class: 'result' }, caption);
  /** @type {number[]} */
  const there = printed ? [printed.value].flat(Infinity) : [];
  // Numbers can be set side by side only where there are as many.
  const fits =
    verdict && there.length === parts.reduce((sum, { values }) => sum + values.length, 0);
  const pairs = parts.map(() => el('div', { class: 'pair', 'data-cols': parts[0].cols }));
  let start = 0;
  parts.forEach((part, p) => {
    const theirs = there.slice(start, start + part.values.length);
    start += part.values.length;
    const at = part.index.length > 0 ? ` [${part.index.join(', ')}]` : '';
    const differs = (/** @type {number} */ i, /** @type {number} */ j) =>
      Boolean(fits) && !sameCell(part.values[i * part.cols + j], theirs[i * part.cols + j]);
    // Alone, the matrices stand next to each other; else each next to the document's.
    const pair = pairs[fits ? p : 0];
    const ours = partTable(item, part, HERE + at, part.values, differs);
    // Nothing stands beside it, and the figure has a name.
    if (!verdict && at === '') ours.classList.add('unnamed');
    pair.append(ours);
    if (fits && printed) {
      const table = partTable(
        item,
        part,
        whose([printed]) + at,
        Float32Array.from(theirs),
        differs,
      );
      table.classList.add('theirs');
      pair.append(table);
    }
  });
  figure.append(...pairs.filter((pair) => pair.hasChildNodes()));
  if (printed && !fits) {
    const text = JSON.stringify(printed.value);
    figure.append(el('p', { class: 'note' }, `${whose([printed])}: ${text}`));
  }
  const more = shape.slice(0, -2).reduce((product, size) => product * size, 1) - parts.length;
  if (more > 0) figure.append(el('p', { class: 'note' }, `and ${plural(more, 'more matrix')}`));
  return figure;
}

/**
 * @param {TensorItem} item
 * @param {import('./audience.js').TensorPart} part
 * @param {string} caption
 * @param {Float32Array} values
 * @param {(row: number, col: number) => boolean} differs
 */
function partTable(item, { rows, cols }, caption, values, differs) {
  const [height, width] = item.shape.length > 1 ? item.shape.slice(-2) : [1, item.shape[0] ?? 1];
  const labels = (/** @type {string[]} */ given, /** @type {number} */ count) =>
    given.length >= count
      ? given.map((label) => label.replace(/^-(?=\d)/, '\u2212'))
      : Array.from({ length: count }, (_, i) => String(i));
  const table = matrixTable(
    { shape: [height, width], rows, cols, values },
    {
      caption,
      rows: labels(item.rows, rows),
      cols: labels(item.cols, cols),
      corner: 'row',
      format: item.dtype === 'bool' ? String : formatNumber,
      differs,
    },
  );
  return el('div', { class: 'table-room' }, table);
}

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

/**
 * @param {Step} step
 * @param {Item[]} items what it has shown
 * @param {boolean} complete whether it came to its end, so that what is missing is missing
 * @returns {{ elements: HTMLElement[], equal: number }} equal: how many are as the document has them
 */
export function resultsOf({ printed }, items, complete) {
  /** @type {HTMLElement[]} */
  const elements = [];
  /** @type {ValueItem[]} */
  let facts = [];
  /** @type {Printed['by'] | undefined} of the facts: what is printed and what is derived have tables of their own */
  let by;
  const names = new Set(items.map(({ name }) => name));
  const missing = complete ? printed.filter(({ name }) => !names.has(name)) : [];
  const flush = (/** @type {Printed[]} */ rest) => {
    if (facts.length + rest.length > 0) elements.push(factsTable(facts, printed, rest));
    facts = [];
    by = undefined;
  };
  for (const item of items) {
    const there = printed.find(({ name }) => name === item.name);
    if (item.kind === 'value') {
      if (there && by && there.by !== by) flush([]);
      by = there?.by ?? by;
      facts.push(item);
      continue;
    }
    flush([]);
    elements.push(item.kind === 'tensor' ? tensorFigure(item, there) : mapsFigure(item));
  }
  flush(missing);
  const equal = printed.filter((one) => {
    const item = items.find(({ name }) => name === one.name);
    return item && judge(item, one).equal;
  });
  return { elements, equal: equal.length };
}
