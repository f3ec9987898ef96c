// Exporting from the Explore room: pictures, numbers and a page of its own, each opened again.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { load } from 'headwise';
import { readNpy } from 'headwise/formats';
import { viridis } from '../../web/headwise/view/viridis.js';
import { engine } from '../browsers/engines.js';
import { MODELS } from '../../web/page/explore/models.js';
import { runModel } from '../../web/page/explore/worker/model.js';
import { openPageModel } from '../page-model.js';
import { filesTest, reread, roomTest, says, choose } from './explore-room.js';
import { parsed, QUERY, saved } from './explore-saving.js';
import { browser, colours, violations } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @type {ReturnType<typeof runModel>} the sample text's run */
let run;
/** @type {string} */
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-export-'));
  const model = await openPageModel(await load(), 'induction');
  run = runModel(model, model.text.encode(MODELS.induction.sample), []);
});

after(async () => {
  run.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** @param {number} weight @returns {number[]} RGB on the scale from 0 to 1 */
function colourOf(weight) {
  const step = Math.round(255 * Math.min(1, weight));
  return [0, 2, 4].map((at) =>
    Number.parseInt(viridis.slice(6 * step + at, 6 * step + at + 2), 16),
  );
}

/** @param {number} weight how far along the logarithmic scale it is: four decades up to 1 */
const logShare = (weight) => (weight > 0 ? Math.max(0, 1 + Math.log10(weight) / 4) : 0);

/** @param {number[]} actual @param {number[]} expected @param {string} what steps next to each other are alike */
const isColour = (actual, expected, what) =>
  assert.ok(
    actual.every((value, i) => Math.abs(value - expected[i]) <= 5),
    `${what}: ${actual}, expected ${expected}`,
  );

const n = () => run.source.n;
const weights = () => run.source.rows(1, 2, 0, n());

roomTest('every view is an SVG with title, legend and settings', `${QUERY}&pins=`, async (page) => {
  const map = await saved(page, 'map', 'svg');
  assert.match(map.name, /^induction-[a-z-]+-head-l1h2\.svg$/);
  const svg = await parsed(page, map.bytes);
  assert.equal(svg.hasError, false);
  assert.equal(svg.title, 'Head L1H2');
  assert.equal(svg.images, 1);
  assert.deepEqual(svg.stops, [17]);
  assert.equal(svg.settings.tokens, n());
  assert.equal(svg.settings.head, 'L1H2');
  for (const words of ['weight', 'masked: a later token', 'key →']) {
    assert.ok(svg.texts.includes(words), words);
  }
  assert.ok(
    svg.texts.some((words) => words?.startsWith(`${MODELS.induction.title}: ${n()} tokens`)),
  );

  const grid = await parsed(page, (await saved(page, 'grid', 'svg')).bytes);
  assert.equal(grid.hasError, false);
  assert.equal(grid.images, run.source.layers * run.source.heads);
  assert.ok(grid.texts.includes('L1H2'));

  const lines = await parsed(page, (await saved(page, 'lines', 'svg')).bytes);
  assert.equal(lines.hasError, false);
  assert.ok(lines.paths >= n());
  assert.ok(lines.texts.some((words) => words?.includes('carry at least 90 %')));

  const text = await parsed(page, (await saved(page, 'text', 'svg')).bytes);
  assert.equal(text.hasError, false);
  assert.match(text.title ?? '', /what “.*” .* attends to/);
});

roomTest('a PNG has twice the SVG’s size, and the weights’ colours', QUERY, async (page) => {
  const { bytes } = await saved(page, 'map', 'svg');
  const box = await page.evaluate((text) => {
    const xml = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    const number = (/** @type {Element | null} */ element, /** @type {string} */ name) =>
      Number(element?.getAttribute(name));
    const image = xml.querySelector('image');
    const [, x, y] =
      /translate\(([\d.]+) ([\d.]+)\)/.exec(
        xml.querySelector('#drawing')?.parentElement?.getAttribute('transform') ?? '',
      ) ?? [];
    const [, , top] =
      /translate\(([\d.]+) ([\d.]+)\)/.exec(
        xml.querySelector('#drawing')?.getAttribute('transform') ?? '',
      ) ?? [];
    return {
      width: number(xml, 'width'),
      height: number(xml, 'height'),
      left: Number(x) + number(image, 'x'),
      top: Number(y) + Number(top) + number(image, 'y'),
      side: number(image, 'width'),
    };
  }, new TextDecoder().decode(bytes));
  const png = (await saved(page, 'map', 'png')).bytes;
  assert.deepEqual(
    [...png.subarray(1, 4)],
    [...'PNG'].map((letter) => letter.charCodeAt(0)),
  );
  const view = new DataView(png.buffer);
  assert.deepEqual(
    [view.getUint32(16), view.getUint32(20)],
    [Math.floor(2 * Math.ceil(box.width)), Math.floor(2 * Math.ceil(box.height))],
  );
  const places = [
    [1, 0],
    [n() - 1, 3],
    [n() - 1, n() - 1],
    [20, 11],
  ];
  const pixels = await page.evaluate(
    async (all, wanted, { left, top, side }, size) => {
      const image = await createImageBitmap(
        new Blob([Uint8Array.from(all)], { type: 'image/png' }),
      );
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d', { willReadFrequently: true });
      context?.drawImage(image, 0, 0);
      return wanted.map(([query, key]) => {
        const x = 2 * (left + ((key + 0.5) * side) / size);
        const y = 2 * (top + ((query + 0.5) * side) / size);
        return [...(context?.getImageData(Math.round(x), Math.round(y), 1, 1).data ?? [])].slice(
          0,
          3,
        );
      });
    },
    [...png],
    places,
    box,
    n(),
  );
  places.forEach(([query, key], i) =>
    isColour(pixels[i], colourOf(weights()[query * n() + key]), `query ${query}, key ${key}`),
  );
});

/**
 * The page's engine may round otherwise than Node's: with relaxed SIMD, or in another order.
 *
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 */
function areWeights(actual, expected) {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    assert.ok(
      Math.abs(actual[i] - expected[i]) < 1e-5,
      `${i}: ${actual[i]}, expected ${expected[i]}`,
    );
  }
}

/** The wishes that can be filled in. @param {Page} page */
const wishes = (page) =>
  page.$$eval('.export-wishes input', (inputs) =>
    inputs.filter((input) => input.checkVisibility()).map(({ id }) => id.replace(/.*-/, '')),
  );

roomTest('each kind of file offers what it heeds', QUERY, async (page) => {
  await saved(page, 'map', 'svg');
  assert.deepEqual(await wishes(page), ['title', 'caption', 'width', 'font']);
  for (const what of ['page', 'report']) {
    await saved(page, what, 'html');
    assert.deepEqual(await wishes(page), ['title', 'caption'], what);
  }
  await saved(page, 'numbers', 'json');
  assert.deepEqual(await wishes(page), []);
  await saved(page, 'grid', 'png');
  assert.deepEqual(await wishes(page), ['title', 'caption', 'width', 'font']);
});

roomTest('a width that no picture can have is refused in words', QUERY, async (page) => {
  await saved(page, 'map', 'svg');
  const width = '#export-wish-width';
  const fill = (/** @type {string} */ value) =>
    page.$eval(
      width,
      (input, text) => {
        /** @type {HTMLInputElement} */ (input).value = text;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      },
      value,
    );
  const isInvalid = () => page.$eval(width, (input) => input.getAttribute('aria-invalid'));
  const refused = '#export-refused';
  for (const impossible of ['50', '9000']) {
    await fill(impossible);
    await says(page, refused, /^Width in pixels: a whole number, 200 to 4,000\.$/);
    assert.equal(await isInvalid(), 'true');
  }
  // Of a page it is not asked.
  await page.select('#export-what', 'page');
  await says(page, refused, /^$/);
  await says(page, '#export-told', /\.html: /);
  await page.select('#export-what', 'map');
  await says(page, refused, /200 to 4,000/);
  await fill('500');
  await says(page, refused, /^$/);
  await says(page, '#export-told', /\.svg: /);
  assert.equal(await isInvalid(), null);
  const { bytes } = await saved(page, 'map', 'svg');
  const [, wide] = /^<svg[^>]* width="(\d+)"/.exec(new TextDecoder().decode(bytes)) ?? [];
  assert.ok(Math.abs(Number(wide) - 500) < 2, wide);
});

roomTest('numbers are the trace’s, the same in every format', QUERY, async (page) => {
  const npy = await readNpy((await saved(page, 'numbers', 'npy')).bytes);
  assert.deepEqual(npy.shape, [n(), n()]);
  areWeights(npy.data, weights());
  const json = JSON.parse(new TextDecoder().decode((await saved(page, 'numbers', 'json')).bytes));
  assert.deepEqual(Float32Array.from(json.weights.flat()), npy.data);
  assert.deepEqual(json.ids, run.ids);
  assert.equal(json.settings.source, MODELS.induction.title);

  const all = await saved(page, 'all', 'npy');
  const { shape, data } = await readNpy(all.bytes);
  assert.deepEqual(shape, [run.source.layers, run.source.heads, n(), n()]);
  const at = (run.source.heads + 2) * n() * n();
  assert.deepEqual(data.slice(at, at + n() * n()), npy.data);
});

filesTest('what was saved can be opened again', QUERY, async (page) => {
  const { bytes, name } = await saved(page, 'all', 'npy');
  const path = join(folder, name);
  await writeFile(path, bytes);
  await page.keyboard.press('Escape');
  await reread(page, () => choose(page, path));
  await page.click('#explore-grid button:nth-child(7)');
  const again = await readNpy((await saved(page, 'numbers', 'npy')).bytes);
  const { data } = await readNpy(bytes);
  assert.deepEqual(again.data, data.slice(6 * n() * n(), 7 * n() * n()));
});

filesTest(
  'a saved page draws the same colours from the disk, and asks for nothing',
  QUERY,
  async (page) => {
    const { bytes, name } = await saved(page, 'page', 'html');
    assert.match(name, /\.html$/);
    const path = join(folder, name);
    await writeFile(path, bytes);
    const own = await browser.newPage();
    /** @type {string[]} */
    const asked = [];
    /** @type {string[]} */
    const complaints = [];
    own.on('request', (request) => asked.push(request.url()));
    own.on('console', (message) => complaints.push(message.text()));
    own.on('pageerror', (error) => complaints.push(String(error)));
    await own.setOfflineMode(true);
    await own.setViewport({ width: 1000, height: 900 });
    await own.goto(pathToFileURL(path).href);
    await own.waitForFunction(
      () =>
        document.querySelector('attention-map')?.shadowRoot?.querySelector('canvas')?.dataset.size,
    );
    const drawn = await colours(own, `attention-map >>> canvas`, n());
    let compared = 0;
    for (let query = 0; query < n(); query++) {
      for (let key = 0; key <= query; key++) {
        const at = query * n() + key;
        isColour(drawn[at], colourOf(weights()[at]), `query ${query}, key ${key}`);
        compared++;
      }
    }
    assert.equal(compared, (n() * (n() + 1)) / 2);
    await own.select('#scale', 'row');
    await own.select('#scale', 'log');
    const legend = await own.$eval('.legend', (element) => element.textContent ?? '');
    assert.match(legend, /logarithmicweight 10⁻⁴ or less1/);
    const logarithmic = await colours(own, `attention-map >>> canvas`, n());
    for (let query = 0; query < n(); query++) {
      for (let key = 0; key <= query; key++) {
        const at = query * n() + key;
        isColour(logarithmic[at], colourOf(logShare(weights()[at])), `log ${query}, ${key}`);
      }
    }
    assert.deepEqual(
      asked.filter((address) => !/^(file|data):/.test(address)),
      [],
    );
    // The text is there; a click pins, in text and map, and tells what it attends to.
    const words = await own.$$eval('.text [role=button]', (all) =>
      all.map((one) => one.textContent),
    );
    assert.equal(words.join(''), MODELS.induction.sample);
    const marks = (/** @type {number} */ count) =>
      own.waitForFunction(
        (/** @type {number} */ wanted) =>
          document.querySelector('attention-map')?.shadowRoot?.querySelectorAll('.row-pin')
            .length === wanted,
        {},
        count,
      );
    await marks(1); // the pin of the room
    await own.click('.text [role=button]:nth-child(6)');
    const line = weights().slice(5 * n(), 6 * n());
    const best = line.indexOf(Math.max(...line));
    const said = `“${words[5]}” attends to “${words[best]}” ${line[best].toFixed(2)}`;
    assert.ok((await own.$eval('.note', (note) => note.textContent))?.startsWith(said));
    const kept = await own.$$eval('[translate=no]', (all) => all.map((one) => one.textContent));
    assert.deepEqual(kept.slice(0, 3), [words.join(''), words[5], words[best]]);
    await own.click('.text [role=button]:nth-child(6)');
    await marks(0);
    await own.click('attention-map >>> .map-field');
    await marks(1);
    assert.deepEqual(complaints, []);
    if (engine.hasCdp) {
      // The page's own policy would keep axe out.
      await own.setBypassCSP(true);
      await own.reload();
      assert.deepEqual(await violations(own), []);
    }
    await own.close();
  },
);

filesTest(
  'a saved page’s text breaks before words, has the scale’s end, and is pinned by keys',
  '?scale=head',
  async (page) => {
    const { bytes, name } = await saved(page, 'page', 'html');
    const path = join(folder, name);
    await writeFile(path, bytes);
    const own = await browser.newPage();
    await own.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
    await own.goto(pathToFileURL(path).href);
    await own.waitForSelector('.text [role=button]');
    const lines = await own.$$eval('.text [role=button]', (all) =>
      all.map((one) => one.getClientRects().length),
    );
    assert.ok(
      lines.every((count) => count === 1),
      `${lines}`,
    );
    assert.match(await own.$eval('.legend .end', (end) => end.textContent ?? ''), /^[01](\.\d+)?$/);
    await own.focus('.text [role=button]:first-of-type');
    await own.keyboard.press('Enter');
    await own.waitForFunction(() =>
      document.querySelector('.note')?.textContent?.startsWith('“It”'),
    );
    await own.close();
  },
);

/** The colours of what is pinned on a saved page: in its text, and of the marks on its map, by token. @param {Page} page */
const pinColours = (page) =>
  page.evaluate(() => {
    const shadowOf = (/** @type {Element} */ one) =>
      getComputedStyle(one)
        .boxShadow.match(/rgb\([^)]*\)/g)
        ?.at(-1);
    const tokens = document.querySelectorAll('.text [aria-pressed="true"]');
    const marks = document.querySelector('attention-map')?.shadowRoot?.querySelectorAll('.row-pin');
    return {
      text: [...tokens].map((one) => getComputedStyle(one).outlineColor).sort(),
      map: [...(marks ?? [])].map((one) => shadowOf(one)).sort(),
    };
  });

filesTest(
  'a saved page marks a pin in its text as on its map, in the colours of its reader’s scheme',
  `${QUERY}&pins=q9_k2`,
  async (page) => {
    const { bytes, name } = await saved(page, 'page', 'html');
    const path = join(folder, name);
    await writeFile(path, bytes);
    const own = await browser.newPage();
    /** @type {unknown[]} */
    const seen = [];
    for (const scheme of engine.hasCdp ? ['light', 'dark'] : ['light']) {
      if (engine.hasCdp)
        await own.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await own.goto(pathToFileURL(path).href);
      await own.waitForSelector('attention-map >>> .row-pin');
      const { text, map } = await pinColours(own);
      assert.deepEqual(text, map, scheme);
      seen.push(text);
    }
    assert.deepEqual(seen[0], ['rgb(176, 74, 0)', 'rgb(36, 86, 184)']);
    if (engine.hasCdp) assert.deepEqual(seen[1], ['rgb(141, 180, 255)', 'rgb(255, 176, 102)']);
    await own.close();
  },
);

filesTest('a long text is pooled in the picture, which says so', '?scale=head', async (page) => {
  const size = 1200;
  const { writeNpy } = await import('headwise/formats');
  const { tensor } = await import('headwise');
  const values = new Float32Array(size * size);
  for (let i = 0; i < size; i++) values[i * size + ((7 * i) % size)] = 1;
  const path = join(folder, 'long.npy');
  await writeFile(path, writeNpy(tensor(values, [size, size])));
  await reread(page, () => choose(page, path));
  const svg = await parsed(page, (await saved(page, 'map', 'svg')).bytes);
  assert.ok(svg.texts.some((words) => words?.startsWith('Pooled: each cell')));
  const lines = await parsed(page, (await saved(page, 'lines', 'svg')).bytes);
  assert.ok(lines.texts.some((words) => words?.includes('Tokens 1,081 to 1,200 of 1,200')));
});

roomTest('a picture is as wide as its legend', '?model=names', async (page) => {
  const { bytes } = await saved(page, 'grid', 'svg');
  const beyond = await page.evaluate((svg) => {
    const room = document.createElement('div');
    room.innerHTML = svg;
    document.body.append(room);
    const { right } = /** @type {Element} */ (room.firstElementChild).getBoundingClientRect();
    const ends = [...room.querySelectorAll('text')].map((one) => one.getBoundingClientRect().right);
    room.remove();
    return Math.max(...ends) - right;
  }, new TextDecoder().decode(bytes));
  assert.ok(beyond <= 0, `${beyond} pixels beyond it`);
});

roomTest(
  'lines to a key alone are said to be that, in the picture too',
  '?pins=k4',
  async (page) => {
    const words = /Only lines to the chosen key, of those that carry at least 90/;
    await says(page, '#explore-room', words);
    const { texts } = await parsed(page, (await saved(page, 'lines', 'svg')).bytes);
    assert.match(texts.join(' '), words);
  },
);
