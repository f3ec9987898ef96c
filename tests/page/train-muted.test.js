// What the Train room says of muted heads, which no address has: of the link, of what is kept, and of the model in Explore.
import assert from 'node:assert/strict';
import { textOf } from './harness.js';
import { pause, reached, resting, roomTest } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const WITHOUT =
  'The address does not record muted heads. To keep this run, save it or keep it in this browser.';

/** @param {Page} page @param {RegExp} words waits until the note of the link says them */
const linkSays = (page, words) =>
  page.waitForFunction(
    (/** @type {string} */ pattern) =>
      new RegExp(pattern).test(document.getElementById('train-link')?.textContent ?? ''),
    { timeout: 60_000 },
    words.source,
  );

roomTest(
  'the note of the link tells of a head that is or was muted, also of a run that was kept',
  '#train?task=reversal',
  async (page) => {
    await pause(page);
    await linkSays(page, /It shows the same run, to the bit/);
    await page.click('#train-mute');
    await linkSays(page, /does not record muted heads/);
    assert.equal(await textOf(page, '#train-link'), WITHOUT);
    await page.click('#train-once');
    await resting(page);
    await page.click('#train-mute');
    await page.waitForFunction(() => !document.querySelector('.train-heads .muted'));
    assert.equal(await textOf(page, '#train-link'), WITHOUT, 'a step was done without it');
    await page.click('#train-keep');
    await page.waitForSelector('#train-resume');
    await page.click('#train-restart');
    await linkSays(page, /It shows the same run, to the bit/);
    await page.click('#train-resume');
    await linkSays(page, /does not record muted heads/);
  },
);

roomTest('Explore says which head was muted in training', '#train', async (page) => {
  await reached(page, 3);
  await pause(page);
  await page.click('#train-mute');
  await page.waitForSelector('.train-heads .muted');
  await page.click('#train-explore');
  await page.waitForFunction(
    () =>
      /^induction-\d+-L1H0-muted: a model/.test(
        document.getElementById('explore-opened')?.textContent?.trim() ?? '',
      ),
    { timeout: 60_000 },
  );
});
