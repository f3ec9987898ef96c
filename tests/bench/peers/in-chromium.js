// The contests in Chromium, each in a fresh page, on the files as the packages ship them.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { minifySync } from 'vite';
import { ISOLATION, findBrowser, launch, serve } from '../../browser.js';
import { UsageError } from '../../../web/build/command-line.js';

/**
 * @import { Browser, Page } from 'puppeteer-core'
 * @import { Shape } from '../../../web/page/bench/work.js'
 * @import { Contest, File } from './contest.js'
 */

/** @typedef {{ contests: typeof import('./in-page.js') }} ContestPage */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** No call into a page takes longer. */
const LONGEST_MS = 900_000;
/** What a page with a contestant downloads; the rest is the benchmark's own. */
const OF_CONTESTANT = /^\/build\/bench-peers\/|\/node_modules\/(?!flatbuffers\/)/;
const FEWEST_STARTS = 5;

/**
 * Of all JavaScript together, minified, as a bundler would leave it, and of each other file.
 * @param {ReadonlyMap<string, Buffer>} files by path
 */
export function gzipBytes(files) {
  let scripts = '';
  let bytes = 0;
  for (const [path, body] of files) {
    if (/\.m?js$/.test(path)) scripts += minifySync(path, body.toString()).code;
    else bytes += gzipSync(body, { level: 9 }).length;
  }
  return bytes + (scripts ? gzipSync(scripts, { level: 9 }).length : 0);
}

export class Chromium {
  /** @type {Map<string, Buffer>} */
  #sent = new Map();
  #browser;
  #site;

  /** @returns {Promise<Chromium>} */
  static async start() {
    const executable = findBrowser();
    if (!executable) {
      throw new UsageError('Chromium is missing: install it, name it in CHROMIUM_PATH, or --node');
    }
    /** @type {Map<string, Buffer>} */
    const sent = new Map();
    const onRequest = (/** @type {string} */ path, /** @type {Buffer} */ body) => {
      if (OF_CONTESTANT.test(path)) sent.set(path, body);
    };
    const site = await serve(ROOT, { headersOf: () => ISOLATION, onRequest });
    return new Chromium(await launch(executable, { protocolTimeout: LONGEST_MS }), site, sent);
  }

  /**
   * @param {Browser} browser
   * @param {Awaited<ReturnType<typeof serve>>} site
   * @param {Map<string, Buffer>} sent
   */
  constructor(browser, site, sent) {
    this.#browser = browser;
    this.#site = site;
    this.#sent = sent;
  }

  runtime() {
    return this.#browser.version();
  }

  /**
   * @template T
   * @param {(page: Page) => Promise<T>} use
   * @returns {Promise<T>}
   */
  async #withPage(use) {
    const page = await this.#browser.newPage();
    try {
      await page.goto(`${this.#site.url}tests/bench/peers/page.html`);
      return await use(page);
    } finally {
      await page.close();
    }
  }

  /**
   * @param {{ shape: Shape, threads: number, seconds: number }} options
   * @returns {Promise<Contest>}
   */
  contest(options) {
    return this.#withPage((page) =>
      page.evaluate(
        (given) =>
          /** @type {ContestPage} */ (/** @type {unknown} */ (globalThis)).contests.run(given),
        options,
      ),
    );
  }

  /**
   * The quickest of several starts, each in a fresh page; nothing is cached but what Chromium compiled.
   * @param {File} file
   * @param {Shape} shape
   */
  async startUp(file, shape) {
    const starts = [];
    for (let i = 0; i < FEWEST_STARTS; i++) {
      this.#sent.clear();
      const start = await this.#withPage((page) =>
        page.evaluate(
          (which, task) =>
            /** @type {ContestPage} */ (/** @type {unknown} */ (globalThis)).contests.startUp(
              which,
              task,
            ),
          file,
          shape,
        ),
      );
      starts.push(start);
    }
    return {
      ready: Math.min(...starts.map(({ ready }) => ready)),
      answer: Math.min(...starts.map(({ answer }) => answer)),
      bytes: gzipBytes(this.#sent),
    };
  }

  async close() {
    await this.#browser.close();
    this.#site.close();
  }
}
