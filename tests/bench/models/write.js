// A model of random weights as Hugging Face has it: config.json and model.safetensors, written piece by piece.
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from '../../../web/headwise/models/config.js';
import { halfOf } from '../../../web/page/models/train/half.js';
import { parametersOf } from './parameters.js';

/** Values that are written at a time. */
const PIECE = 2 ** 20;

/** As GPT-2's weights begin. */
const DEVIATION = 0.02;

/** @typedef {{ name: string, size: number, Type: typeof Uint16Array | typeof Uint32Array, bitsOf: (value: number) => number }} Stored */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** @param {number} value */
function bitsOf(value) {
  float[0] = value;
  return bits[0];
}

/** To the nearest bfloat16. @param {number} value */
const bfloatOf = (value) => (bitsOf(value) + 0x7fff + ((bitsOf(value) >>> 16) & 1)) >>> 16;

/** @type {Readonly<Record<string, Stored>>} */
export const dtypes = {
  float32: { name: 'F32', size: 4, Type: Uint32Array, bitsOf },
  float16: { name: 'F16', size: 2, Type: Uint16Array, bitsOf: halfOf },
  bfloat16: { name: 'BF16', size: 2, Type: Uint16Array, bitsOf: bfloatOf },
};

/** Repeatable numbers of 32 bits (xorshift; Marsaglia 2003). @param {number} seed */
function integers(seed) {
  // Neighbouring seeds begin far apart, and none with 0, which stays 0.
  let state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * Normal numbers (Box & Muller 1958).
 * @param {() => number} next
 * @param {Stored} stored
 * @param {number} length
 */
function normals(next, { Type, bitsOf: toBits }, length) {
  const uniform = () => (next() + 0.5) / 2 ** 32;
  const values = new Type(length);
  for (let i = 0; i < length; i++) {
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    values[i] = toBits(DEVIATION * radius * Math.cos(2 * Math.PI * uniform()));
  }
  return values;
}

/** @param {readonly number[]} shape */
const count = (shape) => shape.reduce((product, n) => product * n, 1);

/**
 * Norms have weights of 1, biases are 0, all else is normal.
 * @param {string} folder is made
 * @param {Record<string, unknown>} config of GPT-2 or of Llama's kin
 * @param {{ dtype?: string, seed?: number }} [options]
 * @returns {Promise<{ parameters: number, bytes: number }>} bytes: of the weights' file
 */
export async function writeModel(folder, config, { dtype = 'bfloat16', seed = 1 } = {}) {
  const stored = dtypes[dtype];
  if (stored === undefined) throw new Error(`dtype is ${dtype}; expected ${Object.keys(dtypes)}`);
  const entries = parametersOf(readModelConfig(config));
  const next = integers(seed);
  // Each piece is a stretch of these: new numbers for each weight would take minutes for large models.
  const drawn = normals(next, stored, 2 * PIECE);
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'config.json'),
    `${JSON.stringify({ ...config, torch_dtype: dtype }, null, 2)}\n`,
  );
  let end = 0;
  const infos = entries.map(([name, shape]) => {
    const start = end;
    end += stored.size * count(shape);
    return [name, { dtype: stored.name, shape, data_offsets: [start, end] }];
  });
  const json = JSON.stringify(Object.fromEntries(infos));
  const header = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const file = await open(join(folder, 'model.safetensors'), 'w');
  try {
    await file.write(new Uint8Array(new BigUint64Array([BigInt(header.length)]).buffer));
    await file.write(header);
    for (const [name, shape] of entries)
      for (let left = count(shape); left > 0; left -= PIECE) {
        const length = Math.min(PIECE, left);
        const value = name.endsWith('bias') ? 0 : stored.bitsOf(1);
        const start = next() % PIECE;
        const piece =
          shape.length === 2
            ? drawn.subarray(start, start + length)
            : new stored.Type(length).fill(value);
        await file.write(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
      }
  } finally {
    await file.close();
  }
  return { parameters: end / stored.size, bytes: 8 + header.length + end };
}
