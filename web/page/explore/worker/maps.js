/**
 * What is drawn of a run: its maps, and the scores of its heads.
 *
 * @import { HeadScores } from '../../shared/head-scores.js'
 * @import { Heads } from './heads.js'
 * @import { Region } from './pool.js'
 * @import { Reading } from './reading.js'
 * @import { What } from './rows.js'
 */

import { breathe } from '../../shared/breathe.js';
import { readingOf } from './opened.js';
import { columnOf, pooledCells, poolRegion } from './pool.js';
import { minusRows, rowsOf } from './rows.js';
import { scoreLayer } from './score-heads.js';
import { ROLLOUTS, stopRollouts, take } from './slots.js';

/** The slot of the large map. */
const FIRST_MAP = 'map 0';

/**
 * One head's whole map, which the engine pools more quickly than rows could be.
 *
 * @param {Heads} source
 * @param {What} what
 * @param {Region} region
 */
function wholeHead({ n, map }, { of, layer, head, hideFirst, minus }, { queries, keys, height }) {
  const isWhole = queries[1] - queries[0] === n && keys[1] - keys[0] === n && height < n;
  if (!map || !isWhole || of !== 'head' || hideFirst || minus) return undefined;
  return pooledCells(map(layer, head, height), height);
}

/** The run that a map is of. @param {Reading} from @param {What} what */
const runFor = (from, { isBefore }) => (isBefore ? from.heard : from.now);

/**
 * The rows of any map of a run. A rollout that is under way is stopped by another one and by another map in its place.
 *
 * @param {Reading} from
 * @param {What} what
 * @returns {Promise<import('./heads.js').Rows>}
 */
async function mapRows(from, what) {
  const { minus, ...plain } = what;
  const { source, known } = runFor(from, what);
  const own = await rowsOf(source, plain, (layer) =>
    known.rollouts.upTo(layer, () => take(what.isBefore ? ROLLOUTS.before : ROLLOUTS.now)),
  );
  return minus ? minusRows(own, await mapRows(from, { ...plain, ...minus })) : own;
}

/**
 * @param {Reading} from
 * @param {What} what
 * @param {Region} part
 * @param {() => Promise<void>} pause
 */
const cellsOf = async (from, what, part, pause) =>
  wholeHead(runFor(from, what).source, what, part) ??
  poolRegion(await mapRows(from, what), from.now.source.n, part, pause);

/**
 * Small maps of a layer's heads.
 *
 * @param {number} asked
 * @param {{ layer: number, size: number }} wanted
 */
export async function thumbs(asked, { layer, size }) {
  const from = readingOf(asked);
  const { source, known } = from.runOf(layer);
  const name = `${layer} ${size}`;
  const cells = Math.min(source.n, size);
  const maps = known.thumbs.get(name) ?? (await layerMaps(source, layer, cells));
  known.thumbs.set(name, maps);
  return { size: cells, maps };
}

/** @param {Heads} source @param {number} layer @param {number} cells */
async function layerMaps(source, layer, cells) {
  /** @type {[number, number]} */
  const all = [0, source.n];
  const whole = { queries: all, keys: all, height: cells, width: cells };
  const maps = [];
  for (let head = 0; head < source.heads; head++) {
    const what = { of: /** @type {const} */ ('head'), over: /** @type {const} */ ('layer'), layer };
    const one = { ...what, head, hideFirst: false };
    const own = await rowsOf(source, one, async () => new Float32Array(0));
    const { values } =
      wholeHead(source, one, whole) ?? (await poolRegion(own, source.n, whole, breathe));
    maps.push(values);
    await breathe();
  }
  return maps;
}

/** @param {number} asked @param {{ slot: string, what: What, region: Region }} wanted */
export async function region(asked, { slot, what, region: part }) {
  const from = readingOf(asked);
  const pause = take(slot);
  if (slot === FIRST_MAP && what.of !== 'rollout') stopRollouts();
  const start = performance.now();
  const cells = await cellsOf(from, what, part, pause);
  return { ...cells, ms: performance.now() - start };
}

/** @param {number} asked @param {{ what: What, start: number, end: number }} wanted */
export async function rows(asked, { what, start, end }) {
  return (await mapRows(readingOf(asked), what))(start, end);
}

/** @param {number} asked @param {{ slot: string, what: What, key: number }} wanted */
export async function column(asked, { slot, what, key }) {
  const from = readingOf(asked);
  const pause = take(slot);
  return columnOf(await mapRows(from, what), from.now.source.n, key, pause);
}

/** @param {number} asked @param {number} layer @returns {Promise<HeadScores[]>} of its heads */
export async function scores(asked, layer) {
  const { source, ids, known } = readingOf(asked).runOf(layer);
  const own = known.scores.get(layer) ?? (await scoreLayer(source, layer, ids, take('scores')));
  known.scores.set(layer, own);
  return own;
}
