/**
 * The small GPT-2 that learns: its options, first weights and the groups of its optimizer.
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
  dFf: only ? 0 : 4 * width,
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

/** @param {string} name @param {Settings} settings standard deviation of the first weights */
function deviationOf(name, { layers, width, positions }) {
  if (name.endsWith('bias')) return 0;
  if (name === 'wte.weight') return TOKEN_DEVIATION;
  if (name === 'wpe.weight') return positions === 'none' ? 0 : TOKEN_DEVIATION;
  const fanIn = name.endsWith('mlp.c_proj.weight') ? 4 * width : width;
  return 1 / Math.sqrt(fanIn * (name.endsWith('c_proj.weight') ? 2 * layers : 1));
}

/**
 * What a feed-forward of width 1 and its norm would draw in a block of attention alone: it is drawn all the same, so that runs go
 * on as those that had them.
 *
 * @param {number} width
 */
const absentShapes = (width) => [[width], [width], [width, 1], [1], [1, width], [width]];

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
  const dict = model.namedParameters().map(({ name, shape }) => {
    const values = own(name, shape);
    if (settings.only && name.endsWith('attn.c_proj.bias')) {
      for (const absent of absentShapes(dModel)) hw.randn(absent);
    }
    return [name, tensor(values, shape)];
  });
  model.loadStateDict(Object.fromEntries(dict));
}

/**
 * The parameters that learn, in groups: matrices decay, positions and vectors do not.
 *
 * @param {Gpt2} model
 * @param {Settings} settings
 */
export function groupsOf(model, { positions }) {
  const learning = model
    .namedParameters()
    .filter(({ name }) => name !== 'wpe.weight' || positions !== 'none');
  return decayGroups(learning, 0.01);
}
