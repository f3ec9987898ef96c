// Which texts patching compares in the Explore room, and what of its tables is in sight.
import assert from 'node:assert/strict';
import { reread, roomTest, says } from './explore-room.js';

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
