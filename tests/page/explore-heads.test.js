// The Explore room: heads that are chosen, compared, muted and coloured, against the same run in Node.
import assert from 'node:assert/strict';
import { MODELS } from '../../web/page/explore/models.js';
import { runModel } from '../../web/page/explore/worker/model.js';
import { longName, shortName } from '../../web/page/shared/head-names.js';
import { engine } from '../browsers/engines.js';
import {
  FIELD,
  TIP,
  address,
  addressHas,
  openMenu,
  reread,
  roomTest,
  says,
  scored,
  write,
} from './explore-room.js';
import {
  card,
  cardOf,
  first,
  firstPin,
  model,
  MOST,
  names,
  rowOf,
  run,
  written,
} from './explore-run.js';
import { contentWidth, textOf } from './harness.js';

roomTest(
  'brackets turn to another head where the large map has the focus too',
  '',
  async (page) => {
    await page.focus(FIELD);
    await page.keyboard.press(']');
    await says(page, '.map-title', /^Head L1H2$/);
    await page.keyboard.press('[');
    await says(page, '.map-title', /^Head L1H1$/);
  },
);

roomTest('a model that is open is told once, not again for each text', '', async (page) => {
  await says(page, '#explore-told', /^Austen: prose is open: 4 layers × 8 heads\.$/);
  await page.$eval('#explore-told', (told) => {
    const said = /** @type {unknown[]} */ ([]);
    Object.assign(globalThis, { said });
    new MutationObserver(() => said.push(told.textContent)).observe(told, {
      ...{ childList: true, characterData: true, subtree: true },
    });
  });
  await reread(page, () => write(page, 'It was not.'));
  await reread(page, () => page.select('#explore-model', 'induction'));
  await says(page, '#explore-told', /^Induction/);
  const words = 'Induction: letters that repeat is open: 2 layers × 8 heads.';
  assert.deepEqual(await page.evaluate('said'), [words]);
});

for (const [what, query] of [
  ['cannot be opened', '?model=none'],
  ['cannot read the text', '?model=names&text='],
]) {
  roomTest(`a model that ${what} is not told to be open`, '', async (page) => {
    await page.evaluate(
      (/** @type {string} */ to) => void (location.hash = `#explore${to}`),
      query,
    );
    await says(page, '#explore-message', /There is no/);
    assert.match(await textOf(page, '#explore-told'), /^Austen/);
  });
}

// Only Chromium can be asked for what is read.
if (engine.hasCdp) {
  roomTest('a card’s heading is read in whole words', '', async (page) => {
    const heading = '[name="␣able19 attends to"][role="heading"]';
    assert.ok(await page.waitForSelector(`::-p-aria(${heading})`));
  });
}

roomTest('heads are chosen by click and keys, and sorted by a score', '', async (page) => {
  const { layers, heads } = run.source;
  await page.click(`#explore-grid button:nth-child(${heads + 2})`);
  await says(page, '.map-title', /^Head L1H1$/);
  assert.deepEqual(await card(page), cardOf(rowOf(firstPin, { layer: 1, head: 1 }), MOST));
  await page.keyboard.press(']');
  await says(page, '.map-title', /^Head L1H2$/);
  await page.keyboard.press('{');
  await says(page, '.map-title', /^Head L0H2$/);
  await page.keyboard.press('ArrowDown');
  await says(page, '.map-title', /^Head L1H2$/);
  await page.keyboard.down('Control');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.up('Control');
  assert.equal(await textOf(page, '.map-title'), 'Head L1H2', 'the browser has its own keys');
  for (const sort of ['entropy', 'first', 'previous', 'induction', 'distance']) {
    await page.select('#explore-by', sort);
    if (sort === 'entropy') await page.click('#explore-sort');
    await page.waitForFunction(
      (/** @type {string} */ by) =>
        /** @type {HTMLElement} */ (document.querySelector('#explore-grid')).dataset.sort === by,
      {},
      sort,
    );
    const scores = await page.$$eval('#explore-grid b', (found) =>
      found.map((score) => Number(score.textContent)),
    );
    assert.equal(scores.length, layers * heads);
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    );
    const hidden = await page.$eval(
      '#explore-grid',
      ({ scrollHeight, clientHeight }) => scrollHeight - clientHeight,
    );
    assert.equal(hidden, 0, 'every head is seen without scrolling');
  }
  assert.match(await textOf(page, '#explore-scores'), /Entropy.*bits.*Induction.*Distance.*tokens/);
  assert.match(await address(page), /sort=distance/);
});

roomTest(
  'two heads stand side by side with their difference',
  '?head=L0H1&with=L1H0&scale=unit',
  async (page) => {
    const titles = () => page.$$eval('.map-title', (found) => found.map((h3) => h3.textContent));
    assert.deepEqual(await titles(), ['Head L0H1', 'Head L1H0', 'Difference, L0H1 − L1H0']);
    // A cell by the keyboard: its weight in all three.
    await page.focus(FIELD);
    await page.keyboard.press('Home');
    await says(page, TIP, /\(1\): /);
    const [, number] = /\((\d+)\) →/.exec(await textOf(page, TIP)) ?? [];
    const query = Number(number) - 1;
    const a = rowOf(query, { layer: 0, head: 1 })[0];
    const b = rowOf(query, { layer: 1, head: 0 })[0];
    const tips = await page.$$eval(TIP, (found) =>
      found.map((tip) => tip.textContent?.split(': ')[1]),
    );
    const difference = Math.fround(a) - Math.fround(b);
    const sign = difference < 0 ? '−' : difference > 0 ? '+' : '';
    assert.deepEqual(tips, [
      written(a),
      written(b),
      sign + written(Math.abs(Math.fround(difference))),
    ]);
    const ends = () =>
      page.$$eval('.legend:last-child .legend-scale > *', (found) =>
        found.map((end) => end.textContent?.replace('−', '-')),
      );
    assert.match(await textOf(page, '#explore-legend'), /difference/);
    assert.deepEqual((await ends()).slice(-3), ['-1: more in L1H0', '0', '+1: more in L0H1']);
    await page.select('#explore-scale', 'head');
    await page.waitForFunction(() =>
      document.querySelector('#explore-legend')?.textContent?.includes('largest: more in L1H0'),
    );
    assert.deepEqual((await ends()).slice(-3), [
      '-largest: more in L1H0',
      '0',
      '+largest: more in L0H1',
    ]);
    await page.select('#explore-other', '');
    await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 1);
    // Shift and a click in the grid compare too.
    await page.keyboard.down('Shift');
    await page.click('#explore-grid button:nth-child(4)');
    await page.keyboard.up('Shift');
    await addressHas(page, 'with=L0H3');
  },
);

/** The longer text. */
const LONG = MODELS.austen.texts[0][1];

/** @param {number[]} ids @param {number[][]} [headMask] probabilities of the next token */
function probabilities(ids, headMask) {
  const { logits } = model.decoder.forward(ids, { headMask });
  const powers = Array.from(logits?.data ?? [], (logit) => Math.exp(logit));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

roomTest('muting a head changes what the model says next, as much as in Node', '', async (page) => {
  const { layers, heads } = run.source;
  const unmuted = await page.$$eval('.next-tokens tbody tr', (rows) => rows.length);
  assert.equal(unmuted, 10);
  await reread(page, () => page.keyboard.press('m'));
  assert.ok((await address(page)).endsWith(`mute=${shortName(first)}`));
  const headMask = Array.from({ length: layers }, () => Array(heads).fill(1));
  headMask[first.layer][first.head] = 0;
  const read = run.ids.slice(0, firstPin + 1);
  const heard = probabilities(read);
  const without = probabilities(read, headMask);
  const shown = await page.$$eval('.next-tokens tbody tr', (rows) =>
    rows.map((row) => [
      row.querySelector('.token')?.textContent,
      ...[...row.children].slice(1).map((cell) => cell.textContent),
    ]),
  );
  const ids = heard.map((_, id) => id);
  ids.sort((a, b) => Math.max(heard[b], without[b]) - Math.max(heard[a], without[a]));
  const expected = ids.slice(0, 10).sort((a, b) => without[b] - without[a]);
  assert.deepEqual(
    shown.map(([token]) => token),
    expected.map((id) => model.text.token(id).text),
  );
  const [, , probability, change] = shown[0];
  const share = 100 * without[expected[0]];
  assert.ok(
    Math.abs(Number.parseFloat(String(probability)) - share) < 0.06,
    `${probability}, ${share}`,
  );
  const points = share - 100 * heard[expected[0]];
  assert.ok(
    Math.abs(Number(change?.replace('−', '-').replace('±', '')) - points) < 0.11,
    `${change}, ${points}`,
  );
  // Its words say what it does next: pressed as well, it would say the opposite.
  assert.equal(await textOf(page, '#explore-mute:not([aria-pressed])'), 'Unmute');
  assert.equal((await page.$$('#explore-grid .muted')).length, 1);
  assert.match(await textOf(page, '.map-title'), /muted$/);
  await reread(page, () => page.click('#explore-mute'));
  assert.doesNotMatch(await address(page), /mute/);
});

/** Only Chromium can be told that it is a phone. */
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };

if (engine.hasCdp) {
  roomTest(
    'on a phone two heads fit side by side, and their difference below',
    '',
    async (page) => {
      await page.setViewport(phone);
      await scored(page);
      await page.select('#explore-other', 'L1H0');
      await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 3);
      const [one, two, difference] = await page.$$eval(FIELD, (fields) =>
        fields.map((field) => {
          const { left, right, top, bottom, width } = field.getBoundingClientRect();
          return { left, right, top, bottom, width };
        }),
      );
      assert.equal(one.top, two.top);
      assert.ok(one.right <= two.left && two.right <= phone.width);
      assert.ok(one.width > 150, `${one.width}`);
      assert.ok(difference.top > one.bottom && difference.width > 1.5 * one.width);
      assert.ok(difference.bottom - one.top < phone.height, 'all are seen at once');
      assert.ok((await contentWidth(page)) <= phone.width);
    },
  );
}

roomTest(
  'the induction model continues what repeats, and no more without its induction heads',
  `?model=induction&sort=induction&pins=q28&text=${MODELS.induction.texts[0][1]}`,
  async (page) => {
    const likeliest = () =>
      page.$eval('.next-tokens tbody tr', (row) => [
        row.querySelector('.token')?.textContent,
        Number.parseFloat(row.querySelectorAll('td')[1]?.textContent ?? ''),
      ]);
    assert.match(await textOf(page, '#explore-text'), /^kT7.*kT7.*kT7$/);
    const [token, share] = await likeliest();
    assert.equal(token, '7', 'after T');
    assert.ok(Number(share) > 90, `${share} %`);
    const heads = await page.$$eval('#explore-grid button', (buttons) =>
      buttons.map((button) => /L\dH\d/.exec(button.textContent ?? '')?.[0]),
    );
    const scores = await page.$$eval('#explore-grid b', (found) =>
      found.map((score) => Number(score.textContent)),
    );
    const induction = heads.filter((_, i) => scores[i] > 0.4);
    assert.ok(induction.length > 1 && induction.every((name) => name?.startsWith('L1H')));
    await reread(page, () =>
      page.evaluate((muted) => (location.hash += `&mute=${muted}`), induction.join('_')),
    );
    const shown = await page.$$eval('.next-tokens tbody tr', (rows) =>
      rows.map((row) => [
        row.querySelector('.token')?.textContent,
        row.lastElementChild?.textContent,
      ]),
    );
    const [, change] = shown.find(([name]) => name === '7') ?? [];
    assert.ok(Number(change?.replace('−', '-')) < -50, `${change} points`);
  },
);

roomTest('scale, first token and several heads together are named and drawn', '', async (page) => {
  await page.select('#explore-scale', 'log');
  await says(page, '#explore-legend', /logarithmic10⁻⁴ or less/);
  await page.select('#explore-scale', 'row');
  await says(page, '#explore-legend', /as a share of its row’s largest/);
  await openMenu(page, 'explore-more');
  await page.click('#explore-first');
  await says(page, '#explore-legend', /without the first token, the rest sums to 1/);
  const row = rowOf(firstPin);
  const rest = row.slice(1).reduce((sum, weight) => sum + weight, 0);
  const hidden = row.map((weight, key) => (key === 0 ? 0 : weight / rest));
  const number = (/** @type {unknown} */ text) => Number(String(text).replace('−', '-'));
  const close = (/** @type {unknown[][]} */ found, /** @type {unknown[][]} */ expected) =>
    found.forEach(([token, , weight], i) => {
      assert.equal(token, expected[i][0]);
      assert.ok(Math.abs(number(weight) - number(expected[i][2])) < 2e-4, `${weight}`);
    });
  close((await card(page)).slice(0, 3), cardOf(hidden, 3));
  await page.click('#explore-first');
  const { layer } = first;
  for (const [map, title, note] of [
    ['mean layer', `Mean of layer ${layer}’s heads`, /mean of the heads/],
    ['max all', 'Largest of all layers’ heads', /do not sum to 1/],
    ['rollout', `Rollout up to layer ${layer}`, /Abnar & Zuidema 2020/],
  ]) {
    await page.select('#explore-map', String(map));
    await says(page, '.map-title', new RegExp(`^${title}$`));
    await says(page, '#explore-map-note', /** @type {RegExp} */ (note));
  }
  await addressHas(page, 'of=rollout');
});

roomTest(
  'what is seen is explained where it is seen, by pointer and by keys',
  '?head=L0H0',
  async (page) => {
    const seen = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => /** @type {HTMLElement} */ (element).innerText);
    assert.doesNotMatch(await seen('#explore-heads'), /sum to 1/);
    await page.click('#explore-how summary');
    assert.match(
      await seen('#explore-how'),
      /row is a query.*column is a key.*sum to 1.*Each head has one such map/s,
    );
    await page.focus('#explore-scores summary');
    await page.keyboard.press('Enter');
    assert.match(
      await seen('#explore-scores'),
      /Entropy\nhow spread a row is.*earlier occurrence.*queries whose token has occurred before/s,
    );
    // The first query can only attend to itself.
    assert.match(
      await textOf(page, '#explore-scores caption'),
      /, mean over this text’s queries from the second on$/,
    );
    await page.keyboard.press(']');
    await says(page, '#explore-scores caption', /H1/);
    assert.match(await seen('#explore-scores'), /how spread a row is/, 'stays open');
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
    await reread(page, () => page.keyboard.press('m'));
    await says(page, '#explore-scores caption', /H1/);
    assert.match(await seen('#explore-scores'), /how spread a row is/, 'stays open when muted');
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
  },
);

roomTest(
  'the legend says the largest weight in view, and offers more colours where it is small',
  `?head=L2H3&view=51_21_20&scale=unit&text=${encodeURIComponent(LONG)}`,
  async (page) => {
    const seen = '#explore-legend .legend-seen';
    const long = runModel(model, model.text.encode(LONG), []);
    const largestOf = (/** @type {number[]} */ [start, end], /** @type {number[]} */ keys) => {
      const cells = Array.from({ length: end - start }, (_, i) =>
        long.source.rows(2, 3, start + i, start + i + 1).slice(...keys),
      );
      return Math.max(...cells.map((row) => Math.max(...row)));
    };
    const part = largestOf([50, 70], [20, 40]);
    assert.ok(part < 0.25, `${part}`);
    await says(page, seen, new RegExp(`Largest weight in view: ${written(part)}`));
    const offer = `${seen} button`;
    assert.equal(await textOf(page, offer), 'Use the full range of colours: logarithmic');
    await page.focus(offer);
    await page.keyboard.press('Enter');
    await addressHas(page, 'scale=log');
    await page.waitForSelector(`${offer}[hidden]`);
    assert.equal(
      await page.evaluate(() => document.activeElement?.parentElement?.id),
      'explore-more',
    );
    await page.select('#explore-scale', 'unit');
    await page.waitForSelector(`${offer}:not([hidden])`);
    await page.click('#explore-whole');
    await says(page, seen, /Largest weight in view: 1\.0000/);
    await page.waitForSelector(`${offer}[hidden]`);
    long.dispose();
  },
);

roomTest(
  'heads worth a look are what they are said to be, and are shown at once',
  '',
  async (page) => {
    /** What the queries of each look at: some words, from the first of them on, or a token so many places before. */
    const words = /** @type {Record<string, RegExp | number>} */ ({
      'forms of “be”': /^␣(be|being|been|is|was|were)$/,
      'the token before': 1,
      commas: /^,$/,
      'the token itself': 0,
    });
    const list = '#explore-telling li';
    const told = await page.$$eval(list, (items) =>
      items.map((item) => item.lastElementChild?.textContent),
    );
    assert.deepEqual(told, Object.keys(words));
    const tooNarrow = await page.$$eval(
      `${list} button`,
      (buttons) => buttons.filter((button) => button.scrollWidth > button.clientWidth).length,
    );
    assert.equal(tooNarrow, 0, 'names fit');
    for (const [i, { layer, head, seen }] of MODELS.austen.telling.entries()) {
      const what = words[seen];
      const begin = typeof what === 'number' ? 1 : names.findIndex((name) => what.test(name));
      const shares = names.slice(begin).map((_, at) => {
        const query = begin + at;
        return rowOf(query, { layer, head }).reduce(
          (sum, weight, key) =>
            (typeof what === 'number' ? key === query - what : what.test(names[key]))
              ? sum + weight
              : sum,
          0,
        );
      });
      const mean = shares.reduce((a, b) => a + b) / shares.length;
      assert.ok(mean > 0.9, `${seen}: ${mean}`);
      await page.click(`${list}:nth-child(${i + 1}) button`);
      await says(page, '.map-title', new RegExp(`^${longName({ layer, head })}$`));
      await page.waitForSelector(`${list}:nth-child(${i + 1}) [aria-pressed=true]`);
    }
    await page.select('#explore-model', 'induction');
    await says(page, list, /what came next the last time/);
  },
);
