/**
 * A small decoder that knows who is given something: the indirect object of template sentences.
 *
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Data, Row, Task } from './task.js'
 * @import { Sentence } from './sentences.js'
 */
import { circuitOf, circuitPart } from './circuit.js';
import { headTable } from './card.js';
import { Random } from './random.js';
import { rounded, scoreModel } from './scores.js';
import * as sentences from './sentences.js';
import { IGNORED, rowOf } from './task.js';

const ROWS = 64;
/** Of a row: the longest sentence with its last name and the full stop fits. */
const TOKENS = 24;
const HELD_OUT_SEED = 2 ** 32 - 1;
const COUNT = 1000;

const ENDS = sentences.idOf(sentences.END);

/** A sentence to its full stop, filled up with what is not asked. @param {Sentence} sentence @returns {Row} */
function filled({ ids, object }) {
  const { ids: text, targets } = rowOf([...ids, sentences.idOf(object), ENDS]);
  const fill = (/** @type {ArrayLike<number>} */ list, /** @type {number} */ value) =>
    Array.from({ length: TOKENS }, (_, i) => list[i] ?? value);
  return { ids: fill(text, ENDS), targets: fill(targets, IGNORED) };
}

/**
 * Held-out sentences, the same in every run.
 *
 * @param {(random: Random) => Sentence} kind
 * @param {number} count
 */
function heldOut(kind, count) {
  const random = new Random(HELD_OUT_SEED, 0);
  return Array.from({ length: count }, () => kind(random));
}

/** @param {Gpt2} model @param {readonly Sentence[]} list @returns {number} the share whose likeliest next token is the right name */
function accuracy(model, list) {
  const right = list.filter(({ ids, object }) => {
    const data = /** @type {Float32Array} */ (model.forward(ids).logits.data);
    return data.indexOf(Math.max(...data)) === sentences.idOf(object);
  });
  return rounded(right.length / list.length);
}

/** @param {Gpt2} model @param {boolean} isFinal */
function evaluate(model, isFinal) {
  const count = isFinal ? COUNT : COUNT / 5;
  return {
    held_out_pairs: accuracy(model, heldOut(sentences.heldOutPair, count)),
    held_out_names: accuracy(model, heldOut(sentences.heldOutNames, count)),
  };
}

const SCORED = 100;
const PROMPTS = [
  'when mary and john went to the store , john gave a drink to',
  'when mary and john went to the store , mary gave a drink to',
  'friends lucy and mark found a ring at the beach . lucy offered it to',
];

/** The likeliest next tokens. @param {Gpt2} model */
function samples(model) {
  const lines = PROMPTS.map((prompt) => {
    const ids = prompt.split(' ').map(sentences.idOf);
    const logits = Array.from(model.forward(ids).logits.data);
    const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
    const best = [...logits.keys()].sort((a, b) => logits[b] - logits[a]).slice(0, 3);
    const words = best.map((id) => {
      const share = (100 * Math.exp(logits[id])) / sum;
      return `${sentences.VOCABULARY[id]} ${share.toFixed(1)} %`;
    });
    return `- ${prompt} → ${words.join(', ')}`;
  });
  return lines.join('\n');
}

/** @returns {Data} */
const data = () => ({
  tokenizer: sentences.tokenizer,
  tokenizerConfig: sentences.tokenizerConfig,
  config: {},
  batch: (random) => Array.from({ length: ROWS }, () => filled(sentences.trainingSentence(random))),
  evaluate,
  score(hw, model) {
    const held = heldOut(sentences.heldOutPair, COUNT);
    const rows = held.slice(0, SCORED).map(({ ids }) => ids);
    return { ...scoreModel(model, rows), circuit: circuitOf(model, held.slice(0, 2 * SCORED)) };
  },
  card: (model, scores) => ({
    circuit: circuitPart(scores.circuit),
    scores: headTable(scores.heads),
    samples: samples(model),
  }),
});

/** @type {Task} */
export const names = {
  name: 'names',
  options: {
    ...{ vocabSize: sentences.VOCABULARY.length, contextLength: TOKENS, dModel: 64 },
    ...{ numHeads: 4, numLayers: 3, dFf: 4 },
  },
  attentionOnly: true,
  start: { tokens: 0.125, positions: 0.18 },
  steps: 3000,
  peak: 2e-3,
  decay: 0.05,
  data,
};
