// What the tests of the Lessons room share: opening a lesson, waiting for its run, putting code in place of a step's.
import { pageTest, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {...string} states how the run ended */
export const ended = (page, ...states) =>
  page.waitForFunction(
    (/** @type {string[]} */ wanted) => {
      const lesson = document.querySelector('#lessons-room .lesson');
      return wanted.includes(/** @type {HTMLElement | null} */ (lesson)?.dataset.state ?? '');
    },
    { timeout: 60_000 },
    states.length > 0 ? states : ['done'],
  );

/**
 * Puts code in place of a step's and runs it with the keys.
 *
 * @param {Page} page
 * @param {number} step from 1
 * @param {string} code
 */
export const runInstead = (page, step, code) => runIn(page, `.step:nth-of-type(${step})`, code);

/** @param {Page} page @param {string} selector of a step, or of the exercise @param {string} code */
export async function runIn(page, selector, code) {
  await typeIn(page, selector, code);
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
}

/** Puts code in place of a step's, and runs nothing. @param {Page} page @param {string} selector @param {string} code */
export async function typeIn(page, selector, code) {
  await page.focus(`${selector} .editor :is(pre, .cm-content)`);
  await page.waitForSelector(`${selector} .cm-focused`);
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.evaluate((text) => document.execCommand('insertText', false, text), code);
}

/**
 * Goes to a lesson by its address and waits for its run.
 *
 * @param {Page} page
 * @param {string} id
 */
export async function openLesson(page, id) {
  await page.evaluate((hash) => (location.hash = hash), `#lessons?lesson=${id}`);
  await page.waitForFunction(
    (/** @type {string} */ wanted) =>
      document.getElementById('lessons-room')?.dataset.lesson === wanted,
    {},
    id,
  );
  await ended(page);
}

/** @param {Page} page @param {number} step whose result is waited for @param {string} words that it says */
export const resultSays = (page, step, words) =>
  page.waitForFunction(
    (/** @type {string} */ selector, /** @type {string} */ wanted) =>
      document.querySelector(selector)?.textContent?.includes(wanted),
    {},
    `.step:nth-of-type(${step}) .results`,
    words,
  );

/** @param {Page} page @param {number} step */
export const resultOf = (page, step) => textOf(page, `.step:nth-of-type(${step}) .results`);

/** Code as it stands on the page. @param {Page} page @param {string} selector of a step, or of the exercise */
export const codeIn = (page, selector) =>
  page.$eval(`${selector} .editor`, (editor) => editor.textContent ?? '');

/** A step's. @param {Page} page @param {number} step from 1 */
export const codeOf = (page, step) => codeIn(page, `.step:nth-of-type(${step})`);

/** Three heads instead of two, in the lesson on the wrapper. @param {Page} page */
export async function takeThreeHeads(page) {
  const code = await codeOf(page, 2);
  await runInstead(page, 2, code.replace('numHeads: 2', 'numHeads: 3'));
  await page.waitForSelector('.step:nth-of-type(2) .after-change');
  await ended(page);
}

/**
 * @param {string} title
 * @param {string} id of the lesson
 * @param {(page: Page) => Promise<void>} body
 * @param {RegExp} [isMeant] errors that the body causes
 */
export function lessonTest(title, id, body, isMeant) {
  pageTest(
    title,
    `#lessons?lesson=${id}`,
    async (page) => {
      await ended(page);
      try {
        await body(page);
      } finally {
        // The next test's page would find the edits of this one.
        await page.evaluate(() => localStorage.clear());
      }
    },
    { ready: () => Promise.resolve(), isMeant },
  );
}
