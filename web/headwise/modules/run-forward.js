// A module's forward: everything that goes in is laid into staging memory, and what comes out is copied.
import { causality as causalities, forwardOptions } from '../engine/abi.js';
import { aligned } from '../engine/engine.js';
import { maskBytes, writeMask } from '../attention/mask.js';
import { inputBytes, wordsOf, writeInput } from '../engine/struct.js';
import { sizeOf } from '../tensor/shape.js';
import { Trace } from '../attention/trace.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * A forward that is ready to run: nothing that follows runs code of the caller's.
 * @typedef {object} Call
 * @property {number} pointer the module's address
 * @property {string} name for messages
 * @property {FloatOperand | Uint32Array} input x, or ids
 * @property {number} batch
 * @property {number} tokens
 * @property {readonly [number, number] | undefined} logits of which tokens a decoder's output is
 * @property {readonly number[]} outputShape
 * @property {number} layers how many give weights and traces
 * @property {readonly number[]} weightsShape of a layer's, [batch, heads, Lq, Lkv]
 * @property {import('../attention/mask.js').Mask | undefined} mask
 * @property {number} causality
 * @property {FloatOperand | undefined} headMask
 * @property {number} cacheAt a cache's address, 0 for none
 * @property {number} stored tokens in it
 * @property {boolean} needWeights
 * @property {boolean} trace
 */

const optionsAt = wordsOf(forwardOptions);
const optionWords = forwardOptions.bytes / 4;

/** @param {Call} call */
const asksForMore = ({ mask, headMask, cacheAt, trace, needWeights, causality }) =>
  trace ||
  needWeights ||
  cacheAt !== 0 ||
  mask !== undefined ||
  headMask !== undefined ||
  causality !== causalities.own;

/**
 * @param {Engine} engine
 * @param {number} address of the mask's data, the head mask's and the struct, one behind the other
 * @param {Call} call
 * @param {number} weights address, 0 for none
 * @returns {number} the struct's address, behind which the traces' addresses follow
 */
function writeOptions(engine, address, { mask, headMask, cacheAt, trace, causality }, weights) {
  const headMaskAt = address + aligned(maskBytes(mask));
  const struct = headMaskAt + aligned((headMask?.size ?? 0) * 4);
  if (mask !== undefined) {
    engine.write(address, mask.tensor);
  }
  if (headMask !== undefined) {
    engine.write(headMaskAt, headMask);
  }
  const { words } = engine;
  const at = struct / 4;
  writeMask(words, at + optionsAt.mask, mask, address);
  words[at + optionsAt.weights] = weights;
  words[at + optionsAt.trace] = trace ? struct + optionWords * 4 : 0;
  words[at + optionsAt.cache] = cacheAt;
  words[at + optionsAt.headMask] = headMask === undefined ? 0 : headMaskAt;
  words[at + optionsAt.causality] = causality;
  return struct;
}

/**
 * @param {Engine} engine
 * @param {number} address of the first trace's address
 * @param {Call} call
 */
function tracesAt(engine, address, { layers, weightsShape }) {
  const pointers = engine.words.slice(address / 4, address / 4 + layers);
  return Array.from(pointers, (pointer) => new Trace(engine, pointer, weightsShape));
}

/**
 * @param {Engine} engine
 * @param {Call} call
 * @returns {{ output: Tensor, weights?: Tensor[], trace?: Trace[] }} weights and traces if they were asked for; the traces are
 *   the caller's
 */
export function runForward(engine, call) {
  const { pointer, input, batch, tokens, outputShape, layers, weightsShape } = call;
  const isIds = input instanceof Uint32Array;
  const dataBytes = aligned((isIds ? input.length : input.size) * 4);
  const outputBytes = aligned(sizeOf(outputShape, 'output') * 4);
  const layerBytes = call.needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
  const weightsBytes = aligned(layers * layerBytes);
  const maskedBytes = aligned(maskBytes(call.mask)) + aligned((call.headMask?.size ?? 0) * 4);
  const bytes = inputBytes + dataBytes + outputBytes + weightsBytes + maskedBytes;
  const at = engine.stage(bytes + (optionWords + layers) * 4);
  const data = at + inputBytes;
  const output = data + dataBytes;
  const weights = output + outputBytes;
  if (isIds) {
    engine.words.set(input, data / 4);
  } else {
    engine.write(data, input);
  }
  const asked = asksForMore(call)
    ? writeOptions(engine, weights + weightsBytes, call, call.needWeights ? weights : 0)
    : 0;
  writeInput(engine, at, { isIds, data, batch, tokens, logits: call.logits });
  engine.check(engine.call.module_forward(pointer, at, output, asked), call.name);
  const traces = call.trace ? tracesAt(engine, asked + optionWords * 4, call) : undefined;
  try {
    /** @type {ReturnType<typeof runForward>} */
    const result = { output: engine.read(output, outputShape) };
    if (call.needWeights) {
      result.weights = Array.from({ length: layers }, (_, layer) =>
        engine.read(weights + layer * layerBytes, weightsShape),
      );
    }
    if (traces !== undefined) {
      result.trace = traces;
    }
    return result;
  } catch (error) {
    traces?.forEach((each) => each.dispose());
    if (call.cacheAt !== 0) {
      engine.call.cache_truncate(call.cacheAt, call.stored);
    }
    throw error;
  }
}
