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
import { inputBytes, writeInput, writeStruct } from '../engine/struct.js';
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

/**
 * Where a forward begins, checked in full once the model's shape is known.
 * @typedef {object} Start
 * @property {number} layer
 * @property {FloatOperand} residual
 */

/** @param {any} value @param {string} name @returns {Start} */
function checkStart(value, name) {
  const { layer, residual } = checkOptions(value, ['layer', 'residual'], name, name);
  return { layer, residual: checkHeadMask(residual, `${name}.residual`) };
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
  ...{ replace: maybe(checkReplace), start: maybe(checkStart), residuals: flag },
  lengths: readLengths,
};

export const encoderForward = {
  ...{ lengths: readLengths, trace: flag, needWeights: flag, headMask: maybe(checkHeadMask) },
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
 * @property {number} [dModel] of a model whose forward can begin at a layer
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
 * @property {number} firstLayer the first that runs
 * @property {readonly [number, number, number, number]} scores the shape of a layer's: [batch, heads, Lq, Lkv]
 * @property {import('../attention/mask.js').Mask | undefined} mask
 * @property {FloatOperand | undefined} headMask
 * @property {IdsOperand | undefined} tokenTypes of encoders
 * @property {readonly Replacement[]} replace
 * @property {FloatOperand | undefined} start what the first layer is given
 * @property {number} causality
 * @property {number} cacheAt a cache's address, 0 for none
 * @property {boolean} trace
 * @property {number | undefined} weightsBytes of all layers that run
 * @property {number} weightsAt
 * @property {number} tracesAt
 * @property {number[] | undefined} residuals the shape of the residual stream's, if they are asked for
 * @property {number} residualsAt
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

/**
 * Fills an hw_forward_options.
 * @param {Engine} engine
 * @param {Extras} extras
 * @param {readonly number[]} addresses where the struct and its parts are, behind the input and the output
 */
function writeExtras(engine, extras, addresses) {
  const [, struct, weights, maskAt, headMask, tokenTypes, list, residuals, start, ...outputs] =
    addresses;
  const { mask, replace } = extras;
  extras.tracesAt = struct + layout.bytes;
  extras.weightsAt = weights;
  extras.residualsAt = residuals;
  writeStruct(engine, struct, layout, {
    ...{ weights, headMask, tokenTypes, residuals, start },
    trace: extras.trace ? extras.tracesAt : 0,
    cache: extras.cacheAt,
    causality: extras.causality,
    replace: list,
    replaceCount: replace.length,
    startLayer: extras.firstLayer,
  });
  writeMask(engine.words, struct / 4 + layout.words.mask, mask, maskAt);
  replace.forEach(({ layer, head, output: { size, shape } }, i) => {
    const rows = size / shape[shape.length - 1];
    const fields = { layer, head, output: outputs[i], rows };
    writeStruct(engine, list + i * replaceLayout.bytes, replaceLayout, fields);
  });
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
    const listBytes = extras.replace.length * replaceLayout.bytes;
    const outputs = extras.replace.map(({ output }) => output);
    const residualsBytes = extras.residuals && 4 * sizeOf(extras.residuals, 'residuals');
    const operands = [extras.mask?.tensor, extras.headMask, extras.tokenTypes];
    const parts = [
      ...[bytes, structBytes, extras.weightsBytes, ...operands, listBytes],
      ...[residualsBytes, extras.start, ...outputs],
    ];
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
 * @param {Asked} asked
 * @param {Attending} about
 * @param {Extras['scores']} scores
 * @param {boolean} hasBatch
 */
function fitReplace({ replace = [], start }, { layers, heads, headDim }, scores, hasBatch) {
  const [batch, , tokens] = scores;
  const first = start?.layer ?? 0;
  replace.forEach(({ layer, head, output }, i) => {
    const name = `replace[${i}].layer`;
    if (checkIndex(layer, name, layers) < first) {
      throw misfit(layer, name, `at least start.layer, ${first}`);
    }
    checkIndex(head, `replace[${i}].head`, heads);
    const { shape } = output;
    const own = /** @type {number[]} */ ([tokens, headDim]);
    const fits = sameShape(shape, own) || (hasBatch && sameShape(shape, [batch, ...own]));
    const expected = () => `[${own.join(', ')}], tokens and headDim`;
    checkShape(output, `replace[${i}].output`, fits, expected);
  });
}

/**
 * @param {Start} start
 * @param {import('./key-value-cache.js').KeyValueCache | undefined} cache
 * @param {number} layers
 * @param {number[]} own the shape of one residual stream
 */
function fitStart({ layer, residual }, cache, layers, own) {
  if (cache !== undefined) {
    throw misfit(cache, 'cache', 'none with start');
  }
  checkIndex(layer, 'start.layer', layers + 1);
  const expected = () => `[${own.join(', ')}], tokens and dModel`;
  checkShape(residual, 'start.residual', sameShape(residual.shape, own), expected);
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
  const { layers, heads, dModel = 0 } = about;
  const { headMask, keyPaddingMask: padding, trace = false, replace = [], tokenTypes } = asked;
  const [batch, , tokens] = scores;
  const stream = hasBatch ? [batch, tokens, dModel] : [tokens, dModel];
  if (asked.start !== undefined) {
    fitStart(asked.start, asked.cache, layers, stream);
  }
  fitReplace(asked, about, scores, hasBatch);
  const own = asked.mask && fitModuleMask(asked.mask, scores);
  checkKeyPadding(padding, hasBatch ? [scores[0], scores[3]] : [scores[3]]);
  const mask = hidePadding(padding, own, scores);
  if (headMask !== undefined) {
    const expected = () => `[${layers}, ${heads}], layers and heads`;
    checkShape(headMask, 'headMask', sameShape(headMask.shape, [layers, heads]), expected);
  }
  const { start } = asked;
  const firstLayer = start?.layer ?? 0;
  const count = layers - firstLayer;
  return {
    ...{ layers, firstLayer, scores, mask, headMask, tokenTypes, replace, cacheAt, trace },
    start: start?.residual,
    causality: causalityOf(asked.isCausal, own !== undefined),
    weightsBytes: asked.needWeights ? 4 * count * sizeOf(scores, 'weights') : undefined,
    residuals: asked.residuals ? [count + 1, ...stream] : undefined,
    ...{ weightsAt: 0, tracesAt: 0, residualsAt: 0 },
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
  const { layers, firstLayer, scores, weightsBytes, weightsAt, tracesAt, cacheAt } = extras;
  /** @type {Trace[]} */
  const trace = [];
  for (let layer = firstLayer; extras.trace && layer < layers; layer++) {
    const pointer = engine.words[tracesAt / 4 + trace.length];
    trace.push(new Trace(engine, pointer, scores, { module, layer }));
  }
  try {
    /** @type {Results} */
    const results = { output: engine.read(outputAt, shape) };
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
      engine.call.cache_truncate(cacheAt, stored);
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
  const logitsLast = logits === 'last' && input.dtype === 'uint32' && input.lengths !== undefined;
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
 * @throws {HeadwiseError} ERR_VALUE: gradients would end at a cache, or at outputs or a residual stream that were given or are asked for
 */
function isGraphWanted(module, { cache, logits, replace, start, residuals }, x) {
  if (cache !== undefined && sourceOf(x) !== undefined) {
    const expected = 'none with an x that requires gradients (or hw.noGrad)';
    throw misfit(cache, 'cache', expected);
  }
  const isWanted = cache === undefined && logits !== 'none' && wantsGraph(module, x);
  const given = Object.entries({ replace, start, residuals }).find(([, value]) => value);
  if (isWanted && given !== undefined) {
    throw misfit(given[1], given[0], 'none where gradients are recorded (or hw.noGrad)');
  }
  return isWanted;
}
