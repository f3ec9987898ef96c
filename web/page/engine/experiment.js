/**
 * What the worker runs for the Compare room: wrapper and fused module on the
 * same weights, their outputs, traces, difference, time and memory.
 *
 * @import { Tensor } from '../../headwise/index.js'
 * @import { Matrix, MapSource, Settings, Summary, Token } from '../types.js'
 *
 * @typedef {Awaited<ReturnType<typeof import('../../headwise/index.js').load>>} Engine
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

import { tensor } from '../../headwise/index.js';
import { PageError } from './errors.js';
import { D_OUT, EMBEDDINGS, WORDS } from './example.js';
import { largestDifference } from './maps.js';
import { timePair } from './timing.js';

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

/** @param {number} seed */
function checkSeed(seed) {
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32) return;
  throw new PageError('ERR_VALUE', 'The seed has to be a whole number from 0 to 4294967295.');
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

/** @template T @param {T | undefined} trace @returns {T} */
function present(trace) {
  if (trace) return trace;
  throw new PageError('ERR_TRACE', 'The engine gave no trace of its run.');
}

/**
 * @param {Engine} hw
 * @param {Settings} settings
 * @param {Token[]} tokens
 * @param {Step} step
 * @param {number} run
 * @returns {Promise<Experiment>}
 */
export async function runExperiment(hw, settings, tokens, step, run) {
  const { heads, causal, seed } = settings;
  checkSeed(seed);
  /** @type {{ dispose(): void }[]} */
  const owned = [];
  const dispose = () => owned.splice(0).forEach((thing) => thing.dispose());
  try {
    await step(0, 'Drawing the weights');
    hw.manualSeed(seed);
    const { x, distinct, dOut } = inputs(hw, settings, tokens);
    const options = {
      dIn: x.shape[1],
      dOut,
      contextLength: tokens.length,
      dropout: 0,
      numHeads: heads,
      isCausal: causal,
    };
    const wrapper = new hw.MultiHeadAttentionWrapper(options);
    owned.push(wrapper);
    await step(0.1);
    const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
    owned.push(fused);
    await step(0.15, 'Running the wrapper, head after head');
    const a = wrapper.forward(x, { trace: true });
    const traceA = present(a.trace);
    owned.push(traceA);
    await step(0.2, 'Running the fused module');
    const b = fused.forward(x, { trace: true });
    const traceB = present(b.trace);
    owned.push(traceB);
    /** @type {Experiment['traces']} */
    const traces = new Map([
      ['wrapper', traceA],
      ['fused', traceB],
    ]);

    let notebook = null;
    if (settings.source === 'example') {
      hw.manualSeed(seed);
      const own = new hw.MultiHeadAttention(options);
      owned.push(own);
      const c = own.forward(x, { trace: true });
      const traceC = present(c.trace);
      owned.push(traceC);
      traces.set('notebook', traceC);
      notebook = corner(c.output);
    }

    await step(0.25, 'Comparing every weight of every head');
    const n = tokens.length;
    const weights = await largestDifference(traceA, traceB, { n, heads }, (fraction) =>
      step(0.25 + 0.25 * fraction),
    );
    let output = 0;
    a.output.data.forEach((value, i) => {
      output = Math.max(output, Math.abs(value - b.output.data[i]));
    });

    await step(0.5, 'Timing both');
    const times = await timePair(
      () => wrapper.forward(x),
      () => fused.forward(x),
      (fraction) => step(0.5 + 0.5 * fraction),
    );

    // Q and K, and a log-sum-exp for every row of every head.
    const held =
      /** @type {{ byteLength?: number }} */ (traceB).byteLength ??
      4 * (2 * n * dOut * heads + heads * n);
    /** @type {Summary} */
    const summary = {
      run,
      settings,
      tokens,
      heads,
      width: x.shape[1],
      distinct,
      inputs: settings.source === 'example' ? corner(x) : null,
      wrapper: corner(a.output),
      fused: corner(b.output),
      notebook,
      difference: { output, weights },
      timing: {
        wrapper: times.first,
        fused: times.second,
        runs: times.runs,
        calls: times.calls,
      },
      memory: { matrix: 4 * heads * n * n, held },
      simd: hw.info.simd,
    };
    return { summary, traces, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
