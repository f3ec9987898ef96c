/**
 * One row of a map, read out: whom a token attends to, the most first.
 *
 * @import { Token } from '../types.js'
 */

import { el } from '../shared/dom.js';
import { formatCount, formatWeight, plural } from '../shared/format.js';

const MOST = 12;

/**
 * @param {HTMLElement} room
 * @param {object} row
 * @param {Token[]} row.tokens
 * @param {Float32Array} row.values
 * @param {number} row.visible how many keys the row may attend to
 * @param {number} row.max the value at the scale's end
 * @param {boolean} row.inOrder in the sentence's order instead
 * @param {string} row.noun of what its values are
 */
export function showRow(room, { tokens, values, visible, max, inOrder, noun }) {
  const keys = Array.from({ length: visible }, (_, key) => key);
  if (!inOrder) keys.sort((a, b) => values[b] - values[a] || a - b);
  const shown = keys.slice(0, MOST);
  const body = el('tbody');
  for (const key of shown) {
    const bar = el('span', { class: 'bar' });
    const share = max > 0 ? values[key] / max : 0;
    bar.style.setProperty('--share', String(Math.min(1, share)));
    body.append(
      el(
        'tr',
        {},
        el(
          'th',
          { scope: 'row' },
          // Isolated: a token that is read from the right leaves its number in place.
          el('bdi', { class: 'token', translate: 'no' }, tokens[key].text),
          ...(inOrder ? [] : [el('span', { class: 'at' }, String(key + 1))]),
        ),
        el('td', { class: 'bar-cell' }, bar),
        el('td', { translate: 'no' }, formatWeight(values[key])),
      ),
    );
  }
  const head = el(
    'thead',
    { class: 'visually-hidden' },
    el('tr', {}, el('th', { scope: 'col' }, 'key'), el('td'), el('th', { scope: 'col' }, noun)),
  );
  const parts = [el('table', { class: 'bars' }, head, body)];
  /** @type {string[]} */
  const notes = [];
  if (visible > MOST) {
    let rest = 0;
    for (const key of keys.slice(MOST)) rest += values[key];
    const others = plural(visible - MOST, 'more key has', 'more keys share');
    notes.push(`${others} ${formatWeight(rest)}.`);
  }
  const masked = tokens.length - visible;
  if (masked > 0) {
    notes.push(`${formatCount(masked)} later ${masked === 1 ? 'token is' : 'tokens are'} masked.`);
  }
  room.replaceChildren(...parts, el('p', { class: 'note' }, notes.join(' ')));
}
