// What the tests of the Train room share: waiting for steps, pausing, training on a text.
import { fill, pageTest } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

export const ROOM = '#train-room';

/** @param {Page} page @param {number} step waits until the runs have done it */
export const reached = (page, step) =>
  page.waitForFunction(
    (/** @type {number} */ least) =>
      Number(document.getElementById('train-room')?.dataset.step) >= least &&
      document.querySelector('.train-heads canvas'),
    { timeout: 120_000 },
    step,
  );

/** @param {Page} page */
export const stepOf = (page) =>
  page.$eval(ROOM, (room) => Number(/** @type {HTMLElement} */ (room).dataset.step));

/** @param {Page} page until no steps are under way */
export const resting = (page) =>
  page.waitForFunction(() => document.getElementById('train-room')?.dataset.state === 'resting', {
    timeout: 120_000,
  });

/** Pauses a run that plays. @param {Page} page */
export async function pause(page) {
  await page.click('#train-play');
  await resting(page);
}

/** @param {Page} page @param {string} text */
export async function trainOn(page, text) {
  await fill(page, '#train-text', text, 'input');
  await page.click('.train-own button');
}

/** @param {Page} page until there is a message */
export const isSaid = async (page) =>
  void (await page.waitForFunction(() => document.querySelector('#train-message')?.textContent));

/** @param {string} title @param {string} hash @param {(page: Page) => Promise<void>} body */
export const roomTest = (title, hash, body) =>
  pageTest(title, hash, body, {
    ready: async (page) => void (await reached(page, 1)),
    // A model that Explore was reading when another was opened.
    isMeant: /^failed: .*\.safetensors$/,
  });
