// Stand-ins for what a browser gives the page: a Worker that answers when a test tells it to, and the few parts of the DOM
// that a grid of canvases uses.
import { Endpoint } from '../web/headwise/worker/endpoint.js';
import { PageError } from '../web/page/shared/errors.js';

/** @typedef {{ name: string, args: any[], resolve: (result: unknown) => void, reject: (error: Error) => void }} Asked */

/** A Worker whose script is the test: it keeps what it is asked, and answers when it is told to. */
export class FakeWorker extends EventTarget {
  /** All that were made since `reset`. @type {FakeWorker[]} */
  static all = [];
  /** What it was asked, in order. @type {Asked[]} */ asked = [];
  isTerminated = false;
  #endpoint = new Endpoint((message) => {
    if (this.isTerminated) return;
    this.dispatchEvent(new MessageEvent('message', { data: structuredClone(message) }));
  }, this.#room());

  constructor() {
    super();
    FakeWorker.all.push(this);
  }

  /** @returns {Worker} */
  static start() {
    return /** @type {any} */ (new FakeWorker());
  }

  /** @returns {FakeWorker} the one that was made last */
  static get last() {
    return FakeWorker.all[FakeWorker.all.length - 1];
  }

  static reset() {
    FakeWorker.all = [];
  }

  /** An object that has every method. */
  #room() {
    /** @type {(name: string, args: unknown[]) => Promise<unknown>} */
    const ask = (name, args) =>
      new Promise((resolve, reject) => this.asked.push({ name, args, resolve, reject }));
    return new Proxy(
      {},
      {
        get:
          (_, name) =>
          (/** @type {unknown[]} */ ...args) =>
            ask(String(name), args),
      },
    );
  }

  /** @param {unknown} message a copy arrives, as in a Worker */
  postMessage(message) {
    const copy = structuredClone(message);
    if (!this.isTerminated) this.#endpoint.hear(copy);
  }

  terminate() {
    this.isTerminated = true;
  }

  /** What was asked of a method, in order. @param {string} name */
  calls(name) {
    return this.asked.filter((asked) => asked.name === name);
  }

  /** @param {string} name */
  newest(name) {
    return /** @type {Asked} */ (this.calls(name).at(-1));
  }

  /** Answers the newest call of a method. @param {string} name @param {unknown} result */
  answer(name, result) {
    this.newest(name).resolve(result);
  }

  /** Refuses the newest call of a method. @param {string} name @param {string} code */
  refuse(name, code) {
    this.newest(name).reject(new PageError(code, `no ${name}`));
  }

  /** Ends as a crash does. @param {string} [message] @returns {Event} */
  crash(message = '') {
    const event = Object.assign(new Event('error', { cancelable: true }), { message });
    this.dispatchEvent(event);
    return event;
  }
}

/** As much of a Storage as is used: its texts are its own properties, as a browser's are. */
export class FakeStorage {
  /** @type {any} */
  #own = this;

  /** @param {string} name */
  getItem(name) {
    return this.#own[name] ?? null;
  }

  /** @param {string} name @param {string} text */
  setItem(name, text) {
    this.#own[name] = text;
  }

  /** @param {string} name */
  removeItem(name) {
    delete this.#own[name];
  }
}

/** Enough of an element for a button, a label and a canvas. */
export class FakeElement extends EventTarget {
  /** @type {Record<string, string>} */ dataset = {};
  /** @type {Record<string, string>} */ attributes = {};
  /** @type {Record<string, any>} */ style = {
    setProperty() {},
    getPropertyValue: () => '',
    getPropertyPriority: () => '',
  };
  /** @type {(FakeElement | string)[]} */ children = [];
  /** What was put on the canvas. @type {{ source: any, image?: any }[]} */ drawn = [];
  width = 0;
  height = 0;

  /** @param {string} name @param {number} side of a canvas, in CSS pixels */
  constructor(name, side = 0) {
    super();
    this.name = name;
    this.clientWidth = side;
    this.clientHeight = side;
  }

  /** @param {string} key @param {string} value */
  setAttribute(key, value) {
    this.attributes[key] = value;
  }

  /** @param {...(FakeElement | string)} children */
  append(...children) {
    this.children.push(...children);
  }

  /** @param {...(FakeElement | string)} children */
  replaceChildren(...children) {
    this.children = children;
  }

  /** @returns {string} */
  get textContent() {
    return this.children
      .map((child) => (typeof child === 'string' ? child : child.textContent))
      .join('');
  }

  click() {
    this.dispatchEvent(new Event('click'));
  }

  /** A context that keeps the images it is given and draws nothing. */
  getContext() {
    const nothing = () => {};
    return {
      ...{ canvas: this, fillRect: nothing, stroke: nothing, beginPath: nothing },
      ...{ moveTo: nothing, lineTo: nothing, clearRect: nothing, createPattern: nothing },
      putImageData: (/** @type {any} */ image) => (this.image = image),
      drawImage: (/** @type {any} */ source) =>
        this.drawn.push({ source, image: source.image ?? undefined }),
    };
  }
}

/**
 * Puts a document of fakes in the place of the browser's.
 * @param {{ canvasSide: number, ratio: number }} screen
 */
export function installDocument({ canvasSide, ratio }) {
  Object.assign(globalThis, {
    document: {
      createElement: (/** @type {string} */ name) =>
        new FakeElement(name, name === 'canvas' ? canvasSide : 0),
    },
    devicePixelRatio: ratio,
    getComputedStyle: () => ({ color: 'rgb(0, 0, 0)' }),
    ImageData: class {
      /** @param {number} width @param {number} height */
      constructor(width, height) {
        Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
      }
    },
  });
}
