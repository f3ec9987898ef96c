// What torch's modules are given, as the engine takes it: [batch, tokens, width], and masks that say what may be attended to.
import { checkShape, maybe } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misshapen } from '../checks/error.js';
import { binary } from '../tensor/broadcast.js';
import { checkFloats, checkTensor, copyData } from '../tensor/operand.js';
import { newArray, sameShape } from '../tensor/shape.js';
import { Tensor } from '../tensor/tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */

const { permute, reshape } = Tensor.prototype;

/**
 * A copy of an input as [batch, tokens, width]. The caller's tensor is not read again.
 * @param {Tensor} value [batch, tokens, width], or [tokens, batch, width], or [tokens, width]
 * @param {string} name
 * @param {number} width
 * @param {boolean} batchFirst
 * @param {number} [rank] expected; default: 2 or 3
 * @returns {{ x: Tensor, rank: number }}
 */
export function readInput(value, name, width, batchFirst, rank) {
  const given = checkFloats(value, name);
  const { shape } = given;
  const fits =
    rank === undefined ? shape.length === 2 || shape.length === 3 : shape.length === rank;
  const batched = batchFirst ? `[batch, tokens, ${width}]` : `[tokens, batch, ${width}]`;
  const expected = { 2: `[tokens, ${width}]`, 3: batched }[rank ?? 0];
  checkShape(
    given,
    name,
    fits && shape[shape.length - 1] === width,
    () => expected ?? `${batched} or [tokens, ${width}]`,
  );
  const isTurned = shape.length === 3 && !batchFirst;
  const x = isTurned
    ? permute.call(value, [1, 0, 2])
    : reshape.call(value, shape.length === 3 ? shape : [1, ...shape]);
  return { x: /** @type {Tensor} */ (x), rank: shape.length };
}

/**
 * An output as the caller has the input.
 * @param {Tensor} output [batch, tokens, width]
 * @param {number} rank of the input
 * @param {boolean} batchFirst
 */
export function giveBack(output, rank, batchFirst) {
  if (rank === 2) {
    return output.reshape(output.shape.slice(1));
  }
  return batchFirst ? output : output.permute([1, 0, 2]);
}

/**
 * @param {unknown} embedDim
 * @param {string} name
 * @param {number} heads
 * @param {string} headsName
 */
export function checkHeadWidth(embedDim, name, heads, headsName) {
  if (Number(embedDim) % heads !== 0) {
    const expected = `expected a multiple of ${headsName}, ${heads}`;
    throw new HeadwiseError('ERR_SHAPE', `${name} is ${embedDim}; ${expected}`);
  }
}

/**
 * The check of a mask in a table of options.
 * @param {AnyTensor | undefined} value
 * @param {string} name
 */
export const readMask = maybe((value, name) => ({
  own: checkTensor(value, name),
  from: value,
  name,
}));

/** @typedef {NonNullable<ReturnType<typeof readMask>>} GivenMask */

/**
 * @param {GivenMask | undefined} mask
 * @param {readonly (readonly [shape: readonly number[], as: readonly number[], words: string])[]} forms that it may have
 * @returns {AnyTensor | undefined} a copy with 4 axes
 */
function fitMask(mask, forms) {
  if (mask === undefined) {
    return undefined;
  }
  const { own, from, name } = mask;
  const form = forms.find(([shape]) => sameShape(own.shape, shape));
  if (form === undefined) {
    const expected = forms.map(([shape, , words]) => `${words}, ${describe(shape)}`);
    throw misshapen(own.shape, name, expected.join(', or '));
  }
  return /** @type {AnyTensor} */ (reshape.call(from, form[1]));
}

/** The engine's bool masks are true where torch's are false. @param {AnyTensor} mask @returns {AnyTensor} */
function visible(mask) {
  if (mask.dtype === 'float32') {
    return mask;
  }
  const { data, shape } = mask;
  return new Tensor(/** @type {any} */ (data.map((hidden) => (hidden === 0 ? 1 : 0))), shape);
}

/** @param {AnyTensor} mask @returns {Tensor} to be added to the scores */
function added(mask) {
  if (mask.dtype === 'float32') {
    return /** @type {Tensor} */ (mask);
  }
  const hidden = copyData(checkTensor(mask, 'mask'));
  const data = newArray(Float32Array, hidden.length);
  hidden.forEach((is, i) => (data[i] = is === 0 ? 0 : -Infinity));
  return new Tensor(data, mask.shape);
}

/**
 * The masks of a call as one: bool, true where a key may be attended to, or float32, added to the scores.
 * @param {Engine} engine
 * @param {GivenMask | undefined} attention [Lq, Lkv] or [batch · heads, Lq, Lkv]
 * @param {GivenMask | undefined} padding [batch, Lkv], or [Lkv] without a batch
 * @param {readonly number[]} scores [batch, heads, Lq, Lkv]
 * @param {boolean} hasBatch
 * @returns {AnyTensor | undefined}
 */
export function joinMasks(engine, attention, padding, [batch, heads, queries, keys], hasBatch) {
  const shown = fitMask(attention, [
    [[queries, keys], [1, 1, queries, keys], '[Lq, Lkv]'],
    [[batch * heads, queries, keys], [batch, heads, queries, keys], '[batch · heads, Lq, Lkv]'],
  ]);
  const words = hasBatch ? '[batch, Lkv]' : '[Lkv]';
  const own = hasBatch ? [batch, keys] : [keys];
  const kept = fitMask(padding, [[own, [batch, 1, 1, keys], words]]);
  if (shown !== undefined && kept !== undefined) {
    return binary(engine, 'add', added(shown), added(kept));
  }
  const only = shown ?? kept;
  return only && visible(only);
}
