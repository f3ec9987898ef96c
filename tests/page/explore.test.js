// The Explore room: its text, pins, writing, keys, address and sizes, against the same run in Node.
import assert from 'node:assert/strict';
import { MODELS } from '../../web/page/explore/models.js';
import { longName } from '../../web/page/shared/head-names.js';
import {
  FIELD,
  ROOM,
  TIP,
  address,
  addressHas,
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
  MOST_OF_SEVERAL,
  names,
  rowOf,
  run,
  written,
} from './explore-run.js';
import {
  contentWidth,
  literally,
  schemes,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';

roomTest('the first view has a text, every head and what they cost', '', async (page) => {
  const { layers, heads, n } = run.source;
  assert.equal((await page.$$('#explore-grid button')).length, layers * heads);
  assert.equal((await page.$$('#explore-text [role=option]')).length, n);
  assert.match(
    await textOf(page, '#explore-cost'),
    new RegExp(
      `^${n} tokens, ${layers} × ${heads} heads: read in [\\d.]+ m?s\\. Kept for the maps: [\\d.]+ [KM]iB`,
    ),
  );
  assert.equal(await textOf(page, '.map-title'), longName(first));
  assert.deepEqual(await card(page), cardOf(rowOf(firstPin), MOST));
  assert.match(await textOf(page, '#explore-how'), /not by itself an explanation/);
});

roomTest(
  'hovering the map reads out the weight, and marks the tokens in the text',
  '',
  async (page) => {
    const { n } = run.source;
    const field = await page.$(FIELD);
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
    await says(page, TIP, new RegExp(`^${literally(tip)}$`));
    await page.waitForSelector(`#explore-text [data-at="${query}"].is-query`);
    await page.waitForSelector(`#explore-text [data-at="${key}"].is-key`);
    await says(page, '#explore-text-note', new RegExp(`\\(${query + 1}\\) attends to`));
    await page.mouse.move(5, 5);
    await says(page, '#explore-text-note', new RegExp(`\\(${firstPin + 1}\\) attends to`));
  },
);

roomTest(
  'pins show what a query reads and who reads a key, and are in the address',
  '',
  async (page) => {
    await page.click('#explore-text [data-at="9"]');
    await addressHas(page, 'pins=q10');
    await page.keyboard.down('Control');
    await page.keyboard.down('Shift');
    await page.click('#explore-text [data-at="2"]');
    await page.keyboard.up('Shift');
    await page.keyboard.up('Control');
    assert.equal(await page.evaluate(() => String(getSelection())), '', 'selects no text');
    await addressHas(page, 'pins=q10_k3');
    await page.waitForFunction(() => document.querySelectorAll('.pin-card').length === 2);
    const column = Array.from({ length: run.source.n }, (_, query) => rowOf(query)[2]);
    const expected = [...cardOf(rowOf(9), MOST_OF_SEVERAL), ...cardOf(column, MOST_OF_SEVERAL)];
    assert.deepEqual(await card(page), expected);
    assert.match(await textOf(page, '#explore-pins'), /attends to.*is attended to by/);

    await page.reload();
    await scored(page);
    assert.deepEqual(await card(page), expected);

    // The first card's other side, then away with it.
    await page.click('.pin-card:nth-child(1) .pin-tools button');
    await addressHas(page, 'pins=k10_k3');
    await says(page, '.pin-card', /is attended to by/);
    await page.click('.pin-card:nth-child(1) .pin-tools button:nth-child(2)');
    await addressHas(page, 'pins=k3');
    await page.click(`${ROOM} h1`);
    await page.keyboard.press('x');
    await page.waitForFunction(() => location.hash.endsWith('pins='));
  },
);

roomTest(
  'the model writes on, its tokens can be attended from, and be taken back',
  '?count=6&decoding=greedy',
  async (page) => {
    const { n } = run.source;
    await reread(page, () => page.click('#explore-continue button[type=submit]'));
    assert.match(await textOf(page, '#explore-written'), /6 tokens, [\d.,]+ per second/);
    assert.equal((await page.$$('#explore-text .written')).length, 6);
    const expected = [...model.decoder.generate(run.ids, { maxTokens: 6, temperature: 0 })];
    await addressHas(page, `added=${expected.join('_')}`);
    await page.click(`#explore-text [data-at="${n + 5}"]`);
    await says(page, '#explore-pins', new RegExp(`${n + 6} attends to`));
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
    await write(page, '');
    await says(page, '#explore-message', /no text yet.*The last text .* still shown/);
    await write(page, 'word '.repeat(9000));
    await says(
      page,
      '#explore-message',
      /this model reads at most [\d,]+\. Shorten it by [\d,]+\./,
    );
    await page.click('#explore-sample');
    await says(page, '#explore-message', /^$/);
    await write(page, 'a '.repeat(2001));
    await says(
      page,
      '#explore-room-left',
      /tokens; too long for the address: this browser keeps it/,
    );
    await page.click('#explore-sample');
    await says(page, '#explore-room-left', /tokens$/);
  },
);

roomTest('the keyboard does everything', '?pins=', async (page) => {
  const { n } = run.source;
  // It begins at the weight that is most above an even one.
  let [query, key, most] = [0, 0, 0];
  for (let q = 0; q < n; q++) {
    const row = rowOf(q);
    for (let k = 1; k <= q; k++)
      if (row[k] * (q + 1) > most) [query, key, most] = [q, k, row[k] * (q + 1)];
  }
  await page.focus(FIELD);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  await says(page, TIP, new RegExp(`\\(${query}\\) → .*\\(${key}\\): `));
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
  await addressHas(page, 'pins=q2');
});

roomTest('an unknown model in the address is said', '', async (page) => {
  await page.evaluate(() => (location.hash = '#explore?model=nobody'));
  await says(page, '#explore-message', /There is no model “nobody” here/);
});

roomTest(
  'an address that knows heads and tokens which are not there shows those that are',
  '?head=L98H98&with=L49H0&pins=q9999&mute=L76H0',
  async (page) => {
    const { layers, heads } = run.source;
    assert.match(
      await textOf(page, '.map-title'),
      new RegExp(`^Head L${layers - 1}H${heads - 1}$`),
    );
    assert.equal((await page.$$('.zoom-map')).length, 1);
  },
);

roomTest('coming back to the room shows it as it was', '?head=L1H0', async (page) => {
  await page.click('#rooms a[href^="#compare"]');
  await page.waitForSelector(`${ROOM}[hidden]`);
  await page.click('#rooms a[href^="#explore"]');
  await page.waitForSelector(`${ROOM}:not([hidden])`);
  await says(page, '.map-title', /^Head L1H0$/);
  assert.match(await address(page), /head=L1H0/);
  // Links of other rooms lead to it as it was, as the navigation does.
  await page.click('#rooms a[href^="#compare"]');
  await page.waitForSelector(`${ROOM}[hidden]`);
  await page.click('#compare-room a[data-room="explore"]');
  await page.waitForSelector(`${ROOM}:not([hidden])`);
  await says(page, '.map-title', /^Head L1H0$/);
  assert.match(await address(page), /head=L1H0/);
});

const LONG = `?text=${encodeURIComponent(MODELS.austen.texts[0][1])}`;

roomTest(
  'on a phone a full stop is as large as a finger, and reads as ever',
  LONG,
  async (page) => {
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
    // Where the next token is as narrow, they share what is between them.
    const stops = tokens.slice(0, 30).filter(({ text }, i) => {
      const next = tokens[i + 1].text ?? '';
      return (text === '.' || text === ',') && next.length > 2;
    });
    assert.ok(stops.length > 2);
    for (const { hits, gap } of stops) {
      assert.ok(hits >= 22, `${hits} of 23 pixels`);
      assert.ok(gap < 10, `${gap} pixels to the next token`);
    }
  },
);

for (const width of widths) {
  roomTest(
    `the Explore room is not wider than a window of ${width} pixels`,
    '?with=L0H1',
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
