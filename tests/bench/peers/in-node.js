// The contests in Node, each in a process of its own.
import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * @import { Shape } from '../../../web/page/bench/work.js'
 * @import { Contest, ContestOptions, File } from './contest.js'
 */

/** No contest takes longer. */
const LONGEST_MS = 900_000;
const CHILD = fileURLToPath(new URL('node-child.js', import.meta.url));

/**
 * @param {string} what a function of contest.js
 * @param {unknown[]} args
 * @returns {Promise<any>}
 */
const ask = (what, args) =>
  new Promise((resolve, reject) => {
    const child = fork(CHILD, { silent: true });
    let complaints = '';
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the ${what} in Node took more than ${LONGEST_MS / 1000} s`));
    }, LONGEST_MS);
    child.stderr?.on('data', (text) => (complaints += text));
    child.on('message', (/** @type {{ result?: unknown, error?: string }} */ { result, error }) => {
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    child.on('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`exit ${code} ${complaints.slice(-300)}`));
    });
    child.send({ what, args });
  });

export class InNode {
  runtime() {
    return Promise.resolve(`Node ${process.version}`);
  }

  /**
   * @param {ContestOptions} options
   * @returns {Promise<Contest>}
   */
  contest(options) {
    return ask('contest', [options]);
  }

  /**
   * @param {File} file
   * @param {Shape} shape
   * @returns {Promise<{ ready: number, answer: number }>}
   */
  startUp(file, shape) {
    return ask('startUp', [file, shape]);
  }

  async close() {}
}

/** @param {string} simd */
export const readCeiling = (simd) =>
  readFile(new URL(`../../../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url));
