/**
 * The Compare room's Worker: runs the experiment, and answers questions about the last finished run.
 *
 * @import { MapSource, Settings, Summary, Token } from '../../types.js'
 * @import { Engine, Experiment } from './experiment.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { breathe } from '../../shared/breathe.js';
import { PageError } from '../../shared/errors.js';
import { WORDS } from './example.js';
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
    throw new PageError('ERR_STALE', 'That run is no longer there.');
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

const room = { run, map, row };
/** @typedef {typeof room} CompareWorker */
serve(room);
