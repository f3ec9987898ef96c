// What is saved of a run of the Train room: its folder's files, and the run that is read from them or from their .zip.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { load } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { folderName, modelFiles } from '../web/page/train/files.js';
import { readSaved, zipOf } from '../web/page/train/saved.js';
import { DEFAULTS } from '../web/page/train/settings.js';
import { drawnTasks } from '../web/page/train/tasks/tasks.js';
import { Trainer } from '../web/page/train/trainer.js';

/** @import { Headwise } from 'headwise' */
/** @import { Settings } from '../web/page/train/settings.js' */

/** @type {Headwise} */
let hw;
before(async () => (hw = await load({ simd: 'simd128' })));
after(() => hw.dispose());

/** @param {Partial<Settings>} [part] */
const newTrainer = (part) =>
  new Trainer(hw, drawnTasks.reversal, { ...DEFAULTS.reversal, ...part });

/** @param {Trainer} trainer @param {number} steps */
const losses = (trainer, steps) => Array.from({ length: steps }, () => trainer.train());

/** @typedef {Record<string, Uint8Array<ArrayBuffer>>} Files */

/** @param {string} path @param {BlobPart} content */
const found = (path, content) => ({ path, file: new File([content], path) });

/** As a .zip is found. @param {Files} files @param {string} [folder] */
const zipped = (files, folder = 'x') => [found(`${folder}.zip`, zipOf(files, folder))];

/** As the folder that was in it is found. @param {Files} files @param {string} [folder] */
const unzipped = (files, folder = 'x') =>
  Object.entries(files).map(([name, bytes]) => found(`${folder}/${name}`, bytes));

test('a saved folder opens as a GPT-2, and the run goes on from it to the bit', async () => {
  /** @type {Settings} */
  const settings = { ...DEFAULTS.reversal, seed: 9, heads: 2 };
  const trainer = newTrainer(settings);
  losses(trainer, 4);
  const files = modelFiles(trainer, settings);
  const model = await loadGpt2(hw, {
    config: JSON.parse(new TextDecoder().decode(files['config.json'])),
    weights: files['model.safetensors'],
  });
  assert.deepEqual(model.stateDict(), trainer.model.stateDict());
  const kept = await readSaved(zipped(files, 'reversal-4'));
  assert.deepEqual(kept.settings, settings);
  const other = newTrainer(kept.settings);
  other.restore(kept.saved);
  assert.deepEqual(losses(other, 3), losses(trainer, 3));
  for (const one of [model, trainer, other]) one.dispose();
  for (const some of [
    unzipped(files),
    [...unzipped(files), ...unzipped({ 'a.txt': files['config.json'] })],
  ]) {
    assert.deepEqual(await readSaved(some), kept, 'the folder that was in it');
  }
});

test('a saved folder says that no token begins or ends a text, and opens with loadModel', async () => {
  const trainer = newTrainer();
  const files = modelFiles(trainer, DEFAULTS.reversal);
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  // A config that says nothing means GPT-2's 50256, which is no token of so small a vocabulary.
  assert.deepEqual([config.bos_token_id, config.eos_token_id], [null, null]);
  const model = await loadModel(hw, { config, weights: files['model.safetensors'] });
  const { ids } = trainer.example;
  assert.deepEqual(model.forward(ids).logits.data, trainer.model.forward(ids).logits.data);
  for (const one of [model, trainer]) one.dispose();
});

test('a saved folder has a text that is too long for an address', async () => {
  const trainer = newTrainer();
  const settings = { ...DEFAULTS.own, text: 'It was a truth. '.repeat(400) };
  const { settings: read } = await readSaved(zipped(modelFiles(trainer, settings)));
  assert.deepEqual(read, settings);
  trainer.dispose();
});

test('a saved folder keeps which heads are muted, and what they wrote before', async () => {
  const settings = DEFAULTS.reversal;
  const [trainer, other] = [newTrainer(), newTrainer()];
  losses(trainer, 2);
  const heads = [1, 3].map((head) => ({ layer: 0, head }));
  for (const head of heads) trainer.mute(head, true);
  losses(trainer, 2);
  other.restore((await readSaved(zipped(modelFiles(trainer, settings)))).saved);
  assert.deepEqual(other.muted, heads);
  assert.ok(Number(trainer.loss) > 1);
  assert.equal(other.loss, trainer.loss, 'as the curve has it');
  assert.deepEqual(losses(other, 2), losses(trainer, 2));
  for (const one of [trainer, other]) one.mute(heads[0], false);
  assert.deepEqual(other.snapshot(), trainer.snapshot());
  assert.deepEqual(other.save(), trainer.save());
  for (const one of [trainer, other]) one.dispose();
});

test('a run that learnt with a muted head remembers it, saved and read again too', async () => {
  const head = { layer: 0, head: 1 };
  const [trainer, other] = [newTrainer(), newTrainer()];
  losses(trainer, 2);
  trainer.mute(head, true);
  assert.equal(trainer.snapshot().wasMuted, true, 'its maps are others at once');
  trainer.mute(head, false);
  assert.equal(trainer.snapshot().wasMuted, false, 'no step was done without the head');
  trainer.mute(head, true);
  losses(trainer, 1);
  trainer.mute(head, false);
  assert.equal(trainer.snapshot().wasMuted, true);
  other.restore((await readSaved(zipped(modelFiles(trainer, DEFAULTS.reversal)))).saved);
  assert.equal(other.snapshot().wasMuted, true);
  for (const one of [trainer, other]) one.dispose();
});

test('a folder’s name tells of its muted heads', () => {
  const heads = [0, 1, 2, 3, 4].map((head) => ({ layer: 1, head }));
  const nameOf = (/** @type {number} */ count) =>
    folderName(DEFAULTS.sorting, { step: 75, muted: heads.slice(0, count) });
  assert.equal(nameOf(0), 'sorting-75');
  assert.equal(nameOf(2), 'sorting-75-L1H0-L1H1-muted');
  assert.equal(nameOf(5), 'sorting-75-5-heads-muted');
});

test('what is no saved run is refused by name, in one sentence, and so are two runs at once', async () => {
  const trainer = newTrainer();
  const files = modelFiles(trainer, DEFAULTS.reversal);
  trainer.dispose();
  const refused = (/** @type {ReturnType<typeof found>[]} */ some, /** @type {string} */ message) =>
    assert.rejects(readSaved(some), { code: 'ERR_FORMAT', message });
  const not = 'This is not a folder that was saved here';
  await refused([found('a.zip', 'no zip')], 'a.zip cannot be unpacked: invalid zip data.');
  const damaged = new Uint8Array(await zipOf(files, 'b').arrayBuffer()).fill(255, 120, 400);
  await assert.rejects(readSaved([found('b.zip', damaged)]), /b\.zip cannot be unpacked/);
  await refused([found('a.bin', 'PK')], `a.bin: ${not}: it has no training.json.`);
  await refused([], `${not}: it has no training.json.`);
  const { 'optimizer.safetensors': _, ...some } = files;
  await refused(unzipped(some), `x: ${not}: it has no optimizer.safetensors.`);
  await refused(zipped(some), `x.zip: ${not}: it has no optimizer.safetensors.`);
  const told = JSON.parse(new TextDecoder().decode(files['training.json']));
  for (const step of [undefined, 'x', -5, 1.5]) {
    const bad = new TextEncoder().encode(JSON.stringify({ ...told, step }));
    const words = `x: ${not}: training.json names no step.`;
    await refused(unzipped({ ...files, 'training.json': bad }), words);
  }
  await refused(
    [...zipped(files, 'a'), ...zipped(files, 'b')],
    'There are 2 saved runs (a.zip, b.zip). Open one of them.',
  );
  await refused(
    [...unzipped(files, 'a'), ...unzipped(files, 'b')],
    'There are 2 saved runs (a/training.json, b/training.json). Open one of them.',
  );
});
