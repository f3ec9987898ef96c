/**
 * jax-js: a step of training, compiled by its jit.
 *
 * @import { Array as JaxArray } from '@jax-js/jax'
 * @import { Started } from './contestant.js'
 * @import { TrainTask } from '../train-task.js'
 */

import { lossAndSlope, oneHot, targetsOf, TRAINING } from '../train-task.js';

/** @typedef {typeof import('@jax-js/jax')} Jax */
/** @typedef {Record<string, JaxArray>} Arrays */

/** A layer norm. @param {Jax} jax @param {JaxArray} x @param {JaxArray} weight @param {JaxArray} bias */
const norm = ({ nn }, x, weight, bias) =>
  nn.standardize(x, -1, { epsilon: 1e-5 }).mul(weight).add(bias);

/**
 * Which queries see which keys.
 * @param {number} tokens
 */
const causalBias = (tokens) =>
  Float32Array.from({ length: tokens * tokens }, (_, i) =>
    i % tokens > Math.floor(i / tokens) ? -1e9 : 0,
  );

/**
 * Its functions take what they are given: `ref` keeps it for another use.
 * @param {Jax} jax
 * @param {JaxArray} x [rows, tokens, width]
 * @param {(name: string) => JaxArray} of a parameter of the block
 * @param {number} heads
 */
function attend({ numpy: np, nn }, x, of, heads) {
  const [rows, tokens, width] = x.shape;
  const headDim = width / heads;
  const qkv = np.matmul(x, of('attn.c_attn.weight')).add(of('attn.c_attn.bias'));
  const [q, k, v] = np
    .split(qkv, 3, -1)
    .map((part) => part.reshape([rows, tokens, heads, headDim]).transpose([0, 2, 1, 3]));
  const bias = np.array(causalBias(tokens)).reshape([tokens, tokens]);
  const scores = np.matmul(q, k.transpose([0, 1, 3, 2])).mul(1 / Math.sqrt(headDim));
  const seen = np.matmul(nn.softmax(scores.add(bias), -1), v);
  const joined = seen.transpose([0, 2, 1, 3]).reshape([rows, tokens, width]);
  return np.matmul(joined, of('attn.c_proj.weight')).add(of('attn.c_proj.bias'));
}

/**
 * The mean cross-entropy of what each token says of the next.
 * @param {Jax} jax
 * @param {TrainTask} task
 * @param {number} rows
 * @param {number} tokens of each
 */
const lossOf =
  (jax, { layers, heads, width, hidden }, rows, tokens) =>
  /** @param {Arrays} given @param {JaxArray} ids one-hot @param {JaxArray} targets one-hot, without the rows' first */
  (given, ids, targets) => {
    const { numpy: np, nn } = jax;
    const of = (/** @type {string} */ name) => given[name].ref;
    const places = of('wpe.weight').slice([0, tokens]);
    let x = np.matmul(ids, of('wte.weight')).reshape([rows, tokens, width]).add(places);
    for (let layer = 0; layer < layers; layer++) {
      const own = (/** @type {string} */ name) => of(`h.${layer}.${name}`);
      const normed = norm(jax, x.ref, own('ln_1.weight'), own('ln_1.bias'));
      x = x.add(attend(jax, normed, own, heads));
      if (hidden === 0) continue;
      const second = norm(jax, x.ref, own('ln_2.weight'), own('ln_2.bias'));
      const inner = np.matmul(second, own('mlp.c_fc.weight')).add(own('mlp.c_fc.bias'));
      const back = np.matmul(nn.gelu(inner, { approximate: true }), own('mlp.c_proj.weight'));
      x = x.add(back.add(own('mlp.c_proj.bias')));
    }
    const last = x.slice([], [0, tokens - 1]).reshape([rows * (tokens - 1), width]);
    const normed = norm(jax, last, of('ln_f.weight'), of('ln_f.bias'));
    const logits = np.matmul(normed, of('wte.weight').transpose());
    const losses = nn.logSoftmax(logits, -1).mul(targets);
    for (const array of Object.values(given)) array.dispose();
    return np.sum(losses).mul(-1 / (rows * (tokens - 1)));
  };

/**
 * AdamW after clipping; the corrections of its first steps are given, so that it is compiled once.
 * @param {Jax} jax
 */
const update =
  ({ numpy: np }) =>
  /** @param {{ now: Arrays, first: Arrays, second: Arrays }} state @param {Arrays} gradients @param {JaxArray} corrections */
  (state, gradients, corrections) => {
    const { lr, betas, eps, weightDecay, maxNorm } = TRAINING;
    const names = Object.keys(gradients);
    const squares = names.map((name) => np.sum(np.square(gradients[name].ref)));
    const total = np.sqrt(squares.reduce((sum, square) => sum.add(square)));
    const factor = np.minimum(np.reciprocal(total.add(1e-6)).mul(maxNorm), 1);
    const [c1, c2] = np.split(corrections, 2);
    /** @type {typeof state} */
    const next = { now: {}, first: {}, second: {} };
    for (const name of names) {
      const gradient = gradients[name].mul(factor.ref);
      const first = state.first[name].mul(betas[0]).add(gradient.ref.mul(1 - betas[0]));
      const second = state.second[name].mul(betas[1]).add(np.square(gradient).mul(1 - betas[1]));
      const root = np.sqrt(second.ref.mul(c2.ref)).add(eps);
      const change = first.ref.mul(c1.ref).div(root).mul(lr);
      next.now[name] = state.now[name].mul(1 - lr * weightDecay).sub(change);
      next.first[name] = first;
      next.second[name] = second;
    }
    factor.dispose();
    c1.dispose();
    c2.dispose();
    return next;
  };

/** @param {Jax} jax @param {TrainTask} task @param {readonly (readonly number[])[]} rows */
function batchOf({ numpy: np }, { vocabulary }, rows) {
  const array = (/** @type {readonly (readonly number[])[]} */ ids) =>
    np.array(oneHot(ids, vocabulary)).reshape([ids.flat().length, vocabulary]);
  return { ids: array(rows), targets: array(targetsOf(rows)) };
}

/** @param {Jax} jax @param {TrainTask} task */
function training(jax, task) {
  const { numpy: np, jit, valueAndGrad } = jax;
  const arrays = (
    /** @type {(values: import('../train-task.js').Values) => Float32Array} */ data,
  ) =>
    Object.fromEntries(
      Object.entries(task.state).map(([name, values]) => [
        name,
        np.array(data(values)).reshape(values.shape),
      ]),
    );
  const zeros = () => arrays(({ data }) => new Float32Array(data.length));
  let state = { now: arrays(({ data }) => data), first: zeros(), second: zeros() };
  const stepOf = (/** @type {number} */ rows, /** @type {number} */ tokens) =>
    jit(valueAndGrad(lossOf(jax, task, rows, tokens)));
  const gradient = stepOf(task.batch, task.tokens);
  const move = jit(update(jax));
  const batch = batchOf(jax, task, task.rows);
  const kept = (/** @type {Arrays} */ all) =>
    Object.fromEntries(Object.entries(all).map(([name, array]) => [name, array.ref]));
  let steps = 0;
  return {
    async first() {
      const { ids, targets } = batchOf(jax, task, [task.short]);
      const [loss, gradients] = stepOf(1, task.short.length)(kept(state.now), ids, targets);
      const read = Object.entries(gradients).map(
        async ([name, array]) => /** @type {const} */ ([name, await array.data()]),
      );
      const all = Object.fromEntries(await Promise.all(read));
      return lossAndSlope(task, (await loss.data())[0], (name) => all[name]);
    },
    async run() {
      const { ids, targets } = batch;
      const [loss, gradients] = gradient(kept(state.now), ids.ref, targets.ref);
      steps++;
      const corrections = TRAINING.betas.map((beta) => 1 / (1 - beta ** steps));
      state = move(state, gradients, np.array(corrections));
      await jax.blockUntilReady(state.now);
      return /** @type {Promise<Float32Array>} */ (loss.data());
    },
  };
}

/**
 * It takes as many threads as there are cores; one if it sees no Worker. Then the page has none any more.
 * @param {number} threads
 * @returns {Promise<Jax>}
 */
async function begin(threads) {
  if (threads > 1 && threads !== globalThis.navigator?.hardwareConcurrency)
    throw new Error('takes one thread, or as many as there are cores');
  if (threads === 1) Reflect.deleteProperty(globalThis, 'Worker');
  const jax = await import('@jax-js/jax');
  await jax.init('wasm');
  return jax;
}

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  const jax = await begin(threads);
  return {
    ways: (task) =>
      task.kind === 'train'
        ? [{ name: 'jit', prepare: () => ({ ...training(jax, task), dispose() {} }) }]
        : [],
  };
}
