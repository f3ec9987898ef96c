/**
 * The Compare room's Worker: runs the experiment, and answers questions about the last finished run.
 *
 * @import { MapSource, Settings, Summary, Token } from '../../types.js'
 * @import { Engine, Experiment } from './experiment.js'
 */

import { load, tensor } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { breathe } from '../../shared/breathe.js';
import { PageError } from '../../shared/errors.js';
import { isSeed } from '../../shared/seeds.js';
import { D_OUT, EMBEDDINGS, WORDS } from './example.js';
import { runExperiment } from './experiment.js';
import { mapOf, mapOfDifference, rowsOfDifference } from './maps.js';
import { tokenize } from '../../shared/tokenize.js';

/** @typedef {{ run: number, source: MapSource | 'difference', head: number }} Where */

/** @type {Promise<Engine> | undefined} */
let loading;
/** @type {Experiment | undefined} */
let current;

function engine() {
  loading ??= load().catch((error) => {
    loading = undefined; // so that another try is possible
    throw error;
  });
  return loading;
}

/** @param {number} seed */
function checkSeed(seed) {
  if (isSeed(seed)) return;
  throw new PageError('ERR_VALUE', 'The seed must be a whole number from 0 to 4,294,967,295.');
}

/**
 * @param {number} number of the run
 * @param {Settings} settings
 * @param {(fraction: number, label?: string) => unknown} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<Summary>}
 */
async function run(number, settings, onProgress, signal) {
  /** @type {import('./experiment.js').Step} */
  const step = (fraction, label) => {
    onProgress(fraction, label);
    return breathe(signal);
  };
  // Before the text, which may be wrong too.
  checkSeed(settings.seed);
  await step(0, 'Loading the engine');
  const hw = await engine();
  await step(0, 'Splitting the text into tokens');
  /** @type {Token[]} */
  const tokens =
    settings.source === 'example'
      ? WORDS.map((text) => ({ id: null, text }))
      : await tokenize(settings.text);
  const next = await runExperiment(hw, settings, tokens, step, number);
  current?.dispose();
  current = next;
  return next.summary;
}

/**
 * The traces asked for, if they are still there.
 *
 * @param {Where} where
 */
function traces({ run: wanted, source }) {
  const a = current?.traces.get(source === 'difference' ? 'wrapper' : source);
  const b = current?.traces.get('fused');
  if (!current || !a || !b || current.summary.run !== wanted) {
    throw new PageError('ERR_STALE', 'That run no longer exists.');
  }
  return { a, b, n: current.summary.tokens.length };
}

/** @param {Where & { size: number }} wanted */
function map(wanted) {
  const { a, b, n } = traces(wanted);
  const { head, source } = wanted;
  const size = Math.min(wanted.size, n);
  const values =
    source === 'difference'
      ? mapOfDifference(a, b, { n, head, size })
      : mapOf(a, { n, head, size });
  return { n, size, values };
}

/** @param {Where & { row: number }} wanted */
function row(wanted) {
  const { a, b } = traces(wanted);
  const { head, source, row: at } = wanted;
  return source === 'difference'
    ? rowsOfDifference(a, b, head, at, at + 1)
    : Float32Array.from(a.weights({ head, rows: [at, at + 1] }).data);
}

/**
 * The example's query projections, for a drawing: matrices row after row, weights as in x · W.
 *
 * @returns {Promise<{ words: string[], x: number[][], weights: number[][][], queries: number[][] }>} weights: a matrix a
 *   head; queries: of all heads, from the stacked matrix
 */
async function projections() {
  const hw = await engine();
  hw.manualSeed(123);
  const inFeatures = EMBEDDINGS[0].length;
  const numHeads = 2;
  const options = { dIn: inFeatures, dOut: D_OUT, contextLength: WORDS.length, numHeads };
  const wrapper = new hw.MultiHeadAttentionWrapper(options);
  const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
  const weight = fused.stateDict()['W_query.weight'];
  const outFeatures = numHeads * D_OUT;
  const linear = new hw.Linear({ inFeatures, outFeatures, bias: false });
  linear.loadStateDict({ weight });
  const { output } = linear.forward(tensor(EMBEDDINGS));
  const state = wrapper.stateDict();
  for (const module of [wrapper, fused, linear]) module.dispose();
  /** @param {ArrayLike<number>} data @param {number} rows @param {number} columns @param {[number, number]} strides */
  const matrix = (data, rows, columns, [down, right]) =>
    Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (__, j) => data[i * down + j * right]),
    );
  const weights = Array.from({ length: numHeads }, (_, head) =>
    matrix(state[`heads.${head}.W_query.weight`].data, inFeatures, D_OUT, [1, inFeatures]),
  );
  const queries = matrix(output.data, WORDS.length, outFeatures, [outFeatures, 1]);
  return { words: WORDS, x: EMBEDDINGS, weights, queries };
}

const room = { run, map, row, projections };
/** @typedef {typeof room} CompareWorker */
serve(room);
