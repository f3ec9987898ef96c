// What a run of the peers comes to, as web/page/bench/peers.json keeps it for the page and README.

/**
 * @import { Peers, Runtime } from '../../../web/page/bench/peers.js'
 * @import { Row } from './run.js'
 */

/** Three digits, as they are read. @param {number} value */
const short = (value) => Number(value.toPrecision(3));

/** What the page and README call those whose name differs. @type {Record<string, string>} */
const NAMES = { 'tfjs-wasm': 'tfjs, wasm backend', 'plain JS': 'plain JavaScript' };

/** The package that each is. @type {Record<string, string>} */
const PACKAGES = {
  'LiteRT.js': '@litertjs/core',
  'onnxruntime-web': 'onnxruntime-web',
  'tfjs-wasm': '@tensorflow/tfjs-backend-wasm',
  'jax-js': '@jax-js/jax',
};

/**
 * @param {readonly Row[]} contests
 * @param {readonly { name: string, bytes?: number }[]} starts
 * @param {Omit<Peers, 'runtimes'>} run
 * @param {Record<string, string>} versions by package
 * @returns {Peers}
 */
export function published(contests, starts, run, versions) {
  const taken = contests.filter(({ threads, outcomes }) => threads === run.threads && outcomes);
  const all = taken.flatMap(({ outcomes = [] }) => outcomes.map(({ name }) => name));
  const names = [...new Set(all)];
  const runtimes = names.map((name) => {
    /** @type {Runtime} */
    const runtime = { name: NAMES[name] ?? name, ratios: {} };
    const bytes = starts.find((start) => start.name === name)?.bytes;
    const version = name === 'Headwise' ? run.version : versions[PACKAGES[name]];
    if (version !== undefined) runtime.version = version;
    if (bytes !== undefined) runtime.kilobytes = Math.round(bytes / 1000);
    const otherwise = [];
    for (const { shape, outcomes = [] } of taken) {
      const own = outcomes[0].minimum;
      const outcome = outcomes.find((each) => each.name === name);
      if (outcome?.minimum === undefined || own === undefined) continue;
      runtime.ratios[shape] = short(outcome.minimum / own);
      if (outcome.notes.length) otherwise.push(shape);
    }
    return otherwise.length ? { ...runtime, otherwise } : runtime;
  });
  return { ...run, runtimes };
}

/** README's table: its cells, row after row. @param {Peers} peers */
export function cellsOf({ runtimes }) {
  const shapes = Object.keys(runtimes[0].ratios);
  return runtimes.map(({ name, ratios, otherwise = [], kilobytes }) => [
    name,
    ...shapes.map((shape) =>
      ratios[shape] === undefined
        ? ''
        : `${ratios[shape]}${otherwise.includes(shape) ? '\\*' : ''}`,
    ),
    kilobytes === undefined ? '' : `${kilobytes.toLocaleString('en')} kB`,
  ]);
}
