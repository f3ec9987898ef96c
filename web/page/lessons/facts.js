/**
 * Numbers, shapes and truth values that a step shows: a row each. Shapes that are as the document has them share a line.
 *
 * @import { ValueItem } from './audience.js'
 * @import { Verdict } from './check.js'
 * @import { Printed } from './parse.js'
 */

import { el } from '../shared/dom.js';
import { judge } from './check.js';
import { formatList, formatValue, HERE, markOf, whose } from './words.js';

/** @param {unknown} value */
const isShape = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one));

/** @param {Printed[]} printed @param {string} name */
const knownAs = (printed, name) => printed.find((one) => one.name === name);

/** @param {ValueItem[]} shapes all of them equal to the document's */
const shapesLine = (shapes) =>
  el(
    'p',
    { class: 'shapes' },
    el('span', { class: 'mark', title: 'as expected' }, '✓'),
    ' ',
    ...shapes.flatMap(({ name, value }, i) => [
      i > 0 ? ' · ' : '',
      el(
        'span',
        { translate: 'no' },
        `${name} `,
        el('code', {}, formatList(/** @type {number[]} */ (value))),
      ),
    ]),
  );

/** @param {unknown} value @param {unknown} other what it is set against */
const cell = (value, other, colspan = 1) => {
  const isNumber = typeof value === 'number';
  return el(
    'td',
    { class: isNumber ? 'unbroken' : '', colspan, translate: 'no' },
    formatValue(value, other),
  );
};

/**
 * @param {ValueItem[]} items
 * @param {Printed[]} printed of the step
 * @param {Printed[]} missing what is not shown
 * @param {boolean} changed
 */
function factsTable(items, printed, missing, changed) {
  const given = items.map(({ name }) => knownAs(printed, name));
  const known = [...given.filter((one) => one !== undefined), ...missing];
  const compared = known.length > 0;
  const body = el('tbody');
  /**
   * @param {string} name
   * @param {unknown} here
   * @param {Printed | undefined} there
   * @param {Verdict | undefined} verdict
   * @param {string} [words] in place of the verdict's
   */
  const row = (name, here, there, verdict, words) => {
    const line = el('tr', {}, el('th', { scope: 'row' }, name));
    if (there && verdict) {
      const mark = markOf(verdict, { changed, words });
      line.append(cell(here, there.value), cell(there.value, here), el('td', {}, mark));
    } else {
      line.append(cell(here, there?.value, compared ? 3 : 1));
    }
    body.append(line);
  };
  items.forEach((item, i) => {
    const there = given[i];
    row(item.name, item.value, there, there && judge(item, there));
  });
  for (const there of missing) {
    row(there.name, 'not shown', there, { equal: false, total: 1, differing: 1 }, 'missing');
  }
  const heads = ['what', HERE, ...(compared ? [whose(known), 'compared'] : [])];
  const head = el('tr', {}, ...heads.map((name) => el('th', { scope: 'col' }, name)));
  return el('table', { class: compared ? 'facts compared' : 'facts' }, el('thead', {}, head), body);
}

/**
 * @param {ValueItem[]} items one after another
 * @param {Printed[]} printed of the step
 * @param {Printed[]} missing what is not shown
 * @param {boolean} changed
 * @returns {HTMLElement[]}
 */
export function factsOf(items, printed, missing, changed) {
  const isKnownShape = (/** @type {ValueItem} */ item) => {
    const there = knownAs(printed, item.name);
    return there && isShape(item.value) && judge(item, there).equal;
  };
  const shapes = items.filter(isKnownShape);
  const others = items.filter((item) => !isKnownShape(item));
  const elements = [];
  if (shapes.length > 0) elements.push(shapesLine(shapes));
  if (others.length + missing.length > 0) {
    elements.push(factsTable(others, printed, missing, changed));
  }
  return elements;
}
