// What the tests of the page share: a page per test that must not report any
// error, waiting for results, and reading tables and maps.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { engine, enter, NO_BROWSER } from '../browsers/engines.js';
import { servePage } from './browser.js';

/** @import { TestContext } from 'node:test' */
/** @import { Browser, HTTPRequest, Page } from 'puppeteer-core' */

const executable = engine.find();
if (!executable && process.env.CI) {
  test('a browser is there to test the page in', () => assert.fail(NO_BROWSER));
}
export const options = { skip: executable ? false : NO_BROWSER, timeout: 300_000 };

/** Colour schemes that a page can be shown in: only Chromium can be told to use another one. */
export const schemes = engine.hasCdp ? ['light', 'dark'] : ['light'];

/** Widths of a window, from the narrowest that the browser has. */
export const widths = [Math.max(360, engine.leastWidth), 768, 1280];

/** @param {Page} page @param {string} scheme of `schemes` */
export async function useScheme(page, scheme) {
  if (engine.hasCdp)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
}

/** @type {Browser} */
export let browser;
/** @type {Awaited<ReturnType<typeof servePage>>} */
export let site;
/** @type {() => Promise<void>} */
let leave = async () => {};

before(async () => {
  if (!executable) return;
  site = await servePage();
  ({ browser, leave } = await enter(executable));
});

after(async () => {
  await leave();
  await site?.close();
});

/**
 * Whether the page itself ended a request, as by ending the Worker that made it. Chromium now and then also reports so
 * what was read to its end, when its Worker is ended at once.
 *
 * @param {HTTPRequest} request
 */
const isAborted = (request) => /ABORT/.test(request.failure()?.errorText ?? '');

/**
 * A test with a page of its own, which must not report any error.
 *
 * @param {string} title
 * @param {string} hash
 * @param {(page: Page, context: TestContext) => Promise<void>} body
 * @param {{ ready?: (page: Page) => Promise<void>, isMeant?: RegExp }} [wait] ready: before the body; otherwise for
 *   Compare's first result. isMeant: errors that the body causes, and that some browsers report
 */
export function pageTest(title, hash, body, { ready = settled, isMeant } = {}) {
  test(title, options, async (context) => {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => {
      if (!isAborted(request)) complaints.push(`failed: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
    });
    try {
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(site.url + hash);
      await ready(page);
      await body(page, context);
      assert.deepEqual(
        complaints.filter((text) => !isMeant?.test(text)),
        [],
      );
    } finally {
      await page.close();
    }
  });
}

/** @param {Page} page until nothing runs and a result is drawn */
export async function settled(page) {
  await page.waitForFunction(
    () =>
      document.documentElement.dataset.run &&
      !document.getElementById('main')?.hasAttribute('aria-busy'),
    { timeout: 60_000 },
  );
}

/**
 * Does something that starts a run, and waits for its result.
 *
 * @param {Page} page
 * @param {() => Promise<unknown>} act
 */
export async function rerun(page, act) {
  const run = await page.evaluate(() => document.documentElement.dataset.run);
  await act();
  await page.waitForFunction(
    (/** @type {string} */ old) => document.documentElement.dataset.run !== old,
    { timeout: 60_000 },
    run ?? '',
  );
  await settled(page);
}

/** Ends the Worker that the page asks next, as a crash would. @param {Page} page @param {() => Promise<unknown>} ask */
export async function crash(page, ask) {
  await page.evaluate(() => {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function () {
      Worker.prototype.postMessage = post;
      setTimeout(() => {
        this.dispatchEvent(new ErrorEvent('error', { message: 'crashed' }));
        // After it: WebKit tells no listener of a Worker that was ended.
        this.terminate();
      });
    };
  });
  await ask();
}

/** Words as a regular expression that matches them. @param {string} words */
export const literally = (words) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** An element's text as it is read: templates break lines between elements. @param {Page} page @param {string} selector */
export const textOf = (page, selector) =>
  page.$eval(selector, (element) =>
    (element.textContent ?? '').replace(/\s+/g, ' ').trim().replaceAll('\u2212', '-'),
  );

/** What a field holds. @param {Page} page @param {string} selector */
export const valueOf = (page, selector) =>
  page.$eval(
    selector,
    (field) => /** @type {HTMLInputElement | HTMLTextAreaElement} */ (field).value,
  );

/** Fills a field as if it were typed and left; with `input`: typed. @param {Page} page @param {string} selector @param {string} value @param {'change' | 'input'} event */
export const fill = (page, selector, value, event = 'change') =>
  page.$eval(
    selector,
    (field, given, type) => {
      /** @type {HTMLInputElement | HTMLTextAreaElement} */ (field).value = given;
      field.dispatchEvent(new Event(type));
    },
    value,
    event,
  );

/** Waits for words that come in a moment. @param {Page} page @param {string} selector @param {RegExp} words */
export const says = (page, selector, words) =>
  page.waitForFunction(
    (/** @type {string} */ at, /** @type {string} */ wanted) =>
      new RegExp(wanted).test(document.querySelector(at)?.textContent ?? ''),
    {},
    selector,
    words.source,
  );

/** @param {Page} page @param {string} selector */
export const cells = (page, selector) =>
  page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('td')].map((cell) =>
        (cell.textContent ?? '').replaceAll('\u2212', '-'),
      ),
    ),
  );

/**
 * The colours in the middle of every cell of a map's canvas.
 *
 * @param {Page} page
 * @param {string} selector
 * @param {number} size
 * @returns {Promise<number[][]>} RGB, row after row
 */
export const colours = (page, selector, size) =>
  page.$eval(
    selector,
    (canvas, n) => {
      const map = /** @type {HTMLCanvasElement} */ (canvas);
      // Read from a copy: the page's own canvas is for drawing only.
      const copy = Object.assign(document.createElement('canvas'), {
        width: map.width,
        height: map.height,
      });
      const context = copy.getContext('2d', { willReadFrequently: true });
      context?.drawImage(map, 0, 0);
      const pixels = context?.getImageData(0, 0, map.width, map.height).data ?? [];
      const found = [];
      for (let row = 0; row < n; row++) {
        for (let col = 0; col < n; col++) {
          const x = Math.floor(((col + 0.5) * map.width) / n);
          const y = Math.floor(((row + 0.5) * map.height) / n);
          const at = 4 * (y * map.width + x);
          found.push([pixels[at], pixels[at + 1], pixels[at + 2]]);
        }
      }
      return found;
    },
    size,
  );

/**
 * What axe complains about.
 *
 * @param {Page} page
 * @param {string[]} [rules] only these
 */
export async function violations(page, rules) {
  const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.addScriptTag({ path });
  return page.evaluate(async (only) => {
    const { axe } = /** @type {{ axe: typeof import('axe-core') }} */ (
      /** @type {unknown} */ (globalThis)
    );
    const result = await axe.run({ resultTypes: ['violations'], ...(only && { runOnly: only }) });
    return result.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
    );
  }, rules);
}

/** @param {Page} page how wide its content is */
export const contentWidth = (page) => page.evaluate(() => document.documentElement.scrollWidth);

/** Whether what has the focus is seen from one side to the other. @param {Page} page @returns {Promise<boolean>} */
export const focusInSight = (page) =>
  page.evaluate(() => {
    const focused = /** @type {Element} */ (document.activeElement);
    const { left, right, top, height } = focused.getBoundingClientRect();
    return [left + 2, right - 2].every((x) =>
      focused.contains(document.elementFromPoint(x, top + height / 2)),
    );
  });
