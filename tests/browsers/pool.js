// Browsers that test files use one after another: their start takes as long as two tests of the page.
import { once } from 'node:events';
import { engines } from './engines.js';

/** @typedef {{ name: string, address: string, process: import('node:child_process').ChildProcess }} SharedBrowser */

/** In ms, what a browser may take to end. */
const END = 10_000;

export class BrowserPool {
  /** @type {SharedBrowser[]} */
  #idle = [];

  /**
   * @param {string} name of `engines`
   * @returns {Promise<SharedBrowser | undefined>} undefined: each file of this browser starts its own
   */
  async take(name) {
    const at = this.#idle.findIndex((browser) => browser.name === name);
    return at >= 0 ? this.#idle.splice(at, 1)[0] : start(name);
  }

  /** @param {SharedBrowser} browser that the next file may use */
  giveBack(browser) {
    this.#idle.push(browser);
  }

  /** @param {SharedBrowser} browser that was taken */
  async end({ process }) {
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit', { signal: AbortSignal.timeout(END) });
    process.kill();
    await ended.catch(() => process.kill('SIGKILL'));
  }

  async close() {
    await Promise.all(this.#idle.splice(0).map((browser) => this.end(browser)));
  }
}

/** @param {string} name @returns {Promise<SharedBrowser | undefined>} */
async function start(name) {
  const { protocol, find, launch } = engines[name];
  const path = find();
  if (!protocol || !path) return undefined;
  const browser = await launch(path);
  const process = browser.process();
  if (!process) throw new Error(`${engines[name].name} has no process of this one's`);
  const address = browser.wsEndpoint();
  // Its tests are the ones to listen to it, one file at a time.
  await browser.disconnect();
  return { name, address, process };
}
