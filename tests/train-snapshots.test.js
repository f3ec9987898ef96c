// What a run of the Train room tells of itself after a step: maps, scores, accuracy, loss, and which heads are muted.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { load, tensor } from 'headwise';
import { SCORES } from '../web/page/train/scores.js';
import { DEFAULTS } from '../web/page/train/settings.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../web/page/train/tasks/tasks.js';
import { Trainer } from '../web/page/train/trainer.js';

/** @import { Headwise } from 'headwise' */

/** @type {Headwise} */
let hw;
before(async () => (hw = await load({ simd: 'simd128' })));
after(() => hw.dispose());

test('the maps are of each head by itself, and a weight is told in 255 parts', () => {
  const trainer = new Trainer(hw, drawnTasks.reversal, DEFAULTS.reversal);
  const { maps } = trainer.snapshot();
  const [weights] = trainer.model.forward(trainer.example.ids, { needWeights: true }).weights;
  const { numHeads } = trainer.model.options;
  assert.equal(maps.length, weights.data.length);
  assert.deepEqual(
    maps,
    Uint8Array.from(weights.data, (weight) => Math.round(255 * weight)),
  );
  const cells = maps.length / numHeads;
  const [first, second] = [0, 1].map((head) => maps.slice(head * cells, (head + 1) * cells));
  assert.notDeepEqual(first, second);
  trainer.dispose();
});

test('the entropy of a head that looks everywhere alike is 1, the most that there is', () => {
  const trainer = new Trainer(hw, drawnTasks.reversal, DEFAULTS.reversal);
  for (const parameter of trainer.model.parameters()) {
    const { name, shape } = parameter;
    if (!name.includes('c_attn')) continue;
    const { length } = parameter.data.data;
    parameter.data = tensor(new Float32Array(length), shape);
  }
  const { scores } = trainer.snapshot();
  const at = SCORES.indexOf('entropy');
  const entropies = scores.filter((_, i) => i % SCORES.length === at);
  assert.equal(entropies.length, 4);
  for (const entropy of entropies) assert.ok(Math.abs(entropy - 1) < 1e-6, `${entropy}`);
  trainer.dispose();
});

test('what is shown and what accuracy is measured on is held out, some thousand tokens of it', () => {
  const { induction } = drawnTasks;
  /** @type {unknown[]} */
  const drawn = [];
  /** @type {typeof induction} */
  const task = {
    ...induction,
    row(random, heldOut = false) {
      drawn.push(heldOut);
      return induction.row(random);
    },
  };
  const trainer = new Trainer(hw, task, DEFAULTS.induction);
  assert.ok(drawn.every((heldOut) => heldOut));
  const tokens = (drawn.length - 1) * induction.tokens;
  assert.ok(tokens >= 1000 && tokens < 1100, `${tokens}`);
  drawn.splice(0);
  trainer.train();
  assert.deepEqual(drawn, Array(induction.batch).fill(false));
  trainer.snapshot(true);
  assert.equal(drawn.length, induction.batch);
  trainer.dispose();
});

test('the loss that is told follows the losses of the steps slowly', () => {
  const trainer = new Trainer(hw, drawnTasks.reversal, DEFAULTS.reversal);
  const first = trainer.train();
  assert.equal(trainer.loss, first);
  const second = trainer.train();
  assert.ok(first !== second);
  assert.ok(Math.abs(Number(trainer.loss) - (0.95 * first + 0.05 * second)) < 1e-9);
  trainer.dispose();
});

test('heads of the same number are muted in each layer by themselves', () => {
  const trainer = new Trainer(hw, drawnTasks.induction, DEFAULTS.induction);
  const heads = [0, 1].map((layer) => ({ layer, head: 0 }));
  for (const head of heads) trainer.mute(head, true);
  assert.deepEqual(trainer.muted, heads);
  trainer.mute(heads[0], false);
  assert.deepEqual(trainer.muted, [heads[1]]);
  trainer.dispose();
});

test('what a text’s model writes is drawn at random: the likeliest alone would repeat themselves', async () => {
  const austen = textTask(await readFile(AUSTEN, 'utf8'), PROMPT);
  const trainer = new Trainer(hw, austen, DEFAULTS.austen);
  const { characters, model } = trainer;
  const ids = [...PROMPT].map((character) => characters.indexOf(character));
  const likeliest = [
    ...model.generate(ids, { maxTokens: austen.tokens - ids.length, temperature: 0 }),
  ];
  assert.notEqual(trainer.snapshot().written, likeliest.map((id) => characters[id]).join(''));
  trainer.dispose();
});
