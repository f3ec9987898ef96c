// The Explore room when its Worker dies, and with it what was open.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { writeNpy } from 'headwise/formats';
import { data } from '../helpers.js';
import { choose, filesTest, reread, roomTest, says } from './explore-room.js';
import { crash, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const N = 5;
const weights = data(1, [2, 3, N, N]);
weights.data.forEach((weight, i) => (weights.data[i] = Math.abs(weight)));

/** @type {string} */
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-lost-'));
  await writeFile(join(folder, 'attn.npy'), writeNpy(weights));
});

after(() => rm(folder, { recursive: true, force: true }));

/** What is said of what is open. @param {Page} page */
const look = async (page) => ({
  opened: await textOf(page, '#explore-opened'),
  message: await textOf(page, '#explore-message'),
  hash: await page.evaluate(() => location.hash),
});

/** Until the table has a head's weights. @param {Page} page @param {number} head among all */
async function tableOf(page, head) {
  const expected = weights.data.slice(head * N * N, (head + 1) * N * N);
  await page.waitForFunction(
    (/** @type {number[]} */ right) => {
      const cells = [...document.querySelectorAll('#explore-table td')];
      const found = cells.map(({ textContent }) => Number(textContent?.replaceAll('−', '-')));
      return found.length === right.length && found.every((x, i) => Math.abs(x - right[i]) < 1e-4);
    },
    {},
    [...expected],
  );
}

filesTest(
  'files that were opened are open again after their Worker has died, as they were looked at',
  '',
  async (page) => {
    const choice = (/** @type {number} */ head) =>
      page.click(`#explore-grid button:nth-child(${head + 1})`);
    await reread(page, () => choose(page, join(folder, 'attn.npy')));
    await page.$eval('#explore-table', (details) => details.toggleAttribute('open', true));
    await choice(4);
    await tableOf(page, 4);
    const seen = await look(page);
    await reread(page, () => crash(page, () => choice(5)));
    await tableOf(page, 5);
    await choice(4);
    await tableOf(page, 4);
    assert.deepEqual(await look(page), seen);
  },
);

roomTest(
  'a Worker that dies again and again is said to have stopped, and starts with the next choice',
  '?text=one+two+three',
  async (page) => {
    const type = (/** @type {string} */ text) =>
      page.evaluate((words) => (location.hash = `#explore?text=${words}`), text);
    await reread(page, () => crash(page, () => page.click('#explore-grid button:nth-child(3)')));
    assert.equal(await textOf(page, '#explore-message'), '');
    // To look at the table is no choice of the store's.
    await crash(page, () =>
      page.$eval('#explore-table', (details) => details.toggleAttribute('open', true)),
    );
    await says(
      page,
      '#explore-message',
      /^The engine stopped \(crashed\); your next choice starts it again\.$/,
    );
    assert.equal(await page.$eval('#explore-heads', (part) => part.checkVisibility()), false);
    await reread(page, () => type('four+five+six'));
    assert.equal(await textOf(page, '#explore-message'), '');
    assert.equal(await page.$eval('#explore-heads', (part) => part.checkVisibility()), true);
  },
);
