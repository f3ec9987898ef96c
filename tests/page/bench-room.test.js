// The Bench room: it shows what was measured before, measures, pauses, stops, and says what it cannot do. How long anything
// takes is not tested.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  browser,
  contentWidth,
  options,
  pageTest,
  schemes,
  site,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const ROOM = '#bench-room';
const published = JSON.parse(
  await readFile(new URL('../../web/page/bench/peers.json', import.meta.url), 'utf8'),
);

/** @param {Page} page */
const ready = async (page) => void (await page.waitForSelector('#bench-run'));

const RESULTS = `${ROOM} .bench-results td:nth-child(3)`;

/** @param {Page} page @param {number} count */
const results = (page, count) =>
  page.waitForFunction(
    (/** @type {string} */ cells, /** @type {number} */ least) =>
      document.querySelectorAll(cells).length >= least,
    { timeout: 60_000 },
    RESULTS,
    count,
  );

/** @param {Page} page */
const count = async (page) => (await page.$$(RESULTS)).length;

/** @param {string} title @param {(page: Page) => Promise<void>} body */
const roomTest = (title, body) => pageTest(title, '#bench', body, { ready });

// The first test of this file: once its files are kept for use without a network, none can be withheld.
test('an engine that cannot be loaded is said once, with nothing to save', options, async () => {
  const page = await browser.newPage();
  site.withhold('.wasm');
  try {
    await page.goto(`${site.url}#bench`);
    await ready(page);
    await page.click('#bench-run');
    await page.waitForFunction(() =>
      document.querySelector('#bench-room [role=status]')?.textContent?.includes('.wasm'),
    );
    const words = /^The engine could not be loaded: http\S+\.wasm: the server answered 404[^:]*\.$/;
    assert.match(await textOf(page, `${ROOM} [role=status]`), words);
    assert.equal(await textOf(page, '#bench-run'), 'Run the benchmark');
    assert.equal(await textOf(page, '#bench-verdict'), '');
    for (const part of ['#bench-save', '.bench-results'])
      assert.equal((await page.$$(part)).length, 0, part);
    await page.setViewport({ width: widths[0], height: 800 });
    assert.ok((await contentWidth(page)) <= widths[0], 'an address is broken where a line ends');
  } finally {
    site.withhold('');
    await page.close();
  }
});

roomTest(
  'before anything runs, the Bench room shows the published ratios as bars',
  async (page) => {
    const { runtimes } = published;
    const own = runtimes.find((/** @type {any} */ { name }) => name === 'Headwise');
    const panels = await page.$$eval('.peers figure', (figures) =>
      figures.map((figure) => ({
        shape: figure.querySelector('figcaption b')?.textContent ?? '',
        rows: [...figure.querySelectorAll('tr')].map((row) =>
          [...row.children].map(({ textContent }) => textContent?.trim() ?? ''),
        ),
      })),
    );
    const glossary = 'S0 S1 S2 S3 C1 C2 G1 G2 D1 T1 T2 T3';
    assert.equal(panels.map(({ shape }) => shape).join(' '), glossary);
    assert.deepEqual(Object.keys(own.ratios).sort(), glossary.split(' ').sort());
    const [{ rows }] = panels.filter(({ shape }) => shape === 'S3');
    assert.deepEqual(
      rows.map(([name, , ratio]) => [name, ratio]),
      [
        ['Headwise', '1'],
        ['LiteRT.js', `${runtimes[1].ratios.S3.toPrecision(3)}×*`],
        ['onnxruntime-web', `${runtimes[2].ratios.S3.toPrecision(3)}×*`],
        ['tfjs', `${runtimes[3].ratios.S3.toPrecision(3)}×`],
      ],
    );
    const source = await textOf(page, '.peers + .note');
    assert.match(source, /M1, .* has no bars/);
    assert.match(
      source,
      /^Measured on \w+ \d+, 20\d\d, .*Chromium, one thread\..* Headwise \d+\.\d+\.\d+: \d+ kB; LiteRT\.js \d+\.\d+/,
    );
    assert.equal(await count(page), 0);
  },
);

roomTest(
  'the Bench room shows each result with its share of the ceiling, stops, and saves',
  async (page) => {
    assert.match(await textOf(page, ROOM), /(may use threads|One thread)/);
    await page.focus('#bench-run');
    await page.keyboard.press('Enter');
    await results(page, 2);
    const heading = await textOf(page, '.bench-results tbody tr');
    assert.match(
      heading,
      /^S0 multi-head attention, 2 × 6 tokens, 3 wide, 2 heads · (relaxed|simd128)/,
    );
    const row = await textOf(page, '.bench-results tbody tr:nth-child(2)');
    assert.match(row, /^wrapper 1 [\d.]+ (µs|ms) [\d.]+ GFLOP\/s [\d.]+ % [\d.]+ MiB$/);
    const percent = await page.$eval(`${ROOM} meter`, (meter) => Number(meter.value));
    assert.ok(percent > 0 && percent <= 100);
    const places = await page.$$eval('.bench-results tr:not(:has([scope=rowgroup]))', (rows) =>
      rows.map(({ children }) =>
        [...children].map((cell) => getComputedStyle(cell).textAlign).join(),
      ),
    );
    assert.deepEqual([...new Set(places)], ['left,right,right,right,right,right']);
    assert.match(await textOf(page, '#bench-ceiling'), /ceiling: [\d.]+ GFLOP\/s a thread/);
    assert.match(
      await textOf(page, `${ROOM} [role=status]`),
      /^\d+ of \d+, about \d+ seconds? left$/,
    );
    assert.equal(await textOf(page, '#bench-run:focus'), 'Stop');
    await page.keyboard.press('Enter');
    assert.match(await textOf(page, `${ROOM} [role=status]`), /^Stopped: \d+ results?\.$/);
    assert.equal(await textOf(page, '#bench-run:focus'), 'Run the benchmark');
    assert.notEqual(await textOf(page, '#bench-verdict[role=status]'), '');
    const before = await count(page);
    await page.keyboard.press('Enter');
    assert.equal(
      await page.$eval('#bench-run', (button) => button.getAttribute('title') ?? ''),
      'Or press Escape',
    );
    await page.keyboard.press('Escape');
    assert.equal(
      await textOf(page, `${ROOM} [role=status]`),
      'Stopped before the first result. These are the results of the run before.',
    );
    assert.equal(
      await page.$eval('#bench-run', (button) => button.getAttribute('title') ?? ''),
      '',
    );
    assert.equal(await count(page), before, 'what was measured before is still there');
    // What is saved is read where the page makes it.
    const saved = await page.evaluate(async () => {
      /** @type {Promise<string>} */
      const text = new Promise((resolve) => {
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => {
          resolve(/** @type {Blob} */ (blob).text());
          return createObjectURL.call(URL, blob);
        };
      });
      HTMLAnchorElement.prototype.click = () => {};
      /** @type {HTMLButtonElement} */ (document.querySelector('#bench-save')).click();
      return text;
    });
    const report = JSON.parse(saved);
    assert.equal(report.results.length, await count(page));
    assert.ok(report.ceilingGflops > 0 && report.results[0].timing.minimum > 0);
    assert.match(report.browser, /Mozilla/);
  },
);

roomTest(
  'the benchmark pauses while the room or the tab is left, and goes on after',
  async (page) => {
    await page.click('#bench-run');
    await results(page, 1);
    await page.click('#rooms a[href^="#lessons"]');
    assert.equal(
      await textOf(page, `${ROOM} [role=status]`),
      'Paused. It goes on when you come back.',
    );
    // The answer that was under way comes, and none after it.
    await page.waitForSelector('#lessons-room :is(h1, h2)');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const paused = await count(page);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    assert.equal(await count(page), paused);
    await page.click('#rooms a[href^="#bench"]');
    assert.doesNotMatch(await textOf(page, `${ROOM} [role=status]`), /Paused/);
    await results(page, paused + 1);
    /** @param {boolean} isHidden as another tab in front makes it */
    const hide = (isHidden) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await hide(true);
    assert.match(await textOf(page, `${ROOM} [role=status]`), /^Paused\./);
    await hide(false);
    assert.doesNotMatch(await textOf(page, `${ROOM} [role=status]`), /Paused/);
    await page.click('#bench-run');
  },
);

roomTest(
  'the Bench room fits every window, and axe finds nothing to complain about',
  async (page) => {
    await page.click('#bench-run');
    await results(page, 1);
    await page.click('#bench-run');
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      assert.deepEqual(await violations(page), [], scheme);
    }
    // A failure whose words would go on beyond the table.
    await page.$eval('.bench-results tbody', (body) => {
      const words = `failed: http://127.0.0.1/${'a'.repeat(150)}: the server answered 404`;
      body.insertRow().innerHTML = `<th>fused</th><td>1</td><td colspan="4" class="bad">${words}</td>`;
    });
    for (const width of widths) {
      await page.setViewport({ width, height: 800 });
      assert.ok((await contentWidth(page)) <= width);
      const cut = await page.$eval('.bench-results', (part) => part.scrollWidth - part.clientWidth);
      assert.equal(cut, 0, `at ${width}`);
    }
  },
);
