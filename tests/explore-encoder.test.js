// Encoders in the Explore room: special tokens, what is predicted of a masked token, effects of heads, scores.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { lastToken } from '../web/page/explore/session.js';
import { hasMeasure } from '../web/page/explore/has-measure.js';
import { effectsOf, targetOf } from '../web/page/explore/worker/effects.js';
import { idsOf, openModel, predictionOf, runModel } from '../web/page/explore/worker/model.js';
import { scoreOf } from '../web/page/explore/worker/predict.js';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { HeadScorer, inductionKeys } from '../web/page/shared/head-scores.js';
import { byteLevel, wordPieces } from './encoder-tokenizers.js';
import { allClose, engine } from './helpers.js';

const TOKENIZERS = { bert: wordPieces(), distilbert: wordPieces(), roberta: byteLevel() };
const TEXT = 'the cats sat on a mat.';
const hw = await engine();
const breathe = async () => {};

/** @param {string} name @param {object} [tokenizer] */
async function open(name, tokenizer) {
  const file = async (/** @type {string} */ path) =>
    new Blob([await readFile(new URL(`fixtures/models/${name}/${path}`, import.meta.url))]);
  const model = await openModel(hw, {
    config: await file('config.json'),
    weights: await file('model.safetensors'),
    tokenizer: tokenizer && new Blob([JSON.stringify(tokenizer)]),
  });
  assert.ok('encoder' in model);
  return model;
}

test('a text of words is tokens between [CLS] and [SEP], which are shown as such', () => {
  const text = readTokenizer(wordPieces());
  const shown = (/** @type {readonly number[]} */ ids) => ids.map((id) => text.token(id));
  assert.deepEqual(
    [...shown(text.before), ...shown(text.after)].map((token) => [token.text, token.isSpecial]),
    [
      ['[CLS]', true],
      ['[SEP]', true],
    ],
  );
  const words = shown(text.encode('The cats sat.'));
  assert.deepEqual(
    words.map((token) => [token.text, token.isApart]),
    [
      ['the', true],
      ['cat', true],
      ['##s', false],
      ['sat', true],
      ['.', false],
    ],
  );
  assert.equal(text.token(/** @type {number} */ (text.mask)).text, '[MASK]');
  const bytes = readTokenizer(byteLevel());
  const names = [...bytes.before, ...bytes.after, /** @type {number} */ (bytes.mask)];
  assert.deepEqual(
    names.map((id) => bytes.token(id).text),
    ['<s>', '</s>', '<mask>'],
  );
});

test('a sample that is too long keeps the special token at its end; an own text is refused; no words are no text', async () => {
  const model = await open('bert', wordPieces());
  const long = 'the cat sat on the mat. '.repeat(9);
  const ids = idsOf(model, long, [], true);
  assert.equal(ids.length, model.encoder.config.contextLength);
  assert.deepEqual([ids[0], ids.at(-1)], [...model.text.before, ...model.text.after]);
  const code = (/** @type {string} */ expected) => (/** @type {any} */ error) =>
    error.code === expected;
  assert.throws(() => idsOf(model, long, []), code('ERR_TOO_LONG'));
  assert.throws(() => idsOf(model, ' ', [5]), code('ERR_EMPTY'));
  model.encoder.dispose();
});

for (const [name, tokenizer] of Object.entries(TOKENIZERS))
  test(`${name}: a masked token’s logits, and what muting each head does to them, are the encoder’s own`, async () => {
    const model = await open(name, tokenizer);
    const { encoder, text } = model;
    assert.deepEqual(predictionOf(model), { predicts: 'masked' });
    const ids = idsOf(model, TEXT, []);
    const at = 3;
    const masked = ids.with(at, /** @type {number} */ (text.mask));
    const { numLayers, numHeads, vocabSize } = encoder.config;
    const expected = (/** @type {number[][]} */ headMask) => {
      const { logits } = encoder.forward(masked, { headMask });
      return Float32Array.from(logits?.data.slice(at * vocabSize, (at + 1) * vocabSize) ?? []);
    };
    const all = () => Array.from({ length: numLayers }, () => Array(numHeads).fill(1));
    const run = runModel(model, ids, []);
    assert.equal(run.source.causal, false);
    assert.deepEqual(run.logits(at), expected(all()));
    assert.equal(targetOf(run, run, at, null), ids[at]);
    const weights = run.source.rows(1, 2, 0, 1);
    assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-5);
    assert.ok(weights[ids.length - 1] > 0, 'the first token sees the last');

    const muted = [{ layer: 0, head: 1 }];
    const without = runModel(model, ids, muted);
    const heard = all();
    heard[0][1] = 0;
    assert.deepEqual(without.logits(at), expected(heard));
    const about = { at, target: ids[at], against: null };
    /** @type {import('../web/page/explore/worker/effects.js').Effects | undefined} */
    let latest;
    for await (const part of effectsOf(model, run, about, breathe)) latest = part;
    const right = Array.from({ length: numLayers * numHeads }, (_, i) => {
      const mask = all();
      mask[Math.floor(i / numHeads)][i % numHeads] = 0;
      return scoreOf(expected(mask), ids[at], null) - scoreOf(expected(all()), ids[at], null);
    });
    allClose(
      { shape: [right.length], data: latest?.effects ?? [] },
      { shape: [right.length], data: right },
    );
    // What is muted already stays so while the others are muted in turn.
    for await (const part of effectsOf(model, without, about, breathe)) latest = part;
    const besides = right.map((_, i) => {
      const mask = all();
      mask[0][1] = 0;
      mask[Math.floor(i / numHeads)][i % numHeads] = 0;
      return scoreOf(expected(mask), ids[at], null) - scoreOf(expected(heard), ids[at], null);
    });
    allClose(
      { shape: [right.length], data: latest?.effects ?? [] },
      { shape: [right.length], data: besides },
    );
    run.dispose();
    without.dispose();
    encoder.dispose();
  });

test('a [MASK] in the text is asked about first, and hides what the model finds likeliest', async () => {
  const model = await open('bert', wordPieces());
  const run = runModel(model, idsOf(model, 'the cat [MASK] on a mat.', []), []);
  const at = run.ids.indexOf(/** @type {number} */ (model.text.mask));
  assert.equal(lastToken({ n: run.ids.length, causal: false, tokens: run.tokens }), at);
  assert.equal(run.actual(at), undefined);
  const logits = run.logits(at);
  assert.equal(targetOf(run, run, at, null), logits.indexOf(Math.max(...logits)));
  run.dispose();
  model.encoder.dispose();
});

test('a file without a head, and a text of ids, predict nothing, and say why', async () => {
  const plain = await open('bert-plain', wordPieces());
  const { predicts, why } = predictionOf(plain);
  assert.equal(predicts, 'nothing');
  assert.match(why ?? '', /no masked-language-model head/);
  const ids = await open('bert');
  assert.match(ids.note ?? '', /no tokenizer\.json .* token ids/);
  assert.match(predictionOf(ids).why ?? '', /Without a tokenizer there is no \[MASK\]/);
  assert.deepEqual(idsOf(ids, '3 1 4', []), [3, 1, 4]);
  plain.encoder.dispose();
  ids.encoder.dispose();
});

test('a measure of heads is offered where it means something', () => {
  const measures = ['attribution', 'effect', 'induction', 'next', 'entropy', 'none'];
  const offered = (/** @type {Parameters<typeof hasMeasure>[1]} */ model) =>
    measures.filter((name) => hasMeasure(name, model)).join(' ');
  const shown = [
    offered({ causal: true, predicts: 'next' }),
    offered({ causal: false, predicts: 'masked' }),
    offered({ causal: false, predicts: 'nothing' }),
  ];
  assert.deepEqual(shown, [
    'attribution effect induction entropy none',
    'effect next entropy none',
    'next entropy none',
  ]);
});

test('the next token’s score is its mean weight, and distances count in both directions', () => {
  const weights = [0.2, 0.5, 0.3, 0.1, 0.2, 0.7, 0.4, 0.4, 0.2];
  const scorer = new HeadScorer(3, inductionKeys([1, 2, 3]));
  scorer.add(weights, 0);
  // The first query is none of the scored ones, and the last has no next token.
  assert.equal(scorer.scores.next, 0.7);
  // Tokens after a query are as far as those before it: 0.1 + 0.7 of the second, 2 × 0.4 + 0.4 of the third.
  assert.ok(Math.abs(scorer.scores.distance - 1) < 1e-12);
});

test('the token that is asked about first is the last of the text, and no special one where all are seen', () => {
  const tokens = ['[CLS]', 'a', 'b', '[SEP]'].map((text, id) => ({
    id,
    text,
    isSpecial: /\[/.test(text),
  }));
  assert.equal(lastToken({ n: 4, causal: false, tokens }), 2);
  assert.equal(lastToken({ n: 4, causal: true, tokens }), 3);
  assert.equal(lastToken({ n: 1, causal: false, tokens: tokens.slice(0, 1) }), 0);
});
