// The Explore room on a phone: large maps, the list of keys, and where the text's lines are broken.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { openMenu, reread, roomTest, says } from './explore-room.js';
import { framesDuring, neverRose } from './frames.js';
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

/** Of what Tab leads to among the heads, in its order: how far down it is. @param {Page} page */
const stops = (page) =>
  page.$$eval('#explore-heads :is(button, select, input, attention-map)', (all) =>
    all
      .filter((one) => one.checkVisibility() && one.tabIndex >= 0)
      // A line's controls differ in height.
      .map((one) => ({ name: one.id || one.textContent, at: one.getBoundingClientRect().bottom })),
  );

/** @param {Page} page */
async function areInOrder(page) {
  const found = await stops(page);
  assert.ok(found.length > 10);
  found.forEach(({ name, at }, i) => {
    const before = found[Math.max(0, i - 1)];
    assert.ok(at > before.at - 20, `${name} comes after ${before.name}, and is above it`);
  });
}

phoneTest('Tab leads through the heads from top to bottom', '?model=austen', async (page) => {
  await areInOrder(page);
  await page.click('#explore-all');
  await page.waitForSelector('.show-all #explore-grid canvas');
  await areInOrder(page);
});

roomTest(
  'Large puts all heads before the map, for Tab too, and keeps the focus',
  '',
  async (page) => {
    const isFirst = () =>
      page.evaluate(() => {
        const [all, map] = ['#explore-all', '#explore-heads attention-map'].map(
          (selector) => /** @type {Element} */ (document.querySelector(selector)),
        );
        return Boolean(all.compareDocumentPosition(map) & Node.DOCUMENT_POSITION_FOLLOWING);
      });
    assert.equal(await isFirst(), false);
    await page.focus('#explore-all');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.show-all');
    assert.equal(await isFirst(), true);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'explore-all');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !document.querySelector('.show-all'));
    assert.equal(await isFirst(), false);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'explore-all');
  },
);

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

phoneTest('nothing moves up and down again while a head is muted', '', async (page) => {
  await says(page, '#explore-loss', /^Loss: /);
  const frames = await framesDuring(page, 'explore-how', async () => {
    await reread(page, () => page.click('#explore-mute'));
    await says(page, '#explore-loss', /with all heads/);
  });
  neverRose(frames);
});
