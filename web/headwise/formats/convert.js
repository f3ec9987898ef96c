// Converts little-endian bytes of a file to float32. Like the engine, it assumes a little-endian machine.
import { mostDimensions } from '../tensor/shape.js';
import { Tensor } from '../tensor/tensor.js';

/**
 * A type's name in safetensors. Values of F8 types and of C64 are not converted.
 * @typedef {'BOOL' | 'U8' | 'I8' | 'U16' | 'I16' | 'U32' | 'I32' | 'U64' | 'I64' | 'F16' | 'BF16' | 'F32' | 'F64' | 'F8_E4M3' | 'F8_E5M2' | 'F8_E8M0' | 'C64'} Dtype
 */
/** @typedef {(bytes: Uint8Array, floats: Float32Array) => void} Convert of as many values as floats has */

/**
 * @template T
 * @param {{ new (buffer: ArrayBufferLike, at: number, length: number): T, BYTES_PER_ELEMENT: number }} Type
 * @param {Uint8Array} bytes at any place: files align nothing
 * @returns {T} the same bytes, or a copy at a place that Type can have
 */
function viewAs(Type, bytes) {
  const size = Type.BYTES_PER_ELEMENT;
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Type(buffer, byteOffset, byteLength / size);
}

/** @param {Float32Array} floats */
const bitsOf = (floats) =>
  viewAs(Uint32Array, new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength));

/** @type {Uint32Array | undefined} */
let halfTable;

/** The float32 bits of each float16: a look-up is several times faster than taking the number apart. */
function bitsOfHalves() {
  if (halfTable === undefined) {
    const floats = new Float32Array(65_536);
    for (let half = 0; half < floats.length; half++) {
      const exponent = (half >> 10) & 31;
      const fraction = half & 1023;
      const special = fraction === 0 ? Infinity : NaN;
      const normal = exponent === 31 ? special : (1024 + fraction) * 2 ** (exponent - 25);
      floats[half] = (half < 32_768 ? 1 : -1) * (exponent === 0 ? fraction * 2 ** -24 : normal);
    }
    halfTable = bitsOf(floats);
  }
  return halfTable;
}

/** @type {Convert} */
function fromHalves(bytes, floats) {
  const table = bitsOfHalves();
  const halves = viewAs(Uint16Array, bytes);
  const bits = bitsOf(floats);
  for (let i = 0; i < bits.length; i++) {
    bits[i] = table[halves[i]];
  }
}

/** A bfloat16 is the upper half of a float32. @type {Convert} */
function fromBfloats(bytes, floats) {
  const upper = viewAs(Uint16Array, bytes);
  const bits = bitsOf(floats);
  for (let i = 0; i < bits.length; i++) {
    bits[i] = upper[i] << 16;
  }
}

/** @type {Convert} */
function fromBooleans(bytes, floats) {
  for (let i = 0; i < floats.length; i++) {
    floats[i] = bytes[i] === 0 ? 0 : 1;
  }
}

/** @type {Convert} */
const fromFloats = (bytes, floats) =>
  new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength).set(bytes);

/** @type {(Type: any) => Convert} of arrays whose values a double holds, so that each is rounded once */
const rounded = (Type) => (bytes, floats) => floats.set(viewAs(Type, bytes));

/**
 * Rounded once as well: a double does not hold 64 bits, so of large values the lowest 11 become one bit that says whether
 * any was set, which is all that rounding to 24 bits asks of them.
 * @type {(Type: any) => Convert}
 */
const roundedLongs = (Type) => (bytes, floats) => {
  const lower = viewAs(Uint32Array, bytes);
  const upper = new Type(lower.buffer, lower.byteOffset, lower.length);
  for (let i = 0; i < floats.length; i++) {
    const high = upper[2 * i + 1];
    let low = lower[2 * i];
    if (Math.abs(high) >= 2 ** 20 && (low & 2047) !== 0) {
      low = ((low & ~2047) | 2048) >>> 0;
    }
    floats[i] = high * 2 ** 32 + low;
  }
};

/** A file may have some beside what is wanted of it. @param {number} size */
const unconverted = (size) => ({ size, toFloats: /** @type {any} */ (undefined) });

/** @type {Readonly<Record<Dtype, { size: number, toFloats: Convert }>>} a value's bytes, and how they become float32 */
export const dtypes = Object.freeze({
  BOOL: { size: 1, toFloats: fromBooleans },
  U8: { size: 1, toFloats: rounded(Uint8Array) },
  I8: { size: 1, toFloats: rounded(Int8Array) },
  U16: { size: 2, toFloats: rounded(Uint16Array) },
  I16: { size: 2, toFloats: rounded(Int16Array) },
  U32: { size: 4, toFloats: rounded(Uint32Array) },
  I32: { size: 4, toFloats: rounded(Int32Array) },
  U64: { size: 8, toFloats: roundedLongs(Uint32Array) },
  I64: { size: 8, toFloats: roundedLongs(Int32Array) },
  F16: { size: 2, toFloats: fromHalves },
  BF16: { size: 2, toFloats: fromBfloats },
  F32: { size: 4, toFloats: fromFloats },
  F64: { size: 8, toFloats: rounded(Float64Array) },
  ...{ F8_E4M3: unconverted(1), F8_E5M2: unconverted(1), F8_E8M0: unconverted(1) },
  C64: unconverted(8),
});

/** @param {unknown} name @returns {name is Dtype} */
export const isDtype = (name) => typeof name === 'string' && Object.hasOwn(dtypes, name);

export const expectedShape = `at most ${mostDimensions} integers that are not negative, with a product below 2^53`;

/**
 * Elements that a shape from a file holds.
 * @param {unknown} shape
 * @returns {number} NaN if it is no shape
 */
export function elementsOf(shape) {
  const sizes = Array.isArray(shape) && shape.length <= mostDimensions ? [...shape] : [NaN];
  if (!sizes.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    return NaN;
  }
  // With a 0, the others may be as large as they like.
  const elements = sizes.includes(0) ? 0 : sizes.reduce((product, n) => product * n, 1);
  return Number.isSafeInteger(elements) ? elements : NaN;
}

/**
 * What is read of a file, which its dtype tells apart: BOOL becomes bool, every other type float32.
 * @param {Dtype} dtype in the file
 * @param {Float32Array} data
 * @param {readonly number[]} shape
 * @returns {Tensor | Tensor<'bool'>}
 */
export const tensorRead = (dtype, data, shape) =>
  dtype === 'BOOL'
    ? /** @type {Tensor<'bool'>} */ (new Tensor(Uint8Array.from(data), shape))
    : /** @type {Tensor} */ (new Tensor(data, shape));
