/**
 * The pinned tokens, each with what it reads from or is read by.
 *
 * @import { Token } from '../types.js'
 * @import { Pin } from './address.js'
 * @import { Focus } from './focus.js'
 *
 * @typedef {{ pin: Pin, weights: Float32Array, isPinned: boolean }} Card
 */

import { el } from '../dom.js';
import { formatCount, formatWeight } from '../format.js';

/** Tokens in a card; with several cards fewer. */
const MOST = 8;
const MOST_OF_SEVERAL = 5;

const TITLES = { query: 'reads from', key: 'is read by' };

/** @param {number} weight */
const signed = (weight) => (weight < 0 ? `−${formatWeight(-weight)}` : formatWeight(weight));

/**
 * @param {HTMLElement} room
 * @param {Focus} focus
 * @param {object} on
 * @param {(pin: Pin) => void} on.turn shows the other side of a pin
 * @param {(pin: Pin) => void} on.unpin
 */
export function createPins(room, focus, on) {
  /** @param {Token[]} tokens @param {Card} card @param {number} most */
  const cardOf = (tokens, { pin, weights, isPinned }, most) => {
    const { side, token } = pin;
    const keys = Array.from(weights, (_, i) => i)
      .filter((i) => weights[i] !== 0)
      .sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]) || a - b);
    const shown = keys.slice(0, most);
    const largest = Math.abs(weights[shown[0]] ?? 0);
    const rows = shown.map((i) => {
      const bar = el('span', { class: 'bar' });
      bar.style.setProperty('--share', String(largest > 0 ? Math.abs(weights[i]) / largest : 0));
      const row = el(
        'tr',
        {},
        el(
          'th',
          { scope: 'row' },
          el('span', { class: 'token' }, tokens[i].text),
          el('span', { class: 'at' }, formatCount(i + 1)),
        ),
        el('td', { class: 'bar-cell' }, bar),
        el('td', {}, signed(weights[i])),
      );
      row.addEventListener('pointerenter', () =>
        focus.set(side === 'query' ? { query: token, key: i } : { query: i, key: token }, room),
      );
      row.addEventListener('pointerleave', () => focus.clear(room));
      return row;
    });
    const rest = keys.slice(most).reduce((sum, i) => sum + weights[i], 0);
    const note =
      keys.length > most
        ? `${formatCount(keys.length - most)} more: ${signed(rest)} together`
        : keys.length === 0
          ? 'Nothing: every weight is 0.'
          : '';
    const other = side === 'query' ? 'key' : 'query';
    const name = tokens[token].text;
    const turn = el(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Show what ${name} ${TITLES[other]}` },
      '⇄',
    );
    turn.title = `${TITLES[other]} …`;
    turn.addEventListener('click', () => on.turn(pin));
    const unpin = el(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Unpin ${name}` },
      '×',
    );
    unpin.addEventListener('click', () => on.unpin(pin));
    return el(
      'div',
      { class: 'pin-card' },
      el(
        'div',
        { class: 'part-head' },
        el(
          'h3',
          {},
          el('span', { class: 'token' }, name),
          el('span', { class: 'at' }, formatCount(token + 1)),
          ` ${TITLES[side]}`,
        ),
        el('span', { class: 'pin-tools' }, turn, ...(isPinned ? [unpin] : [])),
      ),
      el('table', { class: 'bars' }, el('tbody', {}, ...rows)),
      el('p', { class: 'note' }, note),
    );
  };

  /** What the cards were made of. @type {unknown[]} */
  let shown = [];

  return {
    /** @param {Token[]} tokens @param {Card[]} cards */
    show(tokens, cards) {
      const wanted = [
        tokens,
        ...cards.flatMap(({ pin, weights, isPinned }) => [pin.side, pin.token, weights, isPinned]),
      ];
      // A card under the pointer stays the same element while it says the same.
      if (wanted.length === shown.length && wanted.every((part, i) => part === shown[i])) return;
      shown = wanted;
      const most = cards.length > 1 ? MOST_OF_SEVERAL : MOST;
      const buttons = () => [...room.querySelectorAll('button')];
      const focused = buttons().findIndex((button) => button === document.activeElement);
      room.replaceChildren(...cards.map((card) => cardOf(tokens, card, most)));
      buttons()[focused]?.focus();
    },
  };
}
