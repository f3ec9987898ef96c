// What takes long in the Explore room beside opening and reading: a bar says so, and a button ends it.
import assert from 'node:assert/strict';
import { addressHas, hold, isHeld, letGo, roomTest, says, scored, runOf } from './explore-room.js';
import { schemes, textOf, useScheme, violations } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const OTHER = '#explore?text=four+five+six+four+five+six';

/** Where the top of an element is, and its bottom. @param {Page} page @param {string} id */
const edges = (page, id) =>
  page.$eval(`#${id}`, (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return { top, bottom };
  });

/** @param {Page} page @param {string} id until its bar is seen */
const isSeen = (page, id) => page.waitForSelector(`#${id}:not([hidden])`);

roomTest('reading has a bar, also right after a model was opened', '', async (page) => {
  const old = await runOf(page);
  await hold(page, 'run');
  await page.evaluate(() => void (location.hash = '#explore?model=induction'));
  await isHeld(page);
  await isSeen(page, 'explore-waiting');
  await says(page, '#explore-waiting', /^Reading the text Cancel$/);
  await letGo(page);
  await scored(page, old);
  await page.waitForSelector('#explore-waiting[hidden]');
});

roomTest(
  'what was chosen since a text was read is there when the next is left',
  '',
  async (page) => {
    await page.click('#explore-grid button:nth-child(11)');
    await addressHas(page, 'head=L1H2');
    await hold(page, 'run');
    await page.click('#explore-mute');
    await isHeld(page);
    await isSeen(page, 'explore-waiting');
    await page.click('#explore-waiting button');
    await page.waitForFunction(() => !location.hash.includes('mute'));
    await letGo(page);
    await addressHas(page, 'head=L1H2');
    await page.waitForSelector('#explore-waiting[hidden]');
  },
);

roomTest('reading can be left again and again, and the room lives on', '', async (page) => {
  const old = await runOf(page);
  await hold(page, 'run');
  await page.click('#explore-mute');
  // Each Cancel ends the Worker, and the next one reads what was there before.
  for (const calls of [1, 2]) {
    await page.waitForFunction(`waiting.length === ${calls}`);
    await says(page, '#explore-waiting:not([hidden])', /^Reading the text Cancel$/);
    await page.click('#explore-waiting button');
  }
  await page.waitForFunction('waiting.length === 3');
  await letGo(page);
  await scored(page, old);
  await page.waitForSelector('#explore-waiting[hidden]');
  assert.equal(await textOf(page, '#explore-message'), '');
});

for (const [method, words] of [
  ['thumbs', 'Drawing the small maps'],
  ['scores', 'Scoring the heads'],
]) {
  roomTest(`${words} has a bar, can be cancelled, and gone on with`, '', async (page) => {
    const old = await runOf(page);
    await hold(page, method);
    await page.evaluate((hash) => void (location.hash = hash), OTHER);
    await isHeld(page);
    await isSeen(page, 'explore-surveying');
    assert.equal(await textOf(page, '#explore-surveying'), `${words} Stop drawing`);
    const [bar, grid] = [await edges(page, 'explore-surveying'), await edges(page, 'explore-grid')];
    assert.ok(bar.bottom <= grid.top, `${bar.bottom}, ${grid.top}`);
    await page.click('#explore-surveying button');
    await says(page, '#explore-skipped', /Some small maps and scores were not computed\./);
    assert.equal(await textOf(page, '#explore-go-on'), 'Go on drawing');
    assert.deepEqual(await edges(page, 'explore-grid'), grid);
    const calls = await page.evaluate('waiting.length');
    assert.equal(calls, 1, 'the next layer is not asked for before this one is there');
    await letGo(page);
    await page.click('#explore-go-on');
    await scored(page, old);
    await page.waitForFunction(
      () => !document.querySelector('#explore-skipped, #explore-go-on, #explore-surveying'),
    );
    assert.deepEqual(await edges(page, 'explore-grid'), grid);
    await page.select('#explore-by', 'distance');
    await page.waitForSelector('#explore-grid[data-measure=distance] b');
  });
}

roomTest('ablation tells above the heads how far it is, and can be left', '', async (page) => {
  await hold(page, 'effects');
  await page.click('#explore-effects');
  await isHeld(page);
  await page.waitForSelector('#explore-ablating');
  const [{ bottom }, { top }] = [
    await edges(page, 'explore-ablating'),
    await edges(page, 'explore-grid'),
  ];
  assert.ok(bottom <= top, `${bottom}, ${top}`);
  assert.equal(await textOf(page, '#explore-ablating'), '0 of … Cancel');
  await page.click('#explore-ablating button');
  await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
  await page.waitForFunction(() => document.activeElement?.id === 'explore-all');
  await page.waitForFunction(() => !location.hash.includes('by='));
  await letGo(page);
});

roomTest('a map that takes long has a bar, and Cancel leads back', '?head=L2H1', async (page) => {
  await hold(page, 'region');
  await page.select('#explore-map', 'rollout');
  await addressHas(page, 'of=rollout');
  await isHeld(page);
  await isSeen(page, 'explore-drawing');
  assert.equal(await textOf(page, '#explore-drawing'), 'Computing the map Cancel');
  await page.click('#explore-drawing button');
  await page.waitForFunction(() => !location.hash.includes('rollout'));
  await letGo(page);
  await page.waitForSelector('#explore-drawing[hidden]');
  await says(page, '.map-title', /Head L2H1/);
  assert.equal(await textOf(page, '#explore-message'), '');
});

roomTest('the sum has a bar in Why, can be cancelled, and gone on with', '', async (page) => {
  await hold(page, 'attribution');
  await page.evaluate(() => void (location.hash = '#explore?mode=why'));
  await isHeld(page);
  await isSeen(page, 'explore-summing');
  assert.equal(await textOf(page, '#explore-summing'), 'Adding up the parts Cancel');
  await page.click('#explore-summing button');
  await says(page, '#explore-unsummed', /^The parts were not added up. Go on$/);
  await letGo(page);
  await page.waitForFunction(() => !document.querySelector('#explore-summing'));
  assert.equal(await textOf(page, '#explore-unsummed span'), 'The parts were not added up.');
  await page.click('#explore-unsummed button');
  await page.waitForSelector('#explore-sum .sum tfoot');
  assert.equal(await textOf(page, '#explore-message'), '');
});

roomTest('another prediction is added up though the last was cancelled', '', async (page) => {
  await hold(page, 'attribution');
  await page.evaluate(() => void (location.hash = '#explore?mode=why'));
  await isHeld(page);
  await isSeen(page, 'explore-summing');
  await page.click('#explore-summing button');
  await letGo(page);
  await page.evaluate(() => void (location.hash = '#explore?mode=why&pins=q3'));
  await page.waitForSelector('#explore-sum .sum tfoot');
});

/** Leaves the room. @param {Page} page */
async function leave(page) {
  await page.click('#rooms a[href^="#bench"]');
  await page.waitForSelector('#explore-room[hidden]');
}

/** Comes back to it. @param {Page} page */
async function comeBack(page) {
  await page.click('#rooms a[href^="#explore"]');
  await page.waitForSelector('#explore-room:not([hidden])');
}

roomTest('what was answered is there when the room is seen again', '?by=effect', async (page) => {
  await page.waitForSelector('#explore-grid[data-measure=effect] b');
  await page.waitForFunction(() => !document.querySelector('#explore-surveying'));
  await leave(page);
  await page.evaluate(() => {
    const post = Worker.prototype.postMessage;
    const asked = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { asked });
    Worker.prototype.postMessage = function (/** @type {any} */ message) {
      if (message.path) asked.push(message.path[0]);
      post.call(this, message);
    };
  });
  await comeBack(page);
  // What is asked anew is asked at once.
  const asked = /** @type {string[]} */ (await page.evaluate('asked'));
  const sweeps = ['predict', 'effects', 'thumbs', 'scores', 'losses'];
  assert.deepEqual(
    asked.filter((name) => sweeps.includes(name)),
    [],
  );
});

roomTest('what is asked layer by layer rests while the room is left', '', async (page) => {
  const old = await runOf(page);
  await hold(page, 'scores');
  await page.evaluate((hash) => void (location.hash = hash), OTHER);
  await isHeld(page);
  await leave(page);
  await letGo(page);
  await hold(page, 'scores');
  // Long enough for the answer about the first layer, on which the next was asked for.
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await page.evaluate('waiting.length'), 0);
  await comeBack(page);
  await isHeld(page);
  await letGo(page);
  await scored(page, old);
});

for (const scheme of schemes) {
  roomTest(`axe finds nothing to complain about in the bars (${scheme})`, '', async (page) => {
    await useScheme(page, scheme);
    await hold(page, 'thumbs');
    await page.evaluate((hash) => void (location.hash = hash), OTHER);
    await isSeen(page, 'explore-surveying');
    assert.deepEqual(await violations(page), []);
    await page.click('#explore-surveying button');
    await page.waitForSelector('#explore-skipped');
    assert.deepEqual(await violations(page), []);
    await letGo(page);
  });
}
