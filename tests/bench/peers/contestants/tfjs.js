/**
 * @import { Prepared, Started, Task, Way } from './contestant.js'
 * @import { TrainTask } from '../train-task.js'
 */

import { causalMask, stack, transpose } from '../task.js';
import { tfjsTraining } from './tfjs-training.js';

/** @typedef {typeof import('@tensorflow/tfjs-core')} Tf */
/** @typedef {typeof import('@tensorflow/tfjs-backend-wasm')} Wasm */
/** @typedef {import('@tensorflow/tfjs-core').Tensor} Tensor */

/** Beyond, the slow loop takes seconds. */
const MOST_TOKENS_TOGETHER = 64;

const PACKAGES = new URL('../node_modules/@tensorflow/', import.meta.url);

/** @param {URL} address a classic script */
const loadScript = (address) =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${address} did not load`));
    script.src = address.href;
    document.head.append(script);
  });

/** @returns {Promise<{ tf: Tf, wasm: Wasm }>} */
async function loadPackages() {
  if (typeof document === 'undefined') {
    const tf = await import('@tensorflow/tfjs-core');
    return { tf, wasm: await import('@tensorflow/tfjs-backend-wasm') };
  }
  await loadScript(new URL('tfjs-core/dist/tf-core.min.js', PACKAGES));
  await loadScript(new URL('tfjs-backend-wasm/dist/tf-backend-wasm.min.js', PACKAGES));
  const { tf } = /** @type {{ tf: Tf & { wasm: Wasm } }} */ (/** @type {unknown} */ (globalThis));
  return { tf, wasm: tf.wasm };
}

/**
 * softmax(q·kᵀ/√headDim + mask)·v of matrices; of more dimensions only matMul's slow path would do it.
 * @param {Tf} tf
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 * @param {Tensor} mask
 */
function attend(tf, q, k, v, mask) {
  const scaled = tf.mul(q, 1 / Math.sqrt(q.shape[1] ?? 1));
  const scores = tf.add(tf.matMul(scaled, tf.transpose(k)), mask);
  return tf.matMul(tf.softmax(scores), v);
}

/**
 * The output projection, transposed to [in, out].
 * @param {Tf} tf
 * @param {{ weights: import('../task.js').AttentionWeights, dOut: number }} task
 */
const outWeights = (tf, { weights: { out }, dOut }) => ({
  out: tf.tensor(transpose(out.weight, dOut, dOut), [dOut, dOut]),
  bias: tf.tensor(out.bias, [dOut]),
});

/**
 * [dIn, 3 · dOut]
 * @param {Tf} tf
 * @param {{ weights: import('../task.js').AttentionWeights, dIn: number, dOut: number }} task
 */
function packedWeight(tf, { weights: { query, key, value }, dIn, dOut }) {
  const packed = transpose(stack([query, key, value]), 3 * dOut, dIn);
  return tf.tensor(packed, [dIn, 3 * dOut]);
}

/**
 * All heads in batched products, for which tfjs has a slow loop: good for a few tokens only.
 * @param {Tf} tf
 * @param {Extract<Task, { kind: 'multiHeadAttention' }>} task
 */
function headsTogether(tf, task) {
  const { batch, tokens, dIn, dOut, heads } = task;
  const { out, bias } = outWeights(tf, task);
  const qkv = packedWeight(tf, task);
  const byToken = [batch, tokens, 3 * heads, dOut / heads];
  const scale = 1 / Math.sqrt(dOut / heads);
  const mask = tf.tensor(causalMask(tokens), [1, tokens, tokens]);
  return () => {
    const x = tf.tensor(task.x, [batch * tokens, dIn]);
    const all = tf.transpose(tf.reshape(tf.matMul(x, qkv), byToken), [0, 2, 1, 3]);
    const [q, k, v] = tf.split(all, 3, 1);
    const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), scale), mask);
    const attended = tf.transpose(tf.matMul(tf.softmax(scores), v), [0, 2, 1, 3]);
    return tf.add(tf.matMul(tf.reshape(attended, [batch * tokens, dOut]), out), bias);
  };
}

/**
 * One head after another, each with its part of the weights: cutting heads out of a common product costs more than it saves.
 * @param {Tf} tf
 * @param {Extract<Task, { kind: 'multiHeadAttention' }>} task
 */
function headsApart(tf, task) {
  const { batch, tokens, dIn, dOut, heads, weights } = task;
  const width = dOut / heads;
  const size = width * dIn;
  const { out, bias } = outWeights(tf, task);
  const mask = tf.tensor(causalMask(tokens), [tokens, tokens]);
  const parts = Array.from({ length: heads }, (_, head) =>
    [weights.query, weights.key, weights.value].map((weight) => {
      const part = weight.subarray(head * size, (head + 1) * size);
      return tf.tensor(transpose(part, width, dIn), [dIn, width]);
    }),
  );
  return () => {
    const entries = Array.from({ length: batch }, (_, entry) => {
      const own = task.x.subarray(entry * tokens * dIn, (entry + 1) * tokens * dIn);
      const x = tf.tensor(own, [tokens, dIn]);
      const outputs = parts.map((part) => {
        const [q, k, v] = part.map((weight) => tf.matMul(x, weight));
        return attend(tf, q, k, v, mask);
      });
      return tf.concat(outputs, 1);
    });
    return tf.add(tf.matMul(tf.concat(entries, 0), out), bias);
  };
}

/**
 * One head after another.
 * @param {Tf} tf
 * @param {Extract<Task, { kind: 'attention' }>} task
 */
function attention(tf, task) {
  const { heads, tokens, headDim } = task;
  const mask = tf.tensor(causalMask(tokens), [tokens, tokens]);
  const size = tokens * headDim;
  return () => {
    const outputs = Array.from({ length: heads }, (_, head) => {
      const [q, k, v] = [task.q, task.k, task.v].map((data) =>
        tf.tensor(data.subarray(head * size, (head + 1) * size), [tokens, headDim]),
      );
      return attend(tf, q, k, v, mask);
    });
    return tf.concat(outputs, 0);
  };
}

/**
 * The cache stays where it is; the new key and value are attended to beside it.
 * @param {Tf} tf
 * @param {Extract<Task, { kind: 'decode' }>} task
 */
function decode(tf, task) {
  const { past, dIn, dOut, heads } = task;
  const { out, bias } = outWeights(tf, task);
  const qkv = packedWeight(tf, task);
  const width = dOut / heads;
  const keys = tf.tensor(task.key, [heads, past, width]);
  const values = tf.tensor(task.value, [heads, past, width]);
  return () => {
    const x = tf.tensor(task.x, [1, dIn]);
    const [q, k, v] = tf
      .split(tf.matMul(x, qkv), 3, 1)
      .map((part) => tf.reshape(part, [heads, 1, width]));
    const scaled = tf.mul(q, 1 / Math.sqrt(width));
    const before = tf.matMul(scaled, keys, false, true);
    const scores = tf.concat([before, tf.matMul(scaled, k, false, true)], 2);
    const [weightsBefore, weightNow] = tf.split(tf.softmax(scores), [past, 1], 2);
    const attended = tf.add(tf.matMul(weightsBefore, values), tf.mul(weightNow, v));
    return tf.add(tf.matMul(tf.reshape(attended, [1, dOut]), out), bias);
  };
}

/**
 * @param {Tf} tf
 * @param {Extract<Task, { kind: 'linear' }>} task
 */
function linear(tf, { x, layer, rows, inFeatures, outFeatures }) {
  const transposed = transpose(layer.weight, outFeatures, inFeatures);
  const weight = tf.tensor(transposed, [inFeatures, outFeatures]);
  const bias = tf.tensor(layer.bias, [outFeatures]);
  return () => tf.add(tf.matMul(tf.tensor(x, [rows, inFeatures]), weight), bias);
}

/**
 * @param {Tf} tf
 * @param {Exclude<Task, TrainTask>} task
 * @returns {{ name: string, forward: () => () => Tensor }[]}
 */
function forwardsOf(tf, task) {
  switch (task.kind) {
    case 'linear':
      return [{ name: 'matMul', forward: () => linear(tf, task) }];
    case 'attention':
      return [{ name: 'heads apart', forward: () => attention(tf, task) }];
    case 'multiHeadAttention': {
      const apart = { name: 'heads apart', forward: () => headsApart(tf, task) };
      const together = { name: 'heads together', forward: () => headsTogether(tf, task) };
      return task.tokens > MOST_TOKENS_TOGETHER ? [apart] : [apart, together];
    }
    case 'decode':
      return [{ name: 'cache beside', forward: () => decode(tf, task) }];
  }
}

/**
 * @param {Tf} tf
 * @param {() => Tensor} forward
 * @returns {Prepared}
 */
const prepared = (tf, forward) => ({
  run() {
    const y = tf.tidy(forward);
    const data = y.dataSync();
    y.dispose();
    return data;
  },
  dispose() {},
});

/**
 * @param {Tf} tf
 * @param {Task} task
 * @returns {Way[]}
 */
const waysOf = (tf, task) =>
  task.kind === 'train'
    ? tfjsTraining(tf, task)
    : forwardsOf(tf, task).map(({ name, forward }) => ({
        name,
        prepare: () => prepared(tf, forward()),
      }));

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  const { tf, wasm } = await loadPackages();
  if (typeof document !== 'undefined')
    wasm.setWasmPaths(new URL('tfjs-backend-wasm/dist/', PACKAGES).href);
  if (threads === 1) tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  else wasm.setThreadsCount(threads);
  await tf.setBackend('wasm');
  await tf.ready();
  if (threads !== 1 && wasm.getThreadsCount() !== threads)
    throw new Error(`asked for ${threads} threads, it works with ${wasm.getThreadsCount()}`);
  return { ways: (task) => waysOf(tf, task) };
}
