// Why a head looks where it looks: its score, split over what wrote the residual stream, against the same model in Node.
import assert from 'node:assert/strict';
import { qkAttribution } from 'headwise/understanding';
import { address, addressHas, partRows, roomTest, says } from './explore-room.js';
import { first, firstPin, model, rowOf, run } from './explore-run.js';
import { framesDuring, neverRose } from './frames.js';
import { textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const weights = () => Array.from(rowOf(firstPin).slice(0, firstPin + 1));

/** The keys of the first head, those that get most first. */
const byWeight = () =>
  weights()
    .map((weight, key) => ({ weight, key }))
    .sort((a, b) => b.weight - a.weight)
    .map(({ key }) => key);

/** @param {number} key */
const expected = (key) =>
  qkAttribution(model.decoder, run.ids, { ...first, query: firstPin, key, pairs: true });

/** @param {Page} page @param {number} key until the score is about it */
const about = (page, key) =>
  says(
    page,
    '#explore-score-title',
    new RegExp(`attends from .* ?${firstPin + 1} to .* ?${key + 1}$`),
  );

roomTest(
  'a score is a sum of parts at the query, at the key, and of pairs',
  '?mode=why',
  async (page) => {
    const [key] = byWeight();
    await about(page, key);
    const { score, query, key: atKey } = await expected(key);
    assert.match(
      await textOf(page, '#explore-score-told'),
      new RegExp(
        `^L${first.layer}H${first.head}’s score from “.*” \\(token ${firstPin + 1}\\) to “.*” \\(token ${key + 1}\\) is \\+?${score.toFixed(2)}, before the softmax\\.`,
      ),
    );
    for (const id of ['query', 'key', 'pairs']) {
      const found = await partRows(page, `#explore-score-${id}`);
      const [name, whole] = found.pop() ?? [];
      assert.equal(name, 'Score');
      assert.ok(
        Math.abs((whole ?? NaN) - score) < 6e-5 + 1e-5 * Math.abs(score),
        `${whole}, ${score}`,
      );
      const sum = found.reduce((all, [, value]) => all + value, 0);
      // Each is written with four decimals.
      assert.ok(Math.abs(sum - score) < 6e-5 * (found.length + 1), `${id}: ${sum}, ${score}`);
      const sizes = found
        .filter(([part]) => !/smaller|more/.test(part))
        .map(([, value]) => Math.abs(value));
      assert.deepEqual(
        sizes,
        sizes.toSorted((a, b) => b - a),
      );
    }
    for (const [id, side] of /** @type {const} */ ([
      ['query', query],
      ['key', atKey],
    ])) {
      const own = new Map(await partRows(page, `#explore-score-${id}`));
      const { embedding, biases, heads, mlps } = side;
      const parts = new Map([
        ['Embedding', embedding],
        ['Biases', biases],
      ]);
      heads.data.forEach((value, i) =>
        parts.set(`L${Math.floor(i / run.source.heads)}H${i % run.source.heads}`, value),
      );
      mlps.data.forEach((value, i) => parts.set(`L${i} feed-forward`, value));
      const shown = [...own].filter(([name]) => parts.has(name));
      assert.ok(shown.length > 2, id);
      for (const [name, value] of shown)
        assert.ok(Math.abs(value - (parts.get(name) ?? NaN)) < 1e-3, `${id} ${name}: ${value}`);
    }
  },
);

roomTest(
  'another key is asked about with a click, and a head with its name',
  '?mode=why',
  async (page) => {
    await about(page, byWeight()[0]);
    const [, second] = byWeight();
    await page.$$eval(
      '#explore-keys tbody button',
      (buttons, place) =>
        buttons.find((button) => button.textContent?.trim().endsWith(place))?.click(),
      String(second + 1),
    );
    await addressHas(page, `key=${second + 1}`);
    await about(page, second);
    const { score } = await expected(second);
    const found = new Map(await partRows(page, '#explore-score-key'));
    assert.ok(Math.abs((found.get('Score') ?? NaN) - score) < 1e-3);
    const pressed = await page.$$eval('#explore-keys [aria-pressed="true"]', (all) => all.length);
    assert.equal(pressed, 1);
    // A part that is a head leads to it, and there to the key that gets most.
    const name = await textOf(page, '.score-tables button');
    await page.$eval('.score-tables button', (button) =>
      /** @type {HTMLElement} */ (button).click(),
    );
    await addressHas(page, `head=${name}`);
    await says(page, '#explore-score-title', new RegExp(`^Why ${name} attends from`));
    assert.ok(!(await address(page)).includes('key='));
  },
);

roomTest(
  'a head of the first layer has a score of the embedding and biases alone',
  '?mode=why&head=L0H0',
  async (page) => {
    await page.waitForSelector('#explore-score-query');
    const names = (await partRows(page, '#explore-score-query')).map(([name]) => name);
    assert.deepEqual(names.toSorted(), ['Biases', 'Embedding', 'Score']);
  },
);

/** Answers on which the form's place depends. @param {Page} page */
async function answered(page) {
  for (const one of ['#explore-keys', '#explore-score-told', '.lens-table'])
    await page.waitForSelector(one);
}

roomTest(
  'what is below the answers stays there while another head is asked about',
  '?mode=why&head=L1H0',
  async (page) => {
    await answered(page);
    const frames = await framesDuring(page, 'explore-patch', async () => {
      await page.$eval('#explore-grid [title="Layer 1, head 3"]', (head) =>
        /** @type {HTMLElement} */ (head).click(),
      );
      await says(page, '#explore-score-title', /^Why L1H3 attends from/);
      await answered(page);
    });
    // Another answer may be higher or lower by some lines.
    neverRose(frames);
  },
);

roomTest('nothing moves when one comes back from the maps', '?mode=why', async (page) => {
  await answered(page);
  await page.click('#explore-maps-back');
  await page.waitForFunction(() => !document.getElementById('explore-patch'));
  const frames = await framesDuring(page, 'explore-patch', async () => {
    await page.click('#explore-why');
    await answered(page);
    // A question to the Worker, behind all that was asked by then.
    await page.click('#explore-keys tbody tr:nth-child(2) button');
    await addressHas(page, 'key=');
    await answered(page);
  });
  neverRose(frames);
});
