/**
 * @import { Prepared, Started, Task } from './contestant.js'
 * @import { TrainTask } from '../train-task.js'
 */

import { decoderConfig } from '../../../../web/page/bench/decoder-config.js';
import { lossAndSlope, TRAINING } from '../train-task.js';

/** @typedef {typeof import('../../../../web/headwise/index.js')} Package */
/** @typedef {Awaited<ReturnType<Package['load']>>} Engine */

/**
 * @param {Package} headwise
 * @param {Engine} hw
 * @param {{ dIn: number, dOut: number, heads: number, weights: import('../task.js').AttentionWeights }} task
 * @param {number} contextLength
 */
function moduleOf({ Tensor }, hw, { dIn, dOut, heads, weights }, contextLength) {
  const { query, key, value, out } = weights;
  const module = new hw.MultiHeadAttention({ dIn, dOut, contextLength, numHeads: heads });
  return module.loadStateDict({
    'W_query.weight': new Tensor(query, [dOut, dIn]),
    'W_key.weight': new Tensor(key, [dOut, dIn]),
    'W_value.weight': new Tensor(value, [dOut, dIn]),
    'out_proj.weight': new Tensor(out.weight, [dOut, dOut]),
    'out_proj.bias': new Tensor(out.bias, [dOut]),
  });
}

/**
 * @param {Package} headwise
 * @param {Engine} hw
 * @param {Task} task
 * @returns {Omit<Prepared, 'dispose'>}
 */
function preparedOf(headwise, hw, task) {
  if (task.kind === 'train') return trainingOf(headwise, hw, task);
  const forward = forwardOf(headwise, hw, task);
  return { run: () => /** @type {Float32Array} */ (forward().data) };
}

/**
 * @param {Package} headwise
 * @param {Engine} hw
 * @param {TrainTask} task
 */
function trainingOf({ Tensor, tensor }, hw, task) {
  const { batch, microBatch, rows, short } = task;
  const { maxNorm, ...options } = TRAINING;
  const values = Object.entries(task.state).map(([name, { data, shape }]) => [
    name,
    new Tensor(data, shape),
  ]);
  const model = new hw.Decoder(decoderConfig(task)).loadStateDict(Object.fromEntries(values));
  const parameters = model.parameters();
  const optimizer = new hw.AdamW(parameters, options);
  const share = tensor(microBatch / batch);
  const gradientOf = (/** @type {string} */ name) =>
    parameters.find((parameter) => parameter.name.endsWith(name))?.grad?.data ?? [];
  return {
    first() {
      const loss = hw.enableGrad(() => model.loss([short]));
      loss.backward();
      const result = lossAndSlope(task, loss.item(), gradientOf);
      optimizer.zeroGrad();
      return result;
    },
    run() {
      let sum = 0;
      for (let row = 0; row < batch; row += microBatch) {
        const loss = hw.enableGrad(() => model.loss(rows.slice(row, row + microBatch)));
        loss.backward(share);
        sum += loss.item();
      }
      hw.clipGradNorm(parameters, maxNorm);
      optimizer.step();
      optimizer.zeroGrad();
      return Float32Array.of((sum * microBatch) / batch);
    },
  };
}

/**
 * @param {Package} headwise
 * @param {Engine} hw
 * @param {Exclude<Task, TrainTask>} task
 * @returns {() => import('../../../../web/headwise/index.js').Tensor}
 */
function forwardOf(headwise, hw, task) {
  const { Tensor } = headwise;
  switch (task.kind) {
    case 'linear': {
      const { inFeatures, outFeatures, rows, layer } = task;
      const linear = new hw.Linear({ inFeatures, outFeatures });
      linear.loadStateDict({
        weight: new Tensor(layer.weight, [outFeatures, inFeatures]),
        bias: new Tensor(layer.bias, [outFeatures]),
      });
      const x = new Tensor(task.x, [rows, inFeatures]);
      return () => linear.forward(x).output;
    }
    case 'attention': {
      const [q, k, v] = [task.q, task.k, task.v].map(
        (data) => new Tensor(data, [1, task.heads, task.tokens, task.headDim]),
      );
      return () => hw.scaledDotProductAttention(q, k, v, { isCausal: true }).output;
    }
    case 'multiHeadAttention': {
      const { batch, tokens, dIn } = task;
      const module = moduleOf(headwise, hw, task, tokens);
      const x = new Tensor(task.x, [batch, tokens, dIn]);
      return () => module.forward(x).output;
    }
    case 'decode': {
      const { past, dIn, dOut, heads } = task;
      const module = moduleOf(headwise, hw, task, past + 1);
      const [key, value] = [task.key, task.value].map(
        (data) => new Tensor(data, [1, heads, past, dOut / heads]),
      );
      const cache = module.createCache({ past: { key, value } });
      const x = new Tensor(task.x, [1, dIn]);
      return () => {
        cache.truncate(past);
        return module.forward(x, { cache }).output;
      };
    }
  }
}

/**
 * @param {{ threads: number }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads }) {
  const headwise = await import('../../../../web/headwise/index.js');
  const hw = await headwise.load({ threads });
  if (hw.info.threads !== threads) throw new Error(hw.info.threadsReason);
  return {
    ways: (task) => [
      {
        name: 'package',
        /** @returns {Prepared} */
        prepare: () => ({ ...preparedOf(headwise, hw, task), dispose: () => hw.dispose() }),
      },
    ],
  };
}
