import { checkOptions, oneOf } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { MersenneTwister } from '../models/mersenne-twister.js';
import { checkSeedWord } from '../tensor/functions.js';
import { Tensor } from '../tensor/tensor.js';
import { visitOutputs } from './heads.js';
import * as shared from './model.js';
import { calledThere } from './source.js';

/** @typedef {import('./model.js').Ids} Ids */
/** @typedef {import('./model.js').Subject} Subject */

/**
 * What onProgress of `ablation` gets after each head.
 * @typedef {object} HeadProgress
 * @property {number} done heads
 * @property {number} total heads
 * @property {number} layer of the last head
 * @property {number} head the last
 * @property {number} effect of the last head
 */

/**
 * Options of `ablation`.
 * @typedef {object} AblationOptions
 * @property {number | bigint} target the id whose prediction is scored
 * @property {number | bigint} [against] the id that it is compared with; default: all others
 * @property {number} [position] whose next token is predicted; default the last
 * @property {'zero' | 'mean' | 'resample'} [method] what takes the place of a head's output; default 'zero'
 * @property {readonly Ids[]} [texts] of 'mean': over all tokens of these; default: the text itself up to position. Of 'resample':
 *   texts of at least as many tokens as the text has up to position; required. 'zero' does not use them
 * @property {number | bigint} [seed] of 'resample': which text each head gets; default 0. Other methods do not use it
 * @property {Tensor | import('./model.js').NestedNumbers} [headMask] [layers, heads]: factors of heads' outputs that hold in every
 *   forward, those of the other texts too. A muted head's effect is 0
 * @property {(progress: HeadProgress) => void} [onProgress] called after each head
 * @property {AbortSignal} [signal] aborts the sweep within one forward
 */

/**
 * What ablating each head changes.
 * @typedef {object} Ablation
 * @property {Tensor} effects [layers, heads]: the score with the head ablated minus base
 * @property {number} base the score with no head ablated
 */

const known = [
  ...['target', 'against', 'position', 'method', 'texts', 'seed', 'headMask', 'onProgress'],
  'signal',
];

const checkMethod = oneOf(/** @type {const} */ (['zero', 'mean', 'resample']));

/** The most texts that are read. */
const mostTexts = 2 ** 16;

/**
 * @param {Subject} subject
 * @param {unknown} given
 * @returns {number[][] | undefined}
 */
function checkTexts(subject, given) {
  if (given === undefined) {
    return undefined;
  }
  const list = copyArray(given, mostTexts);
  if (list === undefined || list.length === 0) {
    throw misfit(given, 'texts', 'an array of texts');
  }
  return list.map((text, i) => shared.checkText(subject, text, `texts[${i}]`));
}

/** @typedef {(layer: number, head: number) => Float32Array} Outputs a head's other output [tokens, headDim] */

/**
 * @param {Subject} subject
 * @param {readonly number[][]} texts
 * @param {number} tokens
 * @param {Tensor | undefined} headMask
 * @param {() => Promise<void>} pause
 * @returns {Promise<Outputs>}
 */
async function meansOf(subject, texts, tokens, headMask, pause) {
  const { numHeads, headDim } = subject;
  const sums = new Float64Array(subject.numLayers * numHeads * headDim);
  const count = texts.reduce((all, { length }) => all + length, 0);
  await visitOutputs(subject, texts, headMask, pause, ({ layer, head, output }) => {
    const first = (layer * numHeads + head) * headDim;
    output().forEach((value, i) => (sums[first + (i % headDim)] += value));
  });
  return (layer, head) => {
    const first = (layer * numHeads + head) * headDim;
    return Float32Array.from(
      { length: tokens * headDim },
      (_, i) => sums[first + (i % headDim)] / count,
    );
  };
}

/**
 * @param {Subject} subject
 * @param {readonly number[][]} texts
 * @param {number} tokens
 * @param {number} seed
 * @param {Tensor | undefined} headMask
 * @param {() => Promise<void>} pause
 * @returns {Promise<Outputs>}
 */
async function samplesOf(subject, texts, tokens, seed, headMask, pause) {
  const { numLayers, numHeads, headDim } = subject;
  const numbers = new MersenneTwister(seed);
  const drawn = Array.from({ length: numLayers * numHeads }, () =>
    Math.floor(numbers.uniform() * texts.length),
  );
  /** @type {Float32Array[]} */
  const samples = [];
  await visitOutputs(subject, texts, headMask, pause, ({ text, layer, head, output }) => {
    if (drawn[layer * numHeads + head] === text) {
      samples[layer * numHeads + head] = output().slice(0, tokens * headDim);
    }
  });
  return (layer, head) => samples[layer * numHeads + head];
}

/**
 * @param {Subject} subject
 * @param {Record<string, any>} given
 * @param {number[]} text up to the position
 * @returns {(headMask: Tensor | undefined, pause: () => Promise<void>) => Promise<Outputs>}
 */
function checkOutputs(subject, given, text) {
  const tokens = text.length;
  const method = checkMethod(given.method ?? 'zero', 'method');
  const texts = checkTexts(subject, given.texts);
  const seed = checkSeedWord(given.seed ?? 0);
  if (method === 'zero') {
    const zeros = new Float32Array(tokens * subject.headDim);
    return async () => () => zeros;
  }
  if (method === 'mean') {
    return (...rest) => meansOf(subject, texts ?? [text], tokens, ...rest);
  }
  if (texts === undefined) {
    throw misfit(texts, 'texts', "other texts, with method 'resample'");
  }
  const short = texts.findIndex(({ length }) => length < tokens);
  if (short >= 0) {
    const found = `texts[${short}] has ${texts[short].length} tokens`;
    throw new HeadwiseError('ERR_SHAPE', `${found}; expected at least ${tokens}, as the text has`);
  }
  return (...rest) => samplesOf(subject, texts, tokens, seed, ...rest);
}

/**
 * Ablates every head in turn: its output before the output projection, at all tokens, gives way to zeros, to its mean, or to what
 * it gives in another text. The score is the logit of `target` minus that of `against`, or without `against` the log-probability
 * of `target` in nats, at `position`; later tokens have no influence and are left out. The layers below the head are computed once.
 *
 * - 'zero': Michel, Levy & Neubig 2019, "Are Sixteen Heads Really Better than One?".
 * - 'mean': the head's mean output over all tokens of `texts`, or of the text up to `position`: one mean for all positions (in Wang
 *   et al. 2022, "Interpretability in the Wild", each position has a mean of its own, over texts).
 * - 'resample': for each head one of `texts` is drawn, and each token gets the output of the token at its place there (Chan et al.
 *   2022, "Causal Scrubbing").
 *
 * They can disagree: zeros may be far from all that later layers know (Zhang & Nanda 2024, "Towards Best Practices of Activation
 * Patching").
 * @param {import('./source.js').DecoderModel} model its dropout is off, in training mode too. In a Worker, the sweep runs there
 * @param {Ids} ids [tokens]
 * @param {AblationOptions} options
 * @returns {Promise<Ablation>}
 * @throws {HeadwiseError} ERR_SHAPE: more than one text, more tokens than contextLength, or a text that is too short; ERR_VALUE: a bad
 *   argument; ERR_MEMORY; ERR_DISPOSED. An abort rejects with the signal's reason, and what onProgress throws rejects too
 */
export async function ablation(model, ids, options) {
  const there = calledThere('ablation', model, ids, options);
  if (there !== undefined) {
    return there;
  }
  const subject = shared.subjectOf(model);
  const given = checkOptions(options, known, 'ablation');
  const whole = shared.checkText(subject, ids, 'ids');
  const question = shared.checkQuestion(subject, given, whole.length);
  const text = whole.slice(0, question.position + 1);
  const headMask = shared.checkMask(subject, given.headMask);
  const prepare = checkOutputs(subject, given, text);
  const onProgress = shared.checkProgress(given.onProgress);
  const pause = shared.pauses(given.signal);

  const { score: base, residuals } = shared.scoreText(subject, text, question, headMask);
  await pause();
  const outputs = await prepare(headMask, pause);
  const { numLayers, numHeads, headDim } = subject;
  const effects = await shared.sweep(
    [numLayers, numHeads],
    onProgress,
    pause,
    (layer, head) => {
      const output = new Tensor(outputs(layer, head), [text.length, headDim]);
      const start = { layer, residual: shared.entryOf(residuals, layer) };
      const replace = [{ layer, head, output }];
      const changed = shared.forward(subject, text, { start, headMask, replace }).logits;
      return shared.scoreOf(changed.data, question) - base;
    },
    (layer, head, effect) => ({ layer, head, effect }),
  );
  return { effects, base };
}
