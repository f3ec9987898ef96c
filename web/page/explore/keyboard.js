/**
 * Keys that work anywhere in the room but in fields, and the dialog that lists all of them.
 *
 * @typedef {Record<string, () => void>} Keys
 */

import { hasModifier } from '../shared/dom.js';
import { isRemembered, remember } from '../shared/remember.js';
import { signal } from '../shared/signals.js';
import { drawn, html, taking } from '../shared/template.js';

const LISTED = [
  [
    '← ↑ → ↓',
    'in a map: move the cell; in the grid: go to another head; in the text: to another token, or another line',
  ],
  ['Home End', 'in a map: to the first key, to the last visible key'],
  ['Page ↑ ↓', 'in a map: ten queries up or down'],
  ['[ ]', 'previous head, next head'],
  ['{ }', 'the layer below, the layer above'],
  ['Enter', 'in a map or in the text: pin the query, and unpin the others'],
  ['P', 'pin the query of the cell too, or unpin it'],
  ['K', 'the same with the key: what attends to it'],
  ['C', 'keep this head and compare it with the next one that you choose; again: stop comparing'],
  ['X', 'clear all pins'],
  ['M', 'mute this head, or unmute it'],
  ['+ −', 'zoom in and out'],
  ['0', 'the whole map'],
  ['?', 'this list'],
];

/** Where this browser keeps that they are off. */
const OFF = 'headwise.keys-off';

/** Whether single keys act: who dictates turns them off, as words would press them (WCAG 2.1.4). */
const areOn = signal(!isRemembered(OFF, false));

/** @param {boolean} isOn */
function turn(isOn) {
  areOn.value = isOn;
  remember(OFF, !isOn);
}

/** @param {EventTarget | null} target */
const isField = (target) =>
  target instanceof Element && target.matches('input:not([type=checkbox]), textarea, select');

/** @param {HTMLElement} room @param {() => Keys} keysNow those that do something now */
export function listenToKeys(room, keysNow) {
  document.addEventListener('keydown', (event) => {
    if (!areOn.peek() || room.hidden || event.defaultPrevented || isField(event.target)) return;
    if (hasModifier(event)) return;
    if (document.querySelector('dialog[open]')) return;
    const keys = keysNow();
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** The dialog that lists the keys. */
export const help = html`<dialog id="explore-help-dialog" class="explore-help"
  aria-labelledby="explore-help-title">
  <h2 id="explore-help-title" tabindex="-1" autofocus>Keys</h2>
  <table>
    <tbody>
      ${LISTED.map(
        ([keys, words]) =>
          html`<tr>
            <th scope="row"><kbd translate="no">${keys}</kbd></th>
            <td>${words}</td>
          </tr>`,
      )}
    </tbody>
  </table>
  ${drawn(
    () =>
      html`<label class="check">
        <input type="checkbox" id="explore-keys-on" .checked=${areOn.value}
          @change=${taking(({ checked }) => turn(checked))} />
        Letters, brackets and ? work anywhere in Explore
      </label>`,
  )}
  <p class="note">
    With the pointer: a click pins a query and unpins the others; a click with Ctrl (Cmd on a Mac)
    pins it too; a click with Shift pins a key, and in the grid compares heads. Drag a zoomed map to
    move it. Zoom with Ctrl and the wheel, or with two fingers.
  </p>
  <form method="dialog"><button type="submit">Close</button></form>
</dialog>`;
