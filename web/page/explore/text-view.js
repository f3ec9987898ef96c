/**
 * The text, each token tinted by what the token in question attends to, or is attended by.
 *
 * @import { Signal } from '../shared/signals.js'
 * @import { Token } from '../types.js'
 * @import { Explorer } from './explorer.js'
 */

import { SPACE } from '../shared/tokenize.js';
import { effect, signal } from '../shared/signals.js';
import { drawn, html, made, nothing } from '../shared/template.js';

export const NEWLINE = '\u21b5';

/** The strongest tint leaves the text readable. */
export const STRONGEST = 45;

/** A token of so few characters may be too narrow for a finger. */
const NARROW = 2;

/**
 * A token as text reads: a leading space stands before it, and lines are broken where the text breaks them.
 *
 * @param {Token} token
 * @param {boolean} isApart a space stands before each
 * @param {{ at?: number, classes: unknown[], isPinned?: boolean, isStop?: boolean, tint?: number }} how at: left out: it
 *   is not yet part of the text
 */
function tokenOf({ text }, isApart, { at, classes, isPinned = false, isStop, tint = 0 }) {
  const hasSpace = text.startsWith(SPACE) && text.length > 1;
  const words = hasSpace ? text.slice(1) : text;
  const all = [...classes, words.length <= NARROW && 'narrow'].filter(Boolean);
  const space = isApart || hasSpace ? ' ' : '';
  const end = text.includes(NEWLINE) ? html`<br />` : '';
  return html`${space}<span role="option" tabindex=${isStop ? 0 : -1} data-at=${at ?? nothing}
    aria-selected=${isPinned} class=${all.join(' ')} style="--tint: ${tint}%">${words}</span>${end}`;
}

/** @param {Float32Array} weights @returns {number[]} in hundredths */
function tintsOf(weights) {
  const most = weights.reduce((largest, weight) => Math.max(largest, Math.abs(weight)), 0);
  return Array.from(weights, (weight) =>
    most > 0 ? Math.round((STRONGEST * Math.abs(weight)) / most) : 0,
  );
}

/** @param {Event} event @returns {number} the token; −1: none that is part of the text */
const tokenAt = ({ target }) => Number((target instanceof HTMLElement && target.dataset.at) || -1);

/** What is done to the text. @param {Explorer} room @param {Signal<number>} stop the token that Tab reaches */
function actionsOf({ focus, choices, run }, stop) {
  /** @param {number} at @param {boolean} hasShift */
  const choose = (at, hasShift) => {
    if (at < 0) return;
    stop.value = at;
    choices.pin({ side: hasShift ? 'key' : 'query', token: at });
  };
  return {
    point(/** @type {Event} */ event) {
      const target = /** @type {Element} */ (event.target);
      const isMeant = event.type !== 'focusin' || target.matches(':focus-visible');
      if (tokenAt(event) >= 0 && isMeant) focus.set({ query: tokenAt(event) }, stop);
    },
    leave: () => focus.clear(stop),
    click: (/** @type {MouseEvent} */ event) => choose(tokenAt(event), event.shiftKey),
    key(/** @type {KeyboardEvent} */ event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const last = (run.peek()?.n ?? 1) - 1;
      const at = Math.min(stop.value, last);
      /** @type {Record<string, number>} */
      const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
      const text = /** @type {HTMLElement} */ (event.currentTarget);
      if (event.key === 'Enter' || event.key === ' ') {
        choose(at, event.shiftKey);
      } else if (event.key in places) {
        stop.value = Math.max(0, Math.min(last, places[event.key]));
        /** @type {HTMLElement} */ (text.querySelector('[tabindex="0"]')).focus();
      } else {
        return;
      }
      event.preventDefault();
    },
  };
}

/** @param {Explorer} room @param {number} stop the token that Tab reaches */
function tokensOf({ run, place, line, pins, written, isApart, draft }, stop) {
  const now = run.value;
  if (!now) return '';
  const answer = line.answer.value;
  const tints = answer?.run === now ? tintsOf(answer.line) : [];
  const pinned = new Set(pins.value.map(({ token }) => token));
  const begun = draft.value?.run === now ? draft.value.tokens : [];
  const tokens = now.tokens.map((token, at) => {
    const classes = [
      at >= now.n - written.value && 'written',
      at === answer?.subject.token && 'about',
      at === place.value.query && 'is-query',
      at === place.value.key && 'is-key',
    ];
    const isStop = at === Math.min(stop, now.n - 1);
    const how = { at, classes, isPinned: pinned.has(at), isStop, tint: tints[at] };
    return tokenOf(token, isApart.value, how);
  });
  return [
    ...tokens,
    ...begun.map((token) => tokenOf(token, isApart.value, { classes: ['written'] })),
  ];
}

/** @param {Explorer} room */
export function textView(room) {
  const stop = signal(0);
  const { point, leave, click, key } = actionsOf(room, stop);
  /** What is written stays in sight. @param {HTMLElement} text */
  const follow = (text) =>
    effect(() => {
      if (room.draft.value) requestAnimationFrame(() => text.scrollTo(0, text.scrollHeight));
    });
  return html`<div id="explore-text" class="explore-text" role="listbox" aria-multiselectable="true"
    aria-label="Tokens: choose one to pin it" ?hidden=${drawn(() => !room.run.value)}
    @pointerover=${point} @pointerleave=${leave} @focusin=${point} @focusout=${leave}
    @click=${click} @keydown=${key} ${made(follow)}>${drawn(() => tokensOf(room, stop.value))}</div>`;
}

/** What the text is tinted by. @param {Explorer} room */
export const tintNote = ({ line }) =>
  drawn(() => {
    const { run, subject, title } = line.answer.value ?? {};
    if (!run || !subject) return '';
    const name = `“${run.tokens[subject.token].text}” (${subject.token + 1})`;
    return subject.side === 'query'
      ? `Tinted: what ${name} attends to. ${title}.`
      : `Tinted: who attends to ${name}. ${title}.`;
  });
