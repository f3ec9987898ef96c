// Addresses that say what there is not: the page says it, or shows what comes next, and the address becomes that of what is seen.
import assert from 'node:assert/strict';
import { says } from './explore-room.js';
import { pageTest, settled, site } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {string} hash */
const becomes = (page, hash) =>
  page.waitForFunction((/** @type {string} */ wanted) => location.hash === wanted, {}, hash);

/** @type {[string, string][]} */
const ADDRESSES = [
  ['#why', '#compare'],
  ['#nonsense?x=1', '#compare'],
  ['#compare?head=99&row=-1&seed=NaN', '#compare'],
  ['#compare?row=900', '#compare'],
  [
    '#compare?source=own&width=384&heads=7&head=H15&row=900',
    '#compare?source=own&width=384&heads=6&head=H5',
  ],
  ['#train?task=foo&layers=99', '#train'],
  ['#train?beside=', '#train?beside=seed%3D2'],
  ['#bench?x=1', '#bench'],
  ['#explore?mode=why&target=999999', '#explore?mode=why'],
  ['#explore?pins=q999_k3&key=999', '#explore?pins=k3'],
];

pageTest('an address becomes that of what is seen', '', async (page) => {
  for (const [address, seen] of ADDRESSES) {
    await page.goto('about:blank');
    await page.goto(site.url + address);
    await becomes(page, seen);
  }
  // While the page is open too.
  await page.evaluate(() => void (location.hash = '#explore?pins=q999_k3'));
  await becomes(page, '#explore?pins=k3');
  await page.evaluate(() => void (location.hash = '#compare?row=900'));
  await becomes(page, '#compare');
});

pageTest('a link to the room that is shown adds no entry to the history', '', async (page) => {
  await page.click('#rooms [data-room=bench]');
  await becomes(page, '#bench');
  const before = await page.evaluate(() => history.length);
  await page.click('#rooms [data-room=bench]');
  await page.click('#rooms [data-room=bench]');
  assert.equal(await page.evaluate(() => history.length), before);
  await page.evaluate(() => history.back());
  await page.waitForSelector('#compare-room:not([hidden])');
});

pageTest('a visit of no address keeps it', '', async (page) => {
  await settled(page);
  assert.equal(await page.evaluate(() => location.hash), '');
});

pageTest(
  'a lesson that there is not is said, above the list',
  '#lessons?lesson=nope',
  async (page) => {
    const unknown = '#lessons-room > .message';
    await says(page, unknown, /^There is no lesson “nope”\./);
    await becomes(page, '#lessons');
    await page.evaluate(() => void (location.hash = '#lessons?lesson=none'));
    await says(page, unknown, /^There is no lesson “none”\./);
    await becomes(page, '#lessons');
    await page.evaluate(() => void (location.hash = '#lessons?lesson=fused'));
    await page.waitForSelector('.step');
    assert.equal((await page.$$(unknown)).length, 0);
  },
  { ready: async () => {} },
);

pageTest('a link that was just followed is not lost to another change', '', async (page) => {
  // A change comes between the link and the event that tells of it, as when a run ends or a room has opened.
  await page.evaluate(() => {
    location.hash = '#bench';
    document.getElementById('causal')?.click();
  });
  await page.waitForFunction(() => document.documentElement.dataset.room === 'bench');
  assert.equal(await page.evaluate(() => location.hash), '#bench');
  await page.click('#rooms [data-room=compare]');
  await becomes(page, '#compare?causal=0');
});
