/**
 * The engine in a Worker. It answers `{ id, type, payload }` with
 * `{ id, result }` or `{ id, error: { code, message } }`; on the way
 * `{ id, progress }`. Long work comes in slices, between which it hears
 * `{ cancel: id }` and questions about the last finished run.
 *
 * @import { MapSource, Settings, Summary, Token } from '../types.js'
 * @import { Engine, Experiment } from './experiment.js'
 */

import { load } from '../../headwise/index.js';
import { Cancelled, PageError } from './errors.js';
import { WORDS } from './example.js';
import { runExperiment } from './experiment.js';
import { mapOf, mapOfDifference, rowsOfDifference } from './maps.js';
import { tokenize } from './tokenize.js';

/**
 * @typedef {{ postMessage(message: unknown, transfer: Transferable[]): void }} Port
 * @typedef {{ run: number, source: MapSource | 'difference', head: number }} Where
 */
const port = /** @type {Port} */ (/** @type {unknown} */ (globalThis));

/** @type {Promise<Engine> | undefined} */
let loading;
/** @type {Experiment | undefined} */
let current;
/** @type {Set<number>} */
const cancelled = new Set();

function engine() {
  loading ??= load().catch((error) => {
    loading = undefined; // so that another try is possible
    throw error;
  });
  return loading;
}

const { port1, port2 } = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
port1.onmessage = () => waiting.shift()?.();

/** Lets the messages in: a task of its own, not slowed as timers are. */
const breathe = () =>
  new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });

/**
 * @param {Settings} settings
 * @param {number} id
 * @returns {Promise<Summary>}
 */
async function run(settings, id) {
  /** @type {import('./experiment.js').Step} */
  const step = async (fraction, label) => {
    port.postMessage({ id, progress: { fraction, label } }, []);
    await breathe();
    if (cancelled.has(id)) throw new Cancelled();
  };
  await step(0, 'Loading the engine');
  const hw = await engine();
  await step(0, 'Splitting the text into tokens');
  /** @type {Token[]} */
  const tokens =
    settings.source === 'example'
      ? WORDS.map((text) => ({ id: null, text }))
      : await tokenize(settings.text);
  const next = await runExperiment(hw, settings, tokens, step, id);
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

/**
 * @param {string} type
 * @param {any} payload
 * @param {number} id
 */
function answer(type, payload, id) {
  switch (type) {
    case 'run':
      return run(payload, id);
    case 'map':
      return map(payload);
    case 'row':
      return row(payload);
    default:
      throw new PageError('ERR_TYPE', `Unknown question "${type}".`);
  }
}

addEventListener('message', async ({ data }) => {
  if (data.cancel !== undefined) {
    cancelled.add(data.cancel);
    return;
  }
  const { id, type, payload } = data;
  try {
    port.postMessage({ id, result: await answer(type, payload, id) }, []);
  } catch (error) {
    const { code = 'ERR_INTERNAL', message } = /** @type {{ code?: string, message: string }} */ (
      error
    );
    port.postMessage({ id, error: { code, message } }, []);
  } finally {
    cancelled.delete(id);
  }
});
