// The report of a prediction, saved from the Explore room and opened again.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'headwise';
import { loadModel } from 'headwise/models';
import { qkAttribution } from 'headwise/understanding';
import { MODELS } from '../../web/page/explore/models.js';
import { filesTest, openMenu, reread, roomTest, write } from './explore-room.js';
import { browser, contentWidth, schemes, textOf, useScheme, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const FOLDER = new URL('../../web/page/models/induction/', import.meta.url);
const QUERY = '?model=induction&mode=why&by=effect';

/** The report as it would be saved. @param {Page} page @param {string} [legend] words of the heads' colours */
async function savedReport(page, legend = 'without the head') {
  await page.waitForFunction(
    (/** @type {string} */ words) =>
      document.querySelector('#explore-measure-legend')?.textContent?.includes(words) &&
      !document.querySelector('#explore-ablating'),
    { timeout: 20_000 },
    legend,
  );
  await openMenu(page, 'explore-files');
  await page.click('#explore-export');
  await page.waitForFunction(
    () =>
      document.querySelector('#export-save')?.getAttribute('download')?.endsWith('-report.html'),
    { timeout: 20_000 },
  );
  return page.evaluate(async () => {
    const link = /** @type {HTMLAnchorElement} */ (document.querySelector('#export-save'));
    return (await fetch(link.href)).text();
  });
}

roomTest('the report has the numbers of the view, and the way back to it', QUERY, async (page) => {
  const html = await savedReport(page);
  const exact = JSON.parse(/id="exact">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
  const hw = await load();
  const decoder = await loadModel(hw, FOLDER);
  const { vocab } = JSON.parse(await readFile(new URL('tokenizer.json', FOLDER), 'utf8')).model;
  const ids = [...MODELS.induction.sample].map((letter) => vocab[letter]);
  const [{ token }] = MODELS.induction.pins;
  const read = ids.slice(0, token + 1);
  const target = ids[token + 1];
  const { heads, total } = decoder.attribution(read, { target });
  const isNear = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 1e-3;
  assert.ok(isNear(exact.sum.total, total), `${exact.sum.total}`);
  const [attribution, ablation] = exact.grids;
  assert.deepEqual(
    exact.grids.map((/** @type {{ title: string }} */ { title }) => title),
    ['Attribution of each head', 'Ablation of each head (zero)'],
  );
  attribution.values.forEach((/** @type {number} */ value, /** @type {number} */ i) =>
    assert.ok(isNear(value, heads.data[i]), `${i}: ${value}`),
  );
  assert.equal(ablation.values.length, heads.data.length);
  assert.equal(exact.tokens.length, ids.length);
  const { trace } = decoder.forward(ids, { trace: true });
  const weights = trace[1].weights({ head: 2, rows: [token, token + 1] }).data;
  exact.map.row.weights.forEach((/** @type {number} */ weight, /** @type {number} */ i) =>
    assert.ok(isNear(weight, weights[i]), `${i}: ${weight}`),
  );
  const strongest = weights.indexOf(Math.max(...weights));
  const place = { layer: 1, head: 2, query: token, key: strongest };
  const { score } = await qkAttribution(decoder, read, place);
  assert.ok(isNear(exact.score.score, score), `${exact.score.score}`);
  assert.deepEqual([exact.score.query.at, exact.score.key.at], [token + 1, strongest + 1]);
  for (const parts of [exact.score.atQuery, exact.score.atKey, exact.score.pairs]) {
    const sum = parts.reduce(
      (/** @type {number} */ all, /** @type {{ value: number }} */ { value }) => all + value,
      0,
    );
    assert.ok(isNear(sum, score), `${sum}`);
  }
  const last = exact.lens.rows.at(-1);
  assert.deepEqual([exact.lens.rows.length, last.after], [3, 'L1']);
  const now = exact.next.rows.find((/** @type {{ is: string }} */ { is }) => is.includes('target'));
  assert.ok(isNear(last.share, now.before), `${last.share}, as all layers predict`);
  assert.equal(exact.address, await page.evaluate(() => location.href));
  hw.dispose();
});

for (const [by, method, legend, measured] of /** @type {[string, string, string, RegExp][]} */ ([
  [
    'mean-effect&against=5',
    'mean',
    'when the head’s output is replaced by its mean over the text so far',
    /^The drop in the logit difference “.+” − “.+” /,
  ],
  [
    'resample-effect',
    'resample',
    'when the head’s output is replaced by its output on the shuffled text',
    /^The drop in the log-probability of “[^”]+” when/,
  ],
])) {
  roomTest(
    `the report says what took the head’s place: ${method}`,
    QUERY.replace('by=effect', `by=${by}`),
    async (page) => {
      const html = await savedReport(page, legend);
      const exact = JSON.parse(/id="exact">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
      const [, { title, words, values }] = exact.grids;
      assert.equal(title, `Ablation of each head (${method})`);
      assert.ok(words.includes(legend), words);
      assert.match(words, measured);
      const shown = await page.$$eval('#explore-grid b', (all) =>
        all.map((one) => Number(one.textContent?.replace('−', '-'))),
      );
      assert.equal(shown.length, values.length);
      shown.forEach((value, i) => assert.ok(Math.abs(value - values[i]) < 0.051, `head ${i}`));
    },
  );
}

roomTest(
  'a report tells of the model without its muted heads',
  `${QUERY}&mute=L1H2`,
  async (page) => {
    const html = await savedReport(page);
    const exact = JSON.parse(/id="exact">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    const [, muted] = exact.settings.find((/** @type {string[]} */ [name]) => name === 'Muted');
    assert.equal(muted, 'L1H2, in all that follows');
    assert.match(html, /<p>After .*, with the heads above muted\.<\/p>/);
    const now = exact.next.rows.find((/** @type {{ is: string }} */ { is }) =>
      is.includes('target'),
    );
    assert.notEqual(now.after, now.before);
    assert.ok(Math.abs(exact.lens.rows.at(-1).share - now.after) < 1e-3);
    const [{ values, chosen }] = exact.grids;
    const { layer, column } = chosen;
    assert.deepEqual([layer, column, values[layer * (values.length / 2) + column]], [1, 2, 0]);
  },
);

roomTest(
  'the report of a long text says that its address does not carry it',
  '?mode=why',
  async (page) => {
    await reread(page, () => write(page, MODELS.austen.texts[0][1].repeat(18)));
    const html = await savedReport(page, 'direct contribution');
    assert.match(
      html,
      /The address does not carry the text, which is too long\. It holds all other/,
    );
    assert.match(html, /<p class="address"[^>]*>[^<]*kept=/);
  },
);

filesTest('the report works from a disk, in both schemes and on a phone', QUERY, async (page) => {
  const html = await savedReport(page);
  const folder = await mkdtemp(join(tmpdir(), 'headwise-report-'));
  const other = await browser.newPage();
  try {
    const file = join(folder, 'report.html');
    await writeFile(file, html);
    for (const scheme of schemes) {
      await useScheme(other, scheme);
      await other.setViewport({ width: widths[0], height: 800 });
      await other.goto(pathToFileURL(file).href);
      assert.match(await textOf(other, 'h1'), /^Why “.”\?$/);
      assert.ok((await contentWidth(other)) <= widths[0]);
      assert.equal(await other.$$eval('.map image', (images) => images.length), 1);
    }
  } finally {
    await other.close();
    await rm(folder, { recursive: true, force: true });
  }
});
