/**
 * Two layers of attention alone, which learn to continue what repeats.
 *
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Data, Task } from './task.js'
 */
import { inductionRow } from '../../train/tasks/letters.js';
import { scorePart } from './card.js';
import { Random as Numbers } from './random.js';
import { mean, randomRows, rounded, scoreModel } from './scores.js';

/** A token is a character; what is none of these is "?". */
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ?';
const UNKNOWN = '?';
const TOKENS = 64;
const ROWS = 16;
const SHORTEST_PERIOD = 4;

/** Rows that are measured, by a seed of their own. */
const HELD_OUT = { rows: 64, seed: 2 ** 32 - 1 };

const REPEATED = ['headwiseheadwisehead', '3141592 3141592 31'];

const repeatingRow = inductionRow(TOKENS, SHORTEST_PERIOD, CHARACTERS.length);

/** A BPE without merges: every character is a token. */
const tokenizer = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: { type: 'Fuse' },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: UNKNOWN,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    vocab: Object.fromEntries([...CHARACTERS].map((character, id) => [character, id])),
    merges: [],
  },
};

/** @param {Gpt2} model */
function evaluate(model) {
  const random = new Numbers(HELD_OUT.seed, 0);
  const rows = Array.from({ length: HELD_OUT.rows }, () => repeatingRow(random.below));
  const losses = rows.map(({ ids, targets }) => model.loss(ids, targets).item());
  return { held_out_loss: rounded(mean(losses)) };
}

/** Greedy continuations of what repeats. @param {Gpt2} model */
function samples(model) {
  const lines = REPEATED.map((prompt) => {
    const ids = [...prompt].map((character) => CHARACTERS.indexOf(character));
    const next = [...model.generate(ids, { maxTokens: 16, temperature: 0 })];
    return `${prompt} → ${next.map((id) => CHARACTERS[id]).join('')}`;
  });
  return ['```', ...lines, '```'].join('\n');
}

/** @returns {Data} */
const data = () => ({
  tokenizer,
  tokenizerConfig: { unk_token: UNKNOWN },
  config: {},
  batch: (random) => Array.from({ length: ROWS }, () => repeatingRow(random.below)),
  evaluate,
  score: (hw, model) => scoreModel(model, randomRows(model, TOKENS - 1)),
  card: (model, scores) => ({ scores: scorePart(scores), samples: samples(model) }),
});

/** @type {Task} */
export const induction = {
  name: 'induction',
  options: {
    ...{ vocabSize: CHARACTERS.length, contextLength: TOKENS, dModel: 64 },
    ...{ numHeads: 8, numLayers: 2, dFf: 4 },
  },
  attentionOnly: true,
  start: { tokens: 0.125, positions: 0.18 },
  steps: 6000,
  peak: 2.5e-3,
  decay: 0.01,
  data,
};
