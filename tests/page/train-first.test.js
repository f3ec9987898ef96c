// The Train room's first screen and its last links: what is folded on a phone, fields and frames that have their room, and where
// the story of a task goes on.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { pageTest, textOf } from './harness.js';
import { pause, reached, resting, roomTest, stepOf } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const PHONE = { width: Math.max(390, engine.leastWidth), height: 844 };

roomTest(
  'on a phone how to read a map is folded, and the first maps are seen at once',
  '#train',
  async (page) => {
    await pause(page);
    assert.match(
      await textOf(page, '.explore-read'),
      /What happens.*What to look at.*until the end.*How to read a map/,
    );
    await page.setViewport(PHONE);
    await page.waitForSelector('#train-more:not([open])');
    await page.waitForSelector('.train-main > .train-all + .train-large');
    assert.doesNotMatch(await textOf(page, '.explore-read'), /How to read a map/);
    const top = await page.$eval('.train-heads canvas', (map) => map.getBoundingClientRect().top);
    assert.ok(top + 120 < PHONE.height * 0.9, `the first map begins at ${top}`);
    await page.click('#train-more summary');
    await page.waitForSelector('#train-more[open]');
    assert.match(await textOf(page, '#train-more'), /until the end.*Each row belongs to one token/);
  },
);

/** @param {Page} page @param {string} field whether all that it holds is seen */
const isWhole = (page, field) =>
  page.$eval(field, ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);

roomTest('a seed of ten digits is seen whole', '#train?seed=4294967295', async (page) => {
  await pause(page);
  for (const size of [{ width: 1280, height: 800 }, PHONE]) {
    await page.setViewport(size);
    assert.ok(await isWhole(page, '#train-seed'));
  }
});

pageTest(
  'a seed of ten digits is seen whole in Compare',
  '#compare?seed=4294967295',
  async (page) => {
    assert.ok(await isWhole(page, '#seed'));
  },
);

roomTest(
  'the frame of the slider’s focus does not touch the words above it',
  '#train',
  async (page) => {
    await pause(page);
    await page.focus('#train-step');
    await page.keyboard.press('Home');
    const gap = await page.$eval('#train-step', (slider) => {
      const { outlineOffset, outlineWidth } = getComputedStyle(slider);
      const frame =
        slider.getBoundingClientRect().top - parseFloat(outlineOffset) - parseFloat(outlineWidth);
      const words = [...document.querySelectorAll('.train-history .train-roomy')];
      return frame - Math.max(...words.map((one) => one.getBoundingClientRect().bottom));
    });
    assert.ok(gap > 0, `${gap}`);
  },
);

roomTest('where it rests is read aloud, and nothing while it trains', '#train', async (page) => {
  const rest = () => textOf(page, '#train-rest');
  await reached(page, 3);
  assert.equal(await rest(), '');
  await pause(page);
  const step = await stepOf(page);
  assert.match(
    await rest(),
    new RegExp(`^Step ${step} of 1,200: accuracy \\d+ %, loss \\d\\.\\d\\d\\.$`),
  );
  await page.click('#train-once');
  await reached(page, step + 1);
  await resting(page);
  assert.match(await rest(), new RegExp(`^Step ${step + 1} of`));
  await page.click('#train-restart');
  await reached(page, 1);
  assert.equal(await rest(), '', 'nothing of the run before');
});

roomTest('the last links follow the task', '#train', async (page) => {
  await pause(page);
  const links = () =>
    page.$$eval('#train-room .ways a', (all) => all.map((one) => one.getAttribute('href')));
  assert.ok((await links()).includes('#explore?model=induction'));
  const name = 'Explore a model that was trained longer →';
  // Only Chromium can be asked for what is read.
  if (engine.hasCdp) await page.waitForSelector(`::-p-aria([name="${name}"][role="link"])`);
  await page.select('#train-task', 'austen');
  assert.ok((await links()).includes('#explore?model=austen'));
  for (const task of ['reversal', 'sorting', 'addition']) {
    await page.select('#train-task', task);
    const all = await links();
    assert.equal(all.length, 3);
    assert.ok(!all.some((one) => one?.includes('induction')), all.join());
  }
  await page.click('#train-room .ways a:last-child');
  await page.waitForFunction(() => location.hash === '#train');
});
