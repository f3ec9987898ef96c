// Writes GGUF, llama.cpp's format of models: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
import { open } from 'node:fs/promises';
import { halfOf } from '../../../web/page/models/train/half.js';

/**
 * @typedef {['uint32' | 'float32', number] | ['bool', boolean] | ['string', string] | ['strings', string[]]
 *   | ['int32s', number[]]} Value of metadata, after its type
 *
 * @typedef {object} GgufTensor
 * @property {string} name
 * @property {readonly number[]} shape as in PyTorch; the file has it the other way round
 * @property {keyof typeof types} type
 * @property {() => Promise<Float32Array>} read
 */

const VERSION = 3;
const ALIGNMENT = 32;
/** Weights that have a scale in common. */
const BLOCK = 32;

/** Of a block, the value that is furthest from 0. @param {Float32Array} values @param {number} start */
function extreme(values, start) {
  let most = 0;
  for (let i = start; i < start + BLOCK; i++)
    if (Math.abs(values[i]) > Math.abs(most)) most = values[i];
  return most;
}

/** A block is its scale and 32 integers up to ±127. @param {Float32Array} values @param {DataView} to */
function packQ8(values, to) {
  for (let i = 0, at = 0; i < values.length; i += BLOCK, at += 2 + BLOCK) {
    const scale = Math.abs(extreme(values, i)) / 127 || 1;
    to.setUint16(at, halfOf(scale), true);
    for (let j = 0; j < BLOCK; j++) to.setInt8(at + 2 + j, Math.round(values[i + j] / scale));
  }
}

/** A block is its scale and 32 integers from -8 to 7, plus 8: the second half's beside the first half's. @type {typeof packQ8} */
function packQ4(values, to) {
  for (let i = 0, at = 0; i < values.length; i += BLOCK, at += 2 + BLOCK / 2) {
    const scale = extreme(values, i) / -8 || 1;
    to.setUint16(at, halfOf(scale), true);
    const four = (/** @type {number} */ j) => Math.min(15, Math.floor(values[i + j] / scale + 8.5));
    for (let j = 0; j < BLOCK / 2; j++)
      to.setUint8(at + 2 + j, four(j) | (four(BLOCK / 2 + j) << 4));
  }
}

/**
 * How tensors are stored: the type's number, and the weights and bytes of a block.
 * @type {Readonly<Record<'f32' | 'f16' | 'q4_0' | 'q8_0', { code: number, weights: number, bytes: number, pack: typeof packQ8 }>>}
 */
export const types = {
  f32: {
    ...{ code: 0, weights: 1, bytes: 4 },
    pack: (values, to) => values.forEach((value, i) => to.setFloat32(4 * i, value, true)),
  },
  f16: {
    ...{ code: 1, weights: 1, bytes: 2 },
    pack: (values, to) => values.forEach((value, i) => to.setUint16(2 * i, halfOf(value), true)),
  },
  q4_0: { code: 2, weights: BLOCK, bytes: 2 + BLOCK / 2, pack: packQ4 },
  q8_0: { code: 8, weights: BLOCK, bytes: 2 + BLOCK, pack: packQ8 },
};

const uint32 = (/** @type {number} */ value) => Buffer.from(Uint32Array.of(value).buffer);
const uint64 = (/** @type {number} */ value) =>
  Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const string = (/** @type {string} */ text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
};
const list = (/** @type {number} */ code, /** @type {Buffer[]} */ values) =>
  Buffer.concat([uint32(code), uint64(values.length), ...values]);

/** A value's bytes after the number of its type. @param {Value} value */
function valueBytes([type, value]) {
  switch (type) {
    case 'uint32':
      return [uint32(4), uint32(value)];
    case 'float32':
      return [uint32(6), Buffer.from(Float32Array.of(value).buffer)];
    case 'bool':
      return [uint32(7), Buffer.of(Number(value))];
    case 'string':
      return [uint32(8), string(value)];
    case 'strings':
      return [uint32(9), list(8, value.map(string))];
    case 'int32s':
      return [uint32(9), list(5, value.map(uint32))];
  }
}

const aligned = (/** @type {number} */ bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** @param {GgufTensor} tensor */
function byteLengthOf({ shape, type }) {
  const { weights, bytes } = types[type];
  return (shape.reduce((product, n) => product * n, 1) / weights) * bytes;
}

/**
 * @param {string} path
 * @param {Record<string, Value>} metadata
 * @param {readonly GgufTensor[]} tensors the rows of those in blocks are multiples of 32
 */
export async function writeGguf(path, metadata, tensors) {
  let end = 0;
  const infos = tensors.map((tensor) => {
    const { name, shape, type } = tensor;
    const start = end;
    end = aligned(end + byteLengthOf(tensor));
    const sizes = [...shape].reverse().map(uint64);
    return [string(name), uint32(sizes.length), ...sizes, uint32(types[type].code), uint64(start)];
  });
  const pairs = Object.entries(metadata).map(([key, value]) => [string(key), ...valueBytes(value)]);
  const counts = [uint32(VERSION), uint64(tensors.length), uint64(pairs.length)];
  const header = Buffer.concat([Buffer.from('GGUF'), ...counts, ...pairs.flat(), ...infos.flat()]);
  const file = await open(path, 'w');
  try {
    const write = async (/** @type {Uint8Array} */ bytes) => {
      await file.write(bytes);
      await file.write(new Uint8Array(aligned(bytes.length) - bytes.length));
    };
    await write(header);
    for (const tensor of tensors) {
      const bytes = new Uint8Array(byteLengthOf(tensor));
      types[tensor.type].pack(await tensor.read(), new DataView(bytes.buffer));
      await write(bytes);
    }
  } finally {
    await file.close();
  }
}
