// The command line of npm run bench.
import { readFile } from 'node:fs/promises';
import { choose, chooseOne, number, parse, UsageError } from '../../web/build/command-line.js';

/** @typedef {import('../../web/page/bench/bench.js').Simd} Simd */
/** @typedef {import('../../web/page/bench/work.js').Shape} Shape */

export const USAGE =
  'usage: npm run bench [-- [--shape S2,C1] [--threads 1,2] [--simd relaxed,simd128]\n' +
  '                         [--browser chromium] [--against commit] [--seconds 1] [--json]]';

/** @param {number} value */
export const isCount = (value) => Number.isInteger(value) && value >= 1;

/** @returns {Promise<Record<string, Shape>>} all shapes */
export async function readShapes() {
  const url = new URL('../../web/page/bench/shapes.json', import.meta.url);
  return JSON.parse(await readFile(url, 'utf8'));
}

/** @param {readonly string[]} args */
function parseOptions(args) {
  return parse({
    args: [...args],
    options: {
      shape: { type: 'string' },
      threads: { type: 'string', default: '1,2' },
      simd: { type: 'string', default: 'relaxed,simd128' },
      browser: { type: 'string' },
      against: { type: 'string' },
      seconds: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  }).values;
}

/**
 * @typedef {object} Options
 * @property {Record<string, Shape>} shapes
 * @property {number[]} threads
 * @property {Simd[]} simds
 * @property {'chromium' | undefined} browser
 * @property {string | undefined} against a commit, whose package is timed by turns with this one; in Node
 * @property {number} seconds for each case
 * @property {boolean} json
 */

/**
 * @param {readonly string[]} args
 * @returns {Promise<Options>}
 * @throws {UsageError}
 */
export async function readOptions(args) {
  const { shape, threads, simd, browser, against, seconds, json } = parseOptions(args);
  if (browser !== undefined && against !== undefined)
    throw new UsageError('--against works in Node; expected no --browser beside it');
  const all = await readShapes();
  const names = shape === undefined ? Object.keys(all) : choose('shape', shape, Object.keys(all));
  return {
    shapes: Object.fromEntries(names.map((name) => [name, all[name]])),
    threads: threads
      .split(',')
      .map((count) => number('threads', count, isCount, 'integers of at least 1')),
    simds: /** @type {Simd[]} */ (choose('simd', simd, ['relaxed', 'simd128'])),
    browser:
      browser === undefined
        ? undefined
        : /** @type {'chromium'} */ (chooseOne('browser', browser, ['chromium'])),
    against,
    seconds: number('seconds', seconds, (value) => value > 0, 'a number of seconds'),
    json,
  };
}
