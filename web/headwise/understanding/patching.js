import { checkIndex, checkOptions, oneOf } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { Tensor } from '../tensor/tensor.js';
import { visitOutputs } from './heads.js';
import * as shared from './model.js';
import { calledThere } from './source.js';

/** @typedef {import('./model.js').Ids} Ids */
/** @typedef {import('./model.js').Subject} Subject */

/**
 * What onProgress of `patching` gets after each patch.
 * @typedef {object} PatchingProgress
 * @property {number} done patches
 * @property {number} total patches
 * @property {number} layer of the last patch
 * @property {number} [head] of the last patch, of 'heads'
 * @property {number} [token] of the last patch, of 'residual'
 * @property {number} recovered by the last patch
 */

/**
 * Options of `patching`.
 * @typedef {object} PatchingOptions
 * @property {Ids} clean [tokens]: the text whose activations are copied
 * @property {Ids} corrupted [tokens]: the text into whose run they are copied
 * @property {number | bigint} target the id whose prediction is scored
 * @property {number | bigint} [against] the id that it is compared with; default: all others
 * @property {number} [position] whose next token is predicted; default the last
 * @property {'heads' | 'residual'} [of] what is copied: a head's output, or the residual stream before a layer at one token;
 *   default 'heads'
 * @property {number} [at] of 'heads': the one token at which the output is copied; default: all tokens. With of: 'residual' it is refused
 * @property {Tensor | import('./model.js').NestedNumbers} [headMask] [layers, heads]: factors of heads' outputs in every forward
 * @property {(progress: PatchingProgress) => void} [onProgress] called after each patch
 * @property {AbortSignal} [signal] aborts the sweep within one forward
 */

/**
 * How much of the score each patch recovers.
 * @typedef {object} Patching
 * @property {Tensor} recovered [layers, heads], or of 'residual' [layers, tokens up to position]: (patched − corrupted) /
 *   (clean − corrupted); 0: as the corrupted text, 1: as the clean one
 * @property {number} clean the clean text's score
 * @property {number} corrupted the corrupted text's
 */

const known = [
  ...['clean', 'corrupted', 'target', 'against', 'position', 'of', 'at', 'headMask'],
  ...['onProgress', 'signal'],
];

const checkOf = oneOf(/** @type {const} */ (['heads', 'residual']));

/**
 * @param {Subject} subject
 * @param {Record<string, any>} given
 */
function checkPatching(subject, given) {
  const clean = shared.checkText(subject, given.clean, 'clean');
  const corrupted = shared.checkText(subject, given.corrupted, 'corrupted');
  if (clean.length !== corrupted.length) {
    const found = `corrupted has ${corrupted.length} tokens`;
    throw new HeadwiseError('ERR_SHAPE', `${found}; expected ${clean.length}, as clean has`);
  }
  const question = shared.checkQuestion(subject, given, clean.length);
  const tokens = question.position + 1;
  const of = checkOf(given.of ?? 'heads', 'of');
  const at = given.at === undefined ? undefined : checkIndex(given.at, 'at', tokens);
  if (of !== 'heads' && at !== undefined) {
    throw misfit(at, 'at', "none unless of is 'heads'");
  }
  const headMask = shared.checkMask(subject, given.headMask);
  const onProgress = shared.checkProgress(given.onProgress);
  const texts = [clean.slice(0, tokens), corrupted.slice(0, tokens)];
  return { texts, tokens, question, of, at, headMask, onProgress };
}

/** @typedef {ReturnType<typeof checkPatching>} Asked */
/** @typedef {import('../models/language-model.js').DecoderForwardOptions} Patch */

/**
 * @param {Subject} subject
 * @param {Asked} asked
 * @param {Tensor} residuals of the corrupted text
 * @param {() => Promise<void>} pause
 * @returns {Promise<(layer: number, head: number) => Patch>}
 */
async function headPatches(subject, { texts, tokens, at, headMask }, residuals, pause) {
  const { numHeads, headDim } = subject;
  /** @type {Float32Array[][]} */
  const outputs = [[], []];
  const needed = at === undefined ? texts.slice(0, 1) : texts;
  await visitOutputs(subject, needed, headMask, pause, ({ text, layer, head, output }) => {
    outputs[text][layer * numHeads + head] = output();
  });
  return (layer, head) => {
    const [from, into] = outputs.map((all) => all[layer * numHeads + head]);
    if (at !== undefined) {
      into.set(from.subarray(at * headDim, (at + 1) * headDim), at * headDim);
    }
    const output = new Tensor(at === undefined ? from : into, [tokens, headDim]);
    const start = { layer, residual: shared.entryOf(residuals, layer) };
    return { start, replace: [{ layer, head, output }] };
  };
}

/**
 * @param {Subject} subject
 * @param {Tensor} from the residual streams of the clean text
 * @param {Tensor} into those of the corrupted
 * @returns {(layer: number, token: number) => Patch | undefined} undefined:
 *   nothing differs there
 */
function residualPatches({ dModel }, from, into) {
  return (layer, token) => {
    const [clean, residual] = [from, into].map((all) => shared.entryOf(all, layer));
    const range = /** @type {const} */ ([token * dModel, (token + 1) * dModel]);
    const row = clean.data.subarray(...range);
    if (row.every((value, i) => value === residual.data[range[0] + i])) {
      return undefined;
    }
    residual.data.set(row, range[0]);
    return { start: { layer, residual } };
  };
}

/**
 * Activation patching (Meng et al. 2022, "Locating and Editing Factual Associations in GPT"; Wang et al. 2022, "Interpretability
 * in the Wild"): the corrupted text's run with one activation of the clean text's in its place, for each head or each layer and
 * token, and the share of the score that this recovers. The score is the logit of `target` minus that of `against`, or without
 * `against` the log-probability of `target` in nats, at `position`; later tokens have no influence and are left out. Layers below
 * the patch are not computed again.
 * @param {import('./source.js').DecoderModel} model its dropout is off, in training mode too. In a Worker, the sweep runs there
 * @param {PatchingOptions} options
 * @returns {Promise<Patching>}
 * @throws {HeadwiseError} ERR_SHAPE: texts of unequal length, or more tokens than contextLength; ERR_VALUE: a bad argument, or texts
 *   with the same score, of which no share can be recovered; ERR_MEMORY; ERR_DISPOSED. An abort rejects with the signal's reason
 */
export async function patching(model, options) {
  const there = calledThere('patching', model, options);
  if (there !== undefined) {
    return there;
  }
  const subject = shared.subjectOf(model);
  const given = checkOptions(options, known, 'patching');
  const asked = checkPatching(subject, given);
  const { texts, tokens, question, of, headMask } = asked;
  const pause = shared.pauses(given.signal);

  const runs = [];
  for (const text of texts) {
    runs.push(shared.scoreText(subject, text, question, headMask));
    await pause();
  }
  const [clean, corrupted] = runs.map(({ score }) => score);
  const span = clean - corrupted;
  if (span === 0 || !Number.isFinite(span)) {
    const found = `the scores of clean and corrupted are ${clean} and ${corrupted}`;
    throw new HeadwiseError('ERR_VALUE', `${found}; expected finite ones that differ`);
  }
  const ofHeads = of === 'heads';
  const patchOf = ofHeads
    ? await headPatches(subject, asked, runs[1].residuals, pause)
    : residualPatches(subject, runs[0].residuals, runs[1].residuals);
  const recovered = await shared.sweep(
    [subject.numLayers, ofHeads ? subject.numHeads : tokens],
    asked.onProgress,
    pause,
    (layer, column) => {
      const patch = patchOf(layer, column);
      if (patch === undefined) {
        return 0;
      }
      const { logits } = shared.forward(subject, texts[1], { ...patch, headMask });
      return (shared.scoreOf(logits.data, question) - corrupted) / span;
    },
    (layer, column, value) => ({
      ...{ layer, ...(ofHeads ? { head: column } : { token: column }), recovered: value },
    }),
  );
  return { recovered, clean, corrupted };
}
