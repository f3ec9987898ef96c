/**
 * A step of training in tfjs.
 *
 * @import { Way } from './contestant.js'
 * @import { TrainTask } from '../train-task.js'
 */

import { causalMask } from '../task.js';
import { lossAndSlope, oneHot, targetsOf, TRAINING } from '../train-task.js';

/** @typedef {typeof import('@tensorflow/tfjs-core')} Tf */
/** @typedef {import('@tensorflow/tfjs-core').Tensor} Tensor */
/** @typedef {import('@tensorflow/tfjs-core').Variable} Variable */
/** @typedef {Record<string, Variable>} Variables */
/** @typedef {(qkv: Tensor, shape: { rows: number, tokens: number, width: number, heads: number }) => Tensor} Attend */

/** A step takes longer than this many operations allow: half a minute. */
const MOST_WEIGHTS = 4_000_000;

/** @param {Tf} tf @param {Tensor} x @param {Tensor} weight @param {Tensor} bias */
function norm(tf, x, weight, bias) {
  const centred = tf.sub(x, tf.mean(x, -1, true));
  const variance = tf.mean(tf.square(centred), -1, true);
  return tf.add(tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, 1e-5))), weight), bias);
}

/** @param {Tf} tf @param {Tensor} x */
function gelu(tf, x) {
  const cube = tf.mul(tf.mul(tf.square(x), x), 0.044715);
  const inner = tf.mul(tf.add(x, cube), Math.sqrt(2 / Math.PI));
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(inner), 1));
}

/** softmax, from operations that all have gradients here. @param {Tf} tf @param {Tensor} scores */
function softmax(tf, scores) {
  const powers = tf.exp(tf.sub(scores, tf.max(scores, -1, true)));
  return tf.div(powers, tf.sum(powers, -1, true));
}

/** Products of all heads at once. @param {Tf} tf @returns {Attend} */
const headsTogether =
  (tf) =>
  (qkv, { rows, tokens, width, heads }) => {
    const byHead = tf.reshape(qkv, [rows, tokens, 3 * heads, width / heads]);
    const [q, k, v] = tf.split(tf.transpose(byHead, [0, 2, 1, 3]), 3, 1);
    const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(width / heads));
    const mask = tf.tensor(causalMask(tokens), [tokens, tokens]);
    const seen = tf.matMul(softmax(tf, tf.add(scores, mask)), v);
    return tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [rows * tokens, width]);
  };

/** One head of one row after another: only products of two matrices have a fast path. @param {Tf} tf @returns {Attend} */
const headsApart =
  (tf) =>
  (qkv, { rows, tokens, width, heads }) => {
    const headDim = width / heads;
    const mask = tf.tensor(causalMask(tokens), [tokens, tokens]);
    const outputs = Array.from({ length: rows }, (_, row) => {
      const heads1 = Array.from({ length: heads }, (__, head) => {
        const [q, k, v] = [0, 1, 2].map((part) =>
          tf.slice(qkv, [row * tokens, part * width + head * headDim], [tokens, headDim]),
        );
        const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(headDim));
        return tf.matMul(softmax(tf, tf.add(scores, mask)), v);
      });
      return tf.concat(heads1, 1);
    });
    return tf.concat(outputs, 0);
  };

/**
 * The mean cross-entropy of what each token says of the next.
 * @param {Tf} tf
 * @param {TrainTask} task
 * @param {Variables} of
 * @param {readonly (readonly number[])[]} ids
 * @param {Attend} attend
 */
function lossOf(tf, { layers, heads, width, hidden, vocabulary }, of, ids, attend) {
  const [rows, tokens] = [ids.length, ids[0].length];
  const project = (/** @type {Tensor} */ x, /** @type {string} */ name) =>
    tf.add(tf.matMul(x, of[`${name}.weight`]), of[`${name}.bias`]);
  const normed = (/** @type {Tensor} */ x, /** @type {string} */ name) =>
    norm(tf, x, of[`${name}.weight`], of[`${name}.bias`]);
  const hot = tf.tensor(oneHot(ids, vocabulary), [rows * tokens, vocabulary]);
  const words = tf.reshape(tf.matMul(hot, of['wte.weight']), [rows, tokens, width]);
  const places = tf.slice(of['wpe.weight'], [0, 0], [tokens, width]);
  let x = tf.reshape(tf.add(words, places), [rows * tokens, width]);
  for (let layer = 0; layer < layers; layer++) {
    const block = `h.${layer}.`;
    const qkv = project(normed(x, `${block}ln_1`), `${block}attn.c_attn`);
    const seen = attend(qkv, { rows, tokens, width, heads });
    x = tf.add(x, project(seen, `${block}attn.c_proj`));
    if (hidden === 0) continue;
    const inner = gelu(tf, project(normed(x, `${block}ln_2`), `${block}mlp.c_fc`));
    x = tf.add(x, project(inner, `${block}mlp.c_proj`));
  }
  const byRow = tf.reshape(x, [rows, tokens, width]);
  const count = rows * (tokens - 1);
  const last = tf.reshape(tf.slice(byRow, [0, 0, 0], [rows, tokens - 1, width]), [count, width]);
  const logits = tf.matMul(normed(last, 'ln_f'), of['wte.weight'], false, true);
  const centred = tf.sub(logits, tf.max(logits, -1, true));
  const logSums = tf.log(tf.sum(tf.exp(centred), -1, true));
  const targets = tf.tensor(oneHot(targetsOf(ids), vocabulary), [count, vocabulary]);
  return tf.mul(tf.sum(tf.mul(tf.sub(centred, logSums), targets)), -1 / count);
}

/**
 * Clips, then AdamW.
 * @param {Tf} tf
 * @param {{ now: Variable, first: Variable, second: Variable }[]} state
 * @param {Record<string, Tensor>} gradients
 * @param {number} steps
 */
function update(tf, state, gradients, steps) {
  const { lr, betas, eps, weightDecay, maxNorm } = TRAINING;
  const [c1, c2] = betas.map((beta) => 1 / (1 - beta ** steps));
  const squares = Object.values(gradients).map((gradient) => tf.sum(tf.square(gradient)));
  const [total] = squares.reduce((sum, square) => tf.add(sum, square)).dataSync();
  const factor = Math.min(1, maxNorm / (Math.sqrt(total) + 1e-6));
  for (const { now, first, second } of state) {
    const gradient = tf.mul(gradients[now.name], factor);
    first.assign(tf.add(tf.mul(first, betas[0]), tf.mul(gradient, 1 - betas[0])));
    second.assign(tf.add(tf.mul(second, betas[1]), tf.mul(tf.square(gradient), 1 - betas[1])));
    const change = tf.div(tf.mul(first, c1 * lr), tf.add(tf.sqrt(tf.mul(second, c2)), eps));
    now.assign(tf.sub(tf.mul(now, 1 - lr * weightDecay), change));
  }
}

/** They add themselves to all copies of tfjs. */
const addGradients = () =>
  import(new URL('../../../../build/bench-peers/tfjs-gradients.js', import.meta.url).href);

/** Of variables: their names are the engine's. */
let trained = 0;

/** @param {Tf} tf @param {TrainTask} task @param {Attend} attend */
async function prepare(tf, task, attend) {
  await addGradients();
  const names = Object.keys(task.state);
  const prefix = `training ${trained++} `;
  const variables = names.map((name) => {
    const { data, shape } = task.state[name];
    return tf.variable(tf.tensor(data, shape), true, prefix + name);
  });
  const of = Object.fromEntries(names.map((name, i) => [name, variables[i]]));
  const state = variables.map((now) => ({
    now,
    first: tf.variable(tf.zeros(now.shape), false, `${now.name} first`),
    second: tf.variable(tf.zeros(now.shape), false, `${now.name} second`),
  }));
  const gradientsOf = (/** @type {readonly (readonly number[])[]} */ ids) =>
    tf.variableGrads(() => lossOf(tf, task, of, ids, attend), variables);
  let steps = 0;
  return {
    first: () =>
      tf.tidy(() => {
        const { value, grads } = gradientsOf([task.short]);
        const gradientOf = (/** @type {string} */ name) => grads[prefix + name].dataSync();
        return lossAndSlope(task, value.dataSync()[0], gradientOf);
      }),
    run: () =>
      tf.tidy(() => {
        const { value, grads } = gradientsOf(task.rows);
        update(tf, state, grads, ++steps);
        return value.dataSync();
      }),
    dispose: () =>
      state.flatMap((all) => Object.values(all)).forEach((variable) => variable.dispose()),
  };
}

/** @param {Tf} tf @param {TrainTask} task @returns {Way[]} none where a step takes half a minute */
export function tfjsTraining(tf, task) {
  const weights = Object.values(task.state).reduce((sum, { data }) => sum + data.length, 0);
  if (weights > MOST_WEIGHTS) return [];
  return [
    { name: 'heads together', prepare: () => prepare(tf, task, headsTogether(tf)) },
    { name: 'heads apart', prepare: () => prepare(tf, task, headsApart(tf)) },
  ];
}
