// The Explore room: lines, rollout and table, against the same run in Node.
import assert from 'node:assert/strict';
import { runModel } from '../../web/page/explore/worker/model.js';
import { addressHas, reread, roomTest, says, write } from './explore-room.js';
import { first, model, rowOf, written } from './explore-run.js';
import { textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

roomTest(
  'lines carry the share that is asked for, and say what is not shown',
  '?pins=q12',
  async (page) => {
    await says(page, '#explore-lines', /Its lines carry at least 90 % of/);
    const weights = [...rowOf(11)].sort((a, b) => b - a);
    const fewest = (/** @type {number} */ share) => {
      let sum = 0;
      return weights.findIndex((weight) => (sum += weight) >= share * (1 - 1e-6)) + 1;
    };
    const paths = () => page.$$eval('#explore-lines path', (found) => found.length);
    assert.equal(await paths(), fewest(0.9));
    await page.focus('#explore-topp');
    for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft');
    await addressHas(page, 'topP=0.5');
    await says(page, '#explore-lines', /at least 50 % of/);
    const said = await page.$eval('#explore-topp', (share) => share.getAttribute('aria-valuetext'));
    assert.equal(said, 'at least 50 %');
    assert.equal(await paths(), fewest(0.5));
    const rest = 1 - weights.slice(0, fewest(0.5)).reduce((sum, weight) => sum + weight, 0);
    await says(page, '#explore-lines', new RegExp(`${(100 * rest).toFixed(1)} % is not shown`));
  },
);

/** @param {Page} page @param {number} times the sample text, so often */
const repeatText = (page, times) =>
  reread(page, () =>
    page.$eval(
      '#explore-input',
      (input, count) => {
        const field = /** @type {HTMLTextAreaElement} */ (input);
        field.value = `${field.value} `.repeat(count);
        field.dispatchEvent(new Event('change'));
      },
      times,
    ),
  );

roomTest(
  'of a long text the strongest lines are drawn, and of one token all',
  '?head=L2H3',
  async (page) => {
    await repeatText(page, 32);
    const paths = () => page.$$eval('#explore-lines path', (found) => found.length);
    await page.$eval('#explore-lines .lines', (lines) => lines.scrollTo(0, lines.scrollHeight));
    await says(page, '#explore-lines', /The 2,000 strongest of [\d,]+ lines in view/);
    assert.equal(await paths(), 2000);
    await page.click('#explore-text [data-at="600"]');
    await says(page, '#explore-lines', /Its lines carry at least 90 % of/);
    assert.ok((await paths()) < 601);
  },
);

roomTest('lines that were scrolled are drawn at once of a shorter text', '', async (page) => {
  await repeatText(page, 32);
  await page.$eval('#explore-lines .lines', (lines) => lines.scrollTo(0, lines.scrollHeight));
  await page.waitForSelector('#explore-lines [data-at="700"]');
  await page.$eval('#explore-lines', (lines) => {
    const boxes = /** @type {unknown[]} */ ([]);
    Object.assign(globalThis, { boxes });
    const look = () => boxes.push(lines.querySelector('svg')?.getAttribute('viewBox'));
    const filter = { attributes: true, attributeFilter: ['viewBox'], subtree: true };
    new MutationObserver(look).observe(lines, filter);
  });
  await reread(page, () => write(page, 'It was not.'));
  await page.waitForFunction('boxes.length > 0');
  const boxes = /** @type {string[]} */ (await page.evaluate('boxes'));
  const heights = boxes.map((box) => Number(box.split(' ')[3]));
  assert.ok(Math.min(...heights) > 0, `${heights}`);
});

roomTest(
  'a rollout of a long text is said to be on its way, and another map stops it',
  '?head=L3H0',
  async (page) => {
    await repeatText(page, 80);
    await page.select('#explore-map', 'rollout');
    await page.waitForSelector('#explore-maps[aria-busy]');
    await page.select('#explore-map', 'head');
    await page.waitForSelector('#explore-maps:not([aria-busy])');
    const drawn = await page.$eval(
      '.zoom-map',
      (map) => /** @type {HTMLElement} */ (map).dataset.drawn ?? '',
    );
    assert.match(drawn, /"of":"head"/);
    assert.equal(await textOf(page, '#explore-message'), '');
    await page.select('#explore-map', 'rollout');
    await says(page, '#explore-pins', /attends to/);
    await page.waitForFunction(
      () =>
        !document.querySelector('#explore-maps[aria-busy]') &&
        document.querySelector('[data-drawn*=rollout]'),
      { timeout: 60_000 },
    );
  },
);

roomTest('the whole map is shown at once after a closer look, and stays', '', async (page) => {
  await page.click('#explore-closer');
  await addressHas(page, 'view=');
  await page.evaluate(() => {
    for (const id of ['explore-closer', 'explore-whole']) document.getElementById(id)?.click();
  });
  // A view is written into the address when it has settled.
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.doesNotMatch(await page.evaluate(() => location.hash), /view=/);
  const view = await page.$eval('.zoom-map attention-map', (map) => /** @type {any} */ (map).view);
  assert.equal(view, null);
});

roomTest('a table stands behind the map', '?text=one+two+three+one', async (page) => {
  await page.click('#explore-table summary');
  await page.waitForSelector('#explore-table table');
  const cells = await page.$$eval('#explore-table tbody tr', (rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  const ids = model.text.encode('one two three one');
  const small = runModel(model, ids, []);
  const n = ids.length;
  const weights = small.source.rows(first.layer, first.head, 0, n);
  small.dispose();
  const expected = Array.from({ length: n }, (_, query) =>
    Array.from({ length: n }, (__, key) => (key > query ? '–' : written(weights[query * n + key]))),
  );
  assert.deepEqual(cells, expected);
});

roomTest(
  'the names of rows and columns stay in sight in a table that is scrolled',
  '?model=induction',
  async (page) => {
    await page.click('#explore-table summary');
    await page.waitForSelector('#explore-table table');
    await page.$eval('#explore-table .table-room', (room) => room.scrollTo(400, 400));
    const left = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => Math.round(element.getBoundingClientRect().left));
    const top = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => Math.round(element.getBoundingClientRect().top));
    const room = '#explore-table .table-room';
    assert.ok((await left('#explore-table table')) < (await left(room)) - 100);
    assert.ok((await top('#explore-table table')) < (await top(room)) - 100);
    assert.ok(Math.abs((await left('#explore-table tbody th')) - (await left(room))) < 2);
    assert.ok(
      Math.abs((await top('#explore-table thead th:nth-child(9)')) - (await top(room))) < 2,
    );
  },
);
