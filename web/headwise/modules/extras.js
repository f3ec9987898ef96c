// What a forward is asked for beyond its output: checked against the shapes, then laid as an hw_forward_options.
import {
  causality as causalities,
  forwardOptions as layout,
  headOutput as replaceLayout,
} from '../engine/abi.js';
import { checkKeyPadding, hidePadding } from '../attention/key-padding.js';
import { fitModuleMask, writeMask } from '../attention/mask.js';
import { checkIndex, checkShape } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { writeStruct } from '../engine/struct.js';
import { sameShape, sizeOf } from '../tensor/shape.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('./attending.js').Attending} Attending */
/** @typedef {import('./forward-options.js').Asked} Asked */
/** @typedef {import('./forward-options.js').Replacement} Replacement */
/** @typedef {import('./forward-options.js').Start} Start */

/**
 * What an hw_forward_options says, and where its parts are once they are in staging memory.
 * @typedef {object} Extras
 * @property {number} layers
 * @property {number} firstLayer the first that runs
 * @property {readonly [number, number, number, number]} scores the shape of a layer's: [batch, heads, Lq, Lkv]
 * @property {import('../attention/mask.js').Mask | undefined} mask
 * @property {FloatOperand | undefined} headMask
 * @property {IdsOperand | undefined} tokenTypes of encoders
 * @property {IdsOperand | undefined} positionIds of decoders
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
 * @param {FloatOperand | undefined} headMask
 * @param {number} layers
 * @param {number} heads
 */
export function fitHeadMask(headMask, layers, heads) {
  if (headMask !== undefined) {
    const expected = () => `[${layers}, ${heads}], layers and heads`;
    checkShape(headMask, 'headMask', sameShape(headMask.shape, [layers, heads]), expected);
  }
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
export function fitExtras(asked, about, scores, hasBatch, cacheAt) {
  const { layers, heads, dModel = 0 } = about;
  const { headMask, keyPaddingMask: padding, trace = false, replace = [] } = asked;
  const { tokenTypes, positionIds } = asked;
  const [batch, , tokens] = scores;
  const stream = hasBatch ? [batch, tokens, dModel] : [tokens, dModel];
  if (asked.start !== undefined) {
    fitStart(asked.start, asked.cache, layers, stream);
  }
  fitReplace(asked, about, scores, hasBatch);
  const own = asked.mask && fitModuleMask(asked.mask, scores);
  checkKeyPadding(padding, hasBatch ? [scores[0], scores[3]] : [scores[3]]);
  const mask = hidePadding(padding, own, scores);
  fitHeadMask(headMask, layers, heads);
  const { start } = asked;
  const firstLayer = start?.layer ?? 0;
  const count = layers - firstLayer;
  // One literal: in V8 names after a spread would give each object a hidden class of its own.
  return {
    layers,
    firstLayer,
    scores,
    mask,
    headMask,
    tokenTypes,
    positionIds,
    replace,
    cacheAt,
    trace,
    start: start?.residual,
    causality: causalityOf(asked.isCausal, own !== undefined),
    weightsBytes: asked.needWeights ? 4 * count * sizeOf(scores, 'weights') : undefined,
    residuals: asked.residuals ? [count + 1, ...stream] : undefined,
    weightsAt: 0,
    tracesAt: 0,
    residualsAt: 0,
  };
}

/**
 * Fills an hw_forward_options.
 * @param {Engine} engine
 * @param {Extras} extras
 * @param {readonly number[]} addresses where the struct and its parts are, after the input and the output
 */
function write(engine, extras, addresses) {
  const [, struct, weights, maskAt, headMask, tokenTypes, positionIds, list, ...rest] = addresses;
  const [residuals, start, ...outputs] = rest;
  const { mask, replace } = extras;
  extras.tracesAt = struct + layout.bytes;
  extras.weightsAt = weights;
  extras.residualsAt = residuals;
  writeStruct(engine, struct, layout, {
    weights,
    headMask,
    tokenTypes,
    positionIds,
    residuals,
    start,
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
 * Lays an hw_forward_options and its parts into staging memory, after a call's input and output.
 * @param {Engine} engine
 * @param {Extras} extras
 * @param {number} bytes of the input and the output
 * @returns {readonly number[]} the addresses of input and output, and of the options
 */
export function layExtras(engine, extras, bytes) {
  const structBytes = layout.bytes + extras.layers * 4;
  const listBytes = extras.replace.length * replaceLayout.bytes;
  const outputs = extras.replace.map(({ output }) => output);
  const residualsBytes = extras.residuals && 4 * sizeOf(extras.residuals, 'residuals');
  const parts = [
    bytes,
    structBytes,
    extras.weightsBytes,
    extras.mask?.tensor,
    extras.headMask,
    extras.tokenTypes,
    extras.positionIds,
    listBytes,
    residualsBytes,
    extras.start,
  ];
  const addresses = engine.lay(parts.concat(outputs));
  write(engine, extras, addresses);
  return addresses;
}
