// Where the focus is in the Lessons room after a link, Back and the arrow keys: in what is seen.
import assert from 'node:assert/strict';
import { pageTest } from './harness.js';
import { ended, lessonTest } from './lessons-room.js';

/** @import { Page } from 'puppeteer-core' */

/** What has the focus, where it begins in the window, and how far down the page is. @param {Page} page */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    const top = element?.getBoundingClientRect().top ?? NaN;
    return { id: element?.id ?? '', tag: element?.tagName, top, y: scrollY, height: innerHeight };
  });

/** Presses Tab, which is not to move the page far. @param {Page} page */
async function tabStays(page) {
  const before = await focused(page);
  await page.keyboard.press('Tab');
  const { top, y, height, tag } = await focused(page);
  assert.ok(top >= 0 && top < height, `${tag} at ${top}`);
  assert.ok(Math.abs(y - before.y) < height / 2, `from ${before.y} to ${y}`);
}

lessonTest(
  'a link to a document takes the focus there, and Back to what is seen',
  'wrapper',
  async (page) => {
    await page.focus('.step:nth-of-type(4) .source a');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.contents');
    assert.match((await focused(page)).id, /^document-\d+$/);
    await tabStays(page);
    await page.focus('.documents a[href*="lesson=wrapper"][href*="to=step-5"]');
    await page.keyboard.press('Enter');
    await ended(page);
    assert.equal((await focused(page)).id, 'step-5');
    await tabStays(page);
    const { y: left } = await focused(page);
    await page.evaluate(() => history.back());
    await page.waitForSelector('.contents');
    await page.waitForFunction(() => scrollY > 500);
    assert.equal((await focused(page)).tag, 'H1');
    await tabStays(page);
    await page.evaluate(() => history.forward());
    await ended(page);
    await page.waitForFunction((/** @type {number} */ y) => Math.abs(scrollY - y) < 5, {}, left);
    await tabStays(page);
  },
);

for (const [to, id] of [
  ['step-3', 'step-3'],
  ['exercise', 'exercise-title'],
]) {
  pageTest(
    `an address that names ${to} takes the focus there`,
    `#lessons?lesson=by-hand&to=${to}`,
    async (page) => {
      assert.equal((await focused(page)).id, id);
      await tabStays(page);
    },
    { ready: async (page) => void (await ended(page)) },
  );
}

lessonTest('the cursor is never behind the bar', 'which-head', async (page) => {
  await page.focus('.step:nth-of-type(7) .editor pre');
  await page.waitForSelector('.cm-focused');
  await page.keyboard.down('Control');
  await page.keyboard.press('End');
  await page.keyboard.up('Control');
  for (let i = 0; i < 42; i++) {
    await page.keyboard.press('ArrowUp');
    // The editor scrolls a frame later; an empty line has no rectangle.
    await page.waitForFunction(
      () => {
        const { top = 0 } = getSelection()?.getRangeAt(0).getBoundingClientRect() ?? {};
        const bar = document.querySelector('.lesson-bar')?.getBoundingClientRect().bottom ?? NaN;
        return top === 0 || top >= bar;
      },
      { timeout: 5000 },
    );
  }
});

pageTest(
  'who comes back to Lessons, left before it was open, is at its heading',
  '',
  async (page) => {
    await page.evaluate(() => {
      for (const room of ['lessons', 'compare']) {
        const link = document.querySelector(`#rooms [data-room=${room}]`);
        /** @type {HTMLElement} */ (link).click();
      }
    });
    await page.waitForFunction(() => !document.querySelector('#lessons-room > .opening'));
    await page.focus('#grid button');
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => document.activeElement?.matches('#lessons-room h1'), {
      timeout: 5000,
    });
  },
);
