// The page for everyone: narrow windows, axe, a failing network.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { engine } from '../browsers/engines.js';
import { dropFiles, pageCount } from './drop.js';
import {
  browser,
  cells,
  contentWidth,
  options,
  pageTest,
  rerun,
  schemes,
  site,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';

/** It would have what is withheld from the page before. */
const KEEPER = 'service-worker.js';

test(
  'an engine that cannot be loaded is said in words, and a later try works',
  options,
  async () => {
    const page = await browser.newPage();
    site.withhold(['.wasm', KEEPER]);
    try {
      await page.goto(site.url);
      await page.waitForFunction(() => document.getElementById('message')?.textContent);
      assert.match(
        await textOf(page, '#message'),
        /could not be loaded\. Check the connection, then/,
      );
      assert.equal(
        await page.$eval('#busy', (busy) => /** @type {HTMLElement} */ (busy).hidden),
        true,
      );
      site.withhold(KEEPER);
      await rerun(page, () => page.click('#again'));
      assert.equal(await textOf(page, '#message'), '');
      assert.equal((await cells(page, '#wrapper-table')).length, 6);
    } finally {
      site.withhold('');
      await page.close();
    }
  },
);

for (const [ending, file] of [
  ['.wasm', /could not be loaded\. Check the connection, .*\.wasm/],
  ['.safetensors', /could not be loaded\. Check the connection, .*\.safetensors/],
  ['.json', /tokenizer\.json could not be fetched|config.*\.json/],
])
  test(
    `in Explore a ${ending} that does not come is named, and can be asked for again`,
    options,
    async () => {
      const page = await browser.newPage();
      site.withhold([String(ending), KEEPER]);
      try {
        await page.goto(`${site.url}#explore`);
        await page.waitForFunction(() =>
          document.querySelector('#explore-again')?.checkVisibility(),
        );
        assert.match(await textOf(page, '#explore-message'), new RegExp(file));
        site.withhold(KEEPER);
        await page.click('#explore-again');
        await page.waitForFunction(() =>
          document.querySelector('#explore-grid canvas')?.checkVisibility(),
        );
        assert.equal(await textOf(page, '#explore-message'), '');
        assert.equal(
          await page.$eval('#explore-again', (button) => button.checkVisibility()),
          false,
        );
        assert.match(await textOf(page, '#explore-text'), /It was not in her power/);
      } finally {
        site.withhold('');
        await page.close();
      }
    },
  );

test(
  'a model that did not come can be asked for again after the text was changed',
  options,
  async () => {
    const page = await browser.newPage();
    try {
      site.withhold(KEEPER);
      await page.goto(`${site.url}#explore?head=L3H7`);
      await page.waitForFunction(() =>
        document.querySelector('#explore-grid canvas')?.checkVisibility(),
      );
      site.withhold(['.safetensors', KEEPER]);
      await page.select('#explore-model', 'induction');
      await page.waitForFunction(() => document.querySelector('#explore-again')?.checkVisibility());
      await page.click('#explore-edit');
      await page.type('#explore-input', 'ab');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1000)));
      assert.match(await textOf(page, '#explore-message'), /could not be loaded/);
      assert.match(await page.evaluate(() => location.hash), /model=induction/);
      site.withhold(KEEPER);
      await page.click('#explore-again');
      await page.waitForFunction(
        () => document.getElementById('explore-message')?.textContent === '',
      );
      assert.match(await page.evaluate(() => location.hash), /model=induction/);
    } finally {
      site.withhold('');
      await page.close();
    }
  },
);

for (const width of widths) {
  pageTest(`nothing is wider than a window of ${width} pixels`, '', async (page) => {
    await page.setViewport({ width, height: 740 });
    const wide = () => contentWidth(page);
    assert.ok((await wide()) <= width);
    await page.click('#table-details summary');
    assert.ok((await wide()) <= width);
    await rerun(page, () => page.click('#source input[value="own"]'));
    await rerun(page, () => page.click('#many-heads'));
    assert.ok((await wide()) <= width);
    await rerun(page, () => page.click('#sample'));
    assert.ok((await wide()) <= width);
  });
}

pageTest('a window that grows while a run is replaced draws the next run', '', async (page) => {
  await page.evaluate(() => {
    let width = innerWidth;
    Object.defineProperty(globalThis, 'innerWidth', { get: () => width++ });
    setInterval(() => dispatchEvent(new Event('resize')), 20);
  });
  for (const setting of ['#source input[value="own"]', '#many-heads', '#causal', '#causal']) {
    await rerun(page, () => page.click(setting));
  }
  assert.equal(await textOf(page, '#message'), '');
});

pageTest('a link to another room leads the focus to its heading', '', async (page) => {
  await page.focus('.ways a[data-room=train]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#train'));
  const focused = await page.evaluate(() => document.activeElement?.closest('#train-room')?.id);
  assert.equal(focused, 'train-room');
  await page.waitForFunction(() => document.activeElement?.matches('#train-room h1'));
  await page.focus('#rooms a[data-room=compare]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#compare'));
  const label = await page.evaluate(() => document.activeElement?.textContent);
  assert.equal(label, 'Compare', 'a link that stays keeps the focus');
});

const looks = [...schemes.map((scheme) => [scheme, 1280]), ['light', widths[0]]];
for (const [scheme, width] of /** @type {[string, number][]} */ (looks)) {
  pageTest(`axe finds nothing to complain about (${scheme}, ${width} px)`, '', async (page) => {
    await page.setViewport({ width, height: 900 });
    await useScheme(page, scheme);
    assert.deepEqual(await violations(page), []);
    await page.click('#table-details summary');
    await rerun(page, () => page.click('#source input[value="own"]'));
    assert.deepEqual(await violations(page), []);
  });
}

for (const hash of engine.hasCdp ? ['#compare', '#lessons', '#bench'] : []) {
  pageTest(
    `a file that is dropped on ${hash} leaves the page as it is`,
    hash,
    async (page) => {
      const pages = await pageCount();
      const before = page.url();
      await dropFiles(page, [fileURLToPath(import.meta.url)]);
      // What a drop opens is there before this answers.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
      assert.deepEqual([await pageCount(), page.url()], [pages, before]);
    },
    {
      // Compare's heading is in the markup from the start.
      ready: async (page) => {
        const opened = `${hash}-room:not(:has(> .opening)) h1`;
        await page.waitForSelector(hash === '#compare' ? '#tokens > *' : opened);
      },
    },
  );
}
