/**
 * The small GPT-2 that learns: its options, first weights and the groups of its optimizer. Without feed-forward it still is
 * a GPT-2: one of width 1 whose weights are zero and stay so, so that whatever reads GPT-2 reads it too.
 *
 * @import { Gpt2 } from '../../headwise/gpt2.js'
 * @import { Headwise, Tensor } from '../../headwise/index.js'
 * @import { Settings } from './settings.js'
 * @import { Task } from './tasks/task.js'
 */

import { tensor } from '../../headwise/index.js';
import { decayGroups } from './step.js';

/** Amplitudes of the first position embeddings, with which each task is known to succeed. */
const AMPLITUDES = { induction: 0.5, reversal: 0.5, addition: 0.2 };
const OTHER_AMPLITUDE = 0.18;
const TOKEN_DEVIATION = 0.125;

/** @param {Task} task @param {Settings} settings @returns {import('../../headwise/gpt2.js').Gpt2Options} */
export const optionsOf = (task, { layers, heads, width, only }) => ({
  vocabSize: [...task.characters].length,
  contextLength: task.tokens,
  dModel: width,
  numHeads: heads,
  numLayers: layers,
  dFf: only ? 1 : 4 * width,
});

/** The sine and cosine of an angle of at most 1, by their series: the same bits in every browser. @param {number} x */
function turnOf(x) {
  let [sine, cosine, term] = [0, 0, 1];
  for (let k = 0; k < 24; k += 2) {
    cosine += k % 4 === 0 ? term : -term;
    term *= x / (k + 1);
    sine += k % 4 === 0 ? term : -term;
    term *= x / (k + 2);
  }
  return [sine, cosine];
}

/**
 * Sinusoids of positions (Vaswani et al. 2017), sine and cosine beside each other.
 *
 * @param {number} tokens
 * @param {number} width a power of two
 * @param {number} amplitude
 */
export function sinusoids(tokens, width, amplitude) {
  const values = new Float32Array(tokens * width);
  // 10000^(−2 / width), by roots alone, which are exact everywhere.
  let step = 1e-4;
  for (let halves = width / 2; halves > 1; halves /= 2) step = Math.sqrt(step);
  for (let i = 0, frequency = 1; i < width; i += 2, frequency *= step) {
    const [sine, cosine] = turnOf(frequency);
    for (let at = 0, x = 0, y = 1; at < tokens; at++) {
      values[at * width + i] = amplitude * x;
      values[at * width + i + 1] = amplitude * y;
      [x, y] = [x * cosine + y * sine, y * cosine - x * sine];
    }
  }
  return values;
}

/** @param {string} name a parameter's */
const isFeedForward = (name) => /\.(mlp|ln_2)\./.test(name);

/** @param {string} name @param {Settings} settings standard deviation of the first weights */
function deviationOf(name, { layers, width, only, positions }) {
  if (name.endsWith('bias') || (only && name.includes('.mlp.'))) return 0;
  if (name === 'wte.weight') return TOKEN_DEVIATION;
  if (name === 'wpe.weight') return positions === 'none' ? 0 : TOKEN_DEVIATION;
  const fanIn = name.endsWith('mlp.c_proj.weight') ? 4 * width : width;
  return 1 / Math.sqrt(fanIn * (name.endsWith('c_proj.weight') ? 2 * layers : 1));
}

/**
 * Draws the first weights into a model.
 *
 * @param {Headwise} hw
 * @param {Gpt2} model
 * @param {Settings} settings
 */
export function drawWeights(hw, model, settings) {
  hw.manualSeed(settings.seed);
  const { contextLength, dModel } = model.options;
  const amplitude =
    /** @type {Record<string, number>} */ (AMPLITUDES)[settings.task] ?? OTHER_AMPLITUDE;
  const own = (/** @type {string} */ name, /** @type {readonly number[]} */ shape) => {
    if (name === 'wpe.weight' && settings.positions === 'sinusoids') {
      return sinusoids(contextLength, dModel, amplitude);
    }
    const { data } = hw.randn(shape);
    if (/ln_\w+\.weight$/.test(name)) return data.fill(1);
    const deviation = deviationOf(name, settings);
    return data.map((value) => value * deviation);
  };
  const dict = model
    .namedParameters()
    .map(({ name, shape }) => [name, tensor(own(name, shape), shape)]);
  model.loadStateDict(Object.fromEntries(dict));
}

/**
 * The parameters that learn, in groups: matrices decay, positions and vectors do not.
 *
 * @param {Gpt2} model
 * @param {Settings} settings
 */
export function groupsOf(model, { only, positions }) {
  const learning = model
    .namedParameters()
    .filter(({ name }) => !(only && isFeedForward(name)))
    .filter(({ name }) => name !== 'wpe.weight' || positions !== 'none');
  return decayGroups(learning, 0.01);
}
