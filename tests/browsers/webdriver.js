// WebKitGTK by WebDriver (W3C), with as much of puppeteer's Page as the tests of the page use: puppeteer drives Chromium
// and Firefox only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** What WebDriver calls a reference to an element. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Keys with a name, as WebDriver writes them. @type {Record<string, string>} */
const KEYS = {
  ...{ Tab: '\uE004', Enter: '\uE007', Control: '\uE009', Shift: '\uE008', Escape: '\uE00C' },
  ...{ ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015' },
  ...{
    Home: '\uE011',
    End: '\uE010',
    PageUp: '\uE00E',
    PageDown: '\uE00F',
    Backspace: '\uE003',
    Delete: '\uE017',
  },
};

/** In ms, what a script and a load may take. */
const TIMEOUTS = { script: 120_000, pageLoad: 60_000 };

/** In ms, after which the driver is taken for stuck. */
const PATIENCE = 150_000;

/** In ms, what the start of a session may take. */
const START = 30_000;

/** Of a window, in pixels: one that is asked to be narrower is so wide. */
export const LEAST_WIDTH = 450;

/** In ms, what a window's new size may take. */
const SIZED = 10_000;

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns {Promise<number>} a port that nobody listens on */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** An X server of its own. @returns {Promise<{ display: string, close(): void }>} */
async function startDisplay() {
  const child = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const out = /** @type {import('node:stream').Readable} */ (child.stdio[3]);
  const said = once(out, 'data', { signal: AbortSignal.timeout(START) }).catch((cause) => {
    child.kill('SIGKILL');
    throw new Error(`Xvfb named no display within ${START / 1000} s`, { cause });
  });
  const [number] = await Promise.race([said, failed]);
  return { display: `:${String(number).trim()}`, close: () => void child.kill() };
}

/** A browser that WebKitWebDriver drives. */
export class WebKitBrowser {
  #address = '';
  #binary;
  #display;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #driver;
  /** Of the one window that all pages use in turn: its start takes longer than most tests. */
  #session = '';

  /** @param {string} binary MiniBrowser's path @param {Awaited<ReturnType<typeof startDisplay>>} display */
  constructor(binary, display) {
    this.#binary = binary;
    this.#display = display;
  }

  /** @param {string} binary */
  static async launch(binary) {
    const browser = new WebKitBrowser(binary, await startDisplay());
    await browser.#startDriver();
    return browser;
  }

  async #startDriver() {
    const port = await freePort();
    const env = {
      ...process.env,
      DISPLAY: this.#display.display,
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
    };
    this.#driver = spawn('WebKitWebDriver', [`--port=${port}`], { env, stdio: 'ignore' });
    this.#address = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 100; tries++) {
      const answer = await fetch(`${this.#address}/status`, {
        signal: AbortSignal.timeout(START),
      }).catch(() => undefined);
      if (answer?.ok) return;
      await pause(50);
    }
    await this.close();
    throw new Error('WebKitWebDriver does not answer');
  }

  /** One at a time: WebKitWebDriver has one session, and the session one window. */
  async newPage() {
    this.#session ||= await this.#begin();
    return new WebKitPage(this.#session);
  }

  /** @returns {Promise<string>} the address of a new session */
  async #begin() {
    const options = { binary: this.#binary, args: ['--automation'] };
    const capabilities = {
      alwaysMatch: { 'webkitgtk:browserOptions': options, timeouts: TIMEOUTS },
    };
    const begin = () => command(this.#address, 'POST', '/session', { capabilities }, START);
    const { sessionId } = await begin().catch(async (error) => {
      if (!error.cause) throw error;
      // One start in some hundreds is never answered; another driver's is.
      this.#driver?.kill('SIGKILL');
      await this.#startDriver();
      return begin();
    });
    return `${this.#address}/session/${sessionId}`;
  }

  async version() {
    return 'WebKitGTK';
  }

  async close() {
    if (this.#session) await command(this.#session, 'DELETE', '').catch(() => {});
    this.#driver?.kill();
    this.#display.close();
  }
}

/**
 * @param {string} address
 * @param {'GET' | 'POST' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {number} [patience] in ms
 */
async function command(address, method, path, body, patience = PATIENCE) {
  const init = method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {};
  const signal = AbortSignal.timeout(patience);
  const response = await fetch(address + path, { method, signal, ...init }).catch((cause) => {
    throw new Error(`WebDriver ${path}: no answer`, { cause });
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`WebDriver ${path}: ${value.error}: ${value.message}`);
  return value;
}

/**
 * Functions go to the page as their text; text is an expression, or a block, whose last value is lost here.
 *
 * @param {((...args: any[]) => any) | string} body
 */
function textOf(body) {
  if (typeof body !== 'string') return String(body);
  return body.startsWith('{') ? `() => ${body}` : `() => (${body})`;
}

/** Puppeteer's selectors: >>> goes into shadow roots. */
const FIND = `(selector, all) => {
  const [first, ...inner] = selector.split('>>>').map((part) => part.trim());
  const found = inner.reduce(
    (elements, part) => elements.flatMap((element) => [...element.shadowRoot.querySelectorAll(part)]),
    [...document.querySelectorAll(first)],
  );
  return all ? found : (found[0] ?? null);
}`;

/** Runs in the page, told where its answer goes. */
const HARNESS = `
  const done = arguments[arguments.length - 1];
  const args = [...arguments].slice(0, -1);
  Promise.resolve()
    .then(() => run(...args))
    .then((value) => done({ value }), (error) => done({ error: String(error?.stack ? error + '\\n' + error.stack : error) }));
`;

/** What of puppeteer's Page the tests use. Console, network and media cannot be seen or set by WebDriver. */
export class WebKitPage {
  #address;

  /** @param {string} address of the session */
  constructor(address) {
    this.#address = address;
    this.keyboard = {
      down: (/** @type {string} */ key) =>
        this.#keys([{ type: 'keyDown', value: KEYS[key] ?? key }]),
      up: (/** @type {string} */ key) => this.#keys([{ type: 'keyUp', value: KEYS[key] ?? key }]),
      press: (/** @type {string} */ key) =>
        this.#keys(['keyDown', 'keyUp'].map((type) => ({ type, value: KEYS[key] ?? key }))),
      type: (/** @type {string} */ text) =>
        this.#keys(
          [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value }))),
        ),
    };
    this.mouse = {
      move: (/** @type {number} */ x, /** @type {number} */ y) => this.#pointer(x, y, []),
      click: (/** @type {number} */ x, /** @type {number} */ y) =>
        this.#pointer(x, y, ['pointerDown', 'pointerUp']),
      down: () => this.#pointer(undefined, undefined, ['pointerDown']),
      up: () => this.#pointer(undefined, undefined, ['pointerUp']),
    };
  }

  /** @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] */
  #command(method, path, body) {
    return command(this.#address, method, path, body);
  }

  /** @param {object[]} actions */
  #keys(actions) {
    return this.#command('POST', '/actions', {
      actions: [{ type: 'key', id: 'keyboard', actions }],
    });
  }

  /** @param {number | undefined} x undefined: where it is @param {number | undefined} y @param {string[]} buttons */
  #pointer(x, y, buttons) {
    const moves =
      x === undefined || y === undefined
        ? []
        : [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 }];
    const presses = buttons.map((type) => ({ type, button: 0 }));
    const actions = [{ type: 'pointer', id: 'mouse', actions: [...moves, ...presses] }];
    return this.#command('POST', '/actions', { actions });
  }

  /** Nothing of this can be heard by WebDriver. */
  on() {}

  /** @param {string} url */
  goto(url) {
    return this.#command('POST', '/url', { url });
  }

  reload() {
    return this.#command('POST', '/refresh');
  }

  goBack() {
    return this.#command('POST', '/back');
  }

  /**
   * @param {((...args: any[]) => any) | string} body
   * @param {...unknown} args
   */
  async evaluate(body, ...args) {
    const script = `const run = ${textOf(body)};${HARNESS}`;
    const { value, error } = await this.#command('POST', '/execute/async', { script, args });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** @param {string} selector @param {(element: any, ...args: any[]) => any} body @param {...unknown} args */
  $eval(selector, body, ...args) {
    const run = `(selector, ...args) => (${body})((${FIND})(selector), ...args)`;
    return this.#run(run, selector, ...args);
  }

  /** @param {string} selector @param {(elements: any[], ...args: any[]) => any} body @param {...unknown} args */
  $$eval(selector, body, ...args) {
    const run = `(selector, ...args) => (${body})((${FIND})(selector, true), ...args)`;
    return this.#run(run, selector, ...args);
  }

  /** @param {string} text of a function @param {...unknown} args */
  async #run(text, ...args) {
    const script = `const run = ${text};${HARNESS}`;
    const { value, error } = await this.#command('POST', '/execute/async', { script, args });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /**
   * @param {((...args: any[]) => any) | string} condition
   * @param {{ timeout?: number }} [options]
   * @param {...unknown} args
   */
  async waitForFunction(condition, { timeout = 30_000 } = {}, ...args) {
    const end = Date.now() + timeout;
    while (!(await this.evaluate(condition, ...args))) {
      if (Date.now() > end) throw new Error(`waited ${timeout} ms for ${condition}`);
      await pause(30);
    }
  }

  /** @param {string} selector */
  waitForSelector(selector) {
    return this.waitForFunction(`(${FIND})(${JSON.stringify(selector)}) !== null`);
  }

  /** @param {string} selector @returns {Promise<string>} the path of WebDriver's commands about the element */
  async #element(selector) {
    const script = `return (${FIND})(...arguments)`;
    const found = await this.#command('POST', '/execute/sync', { script, args: [selector] });
    if (found === null) throw new Error(`no element ${selector}`);
    return `/element/${found[ELEMENT]}`;
  }

  /**
   * WebKit's driver scrolls by rules of its own, which know nothing of scroll-padding: what is out of sight is brought to the
   * middle first. What moves, as results come above it, would be missed: it is clicked once it stands still for two frames.
   *
   * @param {string} selector
   */
  async click(selector) {
    const element = await this.#element(selector);
    await this.$eval(selector, async (target) => {
      const { x, y, width, height } = target.getBoundingClientRect();
      const root = /** @type {Document | ShadowRoot} */ (target.getRootNode());
      const top = root.elementFromPoint(x + width / 2, y + height / 2);
      if (!target.contains(top)) target.scrollIntoView({ block: 'center', behavior: 'instant' });
      const end = performance.now() + 2000;
      for (let still = 0, last = NaN; still < 2 && performance.now() < end;) {
        await new Promise(requestAnimationFrame);
        const now = target.getBoundingClientRect();
        still = now.x + now.y === last ? still + 1 : 0;
        last = now.x + now.y;
      }
    });
    await this.#command('POST', `${element}/click`);
  }

  /** @param {string} selector @param {string} text */
  async type(selector, text) {
    await this.#command('POST', `${await this.#element(selector)}/value`, { text });
  }

  /** @param {string} selector */
  focus(selector) {
    return this.$eval(selector, (element) => element.focus());
  }

  /** @param {string} selector @param {string} value */
  select(selector, value) {
    return this.$eval(
      selector,
      (element, chosen) => {
        element.value = chosen;
        element.dispatchEvent(new Event('input', { bubbles: true }));
        element.dispatchEvent(new Event('change', { bubbles: true }));
        return [element.value];
      },
      value,
    );
  }

  /** @param {string} selector */
  async $(selector) {
    await this.#element(selector);
    return {
      scrollIntoView: () =>
        this.$eval(selector, (element) => element.scrollIntoView({ block: 'center' })),
      boundingBox: () =>
        this.$eval(selector, (element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { x, y, width, height };
        }),
    };
  }

  /** @param {string} selector @returns {Promise<unknown[]>} */
  $$(selector) {
    return this.$$eval(selector, (elements) => elements.map(() => ({})));
  }

  title() {
    return this.evaluate(() => document.title);
  }

  /** The inner size: a window's frame is found out and added. @param {{ width: number, height: number }} size */
  async setViewport({ width: wanted, height }) {
    const width = Math.max(wanted, LEAST_WIDTH);
    const has = (/** @type {number} */ wide, /** @type {number} */ high) =>
      innerWidth === wide && innerHeight === high;
    // The page learns its inner size some time after its outer one: a frame that is read in between is wrong, and a size that
    // was asked for may still be on its way.
    const end = Date.now() + SIZED;
    while (!(await this.evaluate(has, width, height))) {
      if (Date.now() > end) throw new Error(`no window of ${width} × ${height} within ${SIZED} ms`);
      const [across, down] = await this.evaluate(() => [
        outerWidth - innerWidth,
        outerHeight - innerHeight,
      ]);
      const rect = { width: width + across, height: height + down };
      await this.#command('POST', '/window/rect', rect);
      const again = Date.now() + 1000;
      while (Date.now() < again && !(await this.evaluate(has, width, height))) await pause(30);
    }
  }

  /** @param {{ path: string }} script */
  async addScriptTag({ path }) {
    await this.evaluate(
      (/** @type {string} */ text) => {
        document.head.append(Object.assign(document.createElement('script'), { text }));
      },
      await readFile(path, 'utf8'),
    );
  }

  /** Leaves the window to the next page. */
  async close() {
    await this.#command('DELETE', '/actions');
    await this.goto('about:blank');
  }
}
