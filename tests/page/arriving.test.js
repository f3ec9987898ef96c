// A visit to a room by its address, while the page's scripts are still under way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engine } from '../browsers/engines.js';
import { browser, options, site } from './harness.js';

/** @import { HTTPRequest, Page } from 'puppeteer-core' */

/** What may move while a room comes, in the browser's measure: more is not called good. */
const MOST_SHIFT = 0.1;

/**
 * Holds all scripts back, but the one that comes before main.js.
 * @param {Page} page
 * @returns {Promise<() => Promise<void>>} lets them go
 */
async function holdScripts(page) {
  /** @type {HTTPRequest[]} */
  const held = [];
  const hold = (/** @type {HTTPRequest} */ request) => {
    const isHeld = request.resourceType() === 'script' && !request.url().includes('/early-');
    if (isHeld) held.push(request);
    else void request.continue();
  };
  await page.setBypassServiceWorker(true);
  await page.setRequestInterception(true);
  page.on('request', hold);
  return async () => {
    page.off('request', hold);
    await Promise.all(held.map((request) => request.continue()));
    await page.setRequestInterception(false);
  };
}

/** Sums what moves. @param {Page} page */
const watchShifts = (page) =>
  page.evaluateOnNewDocument(() => {
    Object.assign(globalThis, { shift: 0 });
    new PerformanceObserver((list) => {
      const shifts = /** @type {(PerformanceEntry & { value: number })[]} */ (list.getEntries());
      for (const { value } of shifts) /** @type {any} */ (globalThis).shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
  });

/** @param {Page} page that was watched */
async function nothingJumped(page) {
  const shift = await page.evaluate(() => /** @type {any} */ (globalThis).shift);
  assert.ok(shift <= MOST_SHIFT, `shifted by ${shift}`);
}

/** @param {Page} page what is seen: rooms with their words' beginnings, and the room that the navigation says */
const seen = (page) =>
  page.evaluate(() => {
    const rooms = [...document.querySelectorAll('.room')].filter(
      (room) => room.getClientRects().length > 0,
    );
    const words = (/** @type {Element} */ { textContent }) => textContent?.trim().slice(0, 20);
    return [
      ...rooms.map((room) => `${room.id}: ${words(room)}`),
      ...[...document.querySelectorAll('#rooms [aria-current]')].map(words),
    ];
  });

/** @type {[string, string, string][]} address, name, what is there when the room is open */
const ROOMS = [
  ['#explore', 'Explore', '#explore-grid canvas'],
  ['#explore?mode=why', 'Explore', '.sum'],
  ['#train', 'Train', '.train-heads canvas'],
  ['#lessons', 'Lessons', '.lesson-part'],
  ['#lessons?lesson=fused', 'Lessons', '.step'],
  ['#bench', 'Bench', '#bench-run'],
];

/** A desktop's window, and a phone's. */
const SIZES = [
  [1280, 900],
  [390, 844],
];

const visits = SIZES.flatMap(([width, height]) =>
  ROOMS.map((room) => /** @type {const} */ ([...room, { width, height }])),
);

for (const [hash, name, open, size] of engine.hasCdp ? visits : []) {
  const title = `who comes to ${hash}, ${size.width} px wide, sees no other room first, and nothing jumps`;
  test(title, options, async () => {
    const page = await browser.newPage();
    try {
      await page.setViewport(size);
      await watchShifts(page);
      const release = await holdScripts(page);
      const visit = page.goto(site.url + hash);
      await page.waitForSelector('.site-foot', { timeout: 60_000 });
      // Nothing is painted before.
      await page.waitForFunction(() =>
        [...document.querySelectorAll('link')].every(
          ({ rel, sheet }) => rel !== 'stylesheet' || sheet,
        ),
      );
      const id = `${name.toLowerCase()}-room`;
      assert.deepEqual(await seen(page), [`${id}: Opening ${name} …`, name]);
      // Long enough to be painted.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
      await release();
      await visit;
      await page.waitForSelector(open, { timeout: 60_000 });
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1000)));
      assert.doesNotMatch((await seen(page)).join(), /Opening|compare/);
      await nothingJumped(page);
    } finally {
      await page.close();
    }
  });
}

// Of others neither scripts nor shifts can be told.
for (const [hash, name, open] of engine.hasCdp ? [] : ROOMS) {
  test(`who comes to ${hash} is in that room, and in no other`, options, async () => {
    const page = await browser.newPage();
    try {
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(site.url + hash);
      await page.waitForSelector(open, { timeout: 60_000 });
      const [room, ...rest] = await seen(page);
      assert.equal(room?.split(':')[0], `${name.toLowerCase()}-room`);
      assert.deepEqual(rest, [name]);
    } finally {
      await page.close();
    }
  });
}

for (const hash of engine.hasCdp ? ['', '#compare?source=own'] : [])
  test(`nothing of Compare jumps on a phone: ${hash || 'no address'}`, options, async () => {
    const page = await browser.newPage();
    try {
      await page.setViewport({ width: 390, height: 844 });
      await watchShifts(page);
      await page.goto(site.url + hash);
      await page.waitForSelector('#grid canvas', { timeout: 60_000 });
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1000)));
      await nothingJumped(page);
    } finally {
      await page.close();
    }
  });

if (engine.hasCdp)
  test('an address of no room shows Compare at once', options, async () => {
    const page = await browser.newPage();
    try {
      const release = await holdScripts(page);
      const visit = page.goto(`${site.url}#"]explore`);
      await page.waitForSelector('.site-foot', { timeout: 60_000 });
      assert.deepEqual(await seen(page), ['compare-room: One attention, compu', 'Compare']);
      await release();
      await visit;
    } finally {
      await page.close();
    }
  });
