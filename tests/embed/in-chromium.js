// A built site in Chromium: asks for what it shows, and looks at what it fetched and complained about.
import assert from 'node:assert/strict';
import { interpolateViridis } from 'd3-scale-chromatic';
import { fusedTable } from '../seeds.js';

/** @import { Browser } from 'puppeteer-core' */

/** @param {number[][]} output */
export function checkOutput(output) {
  assert.equal(output.length, fusedTable.length);
  output.forEach((row, i) =>
    row.forEach((value, j) => {
      const expected = fusedTable[i][j];
      assert.ok(Math.abs(value - expected) < 5.1e-5, `${value} at [${i}, ${j}]: ${expected}`);
    }),
  );
}

/** The first token attends to itself alone: the end of the scale. */
function checkPixel(/** @type {number[]} */ pixel) {
  const hex = Number.parseInt(interpolateViridis(0.999).slice(1), 16);
  assert.deepEqual(pixel, [hex >> 16, (hex >> 8) & 255, hex & 255, 255]);
}

/**
 * @param {Browser} browser
 * @param {string} url
 * @param {boolean} isolated whether the site is sent with COOP and COEP
 */
export async function checkSite(browser, url, isolated) {
  const page = await browser.newPage();
  /** @type {string[]} */
  const complaints = [];
  /** @type {string[]} */
  const asked = [];
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => asked.push(request.url()));
  const modules = () => asked.filter((address) => new URL(address).pathname.endsWith('.wasm'));
  const call = (/** @type {string} */ name) => page.evaluate(`site.${name}()`);
  try {
    await page.goto(url, { waitUntil: 'networkidle0' });
    await page.waitForFunction('globalThis.site');
    assert.deepEqual(modules(), [], 'importing fetches no module');
    const inline = /** @type {any} */ (await call('inline'));
    checkOutput(inline.output);
    assert.deepEqual(modules(), [], 'the inlined module is not fetched');
    const main = /** @type {any} */ (await call('main'));
    checkOutput(main.output);
    assert.equal(modules().length, 1, `one module is fetched: ${modules()}`);
    for (const name of ['threads', 'worker']) {
      const result = /** @type {any} */ (await call(name));
      checkOutput(result.output);
      assert.equal(result.threads, isolated ? 2 : 1, `threads of ${name}: ${result.reason}`);
      if (!isolated) assert.match(result.reason, /SharedArrayBuffer.*Cross-Origin-Opener-Policy/);
    }
    checkOutput(/** @type {any} */ (await call('ownWorker')).output);
    checkPixel(/** @type {any} */ (await call('view')));
    const { written, expected } = /** @type {any} */ (await call('continueThere'));
    assert.deepEqual(written, expected);
    assert.deepEqual(complaints, []);
  } catch (error) {
    if (complaints.length > 0)
      throw new Error(`${error}\n  ${complaints.join('\n  ')}`, { cause: error });
    throw error;
  } finally {
    await page.close();
  }
}

/**
 * A dev server that cannot serve what the package names is told with what to set.
 * @param {Browser} browser
 * @param {string} url
 */
export async function checkHint(browser, url) {
  const page = await browser.newPage();
  try {
    await page.goto(url, { waitUntil: 'networkidle0' });
    await page.waitForFunction('globalThis.site');
    for (const entry of ['main', 'worker']) {
      const told = await page.evaluate(
        `site.${entry}().then(() => 'runs', ({ name, code, message }) => name + code + message)`,
      );
      const hint = /^HeadwiseErrorERR_LOAD.*optimizeDeps: \{ exclude: \['headwise'\] \}/;
      assert.match(String(told), hint, entry);
    }
  } finally {
    await page.close();
  }
}
