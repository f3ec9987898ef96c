// The logit lens of the Explore room, against the same model in Node.
import assert from 'node:assert/strict';
import { roomTest, says } from './explore-room.js';
import { firstPin, model, run } from './explore-run.js';
import { focusInSight, textOf } from './harness.js';

roomTest(
  'the logit lens shows what would be predicted after each layer',
  '?mode=why',
  async (page) => {
    const { layers, n } = run.source;
    await page.waitForFunction(
      (/** @type {number} */ count) =>
        document.querySelectorAll('#explore-lens .lens-table tbody tr').length === count,
      {},
      layers + 1,
    );
    const found = await page.$$eval('#explore-lens .lens-table tbody tr', (trs) =>
      trs.map((tr) =>
        [...tr.querySelectorAll('button')].map(
          (button) => button.querySelector('.token')?.textContent,
        ),
      ),
    );
    assert.deepEqual(
      found.map((row) => row.length),
      Array(layers + 1).fill(n),
    );
    // Behind the last layer it is the prediction itself.
    for (let at = 0; at < n; at++) {
      const logits = Array.from(run.logits(at));
      const id = logits.indexOf(Math.max(...logits));
      assert.equal(found[layers][at], model.text.token(id).text, `token ${at}`);
    }
    // Behind the embedding it is what the model says when no layer runs.
    const { residuals } = model.decoder.forward(run.ids, { logits: 'none', residuals: true });
    const [dModel, target] = [model.decoder.config.dModel, run.ids[firstPin + 1]];
    const stream = residuals.slice([0, 1]).reshape([n, dModel]);
    const { data } = model.decoder.forward(run.ids, {
      logits: [firstPin, firstPin + 1],
      start: { layer: layers, residual: stream },
    }).logits;
    const rank = 1 + Array.from(data).filter((logit) => logit > data[target]).length;
    const cell = '#explore-lens .lens-table tbody tr:first-child td.asked button';
    assert.equal(
      await textOf(page, `${cell} .rank`),
      `#${new Intl.NumberFormat('en').format(rank)}`,
    );
    // A cell shows its list, by click and by keys.
    await page.click(cell);
    const name = model.text.token(target).text;
    await says(
      page,
      '.lens-list',
      new RegExp(`Embedding, at .*“${name}” has rank ${new Intl.NumberFormat('en').format(rank)}`),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await says(page, '.lens-list', new RegExp(`After L0, at .*${firstPin + 2}`));
    await page.click('#explore-lens summary');
    await page.waitForFunction(() => !document.querySelector('#explore-lens .lens-table'));
  },
);

roomTest(
  'arrows go to cells that are in sight beside the names of the rows',
  '?mode=why',
  async (page) => {
    await page.setViewport({ width: 460, height: 844 });
    const row = '#explore-lens .lens-table tbody tr:nth-child(2)';
    await page.waitForSelector(`${row} td:last-child button`);
    await page.focus(`${row} td:last-child button`);
    for (const key of /** @type {const} */ (['ArrowLeft', 'ArrowRight'])) {
      for (let i = 1; i < run.source.n; i++) {
        await page.keyboard.press(key);
        assert.equal(await focusInSight(page), true, `${key} ${i}`);
      }
    }
  },
);

roomTest(
  'the lens goes along with the token that is asked about, and with another text',
  '?mode=why',
  async (page) => {
    const { layers, n } = run.source;
    const cell = `#explore-lens .lens-table tbody tr:nth-child(2) td:nth-child(${n + 1}) button`;
    await page.waitForSelector(cell);
    await page.click(cell);
    await says(page, '.lens-list', new RegExp(`^After L0, at .*${n}`));
    await page.click('#explore-text [data-at="4"]');
    await says(page, '.lens-list', new RegExp(`^After L${layers - 1}, at [^ ]* ?5`));
    await page.evaluate(() => void (location.hash = '#explore?mode=why&text=one+two'));
    await says(page, '.lens-list', new RegExp(`^After L${layers - 1}, at ␣?two`));
    assert.equal((await page.$$('#explore-lens .lens-table [tabindex="0"]')).length, 1);
  },
);
