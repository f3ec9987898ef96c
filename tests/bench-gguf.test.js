// Models as GGUF files, which wllama is measured with: read back by a reader of the format's specification
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), values as ggml's types are defined.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSafetensors } from 'headwise/formats';
import { CHARACTERS, textOf, tokensOf } from './bench/models/byte-tokens.js';
import { writeGguf } from './bench/models/gguf.js';
import { ggufTypes, writeGgufModel } from './bench/models/to-gguf.js';
import { shapes } from './bench/models/shapes.js';
import { shrink } from './bench/models/work.js';
import { writeModel } from './bench/models/write.js';

const folder = await mkdtemp(join(tmpdir(), 'headwise-gguf-'));
after(() => rm(folder, { recursive: true }));

/** A float16 of 5 bits of exponent and 10 of fraction. @param {number} bits */
function half(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
  return bits >> 15 ? -size : size;
}

/** By ggml's number: a block's weights and bytes, and what weight i of the block at a byte is. */
const dequantize = {
  0: { weights: 1, bytes: 4, value: (/** @type {Buffer} */ file, at = 0) => file.readFloatLE(at) },
  1: {
    ...{ weights: 1, bytes: 2 },
    value: (/** @type {Buffer} */ file, at = 0) => half(file.readUInt16LE(at)),
  },
  2: {
    ...{ weights: 32, bytes: 18 },
    value(/** @type {Buffer} */ file, at = 0, i = 0) {
      const byte = file[at + 2 + (i % 16)];
      return half(file.readUInt16LE(at)) * ((i < 16 ? byte & 15 : byte >> 4) - 8);
    },
  },
  8: {
    ...{ weights: 32, bytes: 34 },
    value: (/** @type {Buffer} */ file, at = 0, i = 0) =>
      half(file.readUInt16LE(at)) * file.readInt8(at + 2 + i),
  },
};

/** @param {Buffer} file */
function readGguf(file) {
  let at = 0;
  const skip = (/** @type {number} */ bytes) => (at += bytes) - bytes;
  const uint32 = () => file.readUInt32LE(skip(4));
  const uint64 = () => Number(file.readBigUInt64LE(skip(8)));
  const string = () => {
    const length = uint64();
    return file.toString('utf8', skip(length), at);
  };
  const values = /** @type {Record<number, () => unknown>} */ ({
    ...{ 4: uint32, 5: () => file.readInt32LE(skip(4)), 6: () => file.readFloatLE(skip(4)) },
    ...{ 7: () => file[skip(1)] === 1, 8: string },
    9: () => {
      const type = uint32();
      return Array.from({ length: uint64() }, values[type]);
    },
  });
  assert.equal(file.toString('latin1', 0, skip(4) + 4), 'GGUF');
  assert.equal(uint32(), 3);
  const [tensors, pairs] = [uint64(), uint64()];
  const metadata = Object.fromEntries(
    Array.from({ length: pairs }, () => [string(), values[uint32()]()]),
  );
  const infos = Array.from({ length: tensors }, () => {
    const name = string();
    const shape = Array.from({ length: uint32() }, uint64);
    return {
      name,
      shape,
      code: /** @type {keyof typeof dequantize} */ (uint32()),
      start: uint64(),
    };
  });
  const data = Math.ceil(at / 32) * 32;
  const contents = infos.map(({ name, shape, code, start }) => {
    assert.equal(start % 32, 0, name);
    const { weights, bytes, value } = dequantize[code];
    const size = shape.reduce((a, b) => a * b, 1);
    const valueOf = (/** @type {number} */ i) =>
      value(file, data + start + Math.floor(i / weights) * bytes, i % weights);
    const last = Math.ceil((data + start + (size / weights) * bytes) / 32) * 32;
    return [name, { shape, code, last, data: Array.from({ length: size }, (_, i) => valueOf(i)) }];
  });
  return { metadata, tensors: Object.fromEntries(contents) };
}

const models = {
  gpt2: shrink(shapes['GPT-2-124M']),
  llama: { ...shrink(shapes['SmolLM2-135M']), intermediate_size: 64 },
};

/** @param {keyof typeof models} name @param {typeof ggufTypes[number]} type */
async function convert(name, type) {
  await writeModel(folder, models[name], { dtype: 'float32' });
  const weights = await readFile(join(folder, 'model.safetensors'));
  const file = await readFile(join(folder, await writeGgufModel(folder, type)));
  const { tensors } = await readSafetensors(new Uint8Array(weights));
  return { ...readGguf(file), bytes: file.length, source: tensors };
}

/** @typedef {(row: number, column: number, columns: number, rows: number) => number} Place */

/** Where the number at GGUF's [row, column] is in the other file. */
const places = {
  /** @type {Place} */
  same: (row, column, columns) => row * columns + column,
  /** @type {Place} */
  transposed: (row, column, _, rows) => column * rows + row,
  /** Element 2i of a head of 8 turns with 2i + 1; in Hugging Face's files i turns with i + 4. @type {Place} */
  turned: (row, column, columns) =>
    (row - (row % 8) + Math.floor((row % 8) / 2) + 4 * (row % 2)) * columns + column,
};

/** Of GGUF's tensors: Hugging Face's name, and where its numbers are. @type {Record<string, [string, keyof typeof places]>} */
const sources = {
  'token_embd.weight': ['wte.weight', 'same'],
  'position_embd.weight': ['wpe.weight', 'same'],
  'blk.1.attn_norm.bias': ['h.1.ln_1.bias', 'same'],
  'blk.1.attn_qkv.weight': ['h.1.attn.c_attn.weight', 'transposed'],
  'blk.0.attn_output.weight': ['h.0.attn.c_proj.weight', 'transposed'],
  'blk.0.ffn_up.weight': ['h.0.mlp.c_fc.weight', 'transposed'],
  'blk.1.ffn_down.weight': ['h.1.mlp.c_proj.weight', 'transposed'],
  'output_norm.weight': ['ln_f.weight', 'same'],
};
/** @type {typeof sources} */
const llamaSources = {
  'token_embd.weight': ['model.embed_tokens.weight', 'same'],
  'blk.1.attn_q.weight': ['model.layers.1.self_attn.q_proj.weight', 'turned'],
  'blk.0.attn_k.weight': ['model.layers.0.self_attn.k_proj.weight', 'turned'],
  'blk.0.attn_v.weight': ['model.layers.0.self_attn.v_proj.weight', 'same'],
  'blk.1.attn_output.weight': ['model.layers.1.self_attn.o_proj.weight', 'same'],
  'blk.1.ffn_gate.weight': ['model.layers.1.mlp.gate_proj.weight', 'same'],
  'blk.0.ffn_norm.weight': ['model.layers.0.post_attention_layernorm.weight', 'same'],
  'output_norm.weight': ['model.norm.weight', 'same'],
};

/** How far a value may be off: float16's last bit, or half a step of the largest, some 0.08, and its rounding. */
const bounds = { f16: 6.2e-5, q8_0: 0.08 / 127, q4_0: 0.08 / 8 };

for (const name of /** @type {const} */ (['gpt2', 'llama']))
  for (const type of ggufTypes)
    test(`a model of ${name} as ${type} has llama.cpp's names, layouts and values`, async () => {
      const { tensors, source, bytes } = await convert(name, type);
      const all = Object.values(tensors);
      assert.equal(Object.keys(tensors).length, Object.keys(source).length);
      assert.equal(Math.max(...all.map(({ last }) => last)), bytes);
      const checked = Object.entries(name === 'gpt2' ? sources : llamaSources);
      for (const [key, [from, way]] of checked) {
        const { shape, data, code } = tensors[key];
        const [columns, rows = 1] = shape;
        const isMatrix = shape.length === 2 && key !== 'position_embd.weight';
        assert.equal(code, isMatrix ? { f16: 1, q8_0: 8, q4_0: 2 }[type] : 0, key);
        const bound = isMatrix ? bounds[type] : 0;
        for (let row = 0; row < rows; row++)
          for (let column = 0; column < columns; column++) {
            const right = source[from].data[places[way](row, column, columns, rows)];
            const off = Math.abs(data[row * columns + column] - Number(right));
            assert.ok(off <= bound, `${key} [${row}, ${column}] is off by ${off}`);
          }
      }
    });

test('metadata says what llama.cpp asks for', async () => {
  const own = (/** @type {Record<string, any>} */ { metadata }, /** @type {string} */ start) =>
    Object.fromEntries(
      Object.entries(metadata)
        .filter(([key]) => key.startsWith(start))
        .map(([key, value]) => [key.slice(start.length), value]),
    );
  const [gpt2, llama] = [await convert('gpt2', 'f16'), await convert('llama', 'f16')];
  assert.deepEqual(own(gpt2, 'gpt2.'), {
    ...{ context_length: 64, embedding_length: 32, feed_forward_length: 128, block_count: 2 },
    ...{ 'attention.head_count': 4, 'attention.layer_norm_epsilon': Math.fround(1e-5) },
  });
  assert.deepEqual(own(llama, 'llama.'), {
    ...{ context_length: 64, embedding_length: 32, feed_forward_length: 64, block_count: 2 },
    ...{ 'attention.head_count': 4, 'attention.head_count_kv': 2, 'rope.dimension_count': 8 },
    ...{ 'rope.freq_base': 100000, 'attention.layer_norm_rms_epsilon': Math.fround(1e-5) },
  });
  for (const [name, { metadata }] of Object.entries({ gpt2, llama })) {
    assert.equal(metadata['general.architecture'], name);
    assert.deepEqual(metadata['tokenizer.ggml.tokens'], tokensOf(100));
    assert.deepEqual(metadata['tokenizer.ggml.merges'], []);
    assert.equal(metadata['tokenizer.ggml.add_bos_token'], false);
    assert.equal(metadata['tokenizer.ggml.eos_token_id'], 99);
    const ends = /** @type {number[]} */ (metadata['tokenizer.ggml.token_type']);
    assert.ok(ends.every((kind, id) => kind === (id === 99 ? 3 : 1)) && ends.length === 100);
  }
});

test('a text has a token for each character, and all tokens differ', () => {
  const tokens = tokensOf(300);
  assert.equal(new Set(tokens).size, 300);
  const ids = Array.from({ length: CHARACTERS }, (_, id) => id);
  assert.deepEqual([...textOf(ids)], tokens.slice(0, CHARACTERS));
  assert.match(textOf(ids), /^[!-~]{94}$/);
});

test('blocks of zeros, one of either sign and halves are stored as defined', async () => {
  const path = join(folder, 'edges.gguf');
  const values = Float32Array.from({ length: 96 }, (_, i) =>
    i < 32 ? 0 : i < 64 ? (i === 40 ? -1 : 0) : (i - 64) / 31,
  );
  const types = /** @type {const} */ (['q8_0', 'q4_0']);
  const tensors = types.map((type) => ({
    name: type,
    type,
    shape: [3, 32],
    read: async () => values,
  }));
  await writeGguf(path, {}, tensors);
  const { tensors: read } = readGguf(await readFile(path));
  for (const [type, bound] of /** @type {const} */ ([
    ['q8_0', 0.005],
    ['q4_0', 0.13],
  ]))
    values.forEach((value, i) =>
      assert.ok(Math.abs(read[type].data[i] - value) <= (i < 32 ? 0 : bound), `${type} ${i}`),
    );
});

test('other architectures are refused', async () => {
  await writeModel(folder, shrink(shapes['Qwen3-0.6B']));
  await assert.rejects(
    writeGgufModel(folder, 'f16'),
    /model_type is qwen3; expected gpt2 or llama/,
  );
});
