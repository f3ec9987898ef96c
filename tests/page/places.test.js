// Back, Forward and a reload lead to where one was on the page, though a room's content comes late.
import assert from 'node:assert/strict';
import { serve } from '../browser.js';
import { pageTest, site } from './harness.js';
import { ended } from './lessons-room.js';

/** @import { Page } from 'puppeteer-core' */

const FAR = 1000;

/** @param {Page} page @param {number} y */
const scrollTo = (page, y) => page.evaluate((to) => globalThis.scrollTo(0, to), y);

/** @param {Page} page until it is scrolled there @param {number} y */
const isAt = async (page, y) => {
  await page.waitForFunction((/** @type {number} */ to) => Math.abs(scrollY - to) < 2, {}, y);
  // It stays.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
  assert.ok(Math.abs((await page.evaluate(() => scrollY)) - y) < 2);
};

/** @param {Page} page until it is long enough, and grows no more */
const ready = async (page) =>
  void (await page.waitForFunction(
    async (/** @type {number} */ far) => {
      const { scrollHeight: height } = document.body;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return height === document.body.scrollHeight && height - innerHeight > far + 200;
    },
    { timeout: 60_000 },
    FAR,
  ));

/** WebKit's own Back leads past entries that no gesture has made. @param {Page} page @param {number} by */
const go = (page, by) => page.evaluate((steps) => history.go(steps), by);

/** @param {Page} page @param {string} hash */
const isOfAddress = (page, hash) =>
  page.waitForFunction((/** @type {string} */ wanted) => location.hash === wanted, {}, hash);

pageTest(
  'Back and Forward between rooms lead to where one was',
  '#lessons?lesson=by-hand',
  async (page) => {
    await scrollTo(page, FAR);
    await page.$eval('#rooms a[data-room=bench]', (link) =>
      /** @type {HTMLAnchorElement} */ (link).click(),
    );
    await isAt(page, 0);
    await scrollTo(page, 100);
    await go(page, -1);
    await isAt(page, FAR);
    await go(page, 1);
    await isOfAddress(page, '#bench');
    await isAt(page, 100);
    // By an address, and over a reload.
    await page.evaluate(() => void (location.hash = '#compare'));
    await isAt(page, 0);
    await page.reload();
    await go(page, -1);
    await isAt(page, 100);
    await go(page, -1);
    await isAt(page, FAR);
  },
  { ready },
);

pageTest(
  'Back from a lesson leads to where one was in the list',
  '#lessons',
  async (page) => {
    await scrollTo(page, 400);
    await page.$eval('.lesson-part a', (link) => /** @type {HTMLAnchorElement} */ (link).click());
    await ended(page);
    await isAt(page, 0);
    await scrollTo(page, FAR);
    await go(page, -1);
    await isAt(page, 400);
    await go(page, 1);
    await isAt(page, FAR);
  },
  { ready: async (page) => void (await page.waitForSelector('.lesson-part')) },
);

for (const hash of [
  '#compare',
  '#explore',
  '#train',
  '#lessons',
  '#lessons?lesson=fused',
  '#bench',
]) {
  pageTest(
    `a reload of ${hash} leads to where one was`,
    hash,
    async (page) => {
      await page.setViewport({ width: 700, height: 500 });
      await ready(page);
      await scrollTo(page, FAR);
      await page.reload();
      await isAt(page, FAR);
    },
    { ready: async () => {} },
  );
}

pageTest(
  'Back from another site leads to where one was',
  '#lessons?lesson=by-hand',
  async (page) => {
    const other = await serve(site.root);
    try {
      await scrollTo(page, FAR);
      await page.goto(`${other.url}#bench`);
      await page.waitForFunction((url) => location.href.startsWith(url), {}, other.url);
      await go(page, -1);
      await isOfAddress(page, '#lessons?lesson=by-hand');
      await isAt(page, FAR);
    } finally {
      other.close();
    }
  },
  { ready },
);

pageTest(
  'who scrolls while a room comes is left there',
  '#lessons?lesson=by-hand',
  async (page) => {
    await scrollTo(page, FAR);
    await page.reload();
    await isAt(page, FAR);
    await scrollTo(page, 700);
    await page.evaluate(() => document.body.append(document.createElement('br')));
    await isAt(page, 700);
    await page.evaluate(() => document.body.append(document.createElement('br')));
    await isAt(page, 700);
    await page.reload();
    await isAt(page, 700);
    // What a run still adds above would move the end, as it should.
    await ready(page);
    const end = await page.evaluate(() => {
      globalThis.scrollTo(0, document.documentElement.scrollHeight);
      return scrollY;
    });
    await page.evaluate(() => document.body.append(document.createElement('br')));
    await isAt(page, end);
  },
  { ready },
);
