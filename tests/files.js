// Test files, each in a Node of its own that has a time limit.
import { availableParallelism } from 'node:os';
import { runNode } from './child.js';

/** Of the page's tests, those that npm test has, in Chromium. */
export const OF_PAGE = ['page', 'explore', 'bench-room', 'everyone'];

/** @typedef {{ passed: number, skipped: number, problem: string, output: string, seconds: number }} Outcome */

/**
 * @param {string} path
 * @param {{ seconds: number, flags?: readonly string[], env?: NodeJS.ProcessEnv }} options seconds: the limit
 * @returns {Promise<Outcome>} problem: empty if all is well
 */
export async function runFile(path, { seconds, flags = [], env = {} }) {
  const start = performance.now();
  const args = ['--test-reporter=spec', ...flags, path];
  // With NODE_TEST_CONTEXT the file would report to the run that starts it, and print nothing.
  const environment = { ...process.env, ...env, NODE_TEST_CONTEXT: undefined };
  let output = '';
  let problem = '';
  try {
    const { status, signal, stdout, stderr } = await runNode(path, args, {
      seconds,
      env: environment,
    });
    output = stdout + stderr;
    if (status !== 0) problem = signal ? `ended by ${signal}` : 'FAILED';
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const count = (/** @type {string} */ what) =>
    Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  const [passed, skipped] = ['pass', 'skipped'].map(count);
  if (!problem && passed + skipped === 0) problem = 'no test ran';
  return { passed, skipped, problem, output, seconds: (performance.now() - start) / 1000 };
}

/**
 * As many at a time as there are cores.
 *
 * @template Job, Result
 * @param {readonly Job[]} jobs
 * @param {(job: Job) => Promise<Result>} work
 * @returns {Promise<Result[]>}
 */
export async function inParallel(jobs, work) {
  /** @type {Result[]} */
  const results = [];
  const waiting = [...jobs.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}
