// The Explore room: a model's run in the page against the same run in Node, and every interaction.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { load } from 'headwise';
import { longName, shortName } from '../../web/page/explore/address.js';
import { engine } from '../browsers/engines.js';
import { MODELS } from '../../web/page/explore/models.js';
import { openModel, runModel } from '../../web/page/explore/worker/model.js';
import { ROOM, reread, roomTest, says, scored } from './explore-room.js';
import { contentWidth, schemes, textOf, useScheme, violations, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */
/** @import { HeadName } from '../../web/page/explore/address.js' */

const FOLDER = new URL('../../web/page/models/austen/', import.meta.url);

/** @type {Awaited<ReturnType<typeof openModel>>} */
let model;
/** @type {ReturnType<typeof runModel>} the sample text's run */
let run;
/** @type {string[]} labels of its tokens */
let names;

before(async () => {
  const file = async (/** @type {string} */ name) =>
    new Blob([await readFile(new URL(name, FOLDER))]);
  const files = {
    config: await file('config.json'),
    weights: await file('model.safetensors'),
    tokenizer: await file('tokenizer.json'),
  };
  model = await openModel(await load(), files);
  run = runModel(model, model.text.encode(MODELS.austen.sample), []);
  names = run.tokens.map(({ text }) => text);
});

after(() => run.dispose());

/** @param {Page} page */
const address = (page) => page.evaluate(() => location.hash);

/** @param {Page} page @param {string} part until the address has it */
const addressHas = (page, part) =>
  page.waitForFunction((/** @type {string} */ text) => location.hash.includes(text), {}, part);

/** @param {number} weight as the page writes it */
const written = (weight) =>
  weight === 0
    ? '0'
    : weight >= 5e-4
      ? weight.toFixed(4)
      : weight.toExponential(1).replace('-', '−');

/** The head that is shown first. */
const { first } = MODELS.austen;

/** @param {number} query @param {HeadName} [head] */
const rowOf = (query, { layer, head } = first) => run.source.rows(layer, head, query, query + 1);

/** The rows of a card: tokens and weights. @param {Page} page @param {string} [selector] */
const card = (page, selector = '.pin-card') =>
  page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) => [
      row.querySelector('.token')?.textContent,
      row.querySelector('.at')?.textContent,
      row.querySelector('td:last-child')?.textContent,
    ]),
  );

/** @param {ArrayLike<number>} weights @param {number} most the card that they give */
function cardOf(weights, most) {
  const keys = Array.from(weights, (_, key) => key).filter((key) => weights[key] !== 0);
  keys.sort((a, b) => weights[b] - weights[a] || a - b);
  return keys.slice(0, most).map((key) => [names[key], String(key + 1), written(weights[key])]);
}

roomTest('the first view has a text, every head and what they cost', '', async (page) => {
  const { layers, heads, n } = run.source;
  assert.equal((await page.$$('#explore-grid button')).length, layers * heads);
  assert.equal((await page.$$('#explore-text [role=option]')).length, n);
  assert.match(
    await textOf(page, '#explore-cost'),
    new RegExp(
      `^${n} tokens, ${layers} × ${heads} heads: read in [\\d.]+ m?s; all maps from [\\d.]+ [KM]iB`,
    ),
  );
  assert.equal(await textOf(page, '.zoom-map h3'), longName(first));
  assert.deepEqual(await card(page), cardOf(rowOf(n - 1), 8));
  assert.match(await textOf(page, `${ROOM} .lead`), /not by itself an explanation/);
});

roomTest(
  'hovering the map reads out the weight, and marks the tokens in the text',
  '',
  async (page) => {
    const { n } = run.source;
    const field = await page.$('.zoom-field');
    await field?.scrollIntoView();
    const box = await field?.boundingBox();
    assert.ok(box);
    const [query, key] = [n - 3, 4];
    await page.mouse.move(
      box.x + ((key + 0.5) / n) * box.width,
      box.y + ((query + 0.5) / n) * box.height,
    );
    const weight = written(rowOf(query)[key]);
    const tip = `“${names[query]}” (${query + 1}) → “${names[key]}” (${key + 1}): ${weight}`;
    await page.waitForFunction(
      (/** @type {string} */ text) => document.querySelector('.zoom-tip')?.textContent === text,
      {},
      tip,
    );
    await page.waitForSelector(`#explore-text [data-at="${query}"].is-query`);
    await page.waitForSelector(`#explore-text [data-at="${key}"].is-key`);
    await says(page, '#explore-text-note', new RegExp(`\\(${query + 1}\\) attends to`));
    await page.mouse.move(5, 5);
    await says(page, '#explore-text-note', new RegExp(`\\(${n}\\) attends to`));
  },
);

roomTest(
  'pins show what a query reads and who reads a key, and are in the address',
  '',
  async (page) => {
    await page.click('#explore-text [data-at="9"]');
    await page.keyboard.down('Shift');
    await page.click('#explore-text [data-at="2"]');
    await page.keyboard.up('Shift');
    await addressHas(page, 'pins=q10_k3');
    await page.waitForFunction(() => document.querySelectorAll('.pin-card').length === 2);
    const column = Array.from({ length: run.source.n }, (_, query) => rowOf(query)[2]);
    const expected = [...cardOf(rowOf(9), 5), ...cardOf(column, 5)];
    assert.deepEqual(await card(page), expected);
    assert.match(await textOf(page, '#explore-pins'), /reads from.*is read by/);

    await page.reload();
    await scored(page);
    assert.deepEqual(await card(page), expected);

    // The first card's other side, then away with it.
    await page.click('.pin-card:nth-child(1) .pin-tools button');
    await addressHas(page, 'pins=k10_k3');
    await says(page, '.pin-card', /is read by/);
    await page.click('.pin-card:nth-child(1) .pin-tools button:nth-child(2)');
    await addressHas(page, 'pins=k3');
    await page.click(`${ROOM} h1`);
    await page.keyboard.press('x');
    await page.waitForFunction(() => !location.hash.includes('pins'));
  },
);

roomTest('heads are chosen by click and keys, and sorted by a score', '', async (page) => {
  const { layers, heads } = run.source;
  await page.click(`#explore-grid button:nth-child(${heads + 2})`);
  await says(page, '.zoom-map h3', /^Layer 2, head 2$/);
  assert.deepEqual(await card(page), cardOf(rowOf(run.source.n - 1, { layer: 1, head: 1 }), 8));
  await page.keyboard.press(']');
  await says(page, '.zoom-map h3', /^Layer 2, head 3$/);
  await page.keyboard.press('{');
  await says(page, '.zoom-map h3', /^Layer 1, head 3$/);
  await page.keyboard.press('ArrowDown');
  await says(page, '.zoom-map h3', /^Layer 2, head 3$/);
  for (const sort of ['entropy', 'first', 'previous', 'induction', 'distance']) {
    await page.select('#explore-sort', sort);
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
  '?head=1.2&with=2.1',
  async (page) => {
    const titles = () => page.$$eval('.zoom-map h3', (found) => found.map((h3) => h3.textContent));
    assert.deepEqual(await titles(), [
      'Layer 1, head 2',
      'Layer 2, head 1',
      'Difference, 1.2 − 2.1',
    ]);
    // A cell by the keyboard: its weight in all three.
    await page.focus('.zoom-map .zoom-field');
    await page.keyboard.press('Home');
    await says(page, '.zoom-tip', /\(1\): /);
    const [, number] = /\((\d+)\) →/.exec(await textOf(page, '.zoom-tip')) ?? [];
    const query = Number(number) - 1;
    const a = rowOf(query, { layer: 0, head: 1 })[0];
    const b = rowOf(query, { layer: 1, head: 0 })[0];
    const tips = await page.$$eval('.zoom-tip', (found) =>
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
    assert.deepEqual((await ends()).slice(-3), ['-1: more in 2.1', '0', '+1: more in 1.2']);
    await page.select('#explore-scale', 'head');
    await page.waitForFunction(() =>
      document.querySelector('#explore-legend')?.textContent?.includes('largest: more in 2.1'),
    );
    assert.deepEqual((await ends()).slice(-3), [
      '-largest: more in 2.1',
      '0',
      '+largest: more in 1.2',
    ]);
    await page.select('#explore-other', '');
    await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 1);
    // Shift and a click in the grid compare too.
    await page.keyboard.down('Shift');
    await page.click('#explore-grid button:nth-child(4)');
    await page.keyboard.up('Shift');
    await addressHas(page, 'with=1.4');
  },
);

/** @param {number[]} ids @param {number[][]} [headMask] probabilities of the next token */
function probabilities(ids, headMask) {
  const { logits } = model.gpt2.forward(ids, { headMask });
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
  const heard = probabilities(run.ids);
  const without = probabilities(run.ids, headMask);
  const shown = await page.$$eval('.next-tokens tbody tr', (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent)),
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
  assert.equal(
    await page.$eval('#explore-mute', (button) => button.textContent),
    'Unmute this head',
  );
  assert.equal((await page.$$('#explore-grid .muted')).length, 1);
  assert.match(await textOf(page, '.zoom-map h3'), /muted$/);
  await reread(page, () => page.click('#explore-mute'));
  assert.doesNotMatch(await address(page), /mute/);
});

/** Only Chromium can be told that it is a phone. */
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };

if (engine.hasCdp) {
  roomTest('a phone is told of no key that it does not have', '', async (page) => {
    const note = '#explore-next > .note';
    const seen = async () => {
      await page.waitForSelector(note);
      return page.$eval(note, (element) => /** @type {HTMLElement} */ (element).innerText);
    };
    assert.equal(await seen(), '“Mute this head” shows what changes (key M).');
    await page.setViewport(phone); // reads the page again
    assert.equal(await seen(), '“Mute this head” shows what changes.');
  });

  roomTest(
    'on a phone two heads fit side by side, and their difference below',
    '',
    async (page) => {
      await page.setViewport(phone);
      await scored(page);
      await page.select('#explore-other', '2.1');
      await page.waitForFunction(() => document.querySelectorAll('.zoom-map').length === 3);
      const [one, two, difference] = await page.$$eval('.zoom-field', (fields) =>
        fields.map((field) => {
          const { left, right, top, bottom, width } = field.getBoundingClientRect();
          return { left, right, top, bottom, width };
        }),
      );
      assert.equal(one.top, two.top);
      assert.ok(one.right <= two.left && two.right <= phone.width);
      assert.ok(one.width > 150, `${one.width}`);
      assert.ok(difference.top > one.bottom && difference.width > 1.7 * one.width);
      assert.ok(difference.bottom - one.top < phone.height, 'all are seen at once');
      assert.ok((await contentWidth(page)) <= phone.width);
    },
  );
}

roomTest(
  'the induction model continues what repeats, and no more without its induction heads',
  '?model=induction&sort=induction&pins=q28',
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
      buttons.map((button) => button.querySelector('span')?.lastChild?.textContent),
    );
    const scores = await page.$$eval('#explore-grid b', (found) =>
      found.map((score) => Number(score.textContent)),
    );
    const induction = heads.filter((_, i) => scores[i] > 0.4);
    assert.ok(induction.length > 1 && induction.every((name) => name?.startsWith('2.')));
    await reread(page, () =>
      page.evaluate((muted) => (location.hash += `&mute=${muted}`), induction.join('_')),
    );
    const shown = await page.$$eval('.next-tokens tbody tr', (rows) =>
      rows.map((row) => [row.querySelector('.token')?.textContent, row.lastChild?.textContent]),
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
  const { n } = run.source;
  await page.click('#explore-first');
  await says(page, '#explore-legend', /without the first token, the rest sums to 1/);
  const row = rowOf(n - 1);
  const rest = row.slice(1).reduce((sum, weight) => sum + weight, 0);
  const hidden = row.map((weight, key) => (key === 0 ? 0 : weight / rest));
  const close = (/** @type {unknown[][]} */ found, /** @type {unknown[][]} */ expected) =>
    found.forEach(([token, , weight], i) => {
      assert.equal(token, expected[i][0]);
      assert.ok(Math.abs(Number(weight) - Number(expected[i][2])) < 2e-4, `${weight}`);
    });
  close((await card(page)).slice(0, 3), cardOf(hidden, 3));
  await page.click('#explore-first');
  const layer = first.layer + 1;
  for (const [map, title, note] of [
    ['mean layer', `Mean of layer ${layer}’s heads`, /mean of the heads/],
    ['max all', 'Largest of all layers’ heads', /do not sum to 1/],
    ['rollout', `Rollout up to layer ${layer}`, /Abnar & Zuidema 2020/],
  ]) {
    await page.select('#explore-map', String(map));
    await says(page, '.zoom-map h3', new RegExp(`^${title}$`));
    await says(page, '#explore-map-note', /** @type {RegExp} */ (note));
  }
  await addressHas(page, 'of=rollout');
});

roomTest(
  'what is seen is explained where it is seen, by touch and by keys',
  '?head=1.1',
  async (page) => {
    const seen = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => /** @type {HTMLElement} */ (element).innerText);
    assert.doesNotMatch(await seen('#explore-heads'), /sum to 1/);
    await page.tap('#explore-how summary');
    assert.match(
      await seen('#explore-how'),
      /row is a query.*column is a key.*sum to 1.*is a head/s,
    );
    await page.focus('#explore-scores summary');
    await page.keyboard.press('Enter');
    assert.match(
      await seen('#explore-scores'),
      /Entropy\nhow spread a row is.*earlier occurrence/s,
    );
    await page.keyboard.press(']');
    await says(page, '#explore-scores caption', /head 2/);
    assert.match(await seen('#explore-scores'), /how spread a row is/, 'stays open');
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
  },
);

roomTest(
  'the legend says the largest weight in view, and offers more colours where it is small',
  '?head=3.4&view=51_21_20',
  async (page) => {
    const seen = '#explore-legend .legend-seen';
    const largestOf = (/** @type {number[]} */ [start, end], /** @type {number[]} */ keys) => {
      const cells = Array.from({ length: end - start }, (_, i) =>
        rowOf(start + i, { layer: 2, head: 3 }).slice(...keys),
      );
      return Math.max(...cells.map((row) => Math.max(...row)));
    };
    const part = largestOf([50, 70], [20, 40]);
    assert.ok(part < 0.25, `${part}`);
    await says(page, seen, new RegExp(`Largest weight in view: ${written(part)}`));
    const offer = `${seen} button`;
    assert.equal(await textOf(page, offer), 'Use the full colours: logarithmic');
    await page.focus(offer);
    await page.keyboard.press('Enter');
    await addressHas(page, 'scale=log');
    await page.waitForSelector(`${offer}[hidden]`);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'explore-scale');
    await page.select('#explore-scale', 'unit');
    await page.waitForSelector(`${offer}:not([hidden])`);
    await page.click('#explore-whole');
    await says(page, seen, /Largest weight in view: 1\.0000/);
    await page.waitForSelector(`${offer}[hidden]`);
  },
);

roomTest(
  'lines carry the share that is asked for, and say what is not shown',
  '?pins=q12',
  async (page) => {
    await says(page, '#explore-lines', /Its lines carry at least 90\.0 %/);
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
    await says(page, '#explore-lines', /at least 50\.0 %/);
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
  '?head=3.4',
  async (page) => {
    await repeatText(page, 10);
    const paths = () => page.$$eval('#explore-lines path', (found) => found.length);
    await page.$eval('#explore-lines .lines', (lines) => lines.scrollTo(0, lines.scrollHeight));
    await says(page, '#explore-lines', /The 2,000 strongest of [\d,]+ lines in view/);
    assert.equal(await paths(), 2000);
    await page.click('#explore-text [data-at="600"]');
    await says(page, '#explore-lines', /Its lines carry at least 90\.0 %/);
    assert.ok((await paths()) < 601);
  },
);

roomTest(
  'a rollout of a long text is said to be on its way, and another map stops it',
  '?head=4.1',
  async (page) => {
    await repeatText(page, 24);
    await page.select('#explore-map', 'rollout');
    await page.waitForSelector('#explore-maps[aria-busy]');
    await page.select('#explore-map', 'head');
    await page.waitForSelector('#explore-maps:not([aria-busy])');
    const drawn = await page.$eval('.zoom-map canvas', (canvas) => canvas.dataset.drawn ?? '');
    assert.match(drawn, /"of":"head"/);
    assert.equal(await textOf(page, '#explore-message'), '');
    await page.select('#explore-map', 'rollout');
    await says(page, '#explore-pins', /reads from/);
    await page.waitForFunction(
      () =>
        !document.querySelector('#explore-maps[aria-busy]') &&
        document.querySelector('canvas[data-drawn*=rollout]'),
      { timeout: 60_000 },
    );
  },
);

roomTest(
  'the model writes on, its tokens can be attended from, and be taken back',
  '?count=6&decoding=greedy',
  async (page) => {
    const { n } = run.source;
    await reread(page, () => page.click('#explore-continue button[type=submit]'));
    assert.match(await textOf(page, '#explore-continue'), /6 tokens, [\d.]+ per second/);
    assert.equal((await page.$$('#explore-text .written')).length, 6);
    const expected = [...model.gpt2.generate(run.ids, { maxTokens: 6, temperature: 0 })];
    await addressHas(page, `added=${expected.join('_')}`);
    await page.click(`#explore-text [data-at="${n + 5}"]`);
    await says(page, '#explore-pins', new RegExp(`${n + 6} reads from`));
    await page.click('#explore-continue button.quiet');
    await page.waitForFunction(() => !location.hash.includes('added'));
  },
);

roomTest('writing can be stopped, and what was written stays', '?count=200', async (page) => {
  const button = '#explore-continue button[type=submit]';
  // Stopped in the page as soon as something is written: a small model is quick.
  await page.$eval(button, (element) => {
    const stop = /** @type {HTMLElement} */ (element);
    const seen = new MutationObserver(() => {
      if (document.querySelectorAll('#explore-text .written').length < 2) return;
      seen.disconnect();
      stop.click();
    });
    seen.observe(/** @type {HTMLElement} */ (document.querySelector('#explore-text')), {
      childList: true,
    });
    stop.click();
  });
  await addressHas(page, 'added=');
  const count = await page.$$eval('#explore-text .written', (found) => found.length);
  assert.ok(count > 1 && count < 200, `${count}`);
  await says(page, button, /^Continue$/);
});

roomTest(
  'another text is read while it is typed, and what cannot be read is said',
  '',
  async (page) => {
    await page.click('#explore-edit');
    await page.$eval('#explore-input', (input) =>
      /** @type {HTMLTextAreaElement} */ (input).select(),
    );
    await reread(page, () => page.keyboard.type('She was happy.'));
    assert.match(await textOf(page, '#explore-text'), /She was happy\./);
    await addressHas(page, 'text=She+was+happy.');
    await page.$eval('#explore-input', (input) => {
      /** @type {HTMLTextAreaElement} */ (input).value = '';
      input.dispatchEvent(new Event('change'));
    });
    await says(page, '#explore-message', /no text yet.*still the last text/);
    await page.$eval('#explore-input', (input) => {
      /** @type {HTMLTextAreaElement} */ (input).value = 'word '.repeat(9000);
      input.dispatchEvent(new Event('change'));
    });
    await says(
      page,
      '#explore-message',
      /this model reads at most [\d,]+\. Shorten it by [\d,]+\./,
    );
    await page.click('#explore-sample');
    await says(page, '#explore-message', /^$/);
    await page.$eval('#explore-input', (input) => {
      /** @type {HTMLTextAreaElement} */ (input).value = 'a '.repeat(2001);
      input.dispatchEvent(new Event('change'));
    });
    await says(page, '#explore-room-left', /tokens; too long for the address/);
    await page.click('#explore-sample');
    await says(page, '#explore-room-left', /tokens$/);
  },
);

roomTest('the keyboard does everything', '', async (page) => {
  const { n } = run.source;
  // It begins at the weight that is most above an even one.
  let [query, key, most] = [0, 0, 0];
  for (let q = 0; q < n; q++) {
    const row = rowOf(q);
    for (let k = 1; k <= q; k++)
      if (row[k] * (q + 1) > most) [query, key, most] = [q, k, row[k] * (q + 1)];
  }
  await page.focus('.zoom-field');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  await says(page, '.zoom-tip', new RegExp(`\\(${query}\\) → .*\\(${key}\\): `));
  await page.keyboard.press('p');
  await page.keyboard.press('k');
  await addressHas(page, `pins=q${query}_k${key}`);
  await page.keyboard.press('+');
  await addressHas(page, 'view=');
  await page.keyboard.press('0');
  await page.waitForFunction(() => !location.hash.includes('view'));
  await page.keyboard.press('?');
  assert.match(await textOf(page, 'dialog[open]'), /mute this head/);
  await page.keyboard.press('m');
  assert.doesNotMatch(await address(page), /mute/, 'a dialog takes the keys');
  await page.keyboard.press('Escape');
  assert.equal((await page.$$('dialog[open]')).length, 0);
  // In the text: one stop, arrows inside it.
  await page.focus('#explore-text [tabindex="0"]');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await addressHas(page, '_q2');
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

roomTest('an unknown model in the address is said', '', async (page) => {
  await page.evaluate(() => (location.hash = '#explore?model=nobody'));
  await says(page, '#explore-message', /There is no model "nobody" here/);
});

roomTest(
  'an address that knows heads and tokens which are not there shows those that are',
  '?head=99.99&with=50.1&pins=q9999&mute=77.1',
  async (page) => {
    const { layers, heads } = run.source;
    assert.match(
      await textOf(page, '.zoom-map h3'),
      new RegExp(`^Layer ${layers}, head ${heads}$`),
    );
    assert.equal((await page.$$('.zoom-map')).length, 1);
  },
);

roomTest('coming back to the room shows it as it was', '?head=2.1', async (page) => {
  await page.click('#rooms a[href^="#compare"]');
  await page.waitForSelector(`${ROOM}[hidden]`);
  await page.click('#rooms a[href^="#explore"]');
  await page.waitForSelector(`${ROOM}:not([hidden])`);
  await says(page, '.zoom-map h3', /^Layer 2, head 1$/);
  assert.match(await address(page), /head=2\.1/);
});

roomTest('on a phone a full stop is as large as a finger, and reads as ever', '', async (page) => {
  await page.setViewport({ width: Math.max(390, widths[0]), height: 800 });
  const tokens = await page.$$eval('#explore-text [role=option]', (found) => {
    found[0].scrollIntoView();
    return found.map((token, i) => {
      const { left, right, top, height } = token.getBoundingClientRect();
      const [middle, line] = [(left + right) / 2, top + height / 2];
      const hits = Array.from({ length: 23 }, (_, x) =>
        document.elementFromPoint(middle - 11 + x, line),
      ).filter((element) => element === token).length;
      const next = found[i + 1]?.getBoundingClientRect();
      return {
        text: token.textContent,
        hits,
        height,
        gap: next?.top === top ? next.left - right : 0,
      };
    });
  });
  assert.deepEqual(
    tokens.filter(({ height }) => height < 24),
    [],
  );
  const stops = tokens.slice(0, 20).filter(({ text }) => text === '.' || text === ',');
  assert.ok(stops.length > 2);
  for (const { hits, gap } of stops) {
    assert.ok(hits >= 22, `${hits} of 23 pixels`);
    assert.ok(gap < 10, `${gap} pixels to the next token`);
  }
});

for (const width of widths) {
  roomTest(
    `the Explore room is not wider than a window of ${width} pixels`,
    '?with=1.2',
    async (page) => {
      await page.setViewport({ width, height: 800 });
      await page.click('#explore-edit');
      await page.click('#explore-continue summary');
      await page.click('#explore-table summary');
      assert.ok((await contentWidth(page)) <= width);
    },
  );
}

for (const scheme of schemes) {
  roomTest(
    `axe finds nothing to complain about in the Explore room (${scheme})`,
    '',
    async (page) => {
      await useScheme(page, scheme);
      assert.deepEqual(await violations(page), []);
      await page.click('#explore-edit');
      await page.click('#explore-continue summary');
      await page.click('#explore-table summary');
      await page.keyboard.down('Shift');
      await page.click('#explore-grid button:nth-child(3)');
      await page.keyboard.up('Shift');
      await page.click('#explore-text [data-at="4"]');
      await page.waitForSelector('.pin-card');
      await reread(page, () => page.keyboard.press('m'));
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press('?');
      assert.deepEqual(await violations(page), []);
    },
  );
}
