/** The command line of npm run train. */
import { fileURLToPath } from 'node:url';
import { chooseOne, number, parse, UsageError } from '../../../build/command-line.js';
import { austen, austenLarge } from './austen.js';
import { induction } from './induction.js';
import { names } from './names.js';

/** @typedef {import('./task.js').Task} Task */

/** @type {Record<string, Task>} */
const TASKS = Object.fromEntries(
  [induction, austen, names, austenLarge].map((task) => [task.name, task]),
);

const SIMD = /** @type {const} */ (['simd128', 'relaxed', 'auto']);

export const USAGE = `usage: npm run train -- <${Object.keys(TASKS).join(' | ')}> [--seed 1] [--steps n] [--stop n]
         [--resume] [--threads 1] [--simd simd128 | relaxed | auto] [--out folder]

Trains a model of the page, or austen-large, which the page does not have. Its files, scores and card go to
web/page/models/<name>, or to --out.
A checkpoint is written every minute; --resume continues from it. --stop n ends after step n with a checkpoint.
The same seed gives the same bytes: for every number of threads, resumed or not, and on SIMD128 on every machine with the
same version of Node (others may round sines and powers otherwise).`;

const text = /** @type {const} */ ({ type: 'string' });

/** @param {string} option @param {string} given @param {number} least */
const whole = (option, given, least) =>
  number(
    option,
    given,
    (value) => Number.isInteger(value) && value >= least && value < 2 ** 32,
    `an integer from ${least} to ${2 ** 32 - 1}`,
  );

/** @param {readonly string[]} args @throws {UsageError} */
export function readOptions(args) {
  const { values, positionals } = parse({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ seed: { ...text, default: '1' }, threads: { ...text, default: '1' } },
      ...{ simd: { ...text, default: 'simd128' }, steps: text, stop: text, out: text },
      resume: { type: 'boolean', default: false },
    },
  });
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
    simd: chooseOne('simd', values.simd, SIMD),
    isResumed: values.resume,
    shipped: fileURLToPath(new URL(`../${name}`, import.meta.url)),
    out: values.out,
  };
}
