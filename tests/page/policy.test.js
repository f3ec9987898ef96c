// The page under a strict Content Security Policy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../browser.js';
import { scored } from './explore-room.js';
import { browser, options, settled, site } from './harness.js';
import { reached } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const POLICY = [
  ...["default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'"],
  ...["style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:"],
].join('; ');

/** @param {string} selector */
const has = (selector) => async (/** @type {Page} */ page) =>
  void (await page.waitForSelector(selector, { timeout: 60_000 }));

/** Runs it until its first result. @param {Page} page */
async function benchmark(page) {
  await page.waitForSelector('#bench-run', { timeout: 60_000 });
  await page.click('#bench-run');
  await page.waitForSelector('.bench-results', { timeout: 60_000 });
}

/** Each room, and each of Explore's models. @type {[string, (page: Page) => Promise<unknown>][]} */
const PLACES = [
  ['#compare', settled],
  ['#explore?model=austen', scored],
  ['#explore?model=induction', scored],
  ['#explore?model=names', scored],
  ['#train', (page) => reached(page, 1)],
  ['#lessons', has('#lessons-room h1')],
  ['#bench', benchmark],
];

test('every room and every model opens under a strict policy', options, async () => {
  const headersOf = () => ({ 'content-security-policy': POLICY });
  const server = await serve(site.root, { headersOf });
  try {
    for (const [hash, ready] of PLACES) {
      const page = await browser.newPage();
      /** @type {string[]} */
      const complaints = [];
      // WebDriver tells of neither: there it is seen that the room opens.
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      try {
        await page.goto(server.url + hash);
        await ready(page);
        const room = /\w+/.exec(hash)?.[0];
        assert.equal(await page.evaluate(() => document.documentElement.dataset.room), room);
        assert.deepEqual(complaints, [], hash);
      } finally {
        await page.close();
      }
    }
  } finally {
    server.close();
  }
});
