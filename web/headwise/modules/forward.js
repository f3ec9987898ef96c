// The forward of every module: it checks the options, copies the inputs to staging memory, runs the module and copies the
// results.
import {
  causality as causalities,
  forwardOptions as layout,
  headOutput as replaceLayout,
} from '../engine/abi.js';
import { checkKeyPadding, hidePadding } from '../attention/key-padding.js';
import { fitModuleMask, writeMask } from '../attention/mask.js';
import { Trace } from '../attention/trace.js';
import { attachForward, runRecorded, wantsGraph } from '../autograd/modules.js';
import { sourceOf } from '../autograd/record.js';
import { checkBoolean, checkIndex, checkOptions, checkShape, maybe, or } from '../checks/check.js';
import { checkFloats, checkTensor } from '../tensor/operand.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isArray } from '../checks/foreign.js';
import { aligned } from '../engine/engine.js';
import { inputBytes, wordsOf, writeInput } from '../engine/struct.js';
import { tensor } from '../tensor/make-tensor.js';
import { sameShape, sizeOf } from '../tensor/shape.js';
import { readLengths } from '../models/ragged.js';
import { checkCache } from './key-value-cache.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').Operand} Operand */
/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/** @param {any} value @param {string} name */
const checkHeadMask = (value, name) =>
  checkFloats(isArray(value) ? tensor(/** @type {any} */ (value)) : value, name);

/** The most replacements that are read. */
const mostOutputs = 2 ** 20;

/**
 * Another output for a head, whose numbers are checked once the model's are known.
 * @typedef {object} Replacement
 * @property {number} layer
 * @property {number} head
 * @property {FloatOperand} output
 */

/** @param {any} value @param {string} name @returns {Replacement[]} */
function checkReplace(value, name) {
  const entries = copyArray(value, mostOutputs);
  if (entries === undefined) {
    throw misfit(value, name, 'an array of { layer, head, output }');
  }
  return entries.map((/** @type {any} */ entry, /** @type {number} */ i) => {
    const place = `${name}[${i}]`;
    const { layer, head, output } = checkOptions(entry, ['layer', 'head', 'output'], name, place);
    return { layer, head, output: checkHeadMask(output, `${place}.output`) };
  });
}

const flag = or(checkBoolean, false);

/**
 * What a forward may be asked for: what checks it before shapes are known. Some of that runs code of the caller's, so that
 * all of it comes first.
 */
export const attentionForward = {
  ...{ mask: maybe(checkTensor), isCausal: maybe(checkBoolean) },
  ...{ keyPaddingMask: maybe(checkTensor), needWeights: flag, trace: flag },
};
export const cachedForward = { ...attentionForward, cache: checkCache };
export const decoderForward = {
  logits: (/** @type {any} */ value) => copyArray(value, 2) ?? value ?? 'last',
  ...{ trace: flag, needWeights: flag, headMask: maybe(checkHeadMask), cache: checkCache },
  replace: maybe(checkReplace),
  lengths: readLengths,
};

/** @param {any} value read when the ids are known */
const asGiven = (value) => value;

export const encoderForward = {
  ...{ tokenTypes: asGiven, lengths: asGiven, trace: flag, needWeights: flag },
  headMask: maybe(checkHeadMask),
};

/** @typedef {Partial<import('../checks/check.js').Checked<typeof cachedForward & typeof decoderForward> & { tokenTypes: IdsOperand }>} Asked options that are checked */

/** The options of a call without options. @type {Asked} */
export const nothing = Object.freeze({ needWeights: false, trace: false });

/**
 * The description of an attention module that its forward uses.
 * @typedef {object} Attending
 * @property {string} name its forward's
 * @property {'x' | 'ids'} input what that is given: [batch, tokens, …], or without batch
 * @property {number} rank of the input with a batch
 * @property {number} width of the output
 * @property {number} heads
 * @property {number} layers how many give weights and traces
 * @property {number} contextLength
 * @property {number} [headDim] of a model whose heads can be replaced
 * @property {Output} [output] of the last call
 */
/**
 * The shape of a forward's output. Made when it changes: to freeze one takes as long as to check an input.
 * @typedef {object} Output
 * @property {boolean} hasBatch
 * @property {number} batch
 * @property {number} rows
 * @property {readonly number[]} shape frozen
 * @property {number} size
 */

/**
 * @param {Attending} about
 * @param {boolean} hasBatch
 * @param {number} batch
 * @param {number} rows
 * @returns {Output}
 */
function outputOf(about, hasBatch, batch, rows) {
  const { output: last, width } = about;
  if (last?.hasBatch === hasBatch && last.batch === batch && last.rows === rows) {
    return last;
  }
  const shape = Object.freeze(hasBatch ? [batch, rows, width] : [rows, width]);
  const output = { hasBatch, batch, rows, shape, size: sizeOf(shape, 'output') };
  about.output = output;
  return output;
}

/**
 * What an hw_forward_options says, and where its parts are once they are in staging memory.
 * @typedef {object} Extras
 * @property {number} layers
 * @property {readonly [number, number, number, number]} scores the shape of a layer's: [batch, heads, Lq, Lkv]
 * @property {import('../attention/mask.js').Mask | undefined} mask
 * @property {FloatOperand | undefined} headMask
 * @property {IdsOperand | undefined} tokenTypes of encoders
 * @property {readonly Replacement[]} replace
 * @property {number} causality
 * @property {number} cacheAt a cache's address, 0 for none
 * @property {boolean} trace
 * @property {number} weightsBytes of all layers, 0 for none
 * @property {number} weightsAt
 * @property {number} tracesAt
 */

/**
 * A forward that is ready to run: nothing that follows runs code of the caller's.
 * @typedef {object} Call
 * @property {number} pointer the module's address
 * @property {string} name for messages
 * @property {FloatOperand | IdsOperand} input
 * @property {number} batch
 * @property {number} tokens
 * @property {number} logitsStart the first token with logits in a decoder's output; logitsEnd is past the last
 * @property {number} logitsEnd
 * @property {boolean} [logitsLast] whether each sequence's last token has the logits
 * @property {number} outputSize in elements
 * @property {Extras | undefined} extras
 * @property {boolean} isRecorded whether its graph is kept
 * @property {import('../engine/owned.js').Owned} [graph] of a call that was recorded
 */

const optionsAt = wordsOf(layout);
const replaceAt = wordsOf(replaceLayout);

/**
 * Fills the list of heads' other outputs.
 * @param {Uint32Array} words
 * @param {Extras} extras
 * @param {readonly number[]} addresses of the list and of the outputs
 */
function writeReplace(words, { replace }, [list, ...outputs]) {
  replace.forEach(({ layer, head, output }, i) => {
    const at = (list + i * replaceLayout.bytes) / 4;
    const { size, shape } = output;
    words[at + replaceAt.layer] = layer;
    words[at + replaceAt.head] = head;
    words[at + replaceAt.output] = outputs[i];
    words[at + replaceAt.rows] = size / shape[shape.length - 1];
  });
}

/**
 * Fills an hw_forward_options.
 * @param {Engine} engine
 * @param {Extras} extras
 * @param {readonly number[]} addresses where the struct and its parts are, behind the input and the output
 */
function writeExtras({ words }, extras, addresses) {
  const struct = addresses[1];
  extras.tracesAt = struct + layout.bytes;
  extras.weightsAt = addresses[2];
  const at = struct / 4;
  writeMask(words, at + optionsAt.mask, extras.mask, addresses[3]);
  words[at + optionsAt.weights] = extras.weightsAt;
  words[at + optionsAt.trace] = extras.trace ? extras.tracesAt : 0;
  words[at + optionsAt.cache] = extras.cacheAt;
  words[at + optionsAt.headMask] = addresses[4];
  words[at + optionsAt.causality] = extras.causality;
  words[at + optionsAt.tokenTypes] = addresses[5];
  words[at + optionsAt.replace] = addresses[6];
  words[at + optionsAt.replaceCount] = extras.replace.length;
  writeReplace(words, extras, addresses.slice(6));
}

/**
 * Runs a module.
 * @param {Engine} engine
 * @param {Call} call
 * @returns {number} the output's address
 */
function callModule(engine, call) {
  const { input, extras } = call;
  const dataBytes = aligned(input.size * 4);
  const bytes = inputBytes + dataBytes + call.outputSize * 4;
  let at;
  let struct = 0;
  if (extras === undefined) {
    at = engine.stage(bytes);
  } else {
    const structBytes = layout.bytes + extras.layers * 4;
    const weightsBytes = extras.weightsBytes || undefined;
    const listBytes = extras.replace.length * replaceLayout.bytes;
    const outputs = extras.replace.map(({ output }) => output);
    const operands = [extras.mask?.tensor, extras.headMask, extras.tokenTypes];
    const parts = [bytes, structBytes, weightsBytes, ...operands, listBytes, ...outputs];
    const addresses = engine.lay(parts);
    at = addresses[0];
    struct = addresses[1];
    writeExtras(engine, extras, addresses);
  }
  const data = at + inputBytes;
  const output = data + dataBytes;
  engine.write(data, input);
  writeInput(engine.words, at / 4, data, call);
  if (call.isRecorded) {
    runRecorded(engine, call, at, output, struct);
  } else {
    engine.check(engine.call.module_forward(call.pointer, at, output, struct), call.name);
  }
  return output;
}

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
  const { engine, pointer } = module;
  const outputSize = sizeOf(Object.freeze(shape), 'the result');
  const [batch, logitsStart, logitsEnd, extras] = [1, 0, 0, undefined];
  const isRecorded = engine.isRecording && wantsGraph(module, x);
  /** @type {Call} */
  const call = {
    pointer,
    name,
    input,
    batch,
    tokens,
    logitsStart,
    logitsEnd,
    outputSize,
    extras,
    isRecorded,
  };
  const output = engine.read(callModule(engine, call), shape, outputSize);
  return isRecorded ? attachForward(module, call, x, output) : output;
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
 * Whether later keys are hidden: a mask of the caller's replaces the module's own by default.
 * @param {boolean | undefined} isCausal
 * @param {boolean} hasMask
 */
function causalityOf(isCausal, hasMask) {
  const isOn = isCausal ?? !hasMask;
  return isOn ? (isCausal === undefined ? causalities.own : causalities.on) : causalities.off;
}

/**
 * @param {readonly Replacement[]} replace
 * @param {Attending} about
 * @param {Extras['scores']} scores
 * @param {boolean} hasBatch
 */
function fitReplace(replace, { layers, heads, headDim }, [batch, , tokens], hasBatch) {
  replace.forEach(({ layer, head, output }, i) => {
    checkIndex(layer, `replace[${i}].layer`, layers);
    checkIndex(head, `replace[${i}].head`, heads);
    const { shape } = output;
    const own = /** @type {number[]} */ ([tokens, headDim]);
    const fits = sameShape(shape, own) || (hasBatch && sameShape(shape, [batch, ...own]));
    const expected = () => `[${own.join(', ')}], tokens and headDim`;
    checkShape(output, `replace[${i}].output`, fits, expected);
  });
}

/**
 * Checks what is asked for against the shapes.
 * @param {Asked} asked
 * @param {Attending} about
 * @param {Extras['scores']} scores
 * @param {boolean} hasBatch
 * @param {number} cacheAt
 * @returns {Extras}
 */
function fitExtras(asked, about, scores, hasBatch, cacheAt) {
  const { layers, heads } = about;
  const { headMask, keyPaddingMask: padding, trace = false, replace = [], tokenTypes } = asked;
  fitReplace(replace, about, scores, hasBatch);
  const own = asked.mask && fitModuleMask(asked.mask, scores);
  checkKeyPadding(padding, hasBatch ? [scores[0], scores[3]] : [scores[3]]);
  const mask = hidePadding(padding, own, scores);
  if (headMask !== undefined) {
    const expected = () => `[${layers}, ${heads}], layers and heads`;
    checkShape(headMask, 'headMask', sameShape(headMask.shape, [layers, heads]), expected);
  }
  const weightsBytes = asked.needWeights ? layers * sizeOf(scores, 'weights') * 4 : 0;
  const causality = causalityOf(asked.isCausal, own !== undefined);
  return {
    layers,
    scores,
    mask,
    headMask,
    tokenTypes,
    replace,
    causality,
    cacheAt,
    trace,
    weightsBytes,
    weightsAt: 0,
    tracesAt: 0,
  };
}

/**
 * @param {import('./module.js').Module} module
 * @param {number} outputAt
 * @param {readonly number[]} shape the output's
 * @param {Extras} extras
 * @param {number} stored tokens that were in the cache
 * @returns {Results}
 */
function readResults(module, outputAt, shape, extras, stored) {
  const { engine } = module;
  const { layers, scores, weightsBytes, weightsAt, tracesAt, cacheAt } = extras;
  /** @type {Trace[]} */
  const trace = [];
  for (let layer = 0; extras.trace && layer < layers; layer++) {
    const pointer = engine.words[tracesAt / 4 + layer];
    trace.push(new Trace(engine, pointer, scores, { module, layer }));
  }
  try {
    /** @type {Results} */
    const results = { output: engine.read(outputAt, shape) };
    if (weightsBytes > 0) {
      results.weights = Array.from({ length: layers }, (_, layer) =>
        engine.read(weightsAt + layer * (weightsBytes / layers), scores),
      );
    }
    if (extras.trace) {
      results.trace = trace;
    }
    return results;
  } catch (error) {
    trace.forEach((each) => each.dispose());
    if (cacheAt !== 0) {
      engine.call.cache_truncate(cacheAt, stored);
    }
    throw error;
  }
}

/** @typedef {{ output: Tensor, weights?: Tensor[], trace?: Trace[] }} Results weights and traces, one for each layer, if they were asked for; the traces are the caller's */

/** Of what gives no logits. */
const noLogits = /** @type {const} */ ([0, 0]);

/**
 * Runs a module that attends.
 * @param {import('./module.js').Module} module
 * @param {Attending} about
 * @param {FloatOperand | IdsOperand} input whose shape was checked
 * @param {Asked} asked
 * @param {unknown} x the input as the caller gave it
 * @returns {Results}
 */
export function runForward(module, about, input, asked, x) {
  const { engine, pointer } = module;
  const { shape } = input;
  const hasBatch = shape.length === about.rank;
  const batch = hasBatch ? shape[0] : 1;
  const tokens = hasBatch ? shape[1] : shape[0];
  const { cache, logits } = asked;
  const cacheAt = cache === undefined ? 0 : cache.addressFor(module);
  const stored = cache === undefined ? 0 : cache.checkRoom(batch, tokens, about.input);
  if (tokens > about.contextLength) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `${about.input} has ${tokens} tokens; expected at most contextLength, ${about.contextLength}`,
    );
  }
  const range = logits === undefined ? noLogits : checkLogits(logits, tokens);
  const [logitsStart, logitsEnd] = [range[0], range[1]];
  const rows = logits === undefined ? tokens : logitsEnd - logitsStart;
  const { shape: outputShape, size: outputSize } = outputOf(about, hasBatch, batch, rows);
  const extras =
    asked === nothing
      ? undefined
      : fitExtras(asked, about, [batch, about.heads, tokens, stored + tokens], hasBatch, cacheAt);
  const { name } = about;
  const logitsLast = logits === 'last' && input.dtype === 'uint32' && input.hasLengths === true;
  const isRecorded = engine.isRecording && isGraphWanted(module, asked, x);
  /** @type {Call} */
  const call = {
    pointer,
    name,
    input,
    batch,
    tokens,
    logitsStart,
    logitsEnd,
    logitsLast,
    outputSize,
    extras,
    isRecorded,
  };
  const outputAt = callModule(engine, call);
  const results =
    extras === undefined
      ? { output: engine.read(outputAt, outputShape, outputSize) }
      : readResults(module, outputAt, outputShape, extras, stored);
  if (isRecorded) {
    attachForward(module, call, x, results.output);
  }
  return results;
}

/**
 * Whether a forward is to be recorded. What a cache holds is not: it continues texts.
 * @param {import('./module.js').Module} module
 * @param {Asked} asked
 * @param {unknown} x
 * @throws {HeadwiseError} ERR_VALUE: gradients would end at a cache, or at outputs that were given
 */
function isGraphWanted(module, { cache, logits, replace }, x) {
  if (cache !== undefined && sourceOf(x) !== undefined) {
    const expected = 'none with an x that requires gradients (or hw.noGrad)';
    throw misfit(cache, 'cache', expected);
  }
  const isWanted = cache === undefined && logits !== 'none' && wantsGraph(module, x);
  if (isWanted && replace !== undefined) {
    throw misfit(replace, 'replace', 'none where gradients are recorded (or hw.noGrad)');
  }
  return isWanted;
}
