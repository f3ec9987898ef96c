// Two texts side by side in the Explore room: shares of heads and tokens, maps in both texts, what does not go together.
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { load } from 'headwise';
import { exampleOf } from '../../web/page/explore/why/patching/examples.js';
import { written } from '../../web/page/explore/why/patching/share-table.js';
import { patchingOf } from '../../web/page/explore/worker/patching.js';
import { openPageModel } from '../page-model.js';
import { addressHas, ROOM, roomTest, says } from './explore-room.js';
import { contentWidth, schemes, textOf, useScheme, violations, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const WHY = '?model=names&mode=why';
const { text, other, target, against } = exampleOf('names');

/** @type {import('../../web/page/explore/worker/patching.js').Patching} */
let expected;

before(async () => {
  const model = await openPageModel(await load(), 'names');
  const [ids, others, [first], [second]] = [text, other, target, against].map((words) =>
    model.text.encode(words),
  );
  const asked = { ids, others, target: first, against: second };
  for await (const part of patchingOf(model, asked, async () => {})) expected = part;
});

/** The numbers of a table. @param {Page} page @param {number} i which */
const shares = (page, i) =>
  page.$$eval(
    '.shares',
    (tables, at) => [...tables[at].querySelectorAll('td b')].map((cell) => cell.textContent),
    i,
  );

/** Waits for all shares. @param {Page} page */
const areThere = (page) =>
  page.waitForFunction(
    () =>
      document.querySelectorAll('.shares td button').length > 0 &&
      !document.querySelector('.patching-progress'),
    { timeout: 30_000 },
  );

/** @param {Page} page */
async function showExample(page) {
  await page.click('#explore-example');
  await areThere(page);
}

roomTest(
  'the example shows which heads and tokens bring the prediction back',
  WHY,
  async (page) => {
    await showExample(page);
    await addressHas(page, 'corrupted=');
    assert.match(
      await textOf(page, '#explore-pair-scores'),
      /“mary” - “john”: \+14\.17 in your text, -20\.87 in the other\./,
    );
    assert.match(await textOf(page, '#explore-pair-told'), /“john” is “mary” in the other text\./);
    assert.deepEqual(await shares(page, 0), [...expected.heads].map(written));
    assert.deepEqual(await shares(page, 1), [...expected.places].map(written));
    const marked = await page.$$eval('.pair-tokens .differs .token', (all) =>
      all.map((one) => one.textContent),
    );
    assert.deepEqual(marked, ['john', 'mary']);
  },
);

roomTest('a click on a head shows its map in both texts', WHY, async (page) => {
  await showExample(page);
  await page.$eval('.shares td:nth-child(2) button', (cell) =>
    /** @type {HTMLElement} */ (cell).click(),
  );
  await says(page, '#explore-pair-maps figure:nth-of-type(1) figcaption', /^Head L0H0, your text$/);
  assert.match(await textOf(page, '#explore-pair-maps + div'), /^attention weight01masked/);
  await says(
    page,
    '#explore-pair-maps figure:nth-of-type(2) figcaption',
    /^Head L0H0, the other text$/,
  );
  await says(page, '.map-title', /Head L0H0/);
  // Exact numbers for the keyboard.
  await page.focus('.shares td:nth-child(2) button');
  await page.keyboard.press('ArrowRight');
  const l0h1 = /^L0H1: 0\.0\d\d\d$/;
  await says(page, '#explore-share-told', l0h1);
  await page.keyboard.down('Control');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.up('Control');
  await says(page, '#explore-share-told', l0h1);
  await page.focus('#explore-corrupted');
  await says(page, '#explore-share-told', /^Point at a cell/);
  // What is told is of the question that is asked.
  await page.$eval('.shares td:nth-child(2)', (cell) =>
    cell.dispatchEvent(new PointerEvent('pointerenter')),
  );
  await says(page, '#explore-share-told', /^L0H0: /);
  // A tap tells of a token too, and asks about no other one.
  await page.$eval('.patching-tables div:nth-child(2) .shares td:nth-child(3) button', (cell) =>
    /** @type {HTMLElement} */ (cell).click(),
  );
  await says(page, '#explore-share-told', /^before layer 0, .*\(2\): /);
  await page.select('#explore-against', '');
  await says(page, '#explore-pair-scores', /log-probability/);
  await says(page, '#explore-share-told', /^Point at a cell/);
});

roomTest('the grid can be coloured by patching, and the address leads back', WHY, async (page) => {
  await showExample(page);
  await page.select('#explore-by', 'patching');
  await says(page, '#explore-measure-legend', /restores in the other text/);
  const words = await page.$$eval('#explore-grid .words b', (all) =>
    all.map((one) => one.textContent),
  );
  assert.equal(words.length, expected.heads.length);
  assert.equal(words[0], '+0.50');
  await page.reload();
  await areThere(page);
  await says(page, '#explore-measure-legend', /restores in the other text/);
  assert.deepEqual(await shares(page, 0), [...expected.heads].map(written));
  // By its key: what still comes in above the button moves it from under a pointer.
  await page.focus('#explore-unpatch');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('.shares'));
  assert.ok(!(await page.evaluate(() => location.hash)).includes('corrupted'));
});

// So long that it takes many reports.
const LONG = Array(4).fill(text).join(' ');

roomTest(
  'a sweep that takes long can be cancelled, and gone on with',
  `?model=austen&mode=why&text=${encodeURIComponent(LONG)}`,
  async (page) => {
    // The first report has a button to cancel it by; it is clicked as soon as it is there.
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        const cancel = document.getElementById('explore-patching-cancel');
        if (!cancel) return;
        observer.disconnect();
        cancel.click();
      }).observe(document.body, { childList: true, subtree: true });
    });
    await page.$eval('#explore-corrupted', (area) => {
      const box = /** @type {HTMLTextAreaElement} */ (area);
      box.value = box.value.replace('john', 'mary');
    });
    await page.click('#explore-patch');
    await page.waitForSelector('#explore-patching-go-on:not([hidden])', { timeout: 20_000 });
    assert.equal((await page.$$('.patching-progress')).length, 0);
    const focus = () => page.evaluate(() => document.activeElement?.id);
    assert.equal(await focus(), 'explore-patching-go-on', 'the way on, where Cancel went');
    const unknown = () =>
      page.$$eval(
        '.shares button',
        (cells) => cells.filter(({ title }) => title.endsWith('not yet known')).length,
      );
    const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
    // A report that was under way may still come. What is known stays, and nothing more comes.
    await pause();
    const left = await unknown();
    assert.ok(left > 0);
    await pause();
    assert.equal(await unknown(), left);
    await page.click('#explore-patching-go-on');
    assert.equal(await focus(), 'explore-patch');
    await page.waitForFunction(
      () => {
        const cells = [...document.querySelectorAll('.shares button')];
        return (
          cells.length > 0 &&
          cells.every((cell) => !cell.getAttribute('title')?.endsWith('not yet known'))
        );
      },
      { timeout: 90_000 },
    );
  },
);

roomTest(
  'texts of unequal length are told what to do',
  `${WHY}&corrupted=when+mary+left`,
  async (page) => {
    await says(
      page,
      '#explore-pair-problem',
      /14 tokens, the other 3\. .* Add 11 tokens to the other text/,
    );
    assert.equal((await page.$$('#explore-pair-problem[role=alert]')).length, 1);
    assert.equal((await page.$$('.shares')).length, 0);
    assert.equal((await page.$$('.pair-tokens tr:nth-child(2) td')).length, 3);
  },
);

roomTest('everybody can use it, on a phone too', WHY, async (page) => {
  await showExample(page);
  for (const scheme of schemes) {
    await useScheme(page, scheme);
    assert.deepEqual(await violations(page), []);
  }
  await page.setViewport({ width: widths[0], height: 800 });
  const wide = await contentWidth(page);
  assert.ok(wide <= widths[0], `${wide}`);
  assert.ok(await page.$(`${ROOM} .share-scroll`));
});
