/**
 * The tokens in a row; in the example each with its embedding.
 *
 * @import { Matrix, Token } from '../types.js'
 */

import { el } from '../shared/dom.js';
import { plural } from '../shared/format.js';

/** @param {HTMLElement} room @param {Token[]} tokens @param {Matrix | null} inputs */
export function showTokens(room, tokens, inputs) {
  const list = el('ol', { class: 'token-list', translate: 'no' });
  tokens.forEach(({ id, text }, i) => {
    const item = el('li', {}, el('span', { class: 'token' }, text));
    if (id !== null) {
      item.append(el('span', { class: 'token-id' }, String(id)));
    }
    if (inputs) {
      const { cols, values } = inputs;
      const vector = Array.from(values.subarray(i * cols, (i + 1) * cols));
      const numbers = vector.map((value) => value.toFixed(2)).join(' ');
      item.append(el('span', { class: 'token-vector' }, numbers));
    }
    list.append(item);
  });
  room.setAttribute('aria-label', plural(tokens.length, 'token'));
  room.replaceChildren(list);
}
