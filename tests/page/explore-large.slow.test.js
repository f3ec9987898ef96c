// The Explore room with a model of 135 million random weights and 500 tokens: the page stays responsive, each wait can be left,
// and maps are exact.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { load } from 'headwise';
import { loadModel } from 'headwise/models';
import { rollout } from 'headwise/understanding';
import { pooling } from '../../web/headwise/view/pool.js';
import { shapes } from '../bench/models/shapes.js';
import { writeModel } from '../bench/models/write.js';
import { serveFiles } from '../file-server.js';
import { runOf, scored } from './explore-room.js';
import { pageTest } from './harness.js';

/** @import { Page } from 'puppeteer-core' */
/** @import { Decoder } from 'headwise/models' */

const SHAPE = shapes['SmolLM2-135M'];
const TOKENS = 500;
const [IDS, OTHER] = [97, 89].map((factor) =>
  Array.from({ length: TOKENS }, (_, i) => (i * factor) % 49_000),
);

/** Drawn at least during each wait: a page that is held up until it ends draws one or two. */
const FEWEST_FRAMES = 5;
/** What opening, or reading, may take. */
const LONG = { timeout: 150_000 };

/** @type {string} */
let folder;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Decoder} */
let decoder;
/** @type {import('headwise').Trace[]} */
let trace;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-large-'));
  await writeModel(folder, SHAPE, { dtype: 'bfloat16' });
  decoder = await loadModel(await load({ threads: 'auto' }), folder);
  ({ trace } = decoder.forward(IDS, { logits: 'none', trace: true }));
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  for (const name of ['config.json', 'model.safetensors'])
    files[`/large/${name}`] = await readFile(join(folder, name));
  server = await serveFiles(files);
});

after(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Counts the frames that are drawn during each wait, and measures how long the main thread is held up: a timer comes too late by that. @param {Page} page */
const watch = (page) =>
  page.evaluate(() => {
    let last = performance.now();
    const gaps = { longest: 0 };
    /** @type {Record<string, number>} */
    const frames = {};
    const count = () => {
      const wait = document.querySelector('#explore-waiting:not([hidden]) .note');
      if (wait) frames[`${wait.textContent}`] = (frames[`${wait.textContent}`] ?? 0) + 1;
      requestAnimationFrame(count);
    };
    count();
    setInterval(() => {
      const now = performance.now();
      gaps.longest = Math.max(gaps.longest, now - last - 10);
      last = now;
    }, 10);
    Object.assign(globalThis, { gaps, frames });
  });

/** @param {Page} page @returns {Promise<number>} milliseconds, since it was asked last */
const heldUp = (page) =>
  page.evaluate(() => {
    const { gaps } = /** @type {any} */ (globalThis);
    const { longest } = gaps;
    gaps.longest = 0;
    return longest;
  });

/** @param {Page} page @param {RegExp} words of a wait that is shown */
const waits = (page, words) =>
  page.waitForFunction(
    (/** @type {string} */ pattern) => {
      const bar = document.querySelector('#explore-waiting:not([hidden])');
      return bar && new RegExp(pattern).test(bar.textContent ?? '');
    },
    LONG,
    words.source,
  );

/** On the page: whether a text was read. @param {string} words of its size */
const isRead = (words) => document.querySelector('#explore-cost')?.textContent?.includes(words);

/** @param {Page} page @param {Record<string, string>} choices */
const choose = (page, choices) =>
  page.evaluate(
    (query) => void (location.hash = `#explore?${query}`),
    `${new URLSearchParams({ model: `${server.origin}/large`, ...choices })}`,
  );

/** The large map's cells. @param {Page} page @param {string} drawn part of what is drawn @returns {Promise<{ height: number, values: number[] }>} */
async function cellsOf(page, drawn) {
  await page.waitForSelector(`.zoom-map[data-drawn*='${drawn}']`, LONG);
  await page.waitForSelector('#explore-maps:not([aria-busy])', LONG);
  return page.$eval('.zoom-map attention-map', (map) => {
    const { height, values } = /** @type {any} */ (map).cells;
    return { height, values: [...values] };
  });
}

/** @param {ArrayLike<number>} found @param {ArrayLike<number>} right @param {string} what */
function isNear(found, right, what) {
  assert.equal(found.length, right.length, what);
  for (let i = 0; i < right.length; i++)
    assert.ok(Math.abs(found[i] - right[i]) <= 1e-6 + 1e-3 * right[i], `${what}, cell ${i}`);
}

pageTest(
  'a model of 135 million weights opens, reads 500 tokens and shows any map, and the page stays responsive',
  '#explore',
  async (page, context) => {
    await watch(page);
    /** @param {string} what */
    const measured = async (what) => {
      const [gap, seconds] = [await heldUp(page), (performance.now() - begun) / 1000];
      context.diagnostic(
        `${what}: ${seconds.toFixed(1)} s, main thread held up ${gap.toFixed(0)} ms`,
      );
      begun = performance.now();
    };
    let begun = performance.now();
    const [text, old] = [IDS.join(' '), await runOf(page)];
    await choose(page, { text });
    await waits(page, /Loading the model/);
    await waits(page, /Reading the text/);
    await measured('opened');
    await page.waitForFunction(isRead, LONG, '500 tokens, 30 × 9 heads');
    const drawn = /** @type {Record<string, number>} */ (await page.evaluate('frames'));
    for (const wait of ['Loading the model', 'Reading the text'])
      assert.ok(drawn[wait] >= FEWEST_FRAMES, `${wait}: ${drawn[wait]} frames`);
    const first = await cellsOf(page, '"layer":0,"head":0');
    await measured('read, and a map drawn');
    await scored(page, old);
    await measured('all small maps and scores');
    assert.equal((await page.$$('#explore-grid canvas')).length, 270);

    isNear(first.values, trace[0].map({ head: 0, size: first.height }).data, 'L0H0');
    for (const [layer, head] of [
      [14, 4],
      [29, 8],
    ]) {
      await page.click(`#explore-grid button:nth-child(${9 * layer + head + 1})`);
      const { height, values } = await cellsOf(page, `"layer":${layer},"head":${head}`);
      isNear(values, trace[layer].map({ head, size: height }).data, `L${layer}H${head}`);
    }
    await measured('two other maps');

    await page.select('#explore-map', 'rollout');
    const { height, values } = await cellsOf(page, '"of":"rollout"');
    const side = /** @type {[number, number]} */ ([0, TOKENS]);
    const whole = { queries: side, keys: side, height, width: height };
    const { cells, add } = pooling(whole, TOKENS);
    add((await rollout(trace)).data, 0, TOKENS);
    isNear(values, cells.values, 'rollout');
    await measured('a rollout through all layers');

    // A text is left while it is read: the one before is back.
    const last = await runOf(page);
    await choose(page, { text: OTHER.join(' '), head: 'L29H8' });
    await waits(page, /Reading the text/);
    await page.click('#explore-waiting button');
    await waits(page, /Loading the model/);
    await page.waitForFunction(
      (/** @type {string} */ ids) =>
        new URLSearchParams(location.hash.split('?')[1]).get('text') === ids,
      LONG,
      text,
    );
    await scored(page, last);
    await measured('a text cancelled, and the one before back');
    assert.equal((await cellsOf(page, '"of":"rollout"')).values.length, values.length);
  },
  {
    ready: async (page) => void (await scored(page)),
    isMeant: /404|tokenizer\.json|^failed: blob:/,
  },
);
