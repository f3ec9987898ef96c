/**
 * What the worker runs for the Compare room: wrapper and fused module on the
 * same weights, their outputs, traces and difference.
 *
 * @import { Tensor } from '../../../headwise/index.js'
 * @import { Matrix, MapSource, Settings, Summary, Token } from '../../types.js'
 *
 * @typedef {Awaited<ReturnType<typeof import('../../../headwise/index.js').load>>} Engine
 *
 * @typedef {(fraction: number, label?: string) => Promise<void>} Step told
 *   between two pieces of work; rejects when the work is to be stopped
 *
 * @typedef {NonNullable<ReturnType<InstanceType<Engine['MultiHeadAttention']>['forward']>['trace']>} Trace
 *
 * @typedef {object} Experiment
 * @property {Summary} summary
 * @property {Map<MapSource, Trace>} traces
 * @property {() => void} dispose frees traces and modules
 */

import { tensor } from '../../../headwise/index.js';
import { PageError } from '../../shared/errors.js';
import { D_OUT, EMBEDDINGS, WORDS } from './example.js';
import { largestDifference } from './maps.js';

const SHOWN_ROWS = 8;
const SHOWN_COLS = 4;

/**
 * The upper left corner of a tensor, as much as the page shows.
 *
 * @param {Tensor} whole of rank 2
 * @returns {Matrix}
 */
function corner({ shape, data }) {
  const [height, width] = shape;
  const rows = Math.min(height, SHOWN_ROWS);
  const cols = Math.min(width, SHOWN_COLS);
  const values = new Float32Array(rows * cols);
  for (let i = 0; i < rows; i++) {
    const start = i * width;
    values.set(data.subarray(start, start + cols), i * cols);
  }
  return { shape: [height, width], rows, cols, values };
}

/**
 * One row per distinct token, in the order of first appearance, and from it
 * the rows of the text: what an nn.Embedding does, with no rows to spare.
 *
 * @param {Engine} hw
 * @param {Token[]} tokens
 * @param {number} width
 */
function embed(hw, tokens, width) {
  /** @type {Map<number | null, number>} */
  const rowOf = new Map();
  for (const { id } of tokens) {
    if (!rowOf.has(id)) rowOf.set(id, rowOf.size);
  }
  const table = hw.randn([rowOf.size, width]).data;
  const data = new Float32Array(tokens.length * width);
  tokens.forEach(({ id }, i) => {
    const start = (rowOf.get(id) ?? 0) * width;
    data.set(table.subarray(start, start + width), i * width);
  });
  return { x: tensor(data, [tokens.length, width]), distinct: rowOf.size };
}

/**
 * @param {Engine} hw
 * @param {Settings} settings
 * @param {Token[]} tokens
 * @returns {{ x: Tensor, distinct: number, dOut: number }}
 */
function inputs(hw, settings, tokens) {
  if (settings.source === 'example') {
    return { x: tensor(EMBEDDINGS), distinct: WORDS.length, dOut: D_OUT };
  }
  const { width, heads } = settings;
  return { ...embed(hw, tokens, width), dOut: width / heads };
}

/**
 * Keeps what is to be disposed of with the experiment.
 *
 * @typedef {<T extends { dispose(): void }>(thing: T | undefined) => T} Own
 */

/**
 * Both implementations on the same weights.
 *
 * @param {Engine} hw
 * @param {Settings} settings
 * @param {Token[]} tokens
 * @param {Step} step
 * @param {Own} own
 */
async function runBoth(hw, settings, tokens, step, own) {
  await step(0, 'Drawing the weights');
  hw.manualSeed(settings.seed);
  const { x, distinct, dOut } = inputs(hw, settings, tokens);
  const options = {
    dIn: x.shape[1],
    dOut,
    contextLength: tokens.length,
    dropout: 0,
    numHeads: settings.heads,
    isCausal: settings.causal,
  };
  const wrapper = own(new hw.MultiHeadAttentionWrapper(options));
  await step(0.1);
  const fused = own(hw.MultiHeadAttention.fromWrapper(wrapper));
  await step(0.15, 'Running the wrapper, head after head');
  const a = wrapper.forward(x, { trace: true });
  const traceA = own(a.trace);
  await step(0.2, 'Running the fused module');
  const b = fused.forward(x, { trace: true });
  const traceB = own(b.trace);
  return { x, distinct, options, outputs: [a.output, b.output], traceA, traceB };
}

/** @typedef {Awaited<ReturnType<typeof runBoth>>} Both */

/**
 * The fused module on weights of its own, as the notebooks draw them.
 *
 * @param {Engine} hw
 * @param {number} seed
 * @param {Both} both
 * @param {Own} own
 */
function runNotebook(hw, seed, { x, options }, own) {
  hw.manualSeed(seed);
  const { output, trace } = own(new hw.MultiHeadAttention(options)).forward(x, { trace: true });
  return { output, trace: own(trace) };
}

/**
 * @param {Both} both
 * @param {Step} step
 * @returns {Promise<Summary['difference']>}
 */
async function compareBoth({ outputs: [a, b], options, traceA, traceB }, step) {
  await step(0.25, 'Comparing every weight of every head');
  const size = { n: options.contextLength, heads: options.numHeads };
  const weights = await largestDifference(traceA, traceB, size, (fraction) =>
    step(0.25 + 0.75 * fraction),
  );
  const output = a.data.reduce((most, value, i) => Math.max(most, Math.abs(value - b.data[i])), 0);
  return { output, weights };
}

/** How many numbers agree or differ. @param {Both} both @returns {Summary['compared']} */
function countOf({ options: { numHeads: heads, contextLength: n, isCausal }, outputs: [output] }) {
  const pairs = isCausal ? (n * (n + 1)) / 2 : n * n;
  return { outputs: output.data.length, weights: heads * pairs };
}

/** @param {Both} both @returns {Summary['work']} */
const workOf = ({ options }) => ({
  tokens: options.contextLength,
  dIn: options.dIn,
  dOut: options.dOut,
  heads: options.numHeads,
  causal: options.isCausal,
});

/**
 * @param {Engine} hw
 * @param {Settings} settings
 * @param {Token[]} tokens
 * @param {Step} step
 * @param {number} run
 * @returns {Promise<Experiment>}
 */
export async function runExperiment(hw, settings, tokens, step, run) {
  /** @type {{ dispose(): void }[]} */
  const owned = [];
  /** @type {Own} */
  const own = (thing) => {
    if (!thing) throw new PageError('ERR_TRACE', 'The engine gave no trace of its run.');
    owned.push(thing);
    return thing;
  };
  const dispose = () => owned.splice(0).forEach((thing) => thing.dispose());
  try {
    const both = await runBoth(hw, settings, tokens, step, own);
    const isExample = settings.source === 'example';
    const notebook = isExample ? runNotebook(hw, settings.seed, both, own) : undefined;
    const difference = await compareBoth(both, step);
    /** @type {Summary} */
    const summary = {
      ...{ run, settings, tokens, difference, heads: settings.heads },
      width: both.x.shape[1],
      distinct: both.distinct,
      inputs: isExample ? corner(both.x) : null,
      wrapper: corner(both.outputs[0]),
      fused: corner(both.outputs[1]),
      notebook: notebook ? corner(notebook.output) : null,
      compared: countOf(both),
      work: workOf(both),
      simd: hw.info.simd,
    };
    /** @type {Experiment['traces']} */
    const traces = new Map([
      ['wrapper', both.traceA],
      ['fused', both.traceB],
    ]);
    if (notebook) traces.set('notebook', notebook.trace);
    return { summary, traces, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
