// The Explore room's first screen: what a newcomer sees, and the tour.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { TOURS } from '../../web/page/explore/tours.js';
import { ROOM, TIP, address, addressHas, roomTest, says, scored } from './explore-room.js';
import { first, firstPin, names, rowOf, run, written } from './explore-run.js';
import { schemes, textOf, useScheme, violations, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const SCREEN = 800;

/** Where elements are, which may be in shadow roots. @param {Page} page @param {string} selector */
const boxes = (page, selector) =>
  page.$$eval(selector, (all) =>
    all.map((one) => {
      const { left, right, top, bottom, width, height } = one.getBoundingClientRect();
      return { text: one.textContent, left, right, top, bottom, width, height };
    }),
  );

roomTest('text, map, words, legend, grid and lists lie within 800 pixels', '', async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  for (const selector of [
    '#explore-read',
    '#explore-text',
    '.zoom-map attention-map',
    '#explore-legend .legend',
    '#explore-grid',
    '#explore-effects',
    '#explore-telling',
    '#explore-pins',
    '#explore-next .next-tokens',
  ]) {
    const [{ top, bottom, width }] = await boxes(page, selector);
    assert.ok(width > 0 && top > 0 && bottom <= SCREEN, `${selector}: ${top} to ${bottom}`);
  }
  assert.match(await textOf(page, '#explore-sign'), /␣ is a space/);
  const sentences = await boxes(page, '#explore-read li');
  assert.deepEqual(
    sentences.map(({ text }) => /A (head|row|bright cell)/.exec(text ?? '')?.[1]),
    ['head', 'row', 'bright cell'],
  );
  // Every row and every column has its word.
  for (const side of ['rows', 'columns']) {
    const labels = await boxes(page, `.zoom-map attention-map >>> .labels.${side} span`);
    assert.deepEqual(labels.map(({ text }) => text).sort(), [...names].sort(), side);
  }
  assert.ok(names.length >= 15 && names.length <= 25);
  // The head that is shown is no diagonal.
  const isDiagonal = names.map((_, query) => {
    const row = rowOf(query);
    return row[query] + (row[query - 1] ?? 0) > 0.5;
  });
  assert.ok(isDiagonal.filter(Boolean).length < names.length / 2);
});

roomTest('the value stands beside the pointer, within the map', '', async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  const [map] = await boxes(page, '.zoom-map attention-map >>> .map-field');
  const n = names.length;
  const [tip] = await boxes(page, TIP);
  assert.equal(tip.text, '');
  for (const [query, key] of [
    [firstPin, 6],
    [n - 1, 0],
    [n - 1, n - 2],
    [1, 1],
  ]) {
    const x = map.left + ((key + 0.5) * map.width) / n;
    const y = map.top + ((query + 0.5) * map.height) / n;
    await page.mouse.move(x, y);
    const words = written(rowOf(query)[key]).replace('.', '\\.');
    await says(page, TIP, new RegExp(`\\(${query + 1}\\) → .*\\(${key + 1}\\): ${words}$`));
    const [found] = await boxes(page, TIP);
    const far = Math.max(found.top - y, y - found.bottom, found.left - x, x - found.right);
    assert.ok(far < 30, `${far} pixels from the pointer`);
    assert.ok(found.left >= map.left - 1 && found.right <= map.right + 1);
    assert.ok(found.bottom <= SCREEN);
  }
});

roomTest('the map stays where it is when its head is kept, or muted', '', async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  const map = async () => (await boxes(page, '.zoom-map attention-map'))[0];
  const { left, top } = await map();
  const stays = async (/** @type {string} */ when) => {
    const now = await map();
    assert.deepEqual([now.left, now.top], [left, top], when);
  };
  await page.click('#explore-compare');
  await says(page, '#explore-compare-note', /choose another head/);
  await stays('kept');
  await page.click('#explore-compare');
  await page.click('#explore-mute');
  await says(page, '.map-title', /, muted$/);
  await stays('muted');
  // The buttons stand beside the title, not on it.
  const [title] = await boxes(page, '.map-title span');
  const [button] = await boxes(page, '#explore-mute');
  assert.ok(title.right <= button.left, `${title.right}, ${button.left}`);
});

roomTest('the name of the head stands before what is done to it', '', async (page) => {
  const isFirst = await page.evaluate(() => {
    const [title, tools] = ['.map-title', '.head-tools'].map((one) => document.querySelector(one));
    return title && tools && title.compareDocumentPosition(tools) === 4;
  });
  assert.ok(isFirst);
  for (const width of widths) {
    await page.setViewport({ width, height: 900 });
    const [title] = await boxes(page, '.map-title');
    const [button] = await boxes(page, '#explore-mute');
    const isBefore = title.right <= button.left || title.bottom <= button.top;
    assert.ok(isBefore, `${width}: ${JSON.stringify([title, button])}`);
  }
});

roomTest('the panel of More stays within the column of its map', '', async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  await page.click('#explore-more > summary');
  const [panel] = await boxes(page, '#explore-more .menu-panel');
  const [column] = await boxes(page, '.explore-center');
  assert.ok(panel.left >= column.left && panel.right <= column.right + 1);
});

roomTest('the panels of all menus lie within the window, in whichever width', '', async (page) => {
  for (const width of [...widths, 706, 820, 896, 944, 1024]) {
    await page.setViewport({ width, height: 1024 });
    const panels = await page.$$eval('details.menu', (menus) =>
      menus.map((menu) => {
        menu.setAttribute('open', '');
        const box = menu.querySelector('.menu-panel')?.getBoundingClientRect();
        menu.removeAttribute('open');
        return { id: menu.id, left: box?.left ?? NaN, right: box?.right ?? NaN };
      }),
    );
    assert.equal(panels.length, 3);
    const outside = panels.filter(({ left, right }) => !(left >= 0 && right <= width));
    assert.deepEqual(outside, [], `${width}`);
  }
});

roomTest('the lines from token to token show the whole sample', '', async (page) => {
  const [room] = await boxes(page, '#explore-lines .lines');
  for (const side of ['from', 'to']) {
    const tokens = await boxes(page, `#explore-lines .lines-side.${side} > div`);
    assert.equal(tokens.length, names.length);
    assert.ok(tokens[0].top >= room.top, side);
    assert.ok(tokens[tokens.length - 1].bottom <= room.bottom, side);
  }
});

const share = (/** @type {string} */ words) =>
  /\d+(?:\.\d)? %/g[Symbol.match](words)?.map(Number.parseFloat) ?? [];

roomTest('a tour shows how heads work together, step by step', '', async (page) => {
  assert.match(await textOf(page, '#explore-tour-offer'), /New here\?.*Take the tour/);
  await page.click('#explore-tour');
  const card = '#explore-tour-card';
  const { steps } = TOURS.induction;
  for (const [i, { set }] of steps.entries()) {
    await addressHas(page, `tour=induction.${i + 1}`);
    await says(page, card, new RegExp(`${i + 1} of ${steps.length}`));
    await says(page, '.map-title', new RegExp(`^Head L${set.layer}H${set.head}(, muted)?$`));
    if (i + 1 < steps.length) await page.click('#explore-tour-next');
  }
  await says(page, card, /% becomes .*%/);
  const [before, after] = share(await textOf(page, card));
  assert.ok(before > 99 && after < 10, `${before} becomes ${after}`);
  const muted = await page.$$eval('#explore-grid .muted', (all) => all.length);
  assert.equal(muted, steps[2].set.muted?.length);

  // Its address leads there, and a step back is one.
  await page.reload();
  await scored(page);
  await says(page, card, /3 of 3.*% becomes/);
  await page.evaluate(() => (location.hash = '#explore?tour=induction.1'));
  await says(page, card, /1 of 3/);
  const { layer, head } = steps[0].set;
  await says(page, '.map-title', new RegExp(`^Head L${layer}H${head}$`));
  if (engine.hasCdp) assert.deepEqual(await violations(page), []);

  // The first button ends it; what it showed stays, and it is not offered again.
  await page.click(`${card} button`);
  await page.waitForFunction(() => !location.hash.includes('tour'));
  assert.match(await address(page), /model=induction/);
  await page.reload();
  await scored(page);
  assert.equal((await page.$$('#explore-tour-offer')).length, 0);
  assert.equal(await textOf(page, '#explore-tour'), 'Take the tour');
  await says(page, '#explore-read', /A head/);
});

roomTest('a tour says no result of what was read before it', '?model=austen', async (page) => {
  await scored(page);
  await page.evaluate(() => {
    const said = new Set();
    const tell = () => {
      const words = document.querySelector('#explore-tour-card .tour-result')?.textContent;
      if (words) said.add(words.trim());
    };
    new MutationObserver(tell).observe(document.body, { subtree: true, childList: true });
    Object.assign(globalThis, { said });
  });
  const card = '#explore-tour-card';
  await page.click('#explore-tour');
  await says(page, card, /1 of 3.* %/);
  await page.click('#explore-tour-next');
  await says(page, card, /2 of 3.* %/);
  await page.click('#explore-tour-next');
  await says(page, card, /3 of 3.* becomes /);
  const said = await page.evaluate(() => [.../** @type {any} */ (globalThis).said]);
  assert.equal(said.length, 2, said.join('\n'));
});

for (const scheme of schemes) {
  roomTest(`axe finds nothing to complain about in what opens (${scheme})`, '', async (page) => {
    await useScheme(page, scheme);
    for (const id of ['explore-files', 'explore-more', 'explore-continue-how']) {
      await page.click(`#${id} > summary`);
      await page.waitForSelector(`#${id}[open]`);
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press('Escape');
      await page.waitForSelector(`#${id}:not([open])`);
    }
    await page.click('#explore-effects');
    await page.waitForSelector('#explore-grid[data-measure=effect] b');
    await page.select('#explore-tint', 'loss');
    await page.click('.other-token summary');
    assert.deepEqual(await violations(page), []);
  });
}

roomTest('the sample’s head, text and pin are what the address means', '', async (page) => {
  assert.match(await address(page), /^#explore$/);
  assert.equal(await textOf(page, '.map-title'), `Head L${first.layer}H${first.head}`);
  assert.equal((await page.$$('#explore-text [aria-selected=true]')).length, 1);
  assert.equal((await page.$$(`${ROOM} h1`)).length, 1);
  assert.equal(run.source.n, names.length);
});
