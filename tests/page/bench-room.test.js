// The Bench room: it measures, stops when told, and says what it cannot do. How long anything takes is not tested.
import assert from 'node:assert/strict';
import {
  contentWidth,
  pageTest,
  schemes,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const ROOM = '#bench-room';

/** @param {Page} page */
const ready = async (page) => void (await page.waitForSelector(`${ROOM} button`));

/** @param {Page} page @param {number} count */
const results = (page, count) =>
  page.waitForFunction(
    (/** @type {number} */ least) =>
      document.querySelectorAll('#bench-room tbody td:nth-child(3)').length >= least,
    { timeout: 60_000 },
    count,
  );

/** @param {string} title @param {(page: Page) => Promise<void>} body */
const roomTest = (title, body) => pageTest(title, '#bench', body, { ready });

roomTest(
  'the Bench room shows each result with its share of the ceiling, and stops',
  async (page) => {
    assert.match(await textOf(page, `${ROOM} .lead`), /(may use threads|One thread)/);
    await page.click(`${ROOM} button`);
    await results(page, 2);
    const heading = await textOf(page, `${ROOM} tbody tr`);
    assert.match(
      heading,
      /^S0 multi-head attention, 2 × 6 tokens, 3 wide, 2 heads · (relaxed|simd128)/,
    );
    const row = await textOf(page, `${ROOM} tbody tr:nth-child(2)`);
    assert.match(row, /^wrapper1[\d.]+ (µs|ms)[\d.]+ GFLOP\/s[\d.]+ %[\d.]+ MiB$/);
    const percent = await page.$eval(`${ROOM} meter`, (meter) => Number(meter.value));
    assert.ok(percent > 0 && percent <= 100);
    assert.equal(await textOf(page, `${ROOM} button`), 'Stop');
    await page.click(`${ROOM} button`);
    assert.match(await textOf(page, `${ROOM} [role=status]`), /^Stopped after \d+ results?\.$/);
    assert.equal(await textOf(page, `${ROOM} button`), 'Run the benchmark');
  },
);

roomTest(
  'the Bench room fits every window, and axe finds nothing to complain about',
  async (page) => {
    await page.click(`${ROOM} button`);
    await results(page, 1);
    await page.click(`${ROOM} button`);
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      assert.deepEqual(await violations(page), [], scheme);
    }
    for (const width of widths) {
      await page.setViewport({ width, height: 800 });
      assert.ok((await contentWidth(page)) <= width);
    }
  },
);
