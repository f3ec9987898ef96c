// A text that was read in the Explore room: which of its runs a map comes from, and when runs end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headwise';
import { runModel } from '../web/page/explore/worker/model.js';
import { Reading } from '../web/page/explore/worker/reading.js';

import { openPageModel } from './page-model.js';

/** @import { HeadName } from '../web/page/shared/head-names.js' */

/** A reading whose runs are written down. @param {readonly HeadName[]} muted */
function reading(muted) {
  /** @type {(readonly HeadName[])[]} */ const read = [];
  /** @type {(readonly HeadName[])[]} */ const ended = [];
  const runOf = (/** @type {readonly HeadName[]} */ heads) => {
    read.push(heads);
    return /** @type {any} */ ({ muted: heads, source: {}, dispose: () => ended.push(heads) });
  };
  const text = new Reading('text', runOf, muted, () => /** @type {any} */ ({}));
  return { text, read, ended };
}

const FIRST = [{ layer: 2, head: 1 }];
const SECOND = [...FIRST, { layer: 1, head: 0 }];

test('maps of a muted head’s layer and of those below are those of the run with all heads', () => {
  const { text, read } = reading([]);
  const heard = text.now;
  text.mute(FIRST);
  assert.deepEqual(read, [[], FIRST], 'one more run');
  for (const layer of [0, 1, 2]) assert.equal(text.runOf(layer), heard, `layer ${layer}`);
  assert.equal(text.runOf(3), text.now);
  text.mute(SECOND);
  assert.equal(text.runOf(1), heard);
  assert.equal(text.runOf(2), text.now, 'a head below it is muted now');
  text.mute([]);
  assert.equal(text.now, heard);
  assert.deepEqual(read, [[], FIRST, SECOND], 'the run with all heads is kept');
});

test('a text that begins with muted heads is read with all heads only where that is asked', () => {
  const { text, read } = reading(FIRST);
  assert.equal(text.runOf(0), text.now);
  assert.deepEqual(read, [FIRST]);
  assert.deepEqual(text.heard.muted, []);
  assert.equal(text.runOf(0), text.heard);
  assert.deepEqual(read, [FIRST, []]);
});

test('runs that are not wanted any more end once, and all end with the text', () => {
  const { text, ended } = reading([]);
  text.mute(FIRST);
  text.mute(SECOND);
  assert.deepEqual(ended, [FIRST]);
  text.dispose();
  assert.deepEqual(ended, [FIRST, [], SECOND]);
});

/** A model of the page that writes down where its forwards begin. */
async function watchedModel() {
  const { decoder, text } = await openPageModel(await load(), 'austen');
  /** @type {number[]} */ const starts = [];
  const watched = {
    config: decoder.config,
    forward(/** @type {number[]} */ ids, /** @type {any} */ options) {
      starts.push(options.start?.layer ?? 0);
      return decoder.forward(ids, options);
    },
  };
  return {
    model: { decoder: /** @type {typeof decoder} */ (/** @type {unknown} */ (watched)), text },
    starts,
  };
}

test('a run with muted heads begins at the lowest of their layers, and is to the bit the whole one', async () => {
  const { model, starts } = await watchedModel();
  const { numHeads, numLayers, dModel } = model.decoder.config;
  const ids = model.text.encode('It is a truth universally acknowledged');
  const heard = runModel(model, ids, [], { keepsResiduals: true });
  assert.deepEqual(heard.residuals?.shape, [numLayers + 1, ids.length, dModel]);
  for (const muted of [FIRST, SECOND, [{ layer: numLayers - 1, head: 0 }]]) {
    starts.length = 0;
    const short = runModel(model, ids, muted, { heard, keepsResiduals: true });
    assert.deepEqual(starts, [Math.min(...muted.map(({ layer }) => layer))]);
    const whole = runModel(model, ids, muted);
    assert.equal(short.bytes, whole.bytes);
    for (let layer = 0; layer < numLayers; layer++)
      for (let head = 0; head < numHeads; head++) {
        const [own, right] = [short, whole].map(({ source }) =>
          source.rows(layer, head, 0, ids.length),
        );
        assert.deepEqual(own, right, `L${layer}H${head}`);
      }
    ids.forEach((_, at) => assert.deepEqual(short.logits(at), whole.logits(at), `logits ${at}`));
    for (const run of [short, whole]) run.dispose();
  }
  assert.equal(heard.source.rows(0, 0, 0, 1).length, ids.length, 'what they share is still there');
  heard.dispose();
});

test('where logits are too many to be kept, they come from the last residual stream', async () => {
  const { model, starts } = await watchedModel();
  const { decoder } = model;
  const { numLayers } = decoder.config;
  const ids = model.text.encode('She was not at all surprised');
  const config = { ...decoder.config, vocabSize: 2 ** 24 };
  const large = { ...model, decoder: { ...decoder, config } };
  const heard = runModel(/** @type {any} */ (large), ids, [], { keepsResiduals: true });
  const muted = runModel(/** @type {any} */ (large), ids, FIRST, { heard, keepsResiduals: true });
  assert.ok(!heard.hasLogits && !muted.hasLogits);
  starts.length = 0;
  for (const run of [heard, muted]) {
    const whole = runModel(model, ids, run.muted);
    const [own, right] = [run, whole].map(({ logits }) => logits(2));
    own.forEach((logit, i) =>
      assert.ok(Math.abs(logit - right[i]) < 1e-4, `${logit}, ${right[i]}`),
    );
    whole.dispose();
  }
  assert.deepEqual(starts, [0, numLayers, 0, numLayers]);
  for (const run of [muted, heard]) run.dispose();
});

test('of a long text the residual stream is not kept', async () => {
  const { model, starts } = await watchedModel();
  const { decoder } = model;
  const config = { ...decoder.config, dModel: 2 ** 22 };
  const wide = /** @type {any} */ ({ ...model, decoder: { ...decoder, config } });
  const heard = runModel(wide, [1, 2, 3], [], { keepsResiduals: true });
  assert.equal(heard.residuals, undefined);
  runModel(wide, [1, 2, 3], FIRST, { heard, keepsResiduals: true }).dispose();
  assert.deepEqual(starts, [0, 0]);
  heard.dispose();
});
