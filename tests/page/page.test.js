// The first view: the notebooks' numbers, maps, hovering, keys.
import assert from 'node:assert/strict';
import { interpolateViridis } from 'd3-scale-chromatic';
import { load, tensor } from 'headwise';
import { fusedTable, inputs, wrapperTable } from '../seeds.js';
import { cells, colours, pageTest, settled, textOf } from './harness.js';
import { engine } from '../browsers/engines.js';

const WORDS = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const printed = (/** @type {number[][]} */ table) =>
  table.map((row) => row.map((value) => value.toFixed(4)));

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
    const where = `head H${head}, query ${row}, key ${col}: ${rgb}`;
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
  const x = tensor(inputs);
  hw.manualSeed(123);
  const wrapper = new hw.MultiHeadAttentionWrapper(settings).forward(x, { needWeights: true });
  hw.manualSeed(123);
  const fused = new hw.MultiHeadAttention(settings).forward(x, { needWeights: true });
  const data = [wrapper, fused].map(({ weights }) => Float32Array.from(weights?.data ?? []));
  hw.dispose();
  return { wrapper: data[0], fused: data[1] };
}

pageTest('the first view shows both tables that the notebooks print', '', async (page) => {
  assert.deepEqual(await cells(page, '#wrapper-table'), printed(wrapperTable));
  assert.deepEqual(await cells(page, '#fused-table'), printed(fusedTable));
  assert.match(await textOf(page, '#wrapper-table'), /\[6, 4\]/);
  assert.match(await textOf(page, '#fused-table'), /\[6, 2\]/);
  const tokens = await page.$$eval('#tokens li', (items) =>
    items.map((item) => [...item.children].map((part) => part.textContent)),
  );
  assert.deepEqual(
    tokens,
    WORDS.map((word, i) => [word, inputs[i].map((value) => value.toFixed(2)).join(' ')]),
  );
});

pageTest('the first picture waits for nothing that it does not show', '', async (page) => {
  /** @type {string[]} */
  const files = [];
  page.on('request', (request) => files.push(new URL(request.url()).pathname));
  await page.reload();
  await settled(page);
  assert.equal(
    files.some((file) => file.endsWith('.css')),
    engine.hasEvents,
  );
  assert.deepEqual(
    files.filter((file) => file.includes('r50k')),
    [],
    'the tokenizer is not loaded for the six-word example',
  );
});

pageTest("every map's pixels have the colours of its weights", '', async (page) => {
  const weights = await exampleWeights();
  for (const head of [0, 1]) {
    const nth = `figure:nth-of-type(${head + 1}) attention-map >>> canvas`;
    assertColours(await colours(page, `#wrapper-maps ${nth}`, 6), weights.wrapper, head);
    assertColours(await colours(page, `#fused-maps ${nth}`, 6), weights.fused, head);
    const button = `#grid [data-mode=wrapper] button:nth-of-type(${head + 1})`;
    assertColours(await colours(page, `${button} canvas`, 6), weights.wrapper, head);
    await page.click(button);
    await page.waitForFunction(
      (/** @type {number} */ number) =>
        document.getElementById('map-title')?.textContent?.startsWith(`Head H${number}:`),
      {},
      head,
    );
    assertColours(await colours(page, '#map >>> canvas', 6), weights.wrapper, head);
  }
});

pageTest(
  'a click on a head of either module, or on their difference, shows it large',
  '',
  async (page) => {
    const weights = await exampleWeights();
    await page.click('#grid [data-mode=fused] button');
    await page.waitForFunction(
      () => document.getElementById('map-title')?.textContent === 'Head H0: fused',
    );
    // The wrapper's weights, from the other implementation.
    assertColours(await colours(page, '#map >>> canvas', 6), weights.wrapper, 0);
    assert.match(await page.evaluate(() => location.hash), /mode=fused/);

    // Arrow keys go on: down to the difference, right to the next head.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      () => document.getElementById('map-title')?.textContent === 'Head H1: wrapper − fused',
    );
    assert.equal(await textOf(page, '#legend'), 'absolute difference: 0 everywhere');
    assert.equal(
      await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
      'Head H1: wrapper − fused',
    );
  },
);

pageTest('hovering tells tokens and weight, a click pins the row', '', async (page) => {
  const { wrapper } = await exampleWeights();
  const field = await page.$('#map >>> .map-field');
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
  const tip = await textOf(page, '#map >>> .map-tip');
  assert.equal(tip, `“step” (6) → “journey” (2): ${wrapper[31].toFixed(4)}`);
  await page.mouse.move(...at(0, 3));
  assert.match(await textOf(page, '#map >>> .map-tip'), /masked/);

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
      if (await page.evaluate(() => document.activeElement?.matches('#map'))) break;
    }
    assert.match(await textOf(page, '#map >>> .map-tip'), /^“step” \(6\) → “Your” \(1\)/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    assert.match(await textOf(page, '#map >>> .map-tip'), /^“with” \(4\) → “journey” \(2\)/);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() =>
      document.getElementById('row-title')?.textContent?.startsWith('with'),
    );
    await page.keyboard.press(']');
    await page.waitForFunction(() =>
      document.getElementById('map-title')?.textContent?.startsWith('Head H1'),
    );
    assert.ok(await page.evaluate(() => document.activeElement?.matches('#map')));
  },
);
