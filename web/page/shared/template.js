/** Templates of the page, and the two ways in which something in them is kept up to date. */

import { html as litHtml, nothing, svg as litSvg } from 'lit-html';
import { AsyncDirective } from 'lit-html/async-directive.js';
import { Directive, directive, PartType } from 'lit-html/directive.js';
import { effect } from './signals.js';

export { nothing, render } from 'lit-html';

/**
 * A text or a number of a template. Browsers that translate the page replace text nodes by elements of their own, where lit
 * would go on to write into those, unseen: another text then gets a node of its own again.
 */
class Words extends Directive {
  /** @type {unknown} */ #now;

  /** @param {string | number} words @returns {unknown} */
  render(words) {
    return words;
  }

  /**
   * @param {import('lit-html/directive.js').ChildPart} part
   * @param {[string | number]} args
   * @override
   */
  update({ startNode, endNode }, [words]) {
    if (words !== this.#now) keepOneText(/** @type {ChildNode} */ (startNode), endNode, words);
    this.#now = words;
    return words;
  }
}

/** @param {ChildNode} start @param {Node | null} end @param {string | number} words */
function keepOneText(start, end, words) {
  const first = start.nextSibling;
  if (first === end || (first?.nodeType === Node.TEXT_NODE && first.nextSibling === end)) return;
  while (start.nextSibling && start.nextSibling !== end) start.nextSibling.remove();
  start.after(String(words));
}

const wordsOf = directive(Words);

/** @param {unknown} value */
const asWords = (value) =>
  typeof value === 'string' || typeof value === 'number' ? wordsOf(value) : value;

/** @typedef {{ strings: TemplateStringsArray, isText: readonly boolean[] }} Prepared */

/**
 * Lit takes the node behind a value for the value's end. Text there may be replaced too, a comment is not. Within a tag nothing
 * but its end may have the sign ">" before a value.
 *
 * @param {TemplateStringsArray} given
 * @returns {Prepared} isText: which values stand between tags
 */
function prepare(given) {
  let isTag = false;
  const isText = given.slice(0, -1).map((string) => {
    const at = Math.max(string.lastIndexOf('<'), string.lastIndexOf('>'));
    if (at >= 0) isTag = string[at] === '<';
    return !isTag;
  });
  const strings = given.map((string, i) =>
    isText[i - 1] && string && !string.startsWith('<') ? `<!---->${string}` : string,
  );
  return { strings: Object.assign(strings, { raw: strings }), isText };
}

/** @template {typeof litHtml | typeof litSvg} T @param {T} tag @returns {T} the tag, of templates that may be translated */
function translatable(tag) {
  /** @type {WeakMap<TemplateStringsArray, Prepared>} */
  const known = new WeakMap();
  const tagged = (
    /** @type {TemplateStringsArray} */ given,
    /** @type {unknown[]} */ ...values
  ) => {
    let prepared = known.get(given);
    if (!prepared) known.set(given, (prepared = prepare(given)));
    const { strings, isText } = prepared;
    return tag(strings, ...values.map((value, i) => (isText[i] ? asWords(value) : value)));
  };
  return /** @type {T} */ (tagged);
}

export const html = translatable(litHtml);
export const svg = translatable(litSvg);

class Drawn extends AsyncDirective {
  /** @type {() => unknown} */ #draw = () => {};
  #stop = () => {};
  #isText;

  /** @param {import('lit-html/directive.js').PartInfo} part */
  constructor(part) {
    super(part);
    this.#isText = part.type === PartType.CHILD;
  }

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
      const drawn = this.#draw();
      const value = this.#isText ? asWords(drawn) : drawn;
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

class Leaving extends AsyncDirective {
  /** @type {Element | undefined} */ #element;
  /** @type {() => void} */ #leave = () => {};

  /** @param {() => void} _leave */
  render(_leave) {}

  /**
   * @param {import('lit-html/directive.js').ElementPart} part
   * @param {[() => void]} args
   * @override
   */
  update({ element }, [leave]) {
    [this.#element, this.#leave] = [element, leave];
  }

  /** @override */
  disconnected() {
    if (this.#element?.contains(document.activeElement)) this.#leave();
  }
}

/** Turns the focus elsewhere when an element goes that has it; `nothing` must follow it, or another template. */
export const leaving = directive(Leaving);

/** A listener that takes the field in which something was chosen. @param {(field: HTMLInputElement) => void} take */
export const taking = (take) => (/** @type {Event} */ event) =>
  take(/** @type {HTMLInputElement} */ (event.target));

/**
 * @param {string} id
 * @param {readonly (readonly any[])[]} options values and words; then 'no', if they are a name or a token, which is not translated
 * @param {string} chosen if it is none of them, nothing is seen
 * @param {(value: any) => void} choose
 */
export function select(id, options, chosen, choose) {
  const isThere = options.some(([value]) => value === chosen);
  return html`<select id=${id} @change=${taking(({ value }) => choose(value))}>
    ${options.map(
      ([value, words, translate]) =>
        html`<option value=${value} translate=${translate === 'no' ? 'no' : nothing} .selected=${value === chosen}>${words}</option>`,
    )}
    ${isThere ? '' : html`<option hidden .selected=${true}></option>`}
  </select>`;
}

/** A menu with its name. @param {string} label @param {Parameters<typeof select>} args */
export const field = (label, ...args) =>
  html`<div class="field"><label for=${args[0]}>${label}</label>${select(...args)}</div>`;
