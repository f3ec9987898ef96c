// The Explore room: maps before and after muting, lists of two maps, lines of several heads, pins, and texts that are kept.
import assert from 'node:assert/strict';
import { runModel } from '../../web/page/explore/worker/model.js';
import { MODELS } from '../../web/page/explore/models.js';
import { shortName } from '../../web/page/shared/head-names.js';
import {
  address,
  addressHas,
  openMenu,
  reread,
  roomTest,
  says,
  scored,
  write,
} from './explore-room.js';
import { first, firstPin, model, MOST, rowOf, run, written } from './explore-run.js';
import { textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const MUTED = { layer: 0, head: 2 };
const FIRST = shortName(first);
/** The head on the left of it. */
const LEFT = { layer: first.layer, head: first.head - 1 };

/** A list of two maps. @param {Page} page */
const listed = (page) =>
  page.$$eval('.pin-card tbody tr', (rows) =>
    rows.map((row) => [
      Number(row.querySelector('.at')?.textContent),
      ...[...row.querySelectorAll('td')].slice(1).map((cell) => cell.textContent),
    ]),
  );

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b @returns {unknown[][]} the list of both */
const listOf = (a, b) =>
  Array.from(a, (_, i) => i)
    .filter((i) => Math.max(a[i], b[i]) > 0)
    .sort((i, j) => Math.max(a[j], b[j]) - Math.max(a[i], b[i]) || i - j)
    .slice(0, MOST)
    .map((i) => [i + 1, written(a[i]), written(b[i])]);

roomTest('a head is compared with itself before others were muted', '?mute=L0H2', async (page) => {
  await page.click('#explore-before');
  await addressHas(page, 'with=before');
  await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 3);
  const titles = await page.$$eval('.map-title', (all) => all.map((one) => one.textContent));
  assert.deepEqual(titles, [
    `Head ${FIRST}, after muting`,
    `Head ${FIRST}, before muting`,
    'Difference, after − before',
  ]);
  const without = runModel(model, run.ids, [MUTED]);
  const after = without.source.rows(first.layer, first.head, firstPin, firstPin + 1);
  await says(page, '.pin-card thead', /after.*before/);
  assert.deepEqual(await listed(page), listOf(after, rowOf(firstPin)));
  without.dispose();
  assert.equal(await textOf(page, '#explore-map-note'), '');
  // The muted head itself: nothing below it has changed.
  await page.evaluate(() => (location.hash += '&head=L0H2'));
  await says(page, '#explore-map-note', /^Muting changes only what later layers read, so this map/);
  // Nothing is muted any more, and nothing compared.
  await page.click('#explore-unmute');
  await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 1);
  assert.doesNotMatch(await address(page), /mute|with/);
});

roomTest(
  'a card of two heads ends with what is left of each',
  `?with=${shortName(LEFT)}`,
  async (page) => {
    await says(page, '.pin-card thead', new RegExp(`${FIRST}.*${shortName(LEFT)}`));
    const rows = [rowOf(firstPin), rowOf(firstPin, LEFT)];
    const listedKeys = (await listed(page)).map(([place]) => Number(place) - 1);
    const rest = [...rows[0].keys()].filter(
      (key) => !listedKeys.includes(key) && rows.some((row) => row[key] > 0),
    );
    const [, count, ...sums] =
      /^(\d+) more together: ([\d.]+) \(L1H1\), ([\d.]+) \(L1H0\)$/.exec(
        await textOf(page, '.pin-card .note'),
      ) ?? [];
    assert.equal(Number(count), rest.length);
    rows.forEach((row, i) => {
      const sum = rest.reduce((all, key) => all + row[key], 0);
      assert.ok(Math.abs(Number(sums[i]) - sum) < 1e-4, `${sums[i]}, expected ${sum}`);
    });
    await page.click('#explore-compare');
    await says(page, '.pin-card .note', /^\d+ more: \S+ together$/);
  },
);

roomTest('heads are compared by keys, and none with itself', `?with=${FIRST}`, async (page) => {
  assert.equal((await page.$$('.zoom-map')).length, 1, 'the same head');
  assert.match(
    await textOf(page, '#explore-compare-note'),
    new RegExp(`${FIRST} is kept: choose another head`),
  );
  const names = await page.$$eval('#explore-other option', (all) => all.map(({ value }) => value));
  assert.ok(!names.includes(FIRST) && names.includes(shortName(LEFT)));
  await page.focus('#explore-grid [tabindex="0"]');
  await page.keyboard.press('ArrowLeft');
  await says(
    page,
    '.zoom-map:nth-child(3) h3',
    new RegExp(`^Difference, ${shortName(LEFT)} − ${FIRST}$`),
  );
  await says(page, '.pin-card thead', new RegExp(`${shortName(LEFT)}.*${FIRST}`));
  const row = rowOf(firstPin, LEFT);
  assert.deepEqual(await listed(page), listOf(row, rowOf(firstPin)));
  await page.keyboard.press('c');
  await page.waitForFunction(() => !location.hash.includes('with'));
  await page.keyboard.press('c');
  await addressHas(page, `with=${shortName(LEFT)}`);
});

roomTest('lines of several heads are drawn over each other, in their colours', '', async (page) => {
  const other = MODELS.austen.telling[1];
  await page.click('#explore-overlay-add');
  await page.click(`#explore-grid [title="Layer ${other.layer}, head ${other.head}"]`);
  await addressHas(page, `lines=${FIRST}`);
  const strokes = () =>
    page.$$eval('#explore-lines path', (all) =>
      all.map((path) => getComputedStyle(path).stroke).sort(),
    );
  await page.waitForFunction(
    () =>
      new Set(
        [...document.querySelectorAll('#explore-lines path')].map(
          (path) => getComputedStyle(path).stroke,
        ),
      ).size === 2,
  );
  // Each colour has a line for each token of nine tenths of its head's row.
  assert.ok((await strokes()).length >= 2);
  const words = await textOf(page, '#explore-overlay');
  assert.match(words, new RegExp(`Head ${shortName(other)}.*${FIRST}`));
  await page.click(`#explore-overlay [aria-label="Hide the lines of ${FIRST}"]`);
  await page.waitForFunction(() => !location.hash.includes('lines'));
});

roomTest('a pin has one colour in text, map, lists and lines', '?pins=q19_q13_k7', async (page) => {
  const colours = await page.evaluate(() => {
    const of = (/** @type {Element | null | undefined} */ one, /** @type {string} */ what) =>
      one ? getComputedStyle(one).getPropertyValue(what) : '';
    const map = document.querySelector('.zoom-map attention-map')?.shadowRoot;
    const probe = document.createElement('span');
    document.body.append(probe);
    return [0, 1, 2].map((i) => {
      probe.style.color = `var(--pin-${i})`;
      const row = map?.querySelectorAll('.row-pin')[i];
      const card = document.querySelectorAll('.pin-card')[i];
      return [
        of(probe, 'color'),
        of(document.querySelector(`#explore-text [data-at="${[18, 12, 6][i]}"]`), 'outline-color'),
        /rgb\([^)]*\)(?= 0px 0px 0px 3\.5px)/.exec(of(row, 'box-shadow'))?.[0],
        /rgb\([^)]*\)/.exec(of(card?.querySelector('h3 .token'), 'box-shadow'))?.[0],
      ];
    });
  });
  for (const [expected, ...found] of colours) {
    assert.deepEqual(
      found,
      found.map(() => expected),
    );
  }
  const labels = await page.$$eval(
    '.zoom-map attention-map >>> .labels .strong',
    (all) => all.length,
  );
  assert.equal(labels, 3);
  await page.click('#explore-unpin');
  await addressHas(page, 'pins=');
  assert.equal((await page.$$('.zoom-map attention-map >>> .row-pin')).length, 0);
});

roomTest('arrows go from line to line of the text', '?pins=', async (page) => {
  await page.select('#explore-texts', '0');
  await says(page, '#explore-text', /^Mr/);
  await page.focus('#explore-text [tabindex="0"]');
  const at = () => page.evaluate(() => Number(document.activeElement?.getAttribute('data-at')));
  await page.keyboard.press('ArrowDown');
  const below = await at();
  assert.ok(below > 5, `${below}`);
  await page.keyboard.press('ArrowUp');
  assert.equal(await at(), 0);
});

roomTest('a text too long for the address survives a reload', '', async (page) => {
  const text = MODELS.austen.texts[0][1].repeat(18);
  assert.ok(text.length > 4000);
  await page.click('#explore-edit');
  await reread(page, () => write(page, text));
  const tokens = (await page.$$('#explore-text [data-at]')).length;
  assert.ok(tokens > 1000);
  assert.match(await address(page), /kept=/);
  // The text scrolls to its token.
  await page.evaluate((token) => (location.hash += `&pins=q${token}`), tokens - 2);
  await page.waitForFunction(
    (token) => {
      const room = document.querySelector('#explore-text')?.getBoundingClientRect();
      const box = document.querySelector(`[data-at="${token}"]`)?.getBoundingClientRect();
      return room && box && box.top >= room.top && box.bottom <= room.bottom;
    },
    {},
    tokens - 3,
  );
  await page.reload();
  await scored(page);
  assert.equal((await page.$$('#explore-text [data-at]')).length, tokens);
  assert.match(await address(page), new RegExp(`pins=q${tokens - 2}`));
  // A note about another text goes with it.
  await page.click('#explore-edit');
  await says(page, '#explore-room-left', /tokens; too long/);
  await write(page, '');
  await says(page, '#explore-message', /no text yet/);
  assert.equal(await textOf(page, '#explore-room-left'), '');
  await page.evaluate(() => (location.hash = '#explore?kept=1-1'));
  await says(
    page,
    '#explore-kept',
    /not stored in this browser\. The sample text is shown instead/,
  );
  await openMenu(page, 'explore-files');
  await page.waitForSelector('#explore-link');
});
