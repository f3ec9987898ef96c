// The Explore room with the model of indirect objects.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { MODELS } from '../../web/page/explore/models.js';
import { reread, roomTest, says, scored, write } from './explore-room.js';

/** @import { Page } from 'puppeteer-core' */

const { sample, telling, texts } = MODELS.names;
const scores = JSON.parse(
  await readFile(new URL('../../web/page/models/names/scores.json', import.meta.url), 'utf8'),
);

/** @param {Page} page @returns {Promise<[token: string, percent: number]>} of the likeliest next token */
async function likeliest(page) {
  const [token, share] = await page.$eval('.next-tokens tbody tr', (row) => [
    row.querySelector('.token')?.textContent ?? '',
    row.querySelectorAll('td')[1]?.textContent ?? '',
  ]);
  return [token, Number.parseFloat(share)];
}

roomTest('the names model says who is given something', '?model=names', async (page) => {
  const [name, share] = await likeliest(page);
  assert.equal(name, 'mary');
  assert.ok(share > 90, `${share} %`);
  assert.equal((await page.$$('#explore-grid button')).length, 12);
  for (const [, text] of texts) {
    const [, giver] = /** @type {RegExpExecArray} */ (/(\w+) (?:gave|offered) .*$/.exec(text));
    const [other] =
      text.match(/\b(mary|john|jack|adam|thomas)\b/g)?.filter((each) => each !== giver) ?? [];
    await reread(page, () =>
      page.evaluate((words) => {
        location.hash = `#explore?model=names&text=${encodeURIComponent(words)}`;
      }, text),
    );
    assert.equal((await likeliest(page))[0], other, text);
  }
});

roomTest('words that it does not know are named', '?model=names', async (page) => {
  await says(page, '#explore-unknown', /^$/);
  await write(page, 'When Mary and Xenia went to the store, Xenia gave a drink to');
  await says(
    page,
    '#explore-unknown',
    /^This model’s vocabulary lacks “Xenia”: “\?” stands for it\.$/,
  );
});

roomTest('its answer hangs on the heads that its card names', '?model=names', async (page) => {
  const { inhibition, mover } = scores.circuit.roles;
  const [, before] = await likeliest(page);
  await reread(page, () =>
    page.evaluate(
      (muted) => (location.hash += `&mute=${muted}`),
      [...inhibition, ...mover].join('_'),
    ),
  );
  const [name, after] = await likeliest(page);
  assert.ok(name !== 'mary' || after < before - 40, `${before} % becomes ${name} ${after} %`);
});

roomTest('its heads worth a look look where they are said to', '?model=names', async (page) => {
  const { heads, roles } = scores.circuit;
  const [mover, inhibition, both] = telling;
  assert.ok(roles.mover.includes(`L${mover.layer}H${mover.head}`));
  assert.ok(roles.inhibition.includes(`L${inhibition.layer}H${inhibition.head}`));
  assert.ok(roles.both.includes(`L${both.layer}H${both.head}`));
  assert.ok(heads[mover.layer][mover.head].mover > 0.4);
  assert.match(sample, /^when mary and john/);
  await page.select('#explore-model', 'austen');
  await scored(page);
  await page.select('#explore-model', 'names');
  await page.waitForFunction(
    (count) => document.querySelectorAll('#explore-telling li').length === count,
    {},
    telling.length,
  );
});
