// What the Explore room's Worker answers about a run, in Node: predictions, losses, what muting changes, and which questions end.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { attributionOf, keysOf } from '../web/page/explore/worker/attribution.js';
import { targetOf } from '../web/page/explore/worker/effects.js';
import { keepingLatest } from '../web/page/explore/worker/latest.js';
import { rows, scores, thumbs } from '../web/page/explore/worker/maps.js';
import {
  open,
  openedDecoder,
  otherRunOf,
  readingOf,
  run,
} from '../web/page/explore/worker/opened.js';
import * as questions from '../web/page/explore/worker/questions.js';
import { scoreLayer } from '../web/page/explore/worker/score-heads.js';
import { take } from '../web/page/explore/worker/slots.js';
import { told } from '../web/page/explore/worker/told.js';
import { headMaskOf } from '../web/page/explore/worker/traced.js';
import { HeadScorer, inductionKeys } from '../web/page/shared/head-scores.js';
import { pageModelFiles } from './page-model.js';

const TEXT = 'kT7eWm2cRq9fkT7eWm2c';
const about = { at: 13, target: null, against: null };
let number = 0;

before(async () => {
  await open(await pageModelFiles('induction'), () => {});
});

/** @param {Partial<Parameters<typeof run>[1]>} [how] */
function read(how) {
  const usual = { text: TEXT, isSample: false, added: [], muted: [], causal: true, softmax: false };
  return run(++number, { ...usual, ...how });
}

/** @param {number[]} ids @param {number[][]} [headMask] */
const logitsOf = (ids, headMask) => openedDecoder().decoder.forward(ids, { headMask }).logits.data;

/** @param {ArrayLike<number>} logits @param {number} id */
function logProbability(logits, id) {
  const all = Array.from(logits);
  const most = Math.max(...all);
  return all[id] - most - Math.log(all.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
}

/** @param {number} a @param {number} b */
const isNear = (a, b) => assert.ok(Math.abs(a - b) < 1e-4, `${a} ${b}`);

/** @template T @param {AsyncIterable<T>} parts @returns {Promise<T>} */
async function lastOf(parts) {
  /** @type {T | undefined} */
  let last;
  for await (const part of parts) last = part;
  return /** @type {T} */ (last);
}

const isStale = { code: 'ERR_STALE' };

test('only the latest run is asked about, and heads that the model has not are not muted', async () => {
  const first = read();
  const beyond = [
    { layer: 9, head: 0 },
    { layer: 0, head: 99 },
  ];
  const second = read({ muted: [...beyond, { layer: 1, head: 2 }] });
  assert.deepEqual(second.muted, [{ layer: 1, head: 2 }]);
  assert.throws(() => readingOf(first.run), isStale);
  await assert.rejects(questions.predict(first.run, about, 'view'), isStale);
  assert.equal((await questions.predict(second.run, about, 'view')).at, 13);
});

test('a slot that is taken again ends what had it, and no other slot does', async () => {
  const [first, other] = [take('a slot'), take('another slot')];
  await first();
  const second = take('a slot');
  await assert.rejects(first(), isStale);
  await Promise.all([second(), other()]);
  const { run: asked } = read();
  const one = questions.predict(asked, about, 'view');
  const report = questions.predict(asked, about, 'report');
  const two = questions.predict(asked, about, 'view');
  await assert.rejects(one, isStale);
  assert.deepEqual((await report).predictions, (await two).predictions);
});

test('a prediction lists each token once, with those that are asked about at the end', async () => {
  const { run: asked, ids } = read();
  const logits = logitsOf(ids.slice(0, 14));
  const order = Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a]);
  const likeliest = order.slice(0, 10);
  const [worst, next] = [order[order.length - 1], order[order.length - 2]];
  const idsOf = async (/** @type {Partial<typeof about>} */ part) => {
    const { predictions } = await questions.predict(asked, { ...about, ...part }, 'view');
    return predictions.map(({ token }) => token.id);
  };
  const actual = ids[14];
  assert.equal(likeliest.includes(actual), true);
  assert.deepEqual(await idsOf({}), likeliest);
  const both = { target: worst, against: next };
  assert.deepEqual(await idsOf(/** @type {any} */ (both)), [...likeliest, worst, next]);
  const twice = { target: worst, against: worst };
  assert.deepEqual(await idsOf(/** @type {any} */ (twice)), [...likeliest, worst]);
});

test('a token that is asked about without having been chosen is not compared with itself', async () => {
  const { run: asked, ids } = read();
  const next = ids[14];
  const [alone, itself, another] = [null, next, ids[3]].map((against) => ({ ...about, against }));
  assert.notEqual(ids[3], next);
  assert.equal((await questions.predict(asked, itself, 'view')).against, null);
  assert.equal((await questions.predict(asked, another, 'view')).against, ids[3]);
  /** @param {typeof alone} one */
  const partsOf = async (one) =>
    (await questions.attribution(asked, { ...one, directions: false }, 'view')).total;
  const total = await partsOf(alone);
  assert.equal(await partsOf(itself), total);
  assert.notEqual(await partsOf(another), total);
  /** @param {typeof alone} one */
  const effectsOf = (one) => lastOf(questions.effects(asked, one, 'zero'));
  assert.deepEqual(await effectsOf(itself), await effectsOf(alone));
});

test('the token that is asked about is the chosen one, else the text’s own, else the likeliest; none where logits are NaN', () => {
  const base = (/** @type {number[]} */ ...logits) =>
    /** @type {any} */ ({ logits: () => Float32Array.from(logits) });
  const now = /** @type {any} */ ({ actual: (/** @type {number} */ at) => [2][at] });
  assert.equal(targetOf(now, base(0, 5, 1), 0, 0), 0);
  assert.equal(targetOf(now, base(0, 5, 1), 0, null), 2);
  assert.equal(targetOf(now, base(0, 5, 1), 1, null), 1);
  assert.equal(targetOf(now, base(0, NaN, 1), 0, 0), null);
  assert.equal(targetOf(now, base(-Infinity, -Infinity), 0, 0), null);
});

test('losses are of every token but the first, with the muted heads and with all', async () => {
  const { run: asked, ids } = read({ muted: [{ layer: 1, head: 2 }] });
  const found = await questions.losses(asked);
  assert.ok(found);
  const { decoder } = openedDecoder();
  const mask = headMaskOf(decoder, [{ layer: 1, head: 2 }]);
  const expectedOf = (/** @type {number[][]} */ headMask) =>
    ids.slice(1).map((id, at) => -logProbability(logitsOf(ids.slice(0, at + 1), headMask), id));
  const meanOf = (/** @type {number[]} */ all) =>
    all.reduce((sum, loss) => sum + loss, 0) / all.length;
  const expected = expectedOf(/** @type {number[][]} */ (mask));
  assert.equal(found.losses.length, ids.length - 1);
  expected.forEach((loss, at) => isNear(found.losses[at], loss));
  isNear(found.mean, meanOf(expected));
  isNear(found.before, meanOf(expectedOf([Array(8).fill(1), Array(8).fill(1)])));
  assert.equal(await questions.losses(read({ text: 'k' }).run), null, 'a single token');
});

test('words are asked about by their first token, and no words are refused', () => {
  const [k, whole] = [questions.tokenOf('k'), questions.tokenOf('kT')];
  assert.deepEqual([k.token.text, k.isWhole], ['k', true]);
  assert.deepEqual([whole.token.id, whole.isWhole], [k.token.id, false]);
  assert.throws(() => questions.tokenOf(''), { code: 'ERR_EMPTY' });
});

test('a model writes until its context is full, and nothing after a full one', async () => {
  const { contextLength } = openedDecoder().decoder.config;
  const almost = 'k'.repeat(contextLength - 2);
  const how = { temperature: 0 };
  const written = [];
  for await (const { id } of questions.write(read({ text: almost }).run, 5, how)) written.push(id);
  assert.equal(written.length, 2);
  const full = questions.write(read({ text: `${almost}kk` }).run, 5, how);
  await assert.rejects(full.next(), { code: 'ERR_TOO_LONG' });
});

test('what an address says that was written is read as far as the vocabulary has it', () => {
  const { vocabSize } = openedDecoder().decoder.config;
  const { ids, written } = read({ text: 'kT', added: [3, vocabSize, vocabSize - 1] });
  assert.deepEqual([ids.slice(2), written], [[3, vocabSize - 1], 2]);
});

test('another text is run once, and anew with other heads muted', () => {
  const { ids } = read();
  const first = otherRunOf(ids.slice(0, 5), []);
  assert.equal(otherRunOf(ids.slice(0, 5), []), first);
  const muted = otherRunOf(ids.slice(0, 5), [{ layer: 0, head: 4 }]);
  assert.notEqual(muted, first);
  assert.notEqual(otherRunOf(ids.slice(0, 6), [{ layer: 0, head: 4 }]), muted);
});

test('after the last layer the lens is the prediction: its ranks count from 1', async () => {
  const { run: asked, ids, layers } = read();
  const target = ids[14];
  const where = { from: 12, to: 14, target };
  const { from, done, rows: found } = await lastOf(questions.lens(asked, where, 'view'));
  assert.deepEqual([from, done, found.length, found[0].length], [12, 1, layers + 1, 2]);
  const logits = logitsOf(ids.slice(0, 14));
  const { rank, share, top } = found[layers][1];
  const better = Array.from(logits).filter((logit) => logit > logits[target]).length;
  assert.equal(rank, 1 + better);
  isNear(share, Math.exp(logProbability(logits, target)));
  assert.equal(top.length, 8);
  assert.equal(top[0].token.id, logits.indexOf(Math.max(...logits)));
  for (const { token, share: its } of top) {
    isNear(its, Math.exp(logProbability(logits, Number(token.id))));
  }
});

test('the lens and a score are those of the model without its muted heads', async () => {
  const muted = [{ layer: 0, head: 3 }];
  const { run: asked, ids, layers, heads } = read({ muted });
  const mask = Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: heads }, (__, head) => (layer === 0 && head === 3 ? 0 : 1)),
  );
  const target = ids[14];
  const where = { from: 13, to: 14, target };
  const { rows: found } = await lastOf(questions.lens(asked, where, 'view'));
  const logits = logitsOf(ids.slice(0, 14), mask);
  isNear(found[layers][0].share, Math.exp(logProbability(logits, target)));

  const looked = { layer: 1, head: 2, query: 13, key: 2 };
  const [score, other] = [
    await questions.qkScore(asked, looked, 'view'),
    await questions.qkScore(asked, { ...looked, key: 4 }, 'view'),
  ];
  const weights = readingOf(asked).now.source.rows(1, 2, 13, 14);
  isNear(score.score - other.score, Math.log(weights[2] / weights[4]));
});

test('a head’s part of a logit is split over its keys, and a muted one has none', async () => {
  const name = { layer: 1, head: 2 };
  const partsOf = async (
    /** @type {import('../web/page/shared/head-names.js').HeadName[]} */ muted,
  ) => {
    const { run: asked, ids, heads } = read({ muted });
    const { now } = readingOf(asked);
    const model = openedDecoder();
    const found = attributionOf(model, now, { ...about, target: ids[14], directions: true });
    const i = name.layer * heads + name.head;
    const size = /** @type {Float32Array} */ (found.directions).length / found.heads.length;
    const direction = /** @type {Float32Array} */ (found.directions).slice(
      i * size,
      (i + 1) * size,
    );
    const { weights, shares } = keysOf(now, { ...name, at: 13, direction });
    assert.equal(weights.length, 14);
    return { sum: shares.reduce((sum, share) => sum + share, 0), part: found.heads[i] };
  };
  const heard = await partsOf([]);
  isNear(heard.sum, heard.part);
  assert.ok(Math.abs(heard.part) > 0.1);
  const { sum, part } = await partsOf([name]);
  assert.deepEqual([sum, Math.abs(part)], [0, 0]);
  const beside = await partsOf([{ layer: 1, head: 0 }]);
  isNear(beside.sum, beside.part);
  assert.ok(Math.abs(beside.part) > 0.1);
});

test('a score has the parts of the layers below its head, on both sides', async () => {
  const { run: asked, heads } = read();
  for (const layer of [0, 1]) {
    const looked = { layer, head: 2, query: 13, key: 2 };
    const { score, query, key, pairs } = await questions.qkScore(asked, looked, 'view');
    for (const side of [query, key]) {
      assert.deepEqual([side.heads.length, side.mlps.length], [layer * heads, layer]);
      const parts = [...side.heads, ...side.mlps, side.embedding, side.biases];
      isNear(
        parts.reduce((sum, part) => sum + part, 0),
        score,
      );
    }
    const size = pairs.parts.length;
    const at = pairs.parts.findIndex(({ kind }) => kind === 'embedding');
    const ofOthers = Array.from({ length: size }, (_, other) => other);
    const sum = (/** @type {(other: number) => number} */ place) =>
      ofOthers.reduce((all, other) => all + pairs.scores[place(other)], 0);
    isNear(
      query.embedding,
      sum((keyPart) => at * size + keyPart),
    );
    isNear(
      key.embedding,
      sum((queryPart) => queryPart * size + at),
    );
  }
});

test('small maps and scores of a layer are computed once', async () => {
  const { run: asked } = read();
  const size = 8;
  const first = await thumbs(asked, { layer: 0, size });
  const second = await thumbs(asked, { layer: 0, size });
  assert.equal(second.maps, first.maps);
  assert.equal((await thumbs(asked, { layer: 0, size: 100 })).size, TEXT.length);
  assert.equal(await scores(asked, 0), await scores(asked, 0));
});

test('all views of a rollout have it, whoever asks first', async () => {
  const { run: asked, n } = read();
  const what = /** @type {any} */ ({
    of: 'rollout',
    over: 'layer',
    layer: 1,
    head: 0,
    hideFirst: false,
  });
  const whole = { queries: [0, n], keys: [0, n], height: n, width: n };
  const { region } = await import('../web/page/explore/worker/maps.js');
  const line = rows(asked, { what, start: 3, end: 4 });
  const map = region(asked, /** @type {any} */ ({ slot: 'map 0', what, region: whole }));
  const [row, { values }] = await Promise.all([line, map]);
  assert.deepEqual([...row], [...values.slice(3 * n, 4 * n)]);
  const late = rows(asked, { what: { ...what, layer: 0 }, start: 0, end: 1 });
  const head = { ...what, of: 'head' };
  region(asked, /** @type {any} */ ({ slot: 'map 0', what: head, region: whole }));
  await assert.rejects(late, isStale);
});

test('who leaves a long work ends it, and so does what is checked before a report', async () => {
  /** @type {AbortSignal[]} */
  const signals = [];
  const work = (/** @type {AbortSignal} */ signal) => {
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error())));
  };
  for await (const part of told(
    work,
    () => 'some',
    async () => {},
  )) {
    assert.equal(part, 'some');
    break;
  }
  const stop = async () => {
    throw new Error('Stop.');
  };
  await assert.rejects(lastOf(told(work, () => 'some', stop)), /Stop/);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test('a mask is of muted heads, and none where all are heard; logits of one place are kept', () => {
  const network = { config: { numLayers: 2, numHeads: 2 } };
  assert.equal(headMaskOf(network, []), undefined);
  const muted = [{ layer: 1, head: 0 }];
  assert.deepEqual(headMaskOf(network, muted), [
    [1, 1],
    [0, 1],
  ]);
  /** @type {number[]} */
  const asked = [];
  const latest = keepingLatest((at) => {
    asked.push(at);
    return Float32Array.of(at);
  });
  assert.deepEqual(
    [3, 3, 4, 3].map((at) => latest(at)[0]),
    [3, 3, 4, 3],
  );
  assert.deepEqual(asked, [3, 4, 3]);
});

test('the scores of a text of many blocks are those of all its rows', async () => {
  const n = 300;
  const ids = Array.from({ length: n }, (_, i) => i % 7);
  const row = (/** @type {number} */ query) =>
    Array.from({ length: n }, (_, k) => (k > query ? 0 : (1 + ((k * 7 + query) % 5)) / (3 * n)));
  const weights = Float32Array.from(Array.from({ length: n }, (_, query) => row(query)).flat());
  const source = /** @type {any} */ ({
    ...{ n, layers: 1, heads: 1, causal: true },
    rows: (
      /** @type {number} */ _,
      /** @type {number} */ __,
      /** @type {number} */ start,
      /** @type {number} */ end,
    ) => weights.slice(start * n, end * n),
  });
  const scorer = new HeadScorer(n, inductionKeys(ids));
  scorer.add(weights, 0);
  assert.deepEqual(await scoreLayer(source, 0, ids, async () => {}), [scorer.scores]);
});
