/**
 * The pinned tokens, or the one in question, each with what it attends to or is attended to by.
 *
 * @import { Pin } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 *
 * @typedef {{ pin: Pin, weights: Float32Array, isPinned: boolean, others?: Float32Array, names?: string[] }} Card others: of
 *   the map that is compared; names: both maps'
 */

import { formatCount, formatWeight } from '../shared/format.js';
import { drawn, html } from '../shared/template.js';
import { bar, tokenName } from './bars.js';
import { colourOf } from './pin-colours.js';

/** Tokens in a card; with several cards fewer. */
const MOST = 6;
const MOST_OF_SEVERAL = 4;

const TITLES = { query: 'attends to', key: 'is attended to by' };

/** Goes to a token in the text. @param {number | undefined} at */
export const focusToken = (at) =>
  /** @type {HTMLElement | null} */ (
    document.querySelector(`#explore-text [data-at="${at}"]`)
  )?.focus({ preventScroll: true });

/**
 * Lets a pin go. Its button goes too, unless the next pin's takes its place.
 *
 * @param {Explorer} room
 * @param {Pin} pin
 * @param {Event} event
 */
function unpin({ choices }, pin, { currentTarget }) {
  const card = /** @type {Element} */ (currentTarget).closest('.pin-card');
  /** @type {HTMLElement | null | undefined} */
  const before = card?.previousElementSibling?.querySelector('.unpin');
  choices.unpin(pin);
  if (card?.nextElementSibling) return;
  if (before) before.focus({ preventScroll: true });
  else focusToken(pin.token);
}

/** What the tokens have that are not listed. @param {number[]} rest @param {Pick<Card, 'weights' | 'others' | 'names'>} card */
function restWords(rest, { weights, others, names }) {
  const of = (/** @type {Float32Array} */ line) =>
    formatWeight(rest.reduce((sum, i) => sum + line[i], 0));
  const count = formatCount(rest.length);
  return others && names
    ? `${count} more together: ${of(weights)} (${names[0]}), ${of(others)} (${names[1]})`
    : `${count} more: ${of(weights)} together`;
}

/** @param {Explorer} room @param {RunSummary} run @param {Card} card @param {number} most */
function cardOf(room, { tokens }, { pin, weights, isPinned, others, names }, most) {
  const { focus, choices } = room;
  const { side, token } = pin;
  const sizeOf = (/** @type {number} */ i) =>
    Math.max(Math.abs(weights[i]), Math.abs(others?.[i] ?? 0));
  const keys = Array.from(weights, (_, i) => i)
    .filter((i) => sizeOf(i) !== 0)
    .sort((a, b) => sizeOf(b) - sizeOf(a) || a - b);
  const largest = keys.length > 0 ? sizeOf(keys[0]) : 0;
  const more = keys.length > most ? restWords(keys.slice(most), { weights, others, names }) : '';
  const other = side === 'query' ? 'key' : 'query';
  const name = tokens[token].text;
  const point = (/** @type {number} */ i) =>
    focus.set(side === 'query' ? { query: token, key: i } : { query: i, key: token }, cardOf);
  return html`<div class="pin-card" style="--pin: ${isPinned ? colourOf(room.pins.value, pin) : 'var(--accent)'}">
    <div class="part-head">
      <h3>${tokenName(tokens[token], token)}${` ${TITLES[side]}`}</h3>
      <span class="pin-tools">
        <button type="button" class="quiet" aria-label="Show what ${name} ${TITLES[other]}"
          title="${TITLES[other]} …" @click=${() => choices.turn(pin)}>⇄</button>
        <button type="button" class="quiet unpin" aria-label="Unpin ${name}" ?hidden=${!isPinned}
          @click=${(/** @type {Event} */ event) => unpin(room, pin, event)}>×</button>
      </span>
    </div>
    <table class="bars ${names ? 'of-two' : ''}" aria-label="${name} ${TITLES[side]}">
      ${
        names
          ? html`<thead>
              <tr>
                <td></td>
                <td></td>
                ${names.map((one) => html`<th scope="col">${one}</th>`)}
              </tr>
            </thead>`
          : ''
      }
      <tbody>
        ${keys.slice(0, most).map(
          (i) =>
            html`<tr @pointerenter=${() => point(i)} @pointerleave=${() => focus.clear(cardOf)}>
              <th scope="row">${tokenName(tokens[i], i)}</th>
              <td class="bar-cell">
                ${bar(Math.abs(weights[i]), largest)}
                ${others ? bar(Math.abs(others[i]), largest, 'before') : ''}
              </td>
              <td translate="no">${formatWeight(weights[i])}</td>
              ${others ? html`<td translate="no">${formatWeight(others[i])}</td>` : ''}
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="note">${keys.length === 0 ? 'Nothing: every weight is 0.' : more}</p>
  </div>`;
}

/** @param {Explorer} room */
export const pinCards = (room) =>
  drawn(() => {
    const { run, cards = [] } = room.line.answer.value ?? {};
    const most = cards.length > 1 ? MOST_OF_SEVERAL : MOST;
    return run && cards.map((card) => cardOf(room, run, card, most));
  });
