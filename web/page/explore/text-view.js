/**
 * The text, each token tinted by what the token in question attends to, or is attended by.
 *
 * @import { Token } from '../types.js'
 * @import { Pin } from './address.js'
 * @import { Focus } from './focus.js'
 */

import { el } from '../dom.js';
import { SPACE } from '../engine/tokenize.js';
import { onceAFrame } from './newest.js';

export const NEWLINE = '\u21b5';

/** The strongest tint leaves the text readable. */
export const STRONGEST = 45;

/** A token of so few characters may be too narrow for a finger. */
const NARROW = 2;

/** @param {Token} token @param {number} at −1: not yet part of the text @param {boolean} isWritten */
function tokenOf({ text }, at, isWritten) {
  const words = text.startsWith(SPACE) && text.length > 1 ? text.slice(1) : text;
  const element = el(
    'span',
    { role: 'option', tabindex: -1, 'data-at': at >= 0 && at, 'aria-selected': 'false' },
    words,
  );
  element.classList.toggle('written', isWritten);
  element.classList.toggle('narrow', words.length <= NARROW);
  return element;
}

/**
 * A token as text reads: a leading space stands before it, and lines are broken where the text breaks them.
 *
 * @param {HTMLElement} element
 * @param {Token} token
 * @param {boolean} isApart a space stands before each
 */
function inText(element, { text }, isApart) {
  const space = isApart || (text.startsWith(SPACE) && text.length > 1) ? [' '] : [];
  const end = text.includes(NEWLINE) ? [el('br')] : [];
  return [...space, element, ...end];
}

export class TextView {
  #room;
  #focus;
  #pin;
  /** @type {HTMLElement[]} */ #tokens = [];
  /** @type {readonly Pin[]} */ #pins = [];
  #isApart = false;
  /** The one that Tab reaches. */
  #stop = 0;
  #schedule = onceAFrame(() => this.#mark());

  /**
   * @param {HTMLElement} room a listbox
   * @param {Focus} focus
   * @param {(pin: Pin) => void} pin
   */
  constructor(room, focus, pin) {
    this.#room = room;
    this.#focus = focus;
    this.#pin = pin;
    focus.subscribe(this.#schedule);
    room.addEventListener('pointerover', ({ target }) => {
      const at = this.#at(target);
      if (at >= 0) focus.set({ query: at }, this);
    });
    room.addEventListener('pointerleave', () => focus.clear(this));
    room.addEventListener('focusin', ({ target }) => {
      const at = this.#at(target);
      if (at >= 0 && room.querySelector(':focus-visible')) focus.set({ query: at }, this);
    });
    room.addEventListener('focusout', () => focus.clear(this));
    room.addEventListener('click', (event) => this.#choose(this.#at(event.target), event.shiftKey));
    room.addEventListener('keydown', (event) => this.#key(event));
  }

  /**
   * @param {readonly Token[]} tokens
   * @param {object} how
   * @param {number} how.written how many of them, at the end, the model wrote
   * @param {boolean} how.isApart they are words or numbers of their own
   */
  show(tokens, { written, isApart }) {
    this.#isApart = isApart;
    const first = tokens.length - written;
    this.#tokens = tokens.map((token, i) => tokenOf(token, i, i >= first));
    this.#room.replaceChildren(
      ...tokens.flatMap((token, i) => inText(this.#tokens[i], token, isApart)),
    );
    this.#moveStop(Math.min(this.#stop, tokens.length - 1));
    this.pins = this.#pins;
  }

  /** Shows a token that was written before it is part of the text. @param {Token} token */
  append(token) {
    this.#room.append(...inText(tokenOf(token, -1, true), token, this.#isApart));
    this.#room.scrollTop = this.#room.scrollHeight;
  }

  /** @param {readonly Pin[]} pins */
  set pins(pins) {
    this.#pins = pins;
    this.#tokens.forEach((token, i) => {
      const pinned = pins.some((pin) => pin.token === i);
      token.setAttribute('aria-selected', String(pinned));
    });
    this.#schedule();
  }

  /**
   * @param {Float32Array} weights
   * @param {number} about the token in question
   */
  tint(weights, about) {
    const most = weights.reduce((largest, weight) => Math.max(largest, Math.abs(weight)), 0);
    this.#tokens.forEach((token, i) => {
      const share = most > 0 ? Math.abs(weights[i]) / most : 0;
      token.style.setProperty('--tint', `${Math.round(STRONGEST * share)}%`);
      token.classList.toggle('about', i === about);
    });
  }

  #mark() {
    const { query, key } = this.#focus.place;
    for (const [name, at] of /** @type {const} */ ([
      ['is-query', query],
      ['is-key', key],
    ])) {
      this.#room.querySelector(`.${name}`)?.classList.remove(name);
      this.#tokens[at]?.classList.add(name);
    }
  }

  /** @param {EventTarget | null} target */
  #at(target) {
    return target instanceof HTMLElement && target.dataset.at !== undefined
      ? Number(target.dataset.at)
      : -1;
  }

  /** @param {number} at @param {boolean} hasShift */
  #choose(at, hasShift) {
    if (at < 0) return;
    this.#moveStop(at);
    this.#pin({ side: hasShift ? 'key' : 'query', token: at });
  }

  /** @param {number} at */
  #moveStop(at) {
    this.#tokens[this.#stop]?.setAttribute('tabindex', '-1');
    this.#stop = Math.max(0, at);
    this.#tokens[this.#stop]?.setAttribute('tabindex', '0');
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#tokens.length - 1;
    const at = this.#stop;
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    if (event.key === 'Enter' || event.key === ' ') {
      this.#choose(at, event.shiftKey);
    } else if (event.key in places) {
      this.#moveStop(Math.max(0, Math.min(last, places[event.key])));
      this.#tokens[this.#stop].focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}
