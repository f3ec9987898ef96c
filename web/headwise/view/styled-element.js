import { style } from './style.js';

/** @typedef {import('./events.js').HasEvents} HasEvents */

/** A server has no HTMLElement. The class is defined there too. */
const Base = /** @type {new () => HasEvents & HTMLElement} */ (globalThis.HTMLElement ?? class {});

/** An element with a shadow root in the map's style, whatever document it is moved to. */
export class StyledElement extends Base {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' });
    this.#dress(CSSStyleSheet);
  }

  /** @param {typeof CSSStyleSheet} Sheet of the element's document, which accepts no other document's sheets */
  #dress(Sheet) {
    const sheet = new Sheet();
    sheet.replaceSync?.(style);
    /** @type {ShadowRoot} */ (this.shadowRoot).adoptedStyleSheets = [sheet];
  }

  /** @internal */
  adoptedCallback() {
    const { defaultView } = this.ownerDocument; // null: in no window, where nothing is seen
    if (defaultView) this.#dress(defaultView.CSSStyleSheet);
  }
}

/**
 * Hands properties to their setters, which those that were set before the element was defined hide. What a setter refuses is
 * an error of the page, as where it is set later; the element is defined all the same.
 *
 * @param {Record<string, any>} element
 * @param {readonly string[]} names
 */
export function takeOwn(element, names) {
  for (const name of names.filter((each) => Object.hasOwn(element, each))) {
    const value = element[name];
    delete element[name];
    try {
      element[name] = value;
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
