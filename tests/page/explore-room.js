// What the tests of the Explore room share: waiting until it is drawn and scored.
import { test } from 'node:test';
import { engine } from '../browsers/engines.js';
import { fill, pageTest } from './harness.js';

/** @import { ElementHandle, Page } from 'puppeteer-core' */

export const ROOM = '#explore-room';

/** Of the first large map. */
export const FIELD = '.zoom-map attention-map >>> .map-field';
export const TIP = '.zoom-map attention-map >>> .map-tip';

/** @param {Page} page until everything is drawn and scored, anew if `old` is the run before */
export const scored = (page, old = '') =>
  page.waitForFunction(
    (/** @type {string} */ selector, /** @type {string} */ number) => {
      const room = document.querySelector(selector);
      const found = /** @type {HTMLElement | null} */ (room)?.dataset;
      return found?.scored && found.scored !== number && found.scored === found.run;
    },
    { timeout: 60_000 },
    ROOM,
    old,
  );

/** A value as the page writes it. @param {string | null | undefined} text */
export const numberOf = (text) => Number(text?.replace('−', '-').replace('+', ''));

/** Another text. @param {Page} page @param {string} text */
export const write = (page, text) => fill(page, '#explore-input', text);

/** The rows of a table of parts: name, and value with all decimals. @param {Page} page @param {string} table @returns {Promise<[string, number][]>} */
export async function partRows(page, table) {
  const found = await page.$$eval(`${table} tr:has(.sum-cell)`, (all) =>
    all.map((row) => [
      row.querySelector('th')?.textContent?.replace(/\s+/g, ' ').trim() ?? '',
      row.querySelector('td:last-child')?.getAttribute('title') ?? '',
    ]),
  );
  return found.map(([name, words]) => [name, numberOf(words)]);
}

/** Opens a menu. @param {Page} page @param {string} id */
export const openMenu = (page, id) => page.$eval(`#${id}`, (menu) => menu.setAttribute('open', ''));

/** @param {Page} page the number of the run that is scored */
export const runOf = (page) =>
  page.$eval(ROOM, (room) => /** @type {HTMLElement} */ (room).dataset.scored);

/** @param {Page} page @param {() => Promise<unknown>} act something that makes the model read again */
export async function reread(page, act) {
  const old = await runOf(page);
  await act();
  await scored(page, old);
}

/** A preview that is replaced may not have been drawn yet. */
export const isMeant = /^failed: blob:/;

/** @param {string} title @param {string} query @param {(page: Page) => Promise<void>} body */
export const roomTest = (title, query, body) =>
  pageTest(title, `#explore${query}`, body, {
    ready: async (page) => void (await scored(page)),
    isMeant,
  });

/** A test that opens files or a second page, which WebDriver's page cannot. @type {typeof roomTest} */
export const filesTest = (title, ...rest) => {
  if (engine.hasEvents) roomTest(title, ...rest);
  // A file without any test would never end: Node runs its last hook behind the last test.
  else test(title, { skip: `nothing opens files or pages in ${engine.name} here` });
};

/** @param {Page} page @param {string} selector which may go into shadow roots @param {RegExp} words */
export const says = (page, selector, words) =>
  page.waitForFunction(
    (/** @type {string[]} */ where, /** @type {string} */ pattern) => {
      /** @type {ParentNode | null | undefined} */
      let within = document;
      /** @type {Element | null | undefined} */
      let found;
      for (const part of where) {
        found = within?.querySelector(part);
        within = found?.shadowRoot;
      }
      return new RegExp(pattern).test((found?.textContent ?? '').replace(/\s+/g, ' ').trim());
    },
    { timeout: 20_000 },
    selector.split(' >>> '),
    words.source,
  );

/** @param {Page} page @param {string[]} paths of files that are chosen in the dialog */
export async function choose(page, ...paths) {
  await openMenu(page, 'explore-files');
  await page.click('#explore-open');
  const input = /** @type {ElementHandle<HTMLInputElement>} */ (
    await page.$('.explore-files input[aria-label="Files to open"]')
  );
  await input.uploadFile(...paths);
}

/** @param {Page} page */
export const address = (page) => page.evaluate(() => location.hash);

/** @param {Page} page @param {string} part until the address has it */
export const addressHas = (page, part) =>
  page.waitForFunction((/** @type {string} */ text) => location.hash.includes(text), {}, part);

/** @param {Page} page @param {string} selector until it has the focus */
export const hasFocus = (page, selector) =>
  page.waitForFunction(
    (wanted) => document.activeElement?.matches(wanted),
    { timeout: 5000 },
    selector,
  );

/** Comes here from Lessons, and goes back there after something was begun. @param {Page} page @param {() => Promise<unknown>} begin */
export async function goBackAfter(page, begin) {
  for (const room of ['lessons', 'explore']) {
    await page.click(`#rooms [data-room=${room}]`);
    await page.waitForSelector(`#${room}-room:not([hidden]) h1`);
  }
  await begin();
  await page.evaluate(() => history.back());
  await page.waitForSelector('#lessons-room:not([hidden])');
}

/** Holds the calls of a Worker's method: from then on, until they are let go. @param {Page} page @param {string} method */
export const hold = (page, method) =>
  page.evaluate((held) => {
    const post = Worker.prototype.postMessage;
    /** @type {(() => void)[]} */
    const waiting = [];
    Worker.prototype.postMessage = function (/** @type {any} */ message) {
      if (message.path?.[0] === held) waiting.push(() => post.call(this, message));
      else post.call(this, message);
    };
    Object.assign(globalThis, {
      waiting,
      letGo() {
        Worker.prototype.postMessage = post;
        for (const send of waiting) send();
      },
    });
  }, method);

/** @param {Page} page until something is held */
export const isHeld = (page) => page.waitForFunction('waiting.length > 0');

/** @param {Page} page */
export const letGo = (page) => page.evaluate('letGo()');
