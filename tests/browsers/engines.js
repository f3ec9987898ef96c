// The browsers that the tests can run in, behind puppeteer's Browser and Page. HEADWISE_BROWSER chooses one.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { findBrowser, FLAGS, launch, LAUNCH_MS } from '../browser.js';
import { LEAST_WIDTH, WebKitBrowser } from './webdriver.js';

/** @import { Browser } from 'puppeteer-core' */

/**
 * @typedef {object} BrowserEngine
 * @property {string} name
 * @property {() => string | undefined} find the path of the program
 * @property {(path: string) => Promise<Browser>} launch
 * @property {'cdp' | 'webDriverBiDi'} [protocol] by which several processes can use one browser in turn; WebKitGTK
 *   starts anew for each of them
 * @property {(profile: string) => string[]} flags to start it without a driver and without a window
 * @property {string} hint how to get it
 * @property {boolean} hasRelaxed whether it has relaxed SIMD
 * @property {boolean} hasThreads whether pages that are cross-origin isolated have SharedArrayBuffer
 * @property {boolean} hasEvents whether console, network and workers can be watched
 * @property {boolean} hasCdp whether media features can be set
 * @property {number} leastWidth of a window
 */

/** @param {string[]} names @param {string[]} places */
function findProgram(names, places = []) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...places].find(
    (place) => existsSync(place),
  );
}

/** @type {Record<string, BrowserEngine>} */
export const engines = {
  chromium: {
    name: 'Chromium',
    find: findBrowser,
    launch: (path) => launch(path),
    protocol: 'cdp',
    flags: (profile) => ['--headless', `--user-data-dir=${profile}`, ...FLAGS],
    hint: 'apt install chromium, or CHROMIUM_PATH=/path/to/chromium',
    hasRelaxed: true,
    hasThreads: true,
    hasEvents: true,
    hasCdp: true,
    leastWidth: 0,
  },
  firefox: {
    name: 'Firefox',
    find: () => process.env.FIREFOX_PATH ?? findProgram(['firefox-esr', 'firefox']),
    launch: (executablePath) =>
      puppeteer.launch({
        browser: 'firefox',
        executablePath,
        timeout: LAUNCH_MS,
        extraPrefsFirefox: {
          'browser.shell.checkDefaultBrowser': false,
          // A page's process serves the next page too: half of a test's time was its start.
          'dom.ipc.keepProcessesAlive.web': 2,
        },
      }),
    protocol: 'webDriverBiDi',
    flags: (profile) => ['--headless', '--no-remote', '--profile', profile],
    hint: 'apt install firefox-esr, or FIREFOX_PATH=/path/to/firefox',
    hasRelaxed: true,
    hasThreads: true,
    hasEvents: true,
    hasCdp: false,
    leastWidth: 0,
  },
  webkit: {
    name: 'WebKitGTK',
    find: () =>
      findProgram(['WebKitWebDriver']) && findProgram(['Xvfb'])
        ? findProgram(
            ['MiniBrowser'],
            [
              '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
              '/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
            ],
          )
        : undefined,
    launch: async (path) => /** @type {any} */ (await WebKitBrowser.launch(path)),
    // It has no headless mode; what is shown without a driver needs threads, which it has not.
    flags: () => [],
    hint: 'apt install webkit2gtk-driver xvfb',
    hasRelaxed: false,
    hasThreads: false,
    hasEvents: false,
    hasCdp: false,
    leastWidth: LEAST_WIDTH,
  },
};

/** The browser of this run. */
export const engine = engines[process.env.HEADWISE_BROWSER ?? 'chromium'];
if (engine === undefined) {
  throw new Error(
    `HEADWISE_BROWSER is ${process.env.HEADWISE_BROWSER}; expected ${Object.keys(engines).join(', ')}`,
  );
}

export const NO_BROWSER = `${engine.name} was not found, so nothing ran in it. To get it: ${engine.hint}`;

/**
 * The browser for a test file: one that runs already, if HEADWISE_BROWSER_AT says where.
 *
 * @param {string} path
 * @returns {Promise<{ browser: Browser, leave(): Promise<void> }>}
 */
export async function enter(path) {
  const browserWSEndpoint = process.env.HEADWISE_BROWSER_AT;
  const { protocol } = engine;
  if (!browserWSEndpoint || !protocol) {
    const browser = await engine.launch(path);
    return { browser, leave: () => browser.close() };
  }
  const browser = await puppeteer.connect({ browserWSEndpoint, protocol });
  return { browser, leave: () => browser.disconnect() };
}
