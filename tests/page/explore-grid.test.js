// The grid of all heads where there are many: numbers at the sides, names that fit, maps that fingers can touch.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { engine as browserEngine } from '../browsers/engines.js';
import { fileOf, smallModel } from '../gpt2.js';
import { engine } from '../helpers.js';
import { choose, filesTest, reread, roomTest, scored } from './explore-room.js';
import { framesDuring } from './frames.js';
import { contentWidth, textOf, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const LAYERS = 12;
const HEADS = 16;
const FILES = ['config.json', 'model.safetensors'];

/** @type {string} */
let folder;

/** @param {string} where a folder @param {number} layers @param {number} heads @returns {Promise<string[]>} its files */
async function writeModel(where, layers, heads) {
  const dModel = 4 * heads;
  const sizes = { vocabSize: 40, contextLength: 32, dModel, numHeads: heads, numLayers: layers };
  const model = smallModel(await engine(), sizes);
  const config = {
    ...{ model_type: 'gpt2', vocab_size: 40, n_positions: 32, n_embd: dModel },
    ...{ n_head: heads, n_layer: layers },
  };
  const paths = FILES.map((name) => join(where, name));
  await writeFile(paths[0], JSON.stringify(config));
  await writeFile(paths[1], fileOf(model.stateDict()));
  model.dispose();
  return paths;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-grid-'));
  await writeModel(folder, LAYERS, HEADS);
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {Page} page @param {number} width @param {boolean} [hasTouch] */
async function openModel(page, width, hasTouch = false) {
  await page.setViewport({ width, height: 900, hasTouch, isMobile: hasTouch });
  await scored(page); // some of this loads the page anew
  await reread(page, () => choose(page, ...FILES.map((name) => join(folder, name))));
}

/** Where something's words, or it itself, stand. @param {Page} page @param {string} selector */
const boxes = (page, selector) =>
  page.$$eval(selector, (found) =>
    found.map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const words = range.getBoundingClientRect().toJSON();
      const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
      const name = element.getAttribute('title') ?? element.textContent;
      return { name, left, right, top, bottom, width, height, words };
    }),
  );

for (const width of [1280, 390]) {
  filesTest(
    `${LAYERS} × ${HEADS} heads have their numbers at the sides, which fit (${width} pixels)`,
    '',
    async (page) => {
      await openModel(page, width);
      const across = await boxes(page, '#explore-grid .head');
      const down = await boxes(page, '#explore-grid .layer');
      const tiles = new Map(
        (await boxes(page, '#explore-grid button')).map((tile) => [tile.name, tile]),
      );
      assert.equal(tiles.size, LAYERS * HEADS);
      assert.deepEqual(
        down.map(({ name }) => name),
        Array.from({ length: LAYERS }, (_, layer) => `L${layer}`),
      );
      for (const [i, { words }] of across.entries()) {
        assert.ok(i === 0 || words.left >= across[i - 1].words.right + 2, `heading ${i}`);
      }
      for (const [i, { words }] of down.entries()) {
        assert.ok(i === 0 || words.top >= down[i - 1].words.bottom - 1, `heading ${i}`);
      }
      // Each number is beside the tiles that it is of.
      const middle = (/** @type {number} */ a, /** @type {number} */ b) => (a + b) / 2;
      for (const { name: head, left, right } of across) {
        for (const { name: layer, top, bottom, words } of down) {
          const tile = tiles.get(`Layer ${layer?.slice(1)}, head ${head?.slice(1)}`);
          assert.ok(tile && Math.abs(middle(left, right) - middle(tile.left, tile.right)) < 1);
          assert.ok(Math.abs(middle(top, bottom) - middle(tile.top, tile.bottom)) < 1);
          assert.ok(words.right <= tile.left);
        }
      }
      assert.equal(await textOf(page, '#explore-grid button > .words'), '');
      assert.ok((await contentWidth(page)) <= width);

      // In another order each has its name, which fits too.
      await page.select('#explore-by', 'entropy');
      await page.click('#explore-sort');
      await page.waitForSelector('#explore-grid[data-sort=entropy]');
      assert.deepEqual(await boxes(page, '#explore-grid .heading'), []);
      const names = await page.$$eval('#explore-grid button > .words', (all) =>
        all.map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const tile = /** @type {HTMLElement} */ (one.parentElement).getBoundingClientRect();
          return {
            name: /L\d+H\d+/.exec(one.textContent ?? '')?.[0],
            fits: range.getBoundingClientRect().width <= tile.width,
          };
        }),
      );
      assert.deepEqual(
        names.filter(({ fits }) => !fits),
        [],
      );
      assert.equal(new Set(names.map(({ name }) => name)).size, LAYERS * HEADS);
      await page.click('#explore-sort');
      await page.waitForSelector('#explore-grid .heading');
    },
  );
}

filesTest('24 × 16 heads are seen on one screen, each as large as a finger', '', async (page) => {
  const [layers, heads] = [24, 16];
  const large = await mkdtemp(join(tmpdir(), 'headwise-grid-'));
  const paths = await writeModel(large, layers, heads);
  await page.setViewport({ width: 1440, height: 900 });
  await reread(page, () => choose(page, ...paths));
  await rm(large, { recursive: true, force: true });
  await page.click('#explore-all');
  await page.waitForSelector('.show-all');
  const [grid] = await boxes(page, '#explore-grid');
  const tiles = await boxes(page, '#explore-grid button');
  assert.equal(tiles.length, layers * heads);
  assert.ok(
    grid.height <= 900 && grid.top >= 0 && grid.bottom <= 900,
    `${grid.top}, ${grid.bottom}`,
  );
  assert.deepEqual(
    tiles.filter(({ width, height }) => width < 30 || height < 30),
    [],
  );
  // Arrows move to the neighbour, and stay at the edge.
  await page.focus('#explore-grid [title="Layer 0, head 0"]');
  const title = () => page.evaluate(() => document.activeElement?.getAttribute('title'));
  await page.keyboard.press('ArrowRight');
  assert.equal(await title(), 'Layer 1, head 0');
  await page.keyboard.press('ArrowDown');
  assert.equal(await title(), 'Layer 1, head 1');
  for (const key of /** @type {const} */ (['ArrowUp', 'ArrowUp', 'ArrowLeft', 'ArrowLeft'])) {
    await page.keyboard.press(key);
  }
  assert.equal(await title(), 'Layer 0, head 0');
});

filesTest(
  '30 × 9 heads are told apart beside the large map, and on one screen alone',
  '',
  async (page) => {
    const [layers, heads] = [30, 9];
    const deep = await mkdtemp(join(tmpdir(), 'headwise-grid-'));
    const paths = await writeModel(deep, layers, heads);
    await page.setViewport({ width: 1280, height: 900 });
    await reread(page, () => choose(page, ...paths));
    await rm(deep, { recursive: true, force: true });
    /** @param {'left' | 'top'} from @param {'right' | 'bottom'} to @param {string} selector */
    const areApart = async (from, to, selector) => {
      const all = await boxes(page, selector);
      assert.ok(all.length > 4);
      for (const [i, { words }] of all.entries()) {
        assert.ok(i === 0 || words[from] >= all[i - 1].words[to] - 1, `${selector} ${i}`);
      }
    };
    const least = async () => {
      const maps = await boxes(page, '#explore-grid canvas');
      assert.equal(maps.length, layers * heads);
      return Math.min(...maps.flatMap(({ width, height }) => [width, height]));
    };
    await page.select('#explore-by', 'entropy');
    await page.waitForSelector('#explore-grid.measured');
    const small = await least();
    assert.ok(small >= 10, `${small}`);
    await areApart('left', 'right', '#explore-grid .head');
    await areApart('top', 'bottom', '#explore-grid .layer');
    await page.click('#explore-all');
    await page.waitForSelector('.show-all');
    const large = await least();
    assert.ok(large >= 28, `${large}`);
    await areApart('top', 'bottom', '#explore-grid .head');
    await areApart('left', 'right', '#explore-grid .layer');
    const [grid] = await boxes(page, '#explore-grid');
    assert.ok(grid.height <= 900, `${grid.height}`);
  },
);

if (browserEngine.hasCdp) {
  filesTest(
    'fingers can touch every map, and scroll to those that do not fit',
    '',
    async (page) => {
      await openModel(page, 390, true);
      const tiles = await boxes(page, '#explore-grid button');
      assert.deepEqual(
        tiles.filter(({ width, height }) => width < 24 || height < 24),
        [],
      );
      assert.ok((await contentWidth(page)) <= 390);
      // The layers' numbers stay.
      await page.$eval('#explore-grid', (grid) => grid.scrollTo(1000, 0));
      const [grid] = await boxes(page, '#explore-grid');
      const [layer] = await boxes(page, '#explore-grid .layer');
      assert.ok(Math.abs(layer.left - grid.left) <= 2, `${layer.left}, ${grid.left}`);
      const last = (await boxes(page, '#explore-grid button'))[HEADS - 1];
      assert.ok(last.right <= grid.right);
    },
  );
}

roomTest(
  'the grid stays where it is when the first head is muted',
  '?model=names',
  async (page) => {
    /** How far the grid is below its title, in windows of several widths. */
    const places = async () => {
      const found = [];
      for (const width of [...widths, 390, 900, 1200]) {
        await page.setViewport({ width, height: 800 });
        found.push(
          await page.evaluate(() => {
            const top = (/** @type {string} */ id) =>
              document.getElementById(id)?.getBoundingClientRect().top ?? NaN;
            const title = document.getElementById('explore-grid-title');
            const isCut = !title || title.scrollWidth > title.clientWidth;
            return isCut ? 'cut' : Math.round(top('explore-grid') - top('explore-grid-title'));
          }),
        );
      }
      return found;
    };
    assert.equal(await textOf(page, '#explore-grid-title'), '3 layers × 4 heads');
    const unmuted = await places();
    assert.ok(!unmuted.includes('cut'), `${unmuted}`);
    await reread(page, () => page.evaluate(() => void (location.hash += '&mute=L0H0')));
    assert.equal(await textOf(page, '#explore-unmute:not([hidden])'), 'Unmute all');
    assert.deepEqual(await places(), unmuted);
    // On the narrowest screens the buttons go to a line of their own.
    await page.setViewport({ width: Math.max(320, browserEngine.leastWidth), height: 800 });
    const cut = await page.$eval('#explore-grid-title', (one) => one.scrollWidth > one.clientWidth);
    assert.ok(!cut, 'the title is whole');
  },
);

roomTest('the grid has no more nodes for models that were opened before', '', async (page) => {
  /** How many nodes the grid of each model has, by its place or by a measure. */
  const counts = async () => {
    const found = [];
    for (const model of ['induction', 'names', 'austen']) {
      await reread(page, () => page.select('#explore-model', model));
      for (const by of ['entropy', 'place']) {
        if (by !== 'place') await page.select('#explore-by', by);
        await page.click('#explore-sort');
        await page.waitForSelector(`#explore-grid[data-sort=${by}]`);
        found.push(await page.$eval('#explore-grid', (grid) => grid.childNodes.length));
      }
    }
    return found;
  };
  const first = await counts();
  assert.ok(first.every((count) => count > 6));
  for (let i = 0; i < 2; i++) assert.deepEqual(await counts(), first);
});

/** Whether each small map has a pixel for each that is seen. @param {Page} page */
const areSized = (page) =>
  page.waitForFunction(
    () =>
      [
        .../** @type {NodeListOf<HTMLCanvasElement>} */ (
          document.querySelectorAll('#explore-grid canvas')
        ),
      ].every(({ width, clientWidth }) => width === Math.round(clientWidth * devicePixelRatio)),
    { timeout: 5000 },
  );

// Drawn for another size, a map of many tokens would lose rows and columns.
roomTest('small maps are drawn for the size that they have', '', async (page) => {
  for (const width of [...widths, 1500]) {
    await page.setViewport({ width, height: 900 });
    await areSized(page);
  }
  await page.select('#explore-by', 'first');
  await page.waitForSelector('#explore-grid[data-measure=first] b');
  await areSized(page);
});

for (const by of ['sort=entropy', 'sort=effect', 'by=entropy', 'mode=why']) {
  const title = `the grid stays as it is while its heads are measured anew: ${by}`;
  roomTest(title, `?${by}`, async (page) => {
    await page.waitForSelector('#explore-grid b');
    const frames = await framesDuring(page, 'explore-grid', async () => {
      await reread(page, () => page.evaluate(() => void (location.hash += '&mute=L0H1')));
      await page.waitForSelector('#explore-grid b');
    });
    const seen = new Set(frames.map(({ sort, height }) => `${sort}, ${height} pixels`));
    assert.equal(seen.size, 1, [...seen].join('; '));
  });
}
