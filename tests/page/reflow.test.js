// Narrow and low windows: a page that is magnified four times on a small screen is 320 pixels wide and 200 high.
import assert from 'node:assert/strict';
import { contentWidth, pageTest } from './harness.js';
import { engine } from '../browsers/engines.js';

/** @import { Page } from 'puppeteer-core' */

/** @type {[string, string][]} address, what is there when the room is open */
const ROOMS = [
  ['#compare', '#grid canvas'],
  ['#compare?source=own', '#grid canvas'],
  ['#explore', '#explore-grid canvas'],
  ['#explore?mode=why', '#explore-score-pairs'],
  ['#train', '.train-heads canvas'],
  ['#lessons', '.lesson-part'],
  ['#lessons?lesson=fused', '.picture svg'],
  ['#bench', '#bench-run'],
];

/** Has more beside one another than the first view. */
const TWO_HEADS = ['#explore?with=L0H6', '.of-two'];

/** @param {string} selector */
const there = (selector) => async (/** @type {Page} */ page) =>
  void (await page.waitForSelector(selector, { timeout: 60_000 }));

/** What reaches beyond the window's right edge, for the message. @param {Page} page */
const beyond = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *, header *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
      .slice(0, 8)
      .map(({ tagName, id, className }) => `${tagName}#${id}.${className}`)
      .join(' '),
  );

/** Lessons with the longest code and the widest pictures. @type {[string, string][]} */
const WIDE_LESSONS = ['by-hand', 'shapes', 'sentence'].map((id) => [
  `#lessons?lesson=${id}`,
  '.step code',
]);

/** What is drawn for a width is drawn a frame later. */
const sizesDrawn = () => new Promise((resolve) => setTimeout(resolve, 500));

for (const [hash, open] of ROOMS) {
  pageTest(
    `${hash} is no wider than a window of 320 or of 640 pixels`,
    hash,
    async (page) => {
      for (const width of [320, 640].filter((one) => one >= engine.leastWidth)) {
        await page.setViewport({ width, height: 800 });
        await sizesDrawn();
        assert.ok((await contentWidth(page)) <= width, `${width}: ${await beyond(page)}`);
      }
    },
    { ready: there(open) },
  );
}

// A browser's own setting, which em in media queries follow: no page can set it.
for (const [hash, open] of engine.hasCdp ? [...ROOMS, TWO_HEADS, ...WIDE_LESSONS] : []) {
  pageTest(
    `${hash} is no wider than a phone whose text is twice as large`,
    hash,
    async (page) => {
      const session = await page.createCDPSession();
      await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
      await page.setViewport({ width: 390, height: 844 });
      await sizesDrawn();
      assert.equal(
        await page.evaluate(() => getComputedStyle(document.documentElement).fontSize),
        '32px',
      );
      assert.ok((await contentWidth(page)) <= 390, await beyond(page));
    },
    { ready: there(open) },
  );
}

/** Small phones on their side, and small screens magnified twice and four times. */
const LOW = [
  [844, 390],
  [640, 400],
  [1280, 400],
  [320, 200],
];

for (const hash of [
  '#explore',
  '#explore?by=effect',
  '#explore?model=names&mode=why&by=effect',
  '#explore?show=all&by=effect',
]) {
  pageTest(
    `${hash} has maps that can be read in a low window, and none is wider than it`,
    hash,
    async (page) => {
      for (const [width, height] of LOW.filter(([one]) => one >= engine.leastWidth)) {
        await page.setViewport({ width, height });
        await sizesDrawn();
        const maps = await page.$$eval('#explore-grid canvas', (all) =>
          all.map((map) => map.getBoundingClientRect().width),
        );
        assert.ok(Math.min(...maps) >= 20, `${width} × ${height}: ${Math.min(...maps)}`);
        assert.ok((await contentWidth(page)) <= width, `${width}: ${await beyond(page)}`);
      }
    },
    {
      ready: there(hash.includes('by=') ? '#explore-grid.measured canvas' : '#explore-grid canvas'),
    },
  );
}

/** @param {Page} page @param {number} size of the reader's own text @param {{ width: number, height: number }} viewport */
async function withText(page, size, viewport) {
  const session = await page.createCDPSession();
  await session.send('Page.setFontSizes', { fontSizes: { standard: size } });
  await page.setViewport(viewport);
  await page.waitForFunction(
    (/** @type {string} */ wanted) => getComputedStyle(document.body).fontSize === wanted,
    {},
    `${size}px`,
  );
  await sizesDrawn();
}

// WebDriver cannot set what a reader's browser takes for the usual size.
if (engine.hasCdp) {
  for (const [hash, open] of ROOMS) {
    pageTest(
      `${hash} follows the reader’s own size of text, and is no wider than a phone`,
      hash,
      async (page) => {
        await withText(page, 24, { width: 390, height: 844 });
        assert.ok((await contentWidth(page)) <= 390, await beyond(page));
      },
      { ready: there(open) },
    );
  }
  pageTest(
    'text of twice the usual size leaves Explore’s small maps readable',
    '#explore',
    async (page) => {
      await withText(page, 32, { width: 1280, height: 800 });
      const side = await page.$eval('#explore-grid canvas', (map) => map.clientWidth);
      assert.ok(side >= 20, `${side}`);
    },
    { ready: there('#explore-grid canvas') },
  );
}
