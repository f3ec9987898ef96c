// The Explore room on a phone: large maps, the list of keys, and where the text's lines are broken.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { openMenu, roomTest } from './explore-room.js';
import { contentWidth } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page its width in pixels */
const tileWidth = (page) =>
  page.$eval('#explore-grid button', (tile) => tile.getBoundingClientRect().width);

/** @param {string} title @param {string} query @param {(page: Page) => Promise<void>} body */
const phoneTest = (title, query, body) =>
  roomTest(title, query, async (page) => {
    const width = Math.max(390, engine.leastWidth);
    await page.setViewport({ width, height: 844 });
    await body(page);
  });

phoneTest('Large makes the maps of all heads larger, and scrolls them', '', async (page) => {
  const before = await tileWidth(page);
  await page.click('#explore-all');
  await page.waitForSelector('.show-all #explore-grid canvas');
  const after = await tileWidth(page);
  assert.ok(after >= 1.4 * before, `${before}, then ${after}`);
  assert.ok((await contentWidth(page)) <= Math.max(390, engine.leastWidth));
});

phoneTest('the list of keys opens at its beginning', '', async (page) => {
  await openMenu(page, 'explore-files');
  await page.click('#explore-help');
  await page.waitForSelector('#explore-help-dialog[open]');
  const list = await page.$eval('#explore-help-dialog', (dialog) => ({
    top: dialog.scrollTop,
    isLong: dialog.scrollHeight > dialog.clientHeight,
  }));
  assert.deepEqual(list, { top: 0, isLong: true });
});

phoneTest(
  'lines are broken between tokens, in a text without spaces too, and never within one',
  `?text=${'abcdefghijk'.repeat(12)}+speak+power+sister`,
  async (page) => {
    const text = await page.$eval('#explore-text', (box) => {
      const { scrollWidth, clientWidth } = box;
      // Narrower than a token.
      /** @type {HTMLElement} */ (box).style.width = '1.5rem';
      const broken = [...box.querySelectorAll('[role=option]')].filter(
        (token) => token.getClientRects().length > 1,
      );
      return { scrollWidth, clientWidth, broken: broken.map(({ textContent }) => textContent) };
    });
    assert.ok(text.scrollWidth <= text.clientWidth, `${text.scrollWidth}, ${text.clientWidth}`);
    assert.deepEqual(text.broken, []);
  },
);
