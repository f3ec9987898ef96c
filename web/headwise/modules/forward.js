// The forward of every module: checks what is asked against the shapes, runs the module and reads the results.
import { Trace } from '../attention/trace.js';
import { attachForward, wantsGraph } from '../autograd/modules.js';
import { attachEnd } from '../autograd/record.js';
import { checkContext } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { sizeOf } from '../tensor/shape.js';
import { outputOf } from './attending.js';
import { Call, callModule } from './call.js';
import { fitExtras } from './extras.js';
import { nothing } from './forward-options.js';

/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./attending.js').Attending} Attending */
/** @typedef {import('./extras.js').Extras} Extras */
/** @typedef {import('./forward-options.js').Asked} Asked */

/**
 * Runs a module that treats every row or id alone.
 * @param {import('./module.js').Module} module
 * @param {string} name its forward's
 * @param {FloatOperand | IdsOperand} input
 * @param {number} tokens
 * @param {readonly number[]} shape the output's
 * @param {unknown} x the input as the caller gave it
 */
export function runRows(module, name, input, tokens, shape, x) {
  const { engine } = module;
  const outputSize = sizeOf(shape, 'the result');
  const call = new Call(module, name, input, tokens, outputSize);
  call.isRecorded = engine.isRecording && wantsGraph(module, x);
  const output = engine.read(callModule(engine, call), shape, outputSize);
  return call.isRecorded ? attachForward(module, call, x, output) : output;
}

/** @param {unknown} logits @param {number} tokens @returns {readonly [number, number]} */
function checkLogits(logits, tokens) {
  const words = { last: [tokens - 1, tokens], all: [0, tokens], none: [0, 0] };
  const isWord = typeof logits === 'string' && Object.hasOwn(words, logits);
  const pair = isWord ? words[/** @type {keyof typeof words} */ (logits)] : copyArray(logits, 2);
  const [start, end] = pair?.length === 2 && pair.every(Number.isInteger) ? pair : [1, 0];
  if (start < 0 || end < start || end > tokens) {
    const bounds = `[start, end] with 0 <= start <= end <= ${tokens}`;
    throw misfit(logits, 'logits', `"last", "all", "none" or ${bounds}`);
  }
  return [start, end];
}

/**
 * @param {import('./module.js').Module} module
 * @param {() => Tensor} readOutput
 * @param {Extras} extras
 * @param {number} stored tokens that were in the cache
 * @param {readonly number[]} [lengths] of rows that are padded
 * @returns {Results}
 */
function readResults(module, readOutput, extras, stored, lengths) {
  const { engine } = module;
  const { layers, firstLayer, scores, weightsBytes, weightsAt, tracesAt, cacheAt } = extras;
  /** @type {Trace[]} */
  const trace = [];
  for (let layer = firstLayer; extras.trace && layer < layers; layer++) {
    const pointer = engine.words[tracesAt / 4 + trace.length];
    trace.push(new Trace(engine, pointer, scores, { module, layer, lengths, stored }));
  }
  try {
    /** @type {Results} */
    const results = { output: readOutput() };
    if (weightsBytes !== undefined) {
      const length = layers - firstLayer;
      results.weights = Array.from({ length }, (_, i) =>
        engine.read(weightsAt + i * (weightsBytes / length), scores),
      );
    }
    if (extras.residuals !== undefined) {
      results.residuals = engine.read(extras.residualsAt, extras.residuals);
    }
    if (extras.trace) {
      results.trace = trace;
    }
    return results;
  } catch (error) {
    trace.forEach((each) => each.dispose());
    if (cacheAt !== 0) {
      engine.call.cache_undo(cacheAt);
    }
    throw error;
  }
}

/** @typedef {{ output: Tensor, weights?: Tensor[], trace?: Trace[], residuals?: Tensor }} Results weights and traces, one for each layer that ran, if they were asked for; the traces are the caller's */

/** Of what gives no logits. */
const noLogits = /** @type {const} */ ([0, 0]);

/**
 * Runs a module that attends.
 * @param {import('./module.js').Module} module
 * @param {Attending} about
 * @param {FloatOperand | IdsOperand} input whose shape was checked
 * @param {Asked} asked
 * @param {unknown} x the input as the caller gave it
 * @param {(at: number) => any} [readOutput] makes something of the output, from its address, in place of a tensor
 * @returns {Results}
 */
export function runForward(module, about, input, asked, x, readOutput) {
  const { engine } = module;
  const { shape } = input;
  const lengths = input.dtype === 'uint32' ? input.lengths : undefined;
  const hasBatch = shape.length === about.rank;
  const batch = hasBatch ? shape[0] : 1;
  const tokens = hasBatch ? shape[1] : shape[0];
  const { cache, logits } = asked;
  const cacheAt = cache?.addressFor(module) ?? 0;
  const stored = cache?.checkRoom(batch, tokens, about.input, lengths) ?? 0;
  checkContext(tokens, about.input, about.contextLength);
  const range = logits === undefined ? noLogits : checkLogits(logits, tokens);
  const rows = logits === undefined ? tokens : range[1] - range[0];
  const { shape: outputShape, size: outputSize } = outputOf(about, hasBatch, batch, rows);
  const call = new Call(module, about.name, input, tokens, outputSize);
  call.batch = batch;
  call.logitsStart = range[0];
  call.logitsEnd = range[1];
  call.logitsLast = logits === 'last' && lengths !== undefined;
  if (asked !== nothing) {
    // At the end of the context padding goes beyond a cache.
    const keys = Math.min(stored + tokens, about.contextLength);
    const scores = /** @type {const} */ ([batch, about.heads, tokens, keys]);
    call.extras = fitExtras(asked, about, scores, hasBatch, cacheAt);
  }
  const isWanted =
    engine.isRecording && readOutput === undefined && isGraphWanted(module, asked, x);
  const ending = isWanted ? unrecorded.find((name) => asked[name]) : undefined;
  call.isRecorded = isWanted && ending === undefined;
  if (call.isRecorded) module.checkRecording(about.name);
  const outputAt = callModule(engine, call);
  const read = () => engine.read(outputAt, outputShape, outputSize);
  const readAll = () => readOutput?.(outputAt) ?? read();
  /** @type {Results} */
  const results =
    call.extras === undefined
      ? { output: read() }
      : readResults(module, readAll, call.extras, stored, lengths);
  if (call.isRecorded) {
    attachForward(module, call, x, results.output, asked, results.weights);
  } else if (isWanted) {
    const cause = `a forward with the option ${ending} is not recorded; expected one without`;
    const { output, residuals = output, weights = [] } = results;
    [output, residuals, ...weights].forEach((each) => attachEnd(engine, each, cause));
  }
  return results;
}

/** Options of which a forward is not recorded. */
const unrecorded = /** @type {const} */ (['cache', 'replace', 'start', 'residuals']);

/**
 * Whether gradients lead through a forward.
 * @param {import('./module.js').Module} module
 * @param {Asked} asked
 * @param {unknown} x
 */
function isGraphWanted(module, asked, x) {
  const { logits, needWeights, residuals, mask, headMask } = asked;
  const isUsed = logits !== 'none' || needWeights === true || residuals === true;
  return isUsed && wantsGraph(module, x, mask?.from, headMask?.from);
}
