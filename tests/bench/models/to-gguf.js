// A model of GPT-2's or Llama's architecture as GGUF: tensors named and laid out as llama.cpp's converter does.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSafetensors } from 'headwise/formats';
import { readModelConfig } from '../../../web/headwise/models/config.js';
import { tokensOf } from './byte-tokens.js';
import { writeGguf } from './gguf.js';

/**
 * @import { ModelConfig } from '../../../web/headwise/models/config.js'
 * @import { SafetensorsFile } from 'headwise/formats'
 * @import { GgufTensor, Value } from './gguf.js'
 */

/** What is written: the type of all matrices but those of positions. */
export const ggufTypes = /** @type {const} */ (['f16', 'q8_0', 'q4_0']);
/** @typedef {typeof ggufTypes[number]} GgufType */

/** @type {Readonly<Record<string, string>>} */
const names = {
  ...{ wte: 'token_embd', wpe: 'position_embd', ln_f: 'output_norm' },
  ...{ ln_1: 'attn_norm', 'attn.c_attn': 'attn_qkv', 'attn.c_proj': 'attn_output' },
  ...{ ln_2: 'ffn_norm', 'mlp.c_fc': 'ffn_up', 'mlp.c_proj': 'ffn_down' },
  ...{ 'model.embed_tokens': 'token_embd', 'model.norm': 'output_norm' },
  ...{ input_layernorm: 'attn_norm', post_attention_layernorm: 'ffn_norm' },
  ...{ 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v' },
  ...{ 'self_attn.o_proj': 'attn_output', 'mlp.gate_proj': 'ffn_gate' },
  ...{ 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down' },
};

/** @param {string} name in Hugging Face's files */
function nameOf(name) {
  const [, layer, part, end] =
    /^(?:(?:h|model\.layers)\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (!Object.hasOwn(names, part)) throw new Error(`${name} has no name in GGUF here`);
  return `${layer === undefined ? '' : `blk.${layer}.`}${names[part]}.${end}`;
}

/**
 * Rows in another order.
 * @param {Float32Array} matrix
 * @param {number} rows
 * @param {(row: number) => number} from the row that becomes this one
 */
function reorder(matrix, rows, from) {
  const columns = matrix.length / rows;
  const result = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    const start = from(row) * columns;
    result.set(matrix.subarray(start, start + columns), row * columns);
  }
  return result;
}

/** llama.cpp turns neighbours, Hugging Face the two halves of a head. @param {number} headDim */
const neighbours = (headDim) => (/** @type {number} */ row) => {
  const within = row % headDim;
  return row - within + (within >> 1) + (within % 2) * (headDim / 2);
};

/** @param {Float32Array} matrix @param {readonly number[]} shape */
function transpose(matrix, [rows, columns]) {
  const result = new Float32Array(matrix.length);
  for (let j = 0; j < columns; j++)
    for (let i = 0; i < rows; i++) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

/**
 * @param {SafetensorsFile} file
 * @param {ModelConfig} config
 * @param {GgufType} type
 * @returns {GgufTensor[]}
 */
const tensorsOf = (file, { modelType, headDim }, type) =>
  Array.from(file.tensors, ([key, { shape }]) => {
    const name = nameOf(key);
    // GPT-2's matrices have inputs as rows.
    const isTransposed = modelType === 'gpt2' && shape.length === 2 && name.startsWith('blk.');
    const isTurned = modelType === 'llama' && /attn_[qk]\.weight$/.test(name);
    return {
      name,
      shape: isTransposed ? [...shape].reverse() : shape,
      type: shape.length === 1 || name === 'position_embd.weight' ? 'f32' : type,
      async read() {
        const wants = (/** @type {string} */ each) => each === key;
        for await (const { data } of file.pieces({ wants, pieceBytes: 2 ** 30 })) {
          if (isTransposed) return transpose(data, shape);
          return isTurned ? reorder(data, shape[0], neighbours(headDim)) : data;
        }
        throw new Error(`${key} has no values`);
      },
    };
  });

/** @param {ModelConfig} config @param {number} theta of rotary positions @returns {Record<string, Value>} */
function metadataOf(config, theta) {
  const { modelType, vocabSize, contextLength, dModel, dFf, numLayers, eps } = config;
  const { numHeads, numKeyValueHeads, headDim } = config;
  const last = vocabSize - 1;
  /** @type {Record<string, Value>} */
  const own = {
    ...{ context_length: ['uint32', contextLength], embedding_length: ['uint32', dModel] },
    ...{ feed_forward_length: ['uint32', dFf], block_count: ['uint32', numLayers] },
    'attention.head_count': ['uint32', numHeads],
  };
  if (modelType === 'gpt2') own['attention.layer_norm_epsilon'] = ['float32', eps];
  else
    Object.assign(own, {
      'attention.head_count_kv': ['uint32', numKeyValueHeads],
      'attention.layer_norm_rms_epsilon': ['float32', eps],
      'rope.dimension_count': ['uint32', headDim],
      'rope.freq_base': ['float32', theta],
    });
  return {
    'general.architecture': ['string', modelType],
    ...Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`${modelType}.${key}`, value]),
    ),
    'tokenizer.ggml.model': ['string', 'gpt2'],
    'tokenizer.ggml.pre': ['string', 'gpt-2'],
    'tokenizer.ggml.tokens': ['strings', tokensOf(vocabSize)],
    // The last, which ends a text, is a control token (3), the others are normal (1).
    'tokenizer.ggml.token_type': [
      'int32s',
      Array.from({ length: vocabSize }, (_, id) => (id === last ? 3 : 1)),
    ],
    'tokenizer.ggml.merges': ['strings', []],
    'tokenizer.ggml.bos_token_id': ['uint32', last],
    'tokenizer.ggml.eos_token_id': ['uint32', last],
    'tokenizer.ggml.add_bos_token': ['bool', false],
  };
}

/**
 * @param {string} folder with config.json and model.safetensors
 * @param {GgufType} type
 * @returns {Promise<string>} the file's name: model-<type>.gguf, in the same folder
 */
export async function writeGgufModel(folder, type) {
  const json = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
  const config = readModelConfig(json);
  if (!['gpt2', 'llama'].includes(config.modelType))
    throw new Error(`model_type is ${config.modelType}; expected gpt2 or llama`);
  const file = await openSafetensors(await readFile(join(folder, 'model.safetensors')));
  const name = `model-${type}.gguf`;
  await writeGguf(
    join(folder, name),
    metadataOf(config, json.rope_theta),
    tensorsOf(file, config, type),
  );
  return name;
}
