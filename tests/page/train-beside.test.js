// Two runs beside each other in the Train room: what tells them apart, their chosen head, and their answers.
import assert from 'node:assert/strict';
import { says, textOf } from './harness.js';
import { pause, resting, roomTest } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {string} selector @returns {Promise<string[]>} without repeats */
const coloursOf = async (page, selector) => [
  ...new Set(
    await page.$$eval(selector, (all) =>
      all.map((one) => getComputedStyle(/** @type {Element} */ (one)).color),
    ),
  ),
];

roomTest(
  'no colour means a run and a score',
  '#train?task=reversal&beside=seed%3D2',
  async (page) => {
    await pause(page);
    const runs = await coloursOf(page, '.train-curve .train-line');
    const scores = await coloursOf(page, '.train-scores .train-line');
    assert.deepEqual([runs.length, scores.length], [2, 3]);
    assert.deepEqual(
      runs.filter((colour) => scores.includes(colour)),
      [],
    );
  },
);

roomTest(
  'a head that is chosen is seen large in both runs, and muted in each by itself',
  '#train?beside=layers%3D1',
  async (page) => {
    await pause(page);
    const titles = () => page.$$eval('.train-large h2', (all) => all.map((one) => one.textContent));
    const mutedHeads = () =>
      page.$$eval('.train-heads', (all) =>
        all.map((grid) =>
          [...grid.querySelectorAll('.muted')].map((one) => one.getAttribute('data-head')),
        ),
      );
    assert.deepEqual(await titles(), ['Head L1H0', 'Head L1H0']);
    assert.equal((await page.$$('.train-large attention-map')).length, 1);
    assert.match(await textOf(page, '.train-all:nth-of-type(2) .train-large'), /no head L1H0/);
    await page.waitForFunction(
      () => !document.querySelector('#train-mute-second')?.checkVisibility(),
    );
    await page.click('[data-head=L0H1]');
    assert.deepEqual(await titles(), ['Head L0H1', 'Head L0H1']);
    assert.equal((await page.$$('.train-large attention-map')).length, 2);
    await page.click('#train-mute-second');
    await page.waitForSelector('.train-heads .muted');
    assert.deepEqual(await mutedHeads(), [[], ['L0H1']]);
    await says(page, '#train-link', /^The address does not record muted heads\.$/);
  },
);

roomTest(
  'the example of addition stands in one row, and is not said to be above',
  '#train?task=addition&beside=seed%3D2',
  async (page) => {
    await pause(page);
    const rows = await page.$$eval('.train-answers', (all) =>
      all.map(
        (list) => new Set([...list.children].map((one) => one.getBoundingClientRect().top)).size,
      ),
    );
    assert.deepEqual(rows, [1, 1]);
    assert.match(
      await textOf(page, '.train-below'),
      /^An example, with the model’s prediction below/,
    );
  },
);

roomTest(
  'another run beside one with a muted head begins anew, and the room says so',
  '#train',
  async (page) => {
    await pause(page);
    await page.click('#train-mute');
    await page.waitForSelector('.train-heads .muted');
    await page.select('#train-other', 'seed');
    await page.waitForFunction(() => document.querySelectorAll('.train-heads').length === 2);
    assert.equal(await textOf(page, '#train-message'), 'Both runs begin anew, with no head muted.');
    assert.equal((await page.$$('.train-heads .muted')).length, 0);
    await page.click('#train-play');
    await resting(page);
    assert.equal(await textOf(page, '#train-message'), '');
  },
);
