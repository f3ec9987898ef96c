/**
 * Exact weights as files. Rows come in blocks; only what is written is held.
 *
 * @import { What } from '../worker/rows.js'
 * @import { Seen } from './settings.js'
 */

import { tensor, writeNpy } from '../../../headwise/formats.js';
import { PageError } from '../../shared/errors.js';
import { formatBytes, formatCount } from '../../shared/format.js';
import { headAt } from '../../shared/head-names.js';
import { mapsOf, whatOf } from '../maps.js';
import { BLOCK } from '../worker/heads.js';
import { settingsOf } from './settings.js';

/** Files beyond this are more than a tab should hold. */
const MOST_BYTES = 2 ** 29;

/** JSON and HTML beyond this are more than programs read. */
const MOST_TOKENS = 4096;

/** @param {number} bytes */
function checkBytes(bytes) {
  if (bytes <= MOST_BYTES) return;
  throw new PageError(
    'ERR_TOO_LONG',
    `These would be ${formatBytes(bytes)}, and this page writes at most ${formatBytes(MOST_BYTES)}. Take fewer tokens, or one head.`,
  );
}

/** @param {number} n */
function checkTokens(n) {
  if (n <= MOST_TOKENS) return;
  throw new PageError(
    'ERR_TOO_LONG',
    `This text has ${formatCount(n)} tokens; as JSON or HTML at most ${formatCount(MOST_TOKENS)} are written. Save it as .npy.`,
  );
}

/** @param {Seen} seen @param {What} what @param {(rows: Float32Array, start: number) => void} use */
async function eachBlock({ session, run: { n } }, what, use) {
  for (let start = 0; start < n; start += BLOCK) {
    use(await session.rows(what, start, Math.min(n, start + BLOCK)), start);
  }
}

/** @param {Seen} seen @param {What} what @returns {Promise<Float32Array<ArrayBuffer>>} [n, n] */
async function wholeMap(seen, what) {
  const { n } = seen.run;
  const whole = new Float32Array(n * n);
  await eachBlock(seen, what, (rows, start) => whole.set(rows, start * n));
  return whole;
}

/** @param {Seen} seen @returns {Promise<Blob>} the first map, [n, n] */
export async function mapNpy(seen) {
  const { n } = seen.run;
  checkBytes(4 * n * n);
  const weights = await wholeMap(seen, whatOf(seen.state));
  return new Blob([writeNpy(tensor(weights, [n, n]))]);
}

/** @param {Seen} seen @returns {Promise<Blob>} every head as the model has it, [layers, heads, n, n] */
export async function allNpy(seen) {
  const { n, layers, heads } = seen.run;
  checkBytes(4 * layers * heads * n * n);
  const all = new Float32Array(layers * heads * n * n);
  for (let at = 0; at < layers * heads; at++) {
    const head = headAt(at, heads);
    const what = /** @type {const} */ ({ of: 'head', over: 'layer', hideFirst: false, ...head });
    await eachBlock(seen, what, (rows, start) => all.set(rows, (at * n + start) * n));
  }
  return new Blob([writeNpy(tensor(all, [layers, heads, n, n]))]);
}

/** A float32 in as few digits as give it back. @param {number} weight */
function shortest(weight) {
  for (const digits of [6, 7, 8]) {
    const text = weight.toPrecision(digits);
    if (Math.fround(Number(text)) === weight) return String(Number(text));
  }
  return String(Number(weight.toPrecision(9)));
}

/** @param {Float32Array} row @returns {string} JSON has no NaN: null */
export const rowInJson = (row) =>
  `[${Array.from(row, (weight) => (Number.isFinite(weight) ? shortest(weight) : 'null')).join(',')}]`;

/**
 * Settings, tokens and the first map's weights. `tokens` are as shown, `texts` their own text: a newline where `tokens` has ↵, and
 * null where bytes are part of a character.
 *
 * @param {Seen} seen
 * @returns {Promise<Blob>}
 */
export async function mapJson(seen) {
  const { n, tokens, ids } = seen.run;
  checkTokens(n);
  const head = {
    settings: settingsOf({ ...seen, state: { ...seen.state, other: null, before: false } }),
    tokens: tokens.map(({ text }) => text),
    texts: tokens.map(({ text, own = text }) => own),
    ids,
    shape: [n, n],
  };
  /** @type {BlobPart[]} */
  const parts = [`${JSON.stringify(head, null, 1).slice(0, -2)},\n "weights": [\n`];
  await eachBlock(seen, whatOf(seen.state), (rows, start) => {
    const lines = Array.from({ length: rows.length / n }, (_, i) =>
      rowInJson(rows.subarray(i * n, (i + 1) * n)),
    );
    parts.push(`${start > 0 ? ',\n' : ''}${lines.join(',\n')}`);
  });
  parts.push('\n ]\n}\n');
  return new Blob(parts, { type: 'application/json' });
}

/** @param {Seen} seen @returns {Promise<{ title: string, weights: Float32Array<ArrayBuffer> }[]>} without the difference */
export async function exactMaps(seen) {
  checkTokens(seen.run.n);
  const maps = [];
  for (const { what, title, isSigned } of mapsOf(seen.state)) {
    if (!isSigned) maps.push({ title, weights: await wholeMap(seen, what) });
  }
  return maps;
}
