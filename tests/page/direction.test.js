// Fields of text are written from the side on which their first letter begins, without dir="auto": see shared/direction.js.
import assert from 'node:assert/strict';
import { pageTest, rerun } from './harness.js';
import { roomTest } from './explore-room.js';
import { reached } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const SALAM = 'سلام جهان';

/** Empty text, signs and numbers before the first letter, a mark of direction, a letter of two code units. */
const TEXTS = [
  ...['', 'left', '12, (!) 😀', SALAM, '12: «שלום» abc', 'a שלום', '3\n\nשלום', '\u200Fabc'],
  ...['\u200Eשלום', '𞤀𞤣', '日本 שלום'],
];

/** @param {Page} page @param {string} field */
const directionOf = (page, field) =>
  page.$eval(field, (element) => getComputedStyle(element).direction);

/** @param {Page} page @param {string} field and no field of the room asks the browser for its direction */
async function follows(page, field) {
  assert.equal(await page.evaluate(() => document.querySelectorAll('[dir=auto]').length), 0);
  const seen = await page.$eval(
    field,
    (element, texts) => {
      const area = /** @type {HTMLTextAreaElement} */ (element);
      const auto = Object.assign(document.createElement('textarea'), { dir: 'auto' });
      document.body.append(auto);
      const before = area.value;
      const both = [...texts, before].map((text) => {
        area.value = auto.value = text;
        area.dispatchEvent(new Event('input'));
        return [area, auto].map((one) => getComputedStyle(one).direction);
      });
      auto.remove();
      return both;
    },
    TEXTS,
  );
  for (const [i, [own, auto]] of seen.entries()) assert.equal(own, auto, TEXTS[i]);
  assert.deepEqual(new Set(seen.map(([own]) => own)), new Set(['ltr', 'rtl']));
}

pageTest(
  'Compare: the direction follows a text of the address, of a button, and what is typed',
  `#compare?source=own&text=${encodeURIComponent(SALAM)}`,
  async (page) => {
    assert.equal(await directionOf(page, '#text'), 'rtl');
    await rerun(page, () => page.click('#sample'));
    assert.equal(await directionOf(page, '#text'), 'ltr');
    await follows(page, '#text');
  },
);

roomTest(
  'Explore: the direction follows a text that is read, and what is typed',
  '',
  async (page) => {
    await page.click('#explore-edit');
    await follows(page, '#explore-input');
    await page.evaluate((text) => void (location.hash = `#explore?text=${text}`), SALAM);
    await page.waitForFunction(() => document.querySelector('#explore-input[dir=rtl]'));
    await page.click('#explore-sample');
    assert.equal(await directionOf(page, '#explore-input'), 'ltr');
  },
);

roomTest('Explore: so does that of the text to compare with', '?mode=why', async (page) => {
  await page.waitForSelector('#explore-corrupted');
  await follows(page, '#explore-corrupted');
  await page.evaluate((text) => void (location.hash += `&corrupted=${text}`), SALAM);
  await page.waitForFunction(() => document.querySelector('#explore-corrupted[dir=rtl]'));
});

pageTest(
  'Train: so does that of the text to train on',
  `#train?task=own&text=${encodeURIComponent(`${SALAM} `.repeat(40))}`,
  async (page) => {
    assert.equal(await directionOf(page, '#train-text'), 'rtl');
    await follows(page, '#train-text');
  },
  { ready: async (page) => void (await reached(page, 1)) },
);
