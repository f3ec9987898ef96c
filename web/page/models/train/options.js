/** The command line of npm run train. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { austen, austenLarge } from './austen.js';
import { induction } from './induction.js';
import { names } from './names.js';

/** @typedef {import('./task.js').Task} Task */

/** @type {Record<string, Task>} */
const TASKS = Object.fromEntries(
  [induction, austen, names, austenLarge].map((task) => [task.name, task]),
);

export const USAGE = `usage: npm run train -- <${Object.keys(TASKS).join(' | ')}> [--seed 1] [--steps n] [--stop n]
         [--resume] [--threads 1] [--simd simd128 | relaxed | auto] [--out folder]

Trains a model that comes with the page: its files, scores and card go to web/page/models/<name>, or to --out.
A checkpoint is written every minute; --resume goes on from it. --stop n ends after step n with a checkpoint.
The same seed gives the same bytes: for every number of threads, resumed or not, and on SIMD128 on every machine with the
same version of Node (others may round sines and powers otherwise).`;

export class UsageError extends Error {}

/** @param {string} name @param {string} given @param {number} least */
function whole(name, given, least) {
  const value = Number(given);
  if (given.trim() !== '' && Number.isSafeInteger(value) && value >= least && value < 2 ** 32)
    return value;
  throw new UsageError(`--${name} is ${given}; expected a whole number of at least ${least}`);
}

/** @param {string} given @returns {'simd128' | 'relaxed' | 'auto'} */
function simdOf(given) {
  if (given === 'simd128' || given === 'relaxed' || given === 'auto') return given;
  throw new UsageError(`--simd is ${given}; expected simd128, relaxed or auto`);
}

/** @param {readonly string[]} args */
function parse(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ seed: { ...text, default: '1' }, threads: { ...text, default: '1' } },
        ...{ simd: { ...text, default: 'simd128' }, steps: text, stop: text, out: text },
        resume: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @param {readonly string[]} args @throws {UsageError} */
export function readOptions(args) {
  const { values, positionals } = parse(args);
  const [name] = positionals;
  if (positionals.length !== 1 || !Object.hasOwn(TASKS, name)) {
    throw new UsageError(
      `the model is ${positionals.join(' ') || 'not named'}; expected one of ${Object.keys(TASKS).join(', ')}`,
    );
  }
  const task = TASKS[name];
  const steps = values.steps === undefined ? task.steps : whole('steps', values.steps, 1);
  return {
    task,
    steps,
    stop: values.stop === undefined ? steps : Math.min(steps, whole('stop', values.stop, 1)),
    seed: whole('seed', values.seed, 0),
    threads: whole('threads', values.threads, 1),
    simd: simdOf(values.simd),
    isResumed: values.resume,
    shipped: fileURLToPath(new URL(`../${name}`, import.meta.url)),
    out: values.out,
  };
}
