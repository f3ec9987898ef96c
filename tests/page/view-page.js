// What the tests of headwise/view share: an empty page with the element, and what is seen of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { interpolateViridis } from 'd3-scale-chromatic';
import { serve } from '../browser.js';
import { browser, options } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const ROOT = fileURLToPath(new URL('../../web/', import.meta.url));

/**
 * A test with an empty page that has `view`, `headwise` and an element `map` of 200 pixels.
 *
 * @param {string} title
 * @param {(page: Page) => Promise<void>} body
 */
export function viewTest(title, body) {
  test(title, options, async () => {
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'";
    const server = await serve(ROOT, { headersOf: () => ({ 'content-security-policy': policy }) });
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      const icon = message.location().url?.endsWith('favicon.ico');
      if (message.type() === 'error' && !icon) complaints.push(message.text());
    });
    try {
      // Any file that is served: a page without anything.
      await page.goto(`${server.url}headwise/checks/error.js`);
      await page.evaluate(async (base) => {
        Object.assign(globalThis, {
          view: await import(`${base}headwise/view.js`),
          headwise: await import(`${base}headwise/index.js`),
          map: document.createElement('attention-map'),
        });
        document.body.replaceChildren(/** @type {any} */ (globalThis).map);
        /** @type {any} */ (globalThis).map.style.width = '300px';
      }, server.url);
      await body(page);
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
      server.close();
    }
  });
}

/** @param {number} share */
function rgb(share) {
  const hex = Number.parseInt(interpolateViridis(share).slice(1), 16);
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
}

/** @param {number[]} seen @param {number} share */
export const isColour = (seen, share) =>
  rgb(share).forEach((value, i) =>
    assert.ok(Math.abs(value - seen[i]) <= 4, `${seen}, expected ${rgb(share)} of ${share}`),
  );

/** @param {Page} page @param {string} words */
export const tip = async (page, words) =>
  assert.equal(await page.$eval('attention-map >>> .map-tip', (el) => el.textContent), words);

/** @param {Page} page @param {number} x @param {number} y shares of the field */
export async function hover(page, x, y) {
  const box = await (await page.$('attention-map >>> .map-field'))?.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
}
