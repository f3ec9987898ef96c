// A room on paper: nothing that only a pointer can use, and nothing scrolled out of sight.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engine } from '../browsers/engines.js';
import { pageTest, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** Within the margins of a sheet, in CSS pixels. */
const SHEET = { width: 720, height: 1000 };

/** @type {[hash: string, there: string][]} what is there when the room is open */
const ROOMS = [
  ['#compare', '#row .bar'],
  ['#explore', '#explore-grid canvas'],
  ['#explore?mode=why', '.lens-table button'],
  ['#train', '.train-heads canvas'],
  ['#bench', '#bench-run'],
];

/** Buttons that say something: heads, parts, tokens, steps. */
const TELLING = 'table, .explore-grid, .explore-telling, .head-table, .stepper-steps, .train-heads';

/** What is seen though it does nothing on paper. @param {Page} page */
const controls = (page) =>
  page.$$eval(
    'button, summary, input[type=range], input[type=file], .ways',
    (all, telling) =>
      all
        .filter((one) => one.checkVisibility() && !one.closest(`${telling}, #explore-lens`))
        .map((one) => one.textContent?.trim()),
    TELLING,
  );

/** Boxes with more than is seen of them. @param {Page} page */
const scrolled = (page) =>
  page.$$eval('main *', (all) =>
    all
      .filter((one) => one.checkVisibility() && /auto|scroll/.test(getComputedStyle(one).overflow))
      .filter(
        (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1,
      )
      .map(({ tagName, id, className }) => `${tagName}#${id}.${className}`),
  );

for (const [hash, there] of engine.hasCdp ? ROOMS : []) {
  pageTest(
    `${hash} on paper has no buttons, and is whole`,
    hash,
    async (page) => {
      await page.emulateMediaType('print');
      await page.setViewport(SHEET);
      assert.deepEqual(await controls(page), []);
      assert.deepEqual(await scrolled(page), []);
      const tokens = await page.$$eval('.lens-table .token', (all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => ({ left, right })),
      );
      assert.ok(tokens.every(({ left, right }) => left >= 0 && right <= SHEET.width));
    },
    { ready: async (page) => void (await page.waitForSelector(there, { timeout: 60_000 })) },
  );
}

// A file without any test would never end: Node runs its last hook behind the last test.
if (!engine.hasCdp) test('rooms on paper', { skip: `nothing prints in ${engine.name} here` });

const LONG = 'It was not in her power to speak of him to her sister. '.repeat(6).trim();

pageTest(
  'of a long text’s lines as many as are seen are on paper, which says so, and they are as wide as it',
  `#explore?text=${encodeURIComponent(LONG)}`,
  async (page) => {
    const seen = await page.$eval('.lines', (box) => {
      const inner = /** @type {HTMLElement} */ (box.querySelector('.lines-inner'));
      const drawing = /** @type {Element} */ (box.querySelector('svg'));
      // As a sheet of paper does it: nothing is drawn anew.
      inner.style.width = '300px';
      const { width } = drawing.getBoundingClientRect();
      inner.style.width = '';
      const { top, bottom } = box.getBoundingClientRect();
      const whole = [...box.querySelectorAll('.from > div')].filter((label) => {
        const at = label.getBoundingClientRect();
        return at.top > top - 1 && at.bottom < bottom + 1;
      });
      return { width, whole: whole.length };
    });
    assert.equal(seen.width, 300);
    assert.ok(seen.whole > 20 && seen.whole < 60, `${seen.whole}`);
    const words = '#explore-lines .on-paper';
    assert.equal(await textOf(page, words), `Tokens 1 to ${seen.whole} of 84.`);
    const isShown = () => page.$eval(words, (one) => one.checkVisibility());
    assert.equal(await isShown(), false);
    if (!engine.hasCdp) return;
    await page.emulateMediaType('print');
    assert.equal(await isShown(), true);
  },
  { ready: async (page) => void (await page.waitForSelector('.lines path', { timeout: 60_000 })) },
);
