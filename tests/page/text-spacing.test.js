// Readers who set letters, words and lines further apart (WCAG 1.4.12) lose none of them.
import assert from 'node:assert/strict';
import { pageTest } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const SPACED = `* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important; line-height: 1.5 !important; }
p { margin-bottom: 2em !important; }`;

/** @type {[hash: string, there: string, texts: string][]} what is there when the room is open, and where no letter may be cut */
const ROOMS = [
  ['#bench', '.peers .bars', '.peers th'],
  ['#explore?mode=why', '.lens-table button', '.lens-table .token, .lens-table button'],
];

/** @param {Page} page @param {string} texts those that are cut */
const cut = (page, texts) =>
  page.$$eval(texts, (all) =>
    all
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map((one) => one.textContent),
  );

for (const [hash, there, texts] of ROOMS) {
  pageTest(
    `${hash} cuts no word when text is set wide`,
    hash,
    async (page) => {
      await page.evaluate((css) => {
        document.head.append(Object.assign(document.createElement('style'), { textContent: css }));
      }, SPACED);
      assert.ok((await page.$$(texts)).length > 0);
      assert.deepEqual(await cut(page, texts), []);
    },
    { ready: async (page) => void (await page.waitForSelector(there, { timeout: 60_000 })) },
  );
}
