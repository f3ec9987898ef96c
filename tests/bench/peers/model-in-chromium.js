// One contestant's model in a Chromium of its own, whose time and memory are then its alone.
import { readFile } from 'node:fs/promises';
import { launch } from '../../browser.js';

/**
 * @import { Browser, CDPSession, Page } from 'puppeteer-core'
 * @import { Guess, ModelFile } from './contestants/model-contestant.js'
 */

/** @typedef {{ contestant: typeof import('./model-in-page.js') }} ContestantPage */
/** @typedef {'wall' | 'cpu'} Clock */

/** No call into a page takes longer. */
const LONGEST_MS = 300_000;

export class ModelInChromium {
  #browser;
  #page;
  #session;
  #empty = NaN;

  /**
   * @param {string} executable
   * @param {string} address of model-page.html
   */
  static async open(executable, address) {
    const browser = await launch(executable, { protocolTimeout: LONGEST_MS });
    try {
      const session = await browser.target().createCDPSession();
      const opened = new ModelInChromium(browser, await browser.newPage(), session);
      await opened.#page.goto(address);
      opened.#empty = await opened.#memory();
      return opened;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** @param {Browser} browser @param {Page} page @param {CDPSession} session */
  constructor(browser, page, session) {
    this.#browser = browser;
    this.#page = page;
    this.#session = session;
  }

  async #pages() {
    const { processInfo } = await this.#session.send('SystemInfo.getProcessInfo');
    return processInfo.filter(({ type }) => type === 'renderer');
  }

  /** Bytes of memory that no file has; NaN where the system does not tell them as Linux does. */
  async #memory() {
    try {
      const files = (await this.#pages()).map(({ id }) => readFile(`/proc/${id}/status`, 'utf8'));
      const texts = await Promise.all(files);
      const counts = texts.flatMap((text) => [...text.matchAll(/Rss(?:Anon|Shmem):\s+(\d+)/g)]);
      return 1024 * counts.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
    } catch {
      return NaN;
    }
  }

  /** Over an empty page. */
  async memoryBytes() {
    const session = await this.#page.createCDPSession();
    await session.send('HeapProfiler.collectGarbage');
    return (await this.#memory()) - this.#empty;
  }

  async #cpuMs() {
    return (await this.#pages()).reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0);
  }

  /**
   * @template {'start' | 'read' | 'decode' | 'guess'} Name
   * @param {Name} name of a function of the page
   * @param {Parameters<ContestantPage['contestant'][Name]>} given
   * @returns {Promise<Awaited<ReturnType<ContestantPage['contestant'][Name]>>>}
   */
  ask(name, ...given) {
    return this.#page.evaluate(
      (which, values) => {
        const { contestant } = /** @type {ContestantPage} */ (/** @type {unknown} */ (globalThis));
        return /** @type {any} */ (contestant[which])(...values);
      },
      name,
      given,
    );
  }

  /**
   * @param {Clock} clock the time that passes, or the page's processes'
   * @param {'read' | 'decode'} name
   * @param {any} given
   * @returns {Promise<number>} ms
   */
  async time(clock, name, given) {
    const before = await this.#cpuMs();
    const wall = await this.ask(name, given);
    return clock === 'wall' ? wall : (await this.#cpuMs()) - before;
  }

  async close() {
    await this.#browser.close();
  }
}
