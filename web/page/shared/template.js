/** Templates of the page, and the two ways in which something in them is kept up to date. */

import { html } from 'lit-html';
import { AsyncDirective } from 'lit-html/async-directive.js';
import { Directive, directive } from 'lit-html/directive.js';
import { effect } from './signals.js';

export { html, nothing, render, svg } from 'lit-html';

class Drawn extends AsyncDirective {
  /** @type {() => unknown} */ #draw = () => {};
  #stop = () => {};

  /** @param {() => unknown} draw @returns {unknown} */
  render(draw) {
    this.#draw = draw;
    return this.#begin();
  }

  #begin() {
    this.#stop();
    /** @type {unknown} */
    let first;
    let isFirst = true;
    this.#stop = effect(() => {
      const value = this.#draw();
      if (isFirst) first = value;
      else this.setValue(value);
    });
    isFirst = false;
    return first;
  }

  /** @override */
  disconnected() {
    this.#stop();
  }

  /** @override */
  reconnected() {
    this.setValue(this.#begin());
  }
}

/** A part of a template, or an attribute, that is drawn anew whenever a signal that it read has changed. */
export const drawn = directive(Drawn);

class Made extends Directive {
  /** @type {readonly unknown[] | undefined} */ #made;

  /** @param {(element: any, ...args: any[]) => void} _make @param {...unknown} _args */
  render(_make, ..._args) {}

  /**
   * @param {import('lit-html/directive.js').ElementPart} part
   * @param {Parameters<Made['render']>} args
   * @override
   */
  update({ element }, [make, ...args]) {
    const made = this.#made;
    if (made && args.every((arg, i) => Object.is(arg, made[i]))) return;
    this.#made = args;
    make(element, ...args);
  }
}

/** Does something with an element when it is made, and again whenever the arguments are others. */
export const made = directive(Made);

/** A listener that takes the field in which something was chosen. @param {(field: HTMLInputElement) => void} take */
export const taking = (take) => (/** @type {Event} */ event) =>
  take(/** @type {HTMLInputElement} */ (event.target));

/**
 * @param {string} id
 * @param {readonly (readonly any[])[]} options values and words
 * @param {string} chosen if it is none of them, nothing is seen
 * @param {(value: any) => void} choose
 */
export function select(id, options, chosen, choose) {
  const isThere = options.some(([value]) => value === chosen);
  return html`<select id=${id} @change=${taking(({ value }) => choose(value))}>
    ${options.map(
      ([value, words]) =>
        html`<option value=${value} .selected=${value === chosen}>${words}</option>`,
    )}
    ${isThere ? '' : html`<option hidden .selected=${true}></option>`}
  </select>`;
}

/** A menu with its name. @param {string} label @param {Parameters<typeof select>} args */
export const field = (label, ...args) =>
  html`<div class="field"><label for=${args[0]}>${label}</label>${select(...args)}</div>`;
