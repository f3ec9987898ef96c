// Decoders and encoders in plain float64 loops, from what readModelConfig makes of a config and a state dict under Hugging Face's
// names: whatever PyTorch's referee knows of an architecture, the description has to say.
import { gelu } from './reference-blocks.js';

/** @typedef {import('../web/headwise/models/config.js').ModelConfig} ModelConfig */
/** @typedef {Float64Array[]} Rows */
/** @typedef {(name: string) => { shape: readonly number[], data: ArrayLike<number> } | undefined} State */

/** Hugging Face's names of a block's parts; null: there is none. */
const kin = {
  ...{ embedding: 'model.embed_tokens', block: 'model.layers', last: 'model.norm' },
  ...{ q: 'self_attn.q_proj', k: 'self_attn.k_proj', v: 'self_attn.v_proj', qkv: '' },
  ...{ out: 'self_attn.o_proj', norm1: 'input_layernorm', norm2: 'post_attention_layernorm' },
  ...{ gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj', head: 'lm_head' },
  ...{ qNorm: 'self_attn.q_norm', kNorm: 'self_attn.k_norm', behind1: '', behind2: '' },
  ...{ positions: '', types: '', first: '', dense: '', headNorm: '', headBias: '' },
};
const bert = {
  ...kin,
  ...{
    embedding: 'bert.embeddings.word_embeddings',
    positions: 'bert.embeddings.position_embeddings',
  },
  ...{ types: 'bert.embeddings.token_type_embeddings', first: 'bert.embeddings.LayerNorm' },
  ...{ block: 'bert.encoder.layer', last: '', q: 'attention.self.query', k: 'attention.self.key' },
  ...{ v: 'attention.self.value', out: 'attention.output.dense', up: 'intermediate.dense' },
  ...{ norm1: 'attention.output.LayerNorm', norm2: 'output.LayerNorm', down: 'output.dense' },
  ...{ dense: 'cls.predictions.transform.dense', headNorm: 'cls.predictions.transform.LayerNorm' },
  ...{ head: 'cls.predictions.decoder', headBias: 'cls.predictions.bias' },
};
/** @type {Record<string, typeof kin>} */
const names = {
  gpt2: {
    ...kin,
    ...{ embedding: 'transformer.wte', positions: 'transformer.wpe', block: 'transformer.h' },
    ...{ last: 'transformer.ln_f', qkv: 'attn.c_attn', out: 'attn.c_proj', norm1: 'ln_1' },
    ...{ norm2: 'ln_2', up: 'mlp.c_fc', down: 'mlp.c_proj' },
  },
  gpt_neox: {
    ...kin,
    ...{
      embedding: 'gpt_neox.embed_in',
      block: 'gpt_neox.layers',
      last: 'gpt_neox.final_layer_norm',
    },
    ...{ qkv: 'attention.query_key_value', out: 'attention.dense', head: 'embed_out' },
    ...{ up: 'mlp.dense_h_to_4h', down: 'mlp.dense_4h_to_h' },
  },
  gemma3_text: {
    ...{ ...kin, behind1: 'post_attention_layernorm', norm2: 'pre_feedforward_layernorm' },
    behind2: 'post_feedforward_layernorm',
  },
  bert,
  roberta: {
    .../** @type {typeof kin} */ (
      Object.fromEntries(
        Object.entries(bert).map(([key, name]) => [key, name.replace('bert.', 'roberta.')]),
      )
    ),
    ...{ dense: 'lm_head.dense', headNorm: 'lm_head.layer_norm', headBias: 'lm_head.bias' },
  },
  distilbert: {
    ...{ ...bert, embedding: 'distilbert.embeddings.word_embeddings', types: '' },
    ...{
      positions: 'distilbert.embeddings.position_embeddings',
      first: 'distilbert.embeddings.LayerNorm',
    },
    ...{ block: 'distilbert.transformer.layer', q: 'attention.q_lin', k: 'attention.k_lin' },
    ...{ v: 'attention.v_lin', out: 'attention.out_lin', norm1: 'sa_layer_norm' },
    ...{ norm2: 'output_layer_norm', up: 'ffn.lin1', down: 'ffn.lin2' },
    ...{ dense: 'vocab_transform', headNorm: 'vocab_layer_norm', headBias: 'vocab_projector.bias' },
  },
};

/** @param {Rows} a @param {Rows} b */
const add = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

/** @type {Record<import('../web/headwise/models/config.js').Activation, (row: Float64Array) => Float64Array>} */
const activations = {
  gelu: (row) => gelu({ shape: [row.length], data: row }).data,
  gelu_tanh: (row) => gelu({ shape: [row.length], data: row }, 'tanh').data,
  relu: (row) => row.map((x) => Math.max(0, x)),
  silu: (row) => row.map((x) => x / (1 + Math.exp(-x))),
};

/** One model over one text. */
class Run {
  /**
   * @param {ModelConfig} config
   * @param {State} state
   * @param {(x: number) => number} stored
   * @param {(x: Rows) => Rows} drop
   * @param {(i: number) => number} positionOf
   */
  constructor(config, state, stored, drop, positionOf) {
    this.config = config;
    this.stored = stored;
    this.drop = drop;
    this.positionOf = positionOf;
    this.state = state;
    this.names = names[config.modelType] ?? kin;
    /** Of each layer and head. @type {Rows[][]} */
    this.weights = [];
  }

  /** @param {string} name */
  at(name) {
    const tensor = this.state(name);
    if (tensor === undefined) throw new Error(`the state has no ${name}`);
    return tensor;
  }

  /** @param {Rows} x @param {string} name @param {boolean} hasBias */
  linear(x, name, hasBias) {
    const { shape, data } = this.at(`${name}.weight`);
    const isConv1d = name.includes('.c_');
    const [rows, columns] = isConv1d ? [shape[1], shape[0]] : shape;
    const bias = hasBias ? this.at(`${name}.bias`).data : undefined;
    return x.map((row) =>
      Float64Array.from({ length: rows }, (_, i) => {
        let sum = bias?.[i] ?? 0;
        for (let j = 0; j < columns; j++)
          sum += row[j] * data[isConv1d ? j * rows + i : i * columns + j];
        return sum;
      }),
    );
  }

  /** @param {Rows} x @param {string} name */
  norm(x, name) {
    const { norm, eps, gainOffset } = this.config;
    const gain = this.at(`${name}.weight`).data;
    const bias = norm === 'layer' ? this.at(`${name}.bias`).data : undefined;
    return x.map((row) => {
      const mean = norm === 'layer' ? row.reduce((sum, v) => sum + v, 0) / row.length : 0;
      const square = row.reduce((sum, v) => sum + (v - mean) ** 2, 0) / row.length;
      return row.map(
        (v, i) =>
          ((v - mean) / Math.sqrt(square + eps)) * (gain[i] + gainOffset) + (bias?.[i] ?? 0),
      );
    });
  }

  /** @param {string} name @param {number} row @param {Float64Array} x is added to @param {number} [scale] */
  look(name, row, x, scale = 1) {
    const { shape, data } = this.at(`${name}.weight`);
    return x.map((value, i) => value + scale * data[row * shape[1] + i]);
  }

  /** @param {readonly number[]} ids @param {readonly number[] | undefined} types */
  embed(ids, types) {
    const { dModel, embeddingScale, positions, firstPosition, tokenTypes } = this.config;
    const x = ids.map((id, i) => {
      let row = this.look(this.names.embedding, id, new Float64Array(dModel), embeddingScale);
      if (positions > 0)
        row = this.look(this.names.positions, firstPosition + this.positionOf(i), row);
      return tokenTypes > 0 ? this.look(this.names.types, types?.[i] ?? 0, row) : row;
    });
    return this.drop(this.names.first === '' ? x : this.norm(x, this.names.first));
  }

  /** A head's part of each row. @param {Rows} x @param {number} head @param {number} [stride] @param {number} [offset] */
  head(x, head, stride = this.config.headDim, offset = 0) {
    const start = head * stride + offset;
    return x.map((row) => row.subarray(start, start + this.config.headDim));
  }

  /** @param {Rows} x of one head @param {number} which */
  rotate(x, which) {
    if (which < 0) return x;
    const { frequencies, factor } = this.config.rotary[which];
    const half = frequencies.length;
    return x.map((row, token) =>
      row.map((value, i) => {
        if (i >= 2 * half) return value;
        const angle = this.positionOf(token) * frequencies[i % half];
        const other = i < half ? -row[i + half] : row[i - half];
        return factor * (value * Math.cos(angle) + other * Math.sin(angle));
      }),
    );
  }

  /** Queries, keys and values, by head. @param {Rows} x @param {string} block */
  project(x, block) {
    const { numHeads, numKeyValueHeads, biases, modelType, headDim } = this.config;
    const heads = (/** @type {number} */ n) => Array.from({ length: n }, (_, head) => head);
    if (this.names.qkv === '') {
      const part = (/** @type {string} */ name, /** @type {number} */ n) => {
        const all = this.linear(x, `${block}.${name}`, biases.qkv);
        return heads(n).map((head) => this.head(all, head));
      };
      const { q, k, v } = this.names;
      return [part(q, numHeads), part(k, numKeyValueHeads), part(v, numKeyValueHeads)];
    }
    const all = this.linear(x, `${block}.${this.names.qkv}`, biases.qkv);
    return [0, 1, 2].map((part) =>
      heads(numHeads).map((head) =>
        modelType === 'gpt2'
          ? this.head(all, part * numHeads + head)
          : this.head(all, head, 3 * headDim, part * headDim),
      ),
    );
  }

  /** Of one head. @param {Rows} q @param {Rows} k @param {number} window */
  weightsOf(q, k, window) {
    const { attentionScale, attentionSoftcap: cap, isDecoder } = this.config;
    return q.map((query, i) => {
      const scores = k.map((key, j) => {
        if ((isDecoder && j > i) || (window > 0 && i - j >= window)) return -Infinity;
        const score = attentionScale * query.reduce((sum, v, p) => sum + v * key[p], 0);
        return cap > 0 ? cap * Math.tanh(score / cap) : score;
      });
      const top = Math.max(...scores);
      const raised = scores.map((score) => Math.exp(score - top));
      const sum = raised.reduce((a, b) => a + b);
      return Float64Array.from(raised, (value) => value / sum);
    });
  }

  /** @param {Rows} x @param {string} block @param {number} layer */
  attention(x, block, layer) {
    const { numHeads, numKeyValueHeads, headDim, qkNorm, biases } = this.config;
    const { window, rotary } = this.config.layers[layer];
    const { qNorm, kNorm, out } = this.names;
    const normed = (/** @type {Rows} */ head, /** @type {string} */ name) =>
      this.rotate(qkNorm ? this.norm(head, `${block}.${name}`) : head, rotary);
    const keep = (/** @type {Rows} */ head) => head.map((row) => row.map(this.stored));
    const [queries, keys, projected] = this.project(x, block);
    const k = keys.map((head) => keep(normed(head, kNorm)));
    const values = projected.map(keep);
    const merged = x.map(() => new Float64Array(numHeads * headDim));
    this.weights.push(
      queries.map((query, head) => {
        const group = Math.floor((head * numKeyValueHeads) / numHeads);
        const weights = this.weightsOf(normed(query, qNorm), k[group], window);
        weights.forEach((row, i) =>
          row.forEach((weight, j) =>
            values[group][j].forEach((v, p) => (merged[i][head * headDim + p] += weight * v)),
          ),
        );
        return weights;
      }),
    );
    return this.linear(merged, `${block}.${out}`, biases.out);
  }

  /** @param {Rows} x @param {string} block */
  feedForward(x, block) {
    const { activation, isGated, biases } = this.config;
    const { gate, up, down } = this.names;
    const part = (/** @type {string} */ name) => this.linear(x, `${block}.${name}`, biases.mlp);
    const act = (/** @type {Rows} */ rows) => rows.map(activations[activation]);
    const upper = part(up);
    const gates = isGated ? act(part(gate)) : undefined;
    const inner = gates ? gates.map((row, i) => row.map((v, j) => v * upper[i][j])) : act(upper);
    return this.linear(inner, `${block}.${down}`, biases.mlp);
  }

  /** @param {Rows} x @param {number} layer */
  block(x, layer) {
    const { normPlace, isParallel, dFf } = this.config;
    const { norm1, norm2, behind1, behind2 } = this.names;
    const name = `${this.names.block}.${layer}`;
    if (normPlace === 'post') {
      const y = this.norm(add(x, this.drop(this.attention(x, name, layer))), `${name}.${norm1}`);
      return this.norm(add(y, this.drop(this.feedForward(y, name))), `${name}.${norm2}`);
    }
    const behind = (/** @type {Rows} */ y, /** @type {string} */ part) =>
      normPlace === 'both' ? this.norm(y, `${name}.${part}`) : y;
    const attended = behind(this.attention(this.norm(x, `${name}.${norm1}`), name, layer), behind1);
    const between = add(x, this.drop(attended));
    if (dFf === 0) return between;
    const inner = this.norm(isParallel ? x : between, `${name}.${norm2}`);
    return add(between, this.drop(behind(this.feedForward(inner, name), behind2)));
  }

  /** @param {Rows} hidden */
  logits(hidden) {
    const { headActivation, logitSoftcap: cap, tiesHead } = this.config;
    const { dense, headNorm, headBias, head, embedding } = this.names;
    const matrix = tiesHead ? embedding : head;
    if (dense === '') {
      const logits = this.linear(hidden, matrix, false);
      return cap > 0 ? logits.map((row) => row.map((v) => cap * Math.tanh(v / cap))) : logits;
    }
    if (this.state(`${dense}.weight`) === undefined) return undefined;
    const y = this.linear(hidden, dense, true).map(activations[headActivation]);
    const bias = this.at(headBias).data;
    const rows = this.linear(this.norm(y, headNorm), matrix, false);
    return rows.map((row) => row.map((v, i) => v + bias[i]));
  }
}

/**
 * @param {ModelConfig} config
 * @param {State} state under canonical names
 * @param {readonly number[]} ids
 * @param {readonly number[]} [types]
 * @param {(x: number) => number} [stored] what a cache makes of an element of a key or value
 * @param {(x: Rows) => Rows} [drop] dropout of the embeddings and of each branch, in the order in which they are computed
 * @param {(i: number) => number} [positionOf] of each token
 * @returns {{ hidden: Rows, logits: Rows | undefined, weights: Rows[][] }} weights: of each layer and head
 */
export function runModel(
  config,
  state,
  ids,
  types,
  stored = (x) => x,
  drop = (x) => x,
  positionOf = (i) => i,
) {
  const run = new Run(config, state, stored, drop, positionOf);
  let x = run.embed(ids, types);
  for (let layer = 0; layer < config.numLayers; layer++) x = run.block(x, layer);
  const hidden = run.names.last === '' ? x : run.norm(x, run.names.last);
  return { hidden, logits: run.logits(hidden), weights: run.weights };
}
