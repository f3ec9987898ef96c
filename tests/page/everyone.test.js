// The page for everyone: narrow windows, axe, a failing network.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import {
  browser,
  cells,
  options,
  pageTest,
  rerun,
  schemes,
  site,
  textOf,
  useScheme,
  widths,
} from './harness.js';

test(
  'an engine that cannot be loaded is said in words, and a later try works',
  options,
  async () => {
    const page = await browser.newPage();
    site.withhold('.wasm');
    try {
      await page.goto(site.url);
      await page.waitForFunction(() => document.getElementById('message')?.textContent);
      assert.match(await textOf(page, '#message'), /\w+ \w+ \w+/);
      assert.equal(
        await page.$eval('#busy', (busy) => /** @type {HTMLElement} */ (busy).hidden),
        true,
      );
      site.withhold('');
      await rerun(page, () => page.click('#causal'));
      assert.equal(await textOf(page, '#message'), '');
      assert.equal((await cells(page, '#wrapper-table')).length, 6);
    } finally {
      site.withhold('');
      await page.close();
    }
  },
);

for (const width of widths) {
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

const looks = [...schemes.map((scheme) => [scheme, 1280]), ['light', widths[0]]];
for (const [scheme, width] of /** @type {[string, number][]} */ (looks)) {
  pageTest(`axe finds nothing to complain about (${scheme}, ${width} px)`, '', async (page) => {
    await page.setViewport({ width, height: 900 });
    await useScheme(page, scheme);
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
