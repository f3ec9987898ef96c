// The page in Chromium: a production build in a sub-folder of a static server.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { interpolateViridis } from 'd3-scale-chromatic';
import { load, tensor } from 'headwise';
import { findBrowser, launch, NO_BROWSER, servePage } from './browser.js';

/**
 * @import { Browser, Page } from 'puppeteer-core'
 * @import { AttentionMap } from '../../web/page/parts/attention-map.js'
 */

const WORDS = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const INPUTS = [
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
];

/** What the notebooks print for seed 123. */
const WRAPPER = [
  ['-0.4519', '0.2216', '0.4772', '0.1063'],
  ['-0.5874', '0.0058', '0.5891', '0.3257'],
  ['-0.6300', '-0.0632', '0.6202', '0.3860'],
  ['-0.5675', '-0.0843', '0.5478', '0.3589'],
  ['-0.5526', '-0.0981', '0.5321', '0.3428'],
  ['-0.5299', '-0.1081', '0.5077', '0.3493'],
];
const FUSED = [
  ['0.3190', '0.4858'],
  ['0.2943', '0.3897'],
  ['0.2856', '0.3593'],
  ['0.2693', '0.3873'],
  ['0.2639', '0.3928'],
  ['0.2575', '0.4028'],
];

const executable = findBrowser();
if (!executable && process.env.CI) {
  test('a browser is there to test the page in', () => assert.fail(NO_BROWSER));
}
const options = { skip: executable ? false : NO_BROWSER, timeout: 120_000 };

/** @type {Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof servePage>>} */
let site;

before(async () => {
  if (!executable) return;
  site = await servePage();
  browser = await launch(executable);
});

after(async () => {
  await browser?.close();
  await site?.close();
});

/**
 * A test with a page of its own, which must not report any error.
 *
 * @param {string} title
 * @param {string} hash
 * @param {(page: Page) => Promise<void>} body
 */
function pageTest(title, hash, body) {
  test(title, options, async () => {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
    });
    try {
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(site.url + hash);
      await settled(page);
      await body(page);
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
    }
  });
}

/** @param {Page} page until nothing runs and a result is drawn */
async function settled(page) {
  await page.waitForFunction(
    () =>
      document.documentElement.dataset.run &&
      !document.getElementById('main')?.hasAttribute('aria-busy'),
    { timeout: 60_000 },
  );
}

/**
 * Does something that starts a run, and waits for its result.
 *
 * @param {Page} page
 * @param {() => Promise<unknown>} act
 */
async function rerun(page, act) {
  const run = await page.evaluate(() => document.documentElement.dataset.run);
  await act();
  await page.waitForFunction(
    (/** @type {string} */ old) => document.documentElement.dataset.run !== old,
    { timeout: 60_000 },
    run ?? '',
  );
  await settled(page);
}

/** @param {Page} page @param {string} selector */
const textOf = (page, selector) =>
  page.$eval(selector, (element) => (element.textContent ?? '').replaceAll('\u2212', '-'));

/** @param {Page} page @param {string} selector */
const cells = (page, selector) =>
  page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('td')].map((cell) =>
        (cell.textContent ?? '').replaceAll('\u2212', '-'),
      ),
    ),
  );

/**
 * The colours in the middle of every cell of a map's canvas.
 *
 * @param {Page} page
 * @param {string} selector
 * @param {number} size
 * @returns {Promise<number[][]>} RGB, row after row
 */
const colours = (page, selector, size) =>
  page.$eval(
    selector,
    (canvas, n) => {
      const map = /** @type {HTMLCanvasElement} */ (canvas);
      const context = map.getContext('2d');
      const found = [];
      for (let row = 0; row < n; row++) {
        for (let col = 0; col < n; col++) {
          const x = Math.floor(((col + 0.5) * map.width) / n);
          const y = Math.floor(((row + 0.5) * map.height) / n);
          found.push([...(context?.getImageData(x, y, 1, 1).data ?? [])].slice(0, 3));
        }
      }
      return found;
    },
    size,
  );

/**
 * Asserts that a map's colours are viridis of a head's weights, and that
 * masked cells are grey.
 *
 * @param {number[][]} seen
 * @param {Float32Array} weights of all heads
 * @param {number} head
 */
function assertColours(seen, weights, head) {
  seen.forEach((rgb, i) => {
    const [row, col] = [Math.floor(i / 6), i % 6];
    const where = `head ${head + 1}, query ${row}, key ${col}: ${rgb}`;
    if (col > row) {
      assert.ok(Math.max(...rgb) - Math.min(...rgb) < 16, `masked is grey, ${where}`);
      return;
    }
    const hex = Number.parseInt(interpolateViridis(weights[36 * head + i]).slice(1), 16);
    const expected = [hex >> 16, (hex >> 8) & 255, hex & 255];
    // One step of the 256 is no more than 4 in any channel.
    rgb.forEach((value, channel) => {
      assert.ok(Math.abs(value - expected[channel]) <= 4, `${where}, expected ${expected}`);
    });
  });
}

/** The example's weights, from the package under Node. */
async function exampleWeights() {
  const hw = await load();
  const settings = { dIn: 3, dOut: 2, contextLength: 6, dropout: 0, numHeads: 2 };
  const x = tensor(INPUTS);
  hw.manualSeed(123);
  const wrapper = new hw.MultiHeadAttentionWrapper(settings).forward(x, { needWeights: true });
  hw.manualSeed(123);
  const fused = new hw.MultiHeadAttention(settings).forward(x, { needWeights: true });
  const data = [wrapper, fused].map(({ weights }) => Float32Array.from(weights?.data ?? []));
  hw.dispose();
  return { wrapper: data[0], fused: data[1] };
}

pageTest('the first view shows both tables that the notebooks print', '', async (page) => {
  assert.deepEqual(await cells(page, '#wrapper-table'), WRAPPER);
  assert.deepEqual(await cells(page, '#fused-table'), FUSED);
  assert.match(await textOf(page, '#wrapper-table'), /\[6, 4\]/);
  assert.match(await textOf(page, '#fused-table'), /\[6, 2\]/);
  const tokens = await page.$$eval('#tokens li', (items) =>
    items.map((item) => [...item.children].map((part) => part.textContent)),
  );
  assert.deepEqual(
    tokens,
    WORDS.map((word, i) => [word, INPUTS[i].map((value) => value.toFixed(2)).join(' ')]),
  );
});

pageTest('the first picture is there within two seconds', '', async (page) => {
  // Measured in the page that is warm: the build, the server and the browser are not the page.
  await page.reload();
  await settled(page);
  const ms = await page.evaluate(() => performance.now());
  assert.ok(ms < 2000, `drawn after ${ms.toFixed(0)} ms`);
});

pageTest("every map's pixels have the colours of its weights", '', async (page) => {
  const weights = await exampleWeights();
  for (const head of [0, 1]) {
    const nth = `figure:nth-of-type(${head + 1}) canvas`;
    assertColours(await colours(page, `#wrapper-maps ${nth}`, 6), weights.wrapper, head);
    assertColours(await colours(page, `#fused-maps ${nth}`, 6), weights.fused, head);
    const button = `#grid button:nth-child(${head + 1})`;
    assertColours(await colours(page, `${button} canvas`, 6), weights.wrapper, head);
    await page.click(button);
    await page.waitForFunction(
      (/** @type {number} */ number) =>
        document.getElementById('map-title')?.textContent?.startsWith(`Head ${number}`),
      {},
      head + 1,
    );
    assertColours(await colours(page, '#map canvas', 6), weights.wrapper, head);
  }
});

pageTest('Wrapper, Fused and Difference switch the maps on the same weights', '', async (page) => {
  const weights = await exampleWeights();
  await page.click('#mode input[value="fused"]');
  await page.waitForFunction(
    () => document.getElementById('map-title')?.textContent === 'Head 1: fused',
  );
  // The wrapper's weights, from the other implementation.
  assertColours(await colours(page, '#map canvas', 6), weights.wrapper, 0);
  assert.match(await page.evaluate(() => location.hash), /mode=fused/);

  await page.click('#mode input[value="difference"]');
  await page.waitForFunction(() =>
    document.getElementById('map-title')?.textContent?.includes('wrapper − fused'),
  );
  assert.match(await textOf(page, '#legend'), /absolute difference/);
  const figures = await textOf(page, '#figures');
  const [, output] = /([\d.e-]+) in the outputs/.exec(figures) ?? [];
  assert.ok(Number(output) < 1e-6, figures);
  assert.match(figures, /Medians of \d+ runs.* after a warm-up/);
  assert.match(figures, /288 B/);
});

pageTest('hovering tells tokens and weight, a click pins the row', '', async (page) => {
  const { wrapper } = await exampleWeights();
  const field = await page.$('#map .map-field');
  assert.ok(field);
  await field.scrollIntoView();
  const box = await field.boundingBox();
  assert.ok(box);
  /** @param {number} row @param {number} col @returns {[number, number]} */
  const at = (row, col) => [
    box.x + ((col + 0.5) * box.width) / 6,
    box.y + ((row + 0.5) * box.height) / 6,
  ];
  await page.mouse.move(...at(5, 1));
  const tip = await textOf(page, '#map .map-tip');
  assert.equal(tip, `“step” (6) → “journey” (2): ${wrapper[31].toFixed(4)}`);
  await page.mouse.move(...at(0, 3));
  assert.match(await textOf(page, '#map .map-tip'), /masked/);

  await page.mouse.click(...at(2, 0));
  await page.waitForFunction(() =>
    document.getElementById('row-title')?.textContent?.startsWith('starts'),
  );
  const row = await cells(page, '#row');
  assert.deepEqual(
    row.map((line) => line[1]),
    [...wrapper.subarray(12, 15)].map((value) => value.toFixed(4)),
  );
  assert.match(await page.evaluate(() => location.hash), /row=3/);
});

pageTest(
  'the keyboard moves the cell, pins its row and turns to the next head',
  '',
  async (page) => {
    await page.focus('#causal');
    // To the large map with nothing but Tab.
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.matches('#map .map-field'))) break;
    }
    assert.match(await textOf(page, '#map .map-tip'), /^“step” \(6\) → “Your” \(1\)/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    assert.match(await textOf(page, '#map .map-tip'), /^“with” \(4\) → “journey” \(2\)/);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() =>
      document.getElementById('row-title')?.textContent?.startsWith('with'),
    );
    await page.keyboard.press(']');
    await page.waitForFunction(() =>
      document.getElementById('map-title')?.textContent?.startsWith('Head 2'),
    );
    assert.ok(await page.evaluate(() => document.activeElement?.matches('#map .map-field')));
  },
);

pageTest("the visitor's own sentence becomes GPT-2's tokens and maps", '', async (page) => {
  await rerun(page, () => page.click('#source input[value="own"]'));
  await rerun(page, async () => {
    await page.$eval('#text', (box) => /** @type {HTMLTextAreaElement} */ (box).select());
    await page.type('#text', 'The quick brown fox jumps over the lazy dog');
    await page.waitForFunction(() =>
      document.getElementById('token-count')?.textContent?.startsWith('9 tokens'),
    );
  });
  const tokens = await page.$$eval('#tokens li .token', (items) =>
    items.map((item) => item.textContent),
  );
  const space = '\u2423';
  const words = ['quick', 'brown', 'fox', 'jumps', 'over', 'the', 'lazy', 'dog'];
  assert.deepEqual(tokens, ['The', ...words.map((word) => space + word)]);
  assert.equal((await page.$$('#grid button')).length, 4);
  assert.match(await textOf(page, '#wrapper-table'), /\[9, 64\]/);
  assert.deepEqual(await cells(page, '#wrapper-table'), await cells(page, '#fused-table'));
  assert.match(await textOf(page, '#embedding-note'), /Nothing here is trained/);

  await rerun(page, () => page.click('#gpt2'));
  assert.equal((await page.$$('#grid button')).length, 12);
  assert.match(await textOf(page, '#fused-table'), /\[9, 768\]/);
  await rerun(page, () => page.select('#heads', '3'));
  assert.equal((await page.$$('#grid button')).length, 3);
  await rerun(page, () => page.click('#causal'));
  assert.doesNotMatch(await textOf(page, '#legend'), /masked/);
});

pageTest(
  'parts of characters are shown as bytes',
  '#compare?source=own&text=%F0%9F%A6%9C!',
  async (page) => {
    const tokens = await page.$$eval('#tokens li .token', (items) =>
      items.map((item) => item.textContent),
    );
    assert.equal(tokens.at(-1), '!');
    assert.match(tokens[0] ?? '', /^‹f0 9f/);
  },
);

pageTest(
  'an address shows the view that it was taken from',
  '#compare?source=own&text=one+two+three&heads=2&width=8&mode=difference&head=2&row=2',
  async (page) => {
    assert.match(await textOf(page, '#token-count'), /^3 tokens/);
    assert.match(await textOf(page, '#map-title'), /^Head 2: wrapper - fused/);
    assert.match(await textOf(page, '#row-title'), /two differs by/);
    assert.equal((await page.$$('#grid button')).length, 2);
  },
);

pageTest(
  'a long text is drawn from pooled maps while the page stays responsive',
  '#compare?source=own&heads=12&width=768',
  async (page) => {
    await page.evaluate(() => {
      const state = /** @type {{ longest?: number }} */ (globalThis);
      state.longest = 0;
      let last = performance.now();
      setInterval(() => {
        const now = performance.now();
        state.longest = Math.max(state.longest ?? 0, now - last);
        last = now;
      }, 10);
    });
    await rerun(page, () => page.click('#sample'));
    assert.ok(Number.parseInt(await textOf(page, '#token-count'), 10) > 300);
    const pooled = await page.$$eval('#grid canvas', (maps) =>
      maps.map((map) => /** @type {HTMLCanvasElement} */ (map).dataset.pooled),
    );
    assert.deepEqual(pooled, Array(12).fill('true'));
    const longest = await page.evaluate(
      () => /** @type {{ longest?: number }} */ (globalThis).longest,
    );
    assert.ok(Number(longest) < 500, `the page stood still for ${longest} ms`);
    // The first token attends to itself alone: the brightest colour of all.
    const scale = await page.select('#scale', 'unit');
    assert.deepEqual(scale, ['unit']);
    await page.waitForFunction(() =>
      document.getElementById('legend')?.textContent?.startsWith('attention weight0'),
    );
    const size = await page.$eval('#map canvas', (map) =>
      Number(/** @type {HTMLCanvasElement} */ (map).dataset.size),
    );
    const [first] = await colours(page, '#map canvas', size);
    assert.deepEqual(first, [0xfd, 0xe7, 0x25]);
  },
);

pageTest(
  'long work can be cancelled, and the last result stays',
  '#compare?source=own&heads=12&width=768',
  async (page) => {
    await page.$eval('#text', (box) => {
      /** @type {HTMLTextAreaElement} */ (box).value = 'word '.repeat(1000);
      box.dispatchEvent(new Event('change'));
    });
    await page.waitForSelector('#busy:not([hidden])');
    await page.click('#cancel');
    await page.waitForSelector('#busy', { hidden: true });
    assert.match(await textOf(page, '#message'), /^Cancelled\. Below is still the last result\./);
    assert.match(await textOf(page, '#token-count'), /^10 tokens/);
    // And the engine works on.
    await rerun(page, () => page.select('#heads', '4'));
    assert.equal(await textOf(page, '#message'), '');
  },
);

pageTest('what cannot be run is said in words', '#compare?source=own', async (page) => {
  /** @param {string} text */
  const enter = (text) =>
    page.$eval(
      '#text',
      (box, value) => {
        /** @type {HTMLTextAreaElement} */ (box).value = value;
        box.dispatchEvent(new Event('change'));
      },
      text,
    );
  /** @param {RegExp} words */
  const said = (words) =>
    page.waitForFunction(
      (/** @type {string} */ pattern) =>
        new RegExp(pattern).test(document.getElementById('message')?.textContent ?? ''),
      {},
      words.source,
    );
  await enter(' word'.repeat(1100));
  await said(/1,100 tokens: at most 1,024 tokens fit, as in GPT-2\. Shorten it by 76\./);
  await enter('x'.repeat(200_000));
  await said(/too long \(200,000 characters\)/);
  await enter('');
  await said(/no text yet/);
  await enter('fine');
  await said(/^$/);
  await page.$eval('#seed', (box) => {
    /** @type {HTMLInputElement} */ (box).value = '-1';
    box.dispatchEvent(new Event('input'));
  });
  await said(/seed has to be a whole number/);
});

for (const width of [360, 768, 1280]) {
  pageTest(`nothing is wider than a window of ${width} pixels`, '', async (page) => {
    await page.setViewport({ width, height: 740 });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok((await wide()) <= width);
    await page.click('#table-details summary');
    assert.ok((await wide()) <= width);
    await rerun(page, () => page.click('#source input[value="own"]'));
    await rerun(page, () => page.click('#sample'));
    assert.ok((await wide()) <= width);
  });
}

for (const scheme of ['light', 'dark']) {
  pageTest(`axe finds nothing to complain about (${scheme})`, '', async (page) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    await page.addScriptTag({ path });
    const violations = () =>
      page.evaluate(async () => {
        const { axe } = /** @type {{ axe: typeof import('axe-core') }} */ (
          /** @type {unknown} */ (globalThis)
        );
        const result = await axe.run();
        return result.violations.map(
          ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
        );
      });
    assert.deepEqual(await violations(), []);
    await page.click('#table-details summary');
    await rerun(page, () => page.click('#source input[value="own"]'));
    assert.deepEqual(await violations(), []);
  });
}
