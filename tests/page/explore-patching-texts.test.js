// Which texts patching compares in the Explore room, and what of its tables is in sight.
import assert from 'node:assert/strict';
import { reread, roomTest, says, write } from './explore-room.js';
import { fill, valueOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page the tokens that are marked as different, of both texts */
const differing = (page) =>
  page.$$eval('.pair-tokens .differs .token', (all) => all.map((one) => one.textContent));

roomTest(
  'what the model wrote stands after both texts, so that one word of the text can be changed',
  '?model=names&mode=why&count=3',
  async (page) => {
    await reread(page, () => page.click('#explore-write'));
    await page.$eval('#explore-corrupted', (area) => {
      const box = /** @type {HTMLTextAreaElement} */ (area);
      box.value = box.value.replace('john gave', 'mary gave');
    });
    await page.click('#explore-patch');
    await says(page, '#explore-pair-told', /^“john” is “mary” in the other text\.$/);
    assert.deepEqual(await differing(page), ['john', 'mary']);
    await says(page, '#explore-pair-maps', /the other text/);
    await page.waitForSelector('.shares td button');
    const lengths = await page.$$eval('.pair-tokens tr', (rows) =>
      rows.map((row) => row.querySelectorAll('td').length),
    );
    assert.deepEqual(lengths, [17, 17]);
    // Without it both texts are compared again.
    await reread(page, () => page.click('#explore-take-back'));
    await says(page, '#explore-pair-told', /^“john” is “mary” in the other text\.$/);
    assert.equal((await page.$$('.pair-tokens tr:first-child td')).length, 14);
  },
);

roomTest('wide tables open where the texts differ', '?model=names&mode=why', async (page) => {
  await page.setViewport({ width: 390, height: 844 });
  await page.click('#explore-example');
  await page.waitForSelector('.shares thead .other');
  const tables = await page.$$eval('.share-scroll', (all) =>
    all.map((scroll) => {
      const room = scroll.getBoundingClientRect();
      const isSeen = (/** @type {string} */ selector) => {
        const box = scroll.querySelector(selector)?.getBoundingClientRect();
        return box && box.left >= room.left && box.right <= room.right;
      };
      return {
        isWide: scroll.scrollWidth > scroll.clientWidth,
        seen: isSeen('.differs') ?? isSeen('th:has(.other)'),
        row: isSeen('tr:last-child > :first-child'),
      };
    }),
  );
  const wide = tables.filter(({ isWide }) => isWide);
  assert.equal(wide.length, 2, 'both texts, and the tokens');
  for (const { seen, row } of wide) assert.ok(seen && row);
  // It stays where it was scrolled to while the same question is asked.
  await page.$$eval('.share-scroll', (all) => all.forEach((scroll) => (scroll.scrollLeft = 0)));
  await page.waitForFunction(() => !document.querySelector('.patching-progress'));
  // Not by its place, which moves while what was computed comes.
  await page.$eval('.shares td button', (button) => /** @type {HTMLElement} */ (button).click());
  await page.waitForSelector('#explore-grid [aria-pressed=true][title="Layer 0, head 0"]');
  const left = await page.$$eval('.share-scroll', (all) => all.map(({ scrollLeft }) => scrollLeft));
  assert.deepEqual(new Set(left), new Set([0]));
});

const OTHER = '#explore-corrupted';

roomTest(
  'another text that is typed is still there after a look at the maps',
  '?model=names&mode=why',
  async (page) => {
    const own = await valueOf(page, OTHER);
    await fill(page, OTHER, 'a text that is not compared yet', 'input');
    await page.click('#explore-maps-back');
    await page.waitForFunction(() => !document.getElementById('explore-corrupted'));
    await page.click('#explore-why');
    await page.waitForSelector('#explore-corrupted');
    assert.equal(await valueOf(page, OTHER), 'a text that is not compared yet');
    await page.click('#explore-patch');
    await page.waitForSelector('#explore-unpatch:not([hidden])');
    await page.click('#explore-unpatch');
    await page.waitForFunction(() => !location.hash.includes('corrupted'));
    assert.equal(await valueOf(page, OTHER), own);
  },
);

roomTest('another text that is too long for the address is kept', '?mode=why', async (page) => {
  const text = `She was ${'not in her power, '.repeat(260)}and so on`;
  const other = text.replace('She', 'He');
  await reread(page, () => write(page, text));
  await fill(page, OTHER, other, 'input');
  await page.click('#explore-patch');
  await page.waitForSelector('.pair-tokens');
  await page.waitForFunction(() => location.hash.includes('kept-other='));
  await page.reload();
  await page.waitForSelector('.pair-tokens', { timeout: 60_000 });
  assert.equal(await valueOf(page, OTHER), other);
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await says(page, '#explore-kept', /^This link refers to a long text/);
});
