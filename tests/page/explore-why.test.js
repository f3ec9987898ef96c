// "Why this token?": the sum of a logit, and the heads' parts of it, against the same model in Node.
import assert from 'node:assert/strict';
import { address, addressHas, ROOM, roomTest, says, numberOf, partRows } from './explore-room.js';
import { first, firstPin, model, run } from './explore-run.js';
import { ablation } from 'headwise/understanding';
import { shuffles } from '../../web/page/explore/worker/shuffles.js';
import { contentWidth, schemes, textOf, useScheme, violations, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {{ target?: number, against?: number }} [about] */
function expected({ target = run.ids[firstPin + 1], against } = {}) {
  const ids = run.ids.slice(0, firstPin + 1);
  return model.decoder.attribution(ids, { target, against });
}

/** @param {Page} page */
const rows = (page) => partRows(page, '#explore-sum');

/** @param {number} a @param {number} b */
const isNear = (a, b) => Math.abs(a - b) < 6e-5 + 1e-5 * Math.abs(b);

/** @param {Page} page @param {string} words until the sum is about them */
const summed = (page, words) => says(page, '#explore-sum-told', new RegExp(words));

roomTest('a click asks why, and shows what adds up to the logit', '', async (page) => {
  const { token } = { token: model.text.token(run.ids[firstPin + 1]) };
  assert.equal(await textOf(page, '#explore-why'), `Why “${token.text}”?`);
  await page.click('#explore-why');
  await addressHas(page, 'mode=why');
  assert.ok(await page.$('#explore-target:focus'), 'the button has gone: the focus goes on');
  await summed(page, `the logit of “${token.text}” itself`);
  const { heads, mlps, embedding, biases, total } = expected();
  const found = new Map(await rows(page));
  const { layers, heads: inLayer } = run.source;
  const logit = run.logits(firstPin)[run.ids[firstPin + 1]];
  assert.ok(isNear(found.get('Sum') ?? NaN, logit) && isNear(total, logit));
  assert.ok(isNear(found.get('Embedding') ?? NaN, embedding));
  assert.ok(isNear(found.get('Biases') ?? NaN, biases));
  let sum = embedding + biases;
  for (let layer = 0; layer < layers; layer++) {
    const own = Array.from(heads.data.slice(layer * inLayer, (layer + 1) * inLayer));
    const value = own.reduce((a, b) => a + b);
    sum += value + mlps.data[layer];
    assert.ok(isNear(found.get(`L${layer} heads`) ?? NaN, value), `heads of layer ${layer}`);
    assert.ok(
      isNear(found.get(`L${layer} feed-forward`) ?? NaN, mlps.data[layer]),
      `layer ${layer}`,
    );
  }
  assert.ok(isNear(sum, logit));
  // The grid says the same of each head.
  const numbers = await page.$$eval('#explore-grid[data-measure=attribution] button', (buttons) =>
    buttons.map((button) => [button.title, button.querySelector('b')?.textContent ?? '']),
  );
  assert.equal(numbers.length, layers * inLayer);
  for (const [title, words] of numbers) {
    const [layer, head] = title.match(/\d+/g)?.map(Number) ?? [];
    assert.ok(Math.abs(numberOf(words) - heads.data[layer * inLayer + head]) < 0.0051, title);
  }
  await page.click('#explore-maps-back');
  await page.waitForSelector('#explore-lines-title');
  assert.ok(!(await address(page)).includes('mode'));
  assert.ok(await page.$('#explore-why:focus'));
  await page.waitForSelector('#explore-pins .pin-card');
});

roomTest(
  'of many parts some are scrolled to, and the sum stays below them',
  '?mode=why',
  async (page) => {
    await summed(page, 'itself\\.$');
    for (const layer of [0, 1]) {
      await page.$$eval(
        '#explore-sum [aria-expanded]',
        (all, i) => /** @type {HTMLElement} */ (all[i]).click(),
        layer,
      );
    }
    const { length } = await rows(page);
    assert.ok(length > 21);
    await summed(page, `There are ${length - 1} rows: scroll to see all`);
    const isSumLast = await page.$eval('.sum-scroll', (box) => {
      box.scrollIntoView({ block: 'center' });
      const { left, bottom, width } = box.getBoundingClientRect();
      const last = document.elementFromPoint(left + width / 2, bottom - 1);
      return last?.closest('tfoot') !== null && box.scrollHeight > box.clientHeight;
    });
    assert.ok(isSumLast);
  },
);

roomTest('bars stand end to end, from 0 to the logit', '?mode=why', async (page) => {
  await summed(page, 'itself');
  const bars = await page.$$eval('#explore-sum .sum-bar', (all) =>
    all.map((bar) => {
      const { left, right } = bar.getBoundingClientRect();
      return { left, right, isFor: !bar.classList.contains('against') };
    }),
  );
  const whole = bars.pop();
  let at = whole?.left ?? NaN;
  for (const { left, right, isFor } of bars) {
    assert.ok(Math.abs(at - (isFor ? left : right)) < 1.6, `${at}, ${left} to ${right}`);
    at = isFor ? right : left;
  }
  assert.ok(Math.abs(at - (whole?.right ?? NaN)) < 1.6);
});

roomTest('the sum is read and used with keys', '?mode=why', async (page) => {
  await summed(page, 'itself');
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
  await page.focus('#explore-sum .sum-part');
  assert.equal(await focused(), 'Embedding');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'L0 heads');
  await summed(page, 'heads of layer 0 together');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#explore-sum .within');
  assert.equal((await page.$$('#explore-sum .within')).length, run.source.heads);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'L0H0');
  await summed(page, 'Layer 0, head 0');
  await page.keyboard.press('Enter');
  await addressHas(page, 'head=L0H0');
  await page.waitForSelector('#explore-sum .chosen');
  const marks = ['.chosen', '[aria-pressed=true]', '.has-chosen'];
  const marked = marks.map((mark) => page.$$(`#explore-sum ${mark}`));
  const counts = (await Promise.all(marked)).map(({ length }) => length);
  assert.deepEqual(counts, [1, 1, 0], 'the head, and not its open layer too');
  assert.equal(await focused(), 'L0H0');
  await page.keyboard.press('End');
  assert.equal(await focused(), 'Biases');
  assert.equal((await page.$$('#explore-sum [tabindex="0"]')).length, 1);
  await page.keyboard.down('Control');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.up('Control');
  assert.equal(await focused(), 'Biases', 'the browser has its own keys');
  await summed(page, 'Biases of the output projections');
  await page.focus('#explore-parts');
  await summed(page, 'itself');
});

roomTest('what is pointed at is told of the sum that it is part of', '?mode=why', async (page) => {
  await summed(page, 'itself');
  await page.$eval('#explore-sum tbody tr', (row) =>
    row.dispatchEvent(new PointerEvent('pointerenter')),
  );
  await summed(page, 'The token’s embedding, with its position if one is added');
  const [, second] = await page.$$eval('#explore-target option', (all) =>
    all.map((one) => one.value),
  );
  await page.select('#explore-target', second);
  await summed(page, `the logit of “${model.text.token(Number(second)).text}” itself`);
});

roomTest('a head’s part is split over what it reads', '?mode=why', async (page) => {
  await summed(page, 'itself');
  const { layer, head } = first;
  const title = `What L${layer}H${head} attends to`;
  await says(page, '#explore-keys-title', new RegExp(title));
  await page.waitForSelector('#explore-keys tfoot');
  const cells = await page.$$eval('#explore-keys tr:has(.sum-cell)', (all) =>
    all.map((row) => ({
      name: row.querySelector('th')?.textContent?.trim() ?? '',
      weight: row.querySelector('td')?.getAttribute('title'),
      share: row.querySelector('td:last-child')?.getAttribute('title'),
    })),
  );
  const whole = cells.pop();
  const { heads } = expected();
  assert.equal(whole?.name, `L${layer}H${head}`);
  const part = heads.data[layer * run.source.heads + head];
  assert.ok(isNear(numberOf(whole?.share), part), `${whole?.share}, ${part}`);
  const sum = cells.reduce((all, { share }) => all + numberOf(share), 0);
  // Each is written with four decimals.
  assert.ok(Math.abs(sum - part) < 6e-5 * cells.length, `${sum}, ${part}`);
  const weights = run.source.rows(layer, head, firstPin, firstPin + 1);
  const most = Math.max(...weights);
  assert.ok(cells.some(({ weight }) => weight && Math.abs(Number(weight) - most) < 1e-6));
});

roomTest('the largest parts come first on wish', '?mode=why', async (page) => {
  await summed(page, 'itself');
  await page.click('#explore-parts');
  await addressHas(page, 'parts=size');
  await page.waitForFunction(() => !document.querySelector('#explore-sum [aria-expanded]'));
  const found = (await rows(page)).filter(([name]) => !/Sum|smaller/.test(name));
  const sizes = found.map(([, value]) => Math.abs(value));
  assert.equal(sizes.length, 24);
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  );
});

roomTest(
  'Tab reaches the sum when the part where it stopped has gone',
  '?mode=why',
  async (page) => {
    await summed(page, 'itself');
    await page.click('#explore-parts');
    await page.waitForFunction(() => !document.querySelector('#explore-sum [aria-expanded]'));
    await page.focus('#explore-sum .sum-part');
    await page.keyboard.press('End');
    await page.click('#explore-parts');
    await page.waitForSelector('#explore-sum [aria-expanded]');
    const stops = await page.$$eval('#explore-sum [tabindex="0"]', (all) =>
      all.map((one) => one.textContent?.trim()),
    );
    assert.deepEqual(stops, ['Embedding']);
  },
);

roomTest('another target, and a token that it is compared with', '?mode=why', async (page) => {
  await summed(page, 'itself');
  const [, second] = await page.$$eval('#explore-target option', (all) =>
    all.map((one) => one.value),
  );
  const actual = run.ids[firstPin + 1];
  await page.select('#explore-against', second);
  await addressHas(page, `against=${second}`);
  await summed(page, '−');
  const difference = expected({ against: Number(second) });
  assert.ok(isNear(new Map(await rows(page)).get('Sum') ?? NaN, difference.total));
  await says(page, '#explore-measure-legend', /minus that of/);
  // What was compared with becomes the target, which is compared with nothing then.
  await page.select('#explore-target', second);
  await addressHas(page, `target=${second}`);
  await page.waitForFunction(() => !location.hash.includes('against'));
  const other = expected({ target: Number(second) });
  await summed(page, other.total.toFixed(3).replace('-', '−'));
  assert.notEqual(actual, Number(second));
});

roomTest(
  'another token of the text is asked about with a click on it',
  '?mode=why',
  async (page) => {
    await summed(page, 'itself');
    await page.click('#explore-text [data-at="4"]');
    const ids = run.ids.slice(0, 5);
    const { total } = model.decoder.attribution(ids, { target: run.ids[5] });
    await summed(page, total.toFixed(3).replace('-', '−'));
  },
);

for (const name of ['induction', 'names']) {
  roomTest(`the model "${name}" is asked too`, `?mode=why&model=${name}`, async (page) => {
    await summed(page, 'itself');
    const { length } = await page.$$('#explore-sum tr:has(.sum-cell)');
    assert.ok(length > 4);
    assert.equal(
      await page.$eval(
        '#explore-grid',
        (grid) => /** @type {HTMLElement} */ (grid).dataset.measure,
      ),
      'attribution',
    );
  });
}

for (const width of widths) {
  roomTest(`the view is not wider than a window of ${width} pixels`, '?mode=why', async (page) => {
    await summed(page, 'itself');
    await page.waitForSelector('#explore-score-pairs');
    await page.setViewport({ width, height: 740 });
    await page.click('#explore-sum [aria-expanded]');
    assert.ok((await contentWidth(page)) <= width);
  });
}

roomTest(
  'on a phone the sum is on the first screen, and the methods are a click away',
  '?mode=why',
  async (page) => {
    await page.setViewport({ width: Math.max(390, widths[0]), height: 844 });
    await page.waitForSelector('#explore-methods');
    await summed(page, 'itself');
    const bottoms = () =>
      page.$$eval('#explore-target, #explore-sum tr:has(.sum-cell)', (all) =>
        all.map((one) => one.getBoundingClientRect().bottom),
      );
    const seen = (await bottoms()).filter((bottom) => bottom <= 844);
    assert.ok(seen.length > 3, `${await bottoms()}`);
    assert.equal((await page.$$('#explore-tour')).length, 0, 'the tour is about maps');
    await page.click('#explore-methods summary');
    await says(
      page,
      '#explore-methods',
      /Attribution measures .* Ablation measures .* Patching shows/,
    );
    await page.setViewport({ width: 1280, height: 900 });
    await page.waitForSelector('.explore-lead > #explore-read');
    await page.click('#explore-maps-back');
    await page.waitForSelector('#explore-tour');
  },
);

for (const scheme of schemes) {
  roomTest(`axe finds nothing to complain about (${scheme})`, '?mode=why', async (page) => {
    await useScheme(page, scheme);
    await summed(page, 'itself');
    await page.waitForSelector('#explore-score-pairs');
    await page.click('#explore-sum [aria-expanded]');
    assert.deepEqual(await violations(page), []);
  });
}

roomTest('the chosen head is marked where its layer is closed', '?mode=why', async (page) => {
  await summed(page, 'itself');
  const marked = await textOf(page, '#explore-sum .has-chosen th');
  assert.equal(marked, `L${first.layer} heads`);
  assert.ok(await page.$(`${ROOM} .why-map .zoom-map`));
});

roomTest(
  'muted heads are muted in all that the view tells',
  '?mode=why&mute=L1H1_L2H0',
  async (page) => {
    await summed(page, 'itself');
    assert.equal(await textOf(page, '#explore-why-muted'), ', without L1H1, L2H0');
    const { layers, heads } = run.source;
    const headMask = Array.from({ length: layers }, () => Array(heads).fill(1));
    headMask[1][1] = headMask[2][0] = 0;
    const target = run.ids[firstPin + 1];
    const { data } = model.decoder.forward(run.ids.slice(0, firstPin + 1), { headMask }).logits;
    const found = new Map(await rows(page));
    assert.ok(
      isNear(found.get('Sum') ?? NaN, data[target]),
      `${found.get('Sum')}, ${data[target]}`,
    );
    // The first head is one of them: it writes nothing, of whatever it reads.
    await page.waitForSelector('#explore-keys tfoot');
    const parts = await page.$$eval('#explore-keys td:last-child', (cells) =>
      cells.map((cell) => cell.getAttribute('title')),
    );
    assert.ok(parts.length > 0 && parts.every((part) => numberOf(part) === 0), `${parts}`);
    // Behind the last layer the lens says what the model says without them.
    const now = '#explore-lens .lens-table tbody tr:last-child td.asked .token';
    await page.waitForSelector(now);
    const likeliest = data.indexOf(data.reduce((most, logit) => Math.max(most, logit)));
    assert.equal(await textOf(page, now), model.text.token(likeliest).text);
  },
);

roomTest('the map is weighed by value norms on wish', '?mode=why', async (page) => {
  await summed(page, 'itself');
  await page.click('#explore-norms');
  await addressHas(page, 'of=norms');
  await says(page, '.map-title', new RegExp(`Head L${first.layer}H${first.head} by value norms`));
  await page.click('#explore-maps-back');
  const { layer, head } = first;
  const norms = Array.from(run.source.norms?.(layer, head, firstPin, firstPin + 1) ?? []);
  const sum = norms.reduce((a, b) => a + b, 0);
  const shares = norms.map((norm) => norm / sum);
  await page.waitForFunction(
    (/** @type {string} */ share) =>
      document.querySelector('#explore-pins td:last-child')?.textContent === share,
    {},
    Math.max(...shares).toFixed(4),
  );
  // It stays so with another head.
  await page.keyboard.press(']');
  await says(page, '.map-title', /by value norms/);
});

for (const [by, options] of /** @type {const} */ ([
  ['mean-effect', { method: 'mean' }],
  ['resample-effect', { method: 'resample' }],
])) {
  roomTest(`heads are ablated by ${options.method} too`, `?mode=why&by=${by}`, async (page) => {
    const target = run.ids[firstPin + 1];
    const texts = by === 'resample-effect' ? shuffles(run.ids) : undefined;
    const { effects } = await ablation(model.decoder, run.ids, {
      ...{ ...options, target, position: firstPin },
      ...(texts && { texts }),
    });
    await page.waitForSelector(`#explore-grid[data-measure=${by}] b`);
    await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
    const found = await page.$$eval('#explore-grid button', (buttons) =>
      buttons.map((button) => [button.title, button.querySelector('b')?.textContent ?? '']),
    );
    for (const [title, words] of found) {
      const [layer, head] = title.match(/\d+/g)?.map(Number) ?? [];
      const value = -effects.data[layer * run.source.heads + head];
      assert.ok(Math.abs(numberOf(words) - value) < 0.0051, `${title}: ${words}, ${value}`);
    }
  });
}
