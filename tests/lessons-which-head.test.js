// The lesson "Which head did it?": what its words say is what its run shows, and its reason for lost differences holds.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { load, zeros } from 'headwise';
import { listen } from '../web/page/lessons/audience.js';
import { parseLesson } from '../web/page/lessons/parse.js';
import { loadInductionModel } from '../web/page/lessons/tools.js';

/** @import { Item } from '../web/page/lessons/audience.js' */

const file = new URL('../web/page/lessons/files/17-which-head.js', import.meta.url);

/** @type {number[]} */
let numbers;
before(async () => {
  /** @type {Item[]} */
  const items = [];
  listen((item) => items.push(item));
  await import(file.href);
  numbers = items.flatMap((item) => {
    if (item.kind === 'value') return typeof item.value === 'number' ? [item.value] : [];
    if (item.kind === 'bars') return item.bars.map(({ value }) => value);
    if (item.kind !== 'chain') return [];
    return item.parts.flatMap((part) =>
      typeof part === 'string' ? [] : part.grids.flatMap(({ values }) => [...values]),
    );
  });
});

test('every number in the words is one that the run shows', async () => {
  const { steps } = parseLesson(await readFile(file, 'utf8'));
  const said = steps.flatMap(({ text }) => text.join(' ').match(/−?\d+\.\d+/g) ?? []);
  assert.ok(said.length > 20, `${said.length}`);
  for (const words of said) {
    const decimals = words.split('.')[1].length;
    const value = Number(words.replace('−', '-'));
    const isShown = numbers.some(
      (one) => Math.abs(Math.abs(one) - Math.abs(value)) < 0.51 * 10 ** -decimals,
    );
    assert.ok(isShown, `${words} is shown`);
  }
});

test('a number of the run is shown as it is, not rounded first', () => {
  for (const number of numbers) {
    const isRounded = Number(number.toFixed(2)) === number && !Number.isInteger(number);
    assert.ok(!isRounded, `${number} has two decimals`);
  }
});

test('without a head of the last layer all logits are stretched by the same factor', async () => {
  const hw = await load();
  const { model, encode } = await loadInductionModel(hw);
  const ids = encode('gkQzbTxgkQz');
  const weights = model.stateDict();
  const [bias, unembedding] = ['ln_f.bias', 'wte.weight'].map((name) => weights[name]);
  const [layer, head] = [1, 6];
  const { logits } = model.forward(ids, { replace: [{ layer, head, output: zeros([11, 8]) }] });
  const factors = Array.from(logits.data, (measured, target) => {
    const { heads, total } = model.attribution(ids, { target });
    // The final norm's bias is added after its scale.
    const row = unembedding.data.subarray(target * 64, (target + 1) * 64);
    const fixed = row.reduce((sum, weight, i) => sum + weight * bias.data[i], 0);
    const left = total - heads.data[layer * 8 + head] - fixed;
    return Math.abs(left) > 1 ? (measured - fixed) / left : undefined;
  }).filter((factor) => factor !== undefined);
  assert.ok(factors.length > 20, `${factors.length}`);
  for (const factor of factors) assert.ok(Math.abs(factor - 1.1618) < 1e-3, `${factor}`);
  hw.dispose();
});
