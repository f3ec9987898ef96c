// What the tests of the file formats share: files by hand, streams, numpy's fixtures, and a second opinion on what files hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tensor, zeros } from 'headwise';
import { data as drawn } from './helpers.js';

/**
 * @typedef {object} Fixture
 * @property {string} title
 * @property {'npy' | 'safetensors'} kind
 * @property {string} base64
 * @property {Record<string, { dtype?: string, shape: number[], values: (number | string)[] }>} tensors
 * @property {Record<string, string>} [metadata]
 * @property {string} [refused] the type that is not read
 */

/** What is written and read again: both types, a scalar, no values, rare values. */
export const tensors = {
  weight: drawn(1, [5, 3]),
  mask: tensor([
    [true, false],
    [false, true],
  ]),
  scalar: tensor(-0),
  none: zeros([3, 0, 2]),
  rare: tensor([NaN, Infinity, -Infinity, 1e-45, 3e38]),
};

/** @returns {Fixture[]} */
export const fixtures = () =>
  JSON.parse(readFileSync(new URL('fixtures/formats.json', import.meta.url), 'utf8'));

/** @param {string} base64 */
export const fromBase64 = (base64) =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/**
 * A .safetensors file, right or wrong.
 *
 * @param {unknown} header an object, its text, or its bytes
 * @param {number | Uint8Array} [data] or how many bytes of it
 * @param {number | bigint} [length] that the file claims its header has
 */
export function safetensorsFile(header, data = 0, length) {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const bytes = header instanceof Uint8Array ? header : new TextEncoder().encode(text);
  const tail = typeof data === 'number' ? new Uint8Array(data) : data;
  const file = new Uint8Array(8 + bytes.length + tail.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length ?? bytes.length), true);
  file.set(bytes, 8);
  file.set(tail, 8 + bytes.length);
  return file;
}

/**
 * A .npy file, right or wrong.
 *
 * @param {string} header
 * @param {number} [data] how many bytes of it
 * @param {{ version?: number, length?: number }} [claims] what the file says of itself
 */
export function npyFile(header, data = 0, { version = 1, length = header.length } = {}) {
  const size = version === 1 ? 2 : 4;
  const file = new Uint8Array(8 + size + header.length + data);
  file.set([0x93, ...new TextEncoder().encode('NUMPY'), version, 0]);
  const view = new DataView(file.buffer);
  if (size === 2) view.setUint16(8, length, true);
  else view.setUint32(8, length, true);
  file.set(new TextEncoder().encode(header), 8 + size);
  return file;
}

/**
 * @param {Uint8Array} bytes
 * @param {number[]} [sizes] of the chunks, again and again
 * @returns {ReadableStream<Uint8Array>}
 */
export function streamOf(bytes, sizes = [1, 0, 7, 64, 3]) {
  let at = 0;
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      const size = sizes[count++ % sizes.length];
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
}

/** @param {Uint8Array} bytes @returns {[string, () => Blob | Uint8Array | ReadableStream<Uint8Array> | Response][]} */
export const sourcesOf = (bytes) => [
  ['bytes', () => bytes],
  ['a Blob', () => new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)])],
  ['a stream', () => streamOf(bytes)],
  ['a Response', () => new Response(/** @type {Uint8Array<ArrayBuffer>} */ (bytes))],
];

/** @param {number} half its bits */
function ofHalf(half) {
  const [sign, exponent, fraction] = [half >> 15, (half >> 10) & 31, half & 1023];
  const special = fraction === 0 ? Infinity : NaN;
  const size = exponent === 0 ? fraction / 2 ** 24 : 2 ** (exponent - 15) * (1 + fraction / 1024);
  return (sign === 1 ? -1 : 1) * (exponent === 31 ? special : size);
}

/** @type {Record<string, [size: number, read: (view: DataView, at: number) => number]>} */
const readers = {
  BOOL: [1, (view, at) => Number(view.getUint8(at) !== 0)],
  U8: [1, (view, at) => view.getUint8(at)],
  I8: [1, (view, at) => view.getInt8(at)],
  U16: [2, (view, at) => view.getUint16(at, true)],
  I16: [2, (view, at) => view.getInt16(at, true)],
  U32: [4, (view, at) => view.getUint32(at, true)],
  I32: [4, (view, at) => view.getInt32(at, true)],
  F16: [2, (view, at) => ofHalf(view.getUint16(at, true))],
  BF16: [2, (view, at) => Number(ofBits(view.getUint16(at, true) * 65536))],
  F32: [4, (view, at) => view.getFloat32(at, true)],
  F64: [8, (view, at) => view.getFloat64(at, true)],
};

/** @param {number} bits */
function ofBits(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** Types that `decode` knows: all but integers of 64 bits, which numpy's fixtures judge. */
export const decodable = Object.keys(readers);

/**
 * A value at a time, slowly: what is in these bytes.
 * @param {string} dtype
 * @param {Uint8Array} bytes
 */
export function decode(dtype, bytes) {
  const [size, read] = readers[dtype];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.length / size }, (_, i) => read(view, i * size));
}

/** @param {string} dtype */
export const sizeOfType = (dtype) => readers[dtype][0];

/**
 * Fails unless all values are the same, NaN and the sign of zero included.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {string} what
 */
export function sameValues(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: number of values`);
  for (let i = 0; i < actual.length; i++)
    if (!Object.is(actual[i], expected[i]))
      assert.fail(`${what}: value ${i} is ${actual[i]}; expected ${expected[i]}`);
}
