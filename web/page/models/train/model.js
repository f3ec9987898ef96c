/**
 * The GPT-2 that is trained: its first weights, the groups of its optimizer, its learning rate.
 *
 * @import { Headwise } from 'headwise'
 * @import { Gpt2, Gpt2Options } from 'headwise/gpt2'
 * @import { Task } from './task.js'
 */
import { tensor, zeros } from 'headwise';
import { Gpt2 as Model } from 'headwise/gpt2';
import { decayGroups } from '../../train/step.js';

/**
 * Waves of 3 to 3,000 positions to begin wpe with: a shift by one is then a rotation, the same at every position, which
 * heads that look at the token before find sooner than among random vectors.
 *
 * @param {number} count
 * @param {number} width
 * @param {number} amplitude
 */
function sinusoids(count, width, amplitude) {
  const half = width / 2;
  const rates = Array.from({ length: half }, (_, i) => 2 * 1000 ** (-i / half));
  return Float32Array.from({ length: count * width }, (_, at) => {
    const [position, i] = [Math.floor(at / width), at % width];
    const angle = position * rates[i % half];
    return amplitude * (i < half ? Math.sin(angle) : Math.cos(angle));
  });
}

/**
 * Standard deviation of the first values. With GPT-2's 0.02 a model as narrow as these begins with heads that see all
 * tokens alike, and stays so for long.
 *
 * @param {string} name of a matrix
 * @param {readonly number[]} shape
 * @param {Gpt2Options} options
 * @param {Task} task
 */
function deviationOf(name, [fanIn], { numLayers }, { start, attentionOnly }) {
  if (name === 'wte.weight') return start.tokens;
  if (attentionOnly && name.includes('.mlp.')) return 0;
  return 1 / Math.sqrt(fanIn * (name.endsWith('c_proj.weight') ? 2 * numLayers : 1));
}

/**
 * @param {Headwise} hw its random numbers are drawn
 * @param {Task} task
 * @param {number} seed
 * @returns {Gpt2}
 */
export function newModel(hw, task, seed) {
  hw.manualSeed(seed);
  const model = new Model(hw, task.options, false);
  const { contextLength, dModel } = model.options;
  const state = model.namedParameters().map(({ name, shape }) => {
    if (name === 'wpe.weight') {
      return [name, tensor(sinusoids(contextLength, dModel, task.start.positions), shape)];
    }
    const isMatrix = shape.length === 2;
    const { data } = isMatrix ? hw.randn(shape) : zeros(shape);
    const scale = isMatrix ? deviationOf(name, shape, task.options, task) : 0;
    const offset = /ln_\w+\.weight$/.test(name) ? 1 : 0;
    return [
      name,
      tensor(
        data.map((value) => value * scale + offset),
        shape,
      ),
    ];
  });
  return model.loadStateDict(Object.fromEntries(state));
}

/**
 * What learns, in groups: matrices decay, positions and vectors do not. The feed-forward parts of a model of attention
 * alone are zero and stay so.
 *
 * @param {Gpt2} model
 * @param {Task} task
 */
export function groupsOf(model, { attentionOnly, decay }) {
  const learning = model
    .parameters()
    .filter(({ name }) => !(attentionOnly && /\.(mlp|ln_2)\./.test(name)));
  return decayGroups(learning, decay);
}

/**
 * The learning rate of a step: up in 200 steps, then a cosine down to a twentieth.
 *
 * @param {number} step
 * @param {number} done the share of the run that is done
 * @param {number} peak
 */
export function rateOf(step, done, peak) {
  const cosine = 0.525 + 0.475 * Math.cos(Math.PI * done);
  return peak * Math.min(1, (step + 1) / 200) * cosine;
}
