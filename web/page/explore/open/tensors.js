/**
 * Tensors that the visitor opened, as heads to look at: weights as they are, or recomputed from queries and keys for
 * whoever looks, a block of rows at a time, so that the n × n matrix is never held.
 *
 * @import { Token } from '../../types.js'
 * @import { Heads } from '../worker/heads.js'
 * @import { Engine, Run } from '../worker/model.js'
 * @import { Part } from './shapes.js'
 * @import { TensorFiles } from './sort-files.js'
 *
 * @typedef {object} Tensors
 * @property {'weights' | 'queries'} kind
 * @property {string} note what is odd about the numbers; empty: nothing
 * @property {boolean} hasScores whether they look like scores before the softmax
 * @property {(how: { causal: boolean, softmax: boolean }) => Run} run causal: of queries and keys, weights have their own
 *   zeros; softmax: scores become weights
 */

import { readNpy, readSafetensors } from '../../../headwise/formats.js';
import { tensor, zeros } from '../../../headwise/index.js';
import { PageError } from '../../shared/errors.js';
import { readLabels } from './labels.js';
import { ownText } from './own-text.js';
import { fitQueriesAndKeys, fitWeights, roleOf } from './shapes.js';

/** A model's own weights begin with these: GPT-2's name, Pythia's, Llama's and its kin's, BERT's and its kin's. */
const TOKEN_EMBEDDINGS = /(^|\.)(wte|embed_in|embed_tokens|word_embeddings)\.weight$/;

/**
 * @param {File} file
 * @param {AbortSignal | undefined} signal
 * @param {(loaded: number) => void} onProgress
 * @returns {Promise<Part[]>}
 */
async function partsOf(file, signal, onProgress) {
  const floats = (/** @type {Float32Array | Uint8Array} */ data) =>
    data instanceof Float32Array ? data : Float32Array.from(data);
  if (/\.npy$/i.test(file.name)) {
    const { shape, data } = await readNpy(file, { signal });
    onProgress(file.size);
    return [{ label: file.name, name: file.name.slice(0, -4), shape, data: floats(data) }];
  }
  const { tensors } = await readSafetensors(file, {
    signal,
    // Weights do not depend on the values.
    wants: (name) => roleOf(name) !== 'v',
    onProgress: ({ loaded }) => onProgress(loaded),
  });
  if (Object.keys(tensors).some((name) => TOKEN_EMBEDDINGS.test(name))) {
    throw new PageError(
      'ERR_FORMAT',
      `${file.name} belongs to a model: open it together with config.json and tokenizer.json.`,
    );
  }
  return Object.entries(tensors).map(([name, { shape, data }]) => ({
    label: `${file.name}: "${name}"`,
    name,
    shape,
    data: floats(data),
  }));
}

/** @param {Part[]} parts */
function oddities(parts) {
  let least = Infinity;
  let most = -Infinity;
  let isOdd = false;
  for (const { data } of parts) {
    for (const value of data) {
      if (value < least) least = value;
      if (value > most) most = value;
      if (Number.isNaN(value)) isOdd = true;
    }
  }
  const format = (/** @type {number} */ value) =>
    String(Number(value.toPrecision(3))).replace('-', '−');
  if (isOdd) {
    return { note: 'Some of the numbers are NaN; they are drawn in red.', hasScores: false };
  }
  if (least >= 0 && most <= 1.001) return { note: '', hasScores: false };
  const note = `The numbers go from ${format(least)} to ${format(most)}, but weights are from 0 to 1: these may be scores before the softmax.`;
  return { note, hasScores: true };
}

/** @param {Heads['rows']} rows @param {number} heads @param {number} layers @param {number} n */
function isLowerTriangle(rows, layers, heads, n) {
  if (n < 2) return false;
  for (let head = 0; head < layers * heads; head++) {
    const layer = Math.floor(head / heads);
    for (let query = 0; query < n; query++) {
      const row = rows(layer, head % heads, query, query + 1);
      if (row.subarray(query + 1).some((weight) => weight !== 0)) return false;
    }
  }
  return true;
}

/** @param {number[]} layersOf @returns {{ part: number, layer: number }[]} of each layer */
const placesOf = (layersOf) =>
  layersOf.flatMap((count, part) => Array.from({ length: count }, (_, layer) => ({ part, layer })));

/** @param {Part[]} given @returns {() => Heads} */
function weightHeads(given) {
  const { parts, layersOf, layers, heads, n } = fitWeights(given);
  const places = placesOf(layersOf);
  /** @type {Heads['rows']} */
  const rows = (layer, head, start, end) => {
    const { part, layer: own } = places[layer];
    const at = (own * heads + head) * n;
    return parts[part].data.slice((at + start) * n, (at + end) * n);
  };
  const source = { n, layers, heads, rows, causal: isLowerTriangle(rows, layers, heads, n) };
  return () => source;
}

/** @param {Engine} hw @param {Part[]} given @returns {(causal: boolean) => Heads} */
function queryHeads(hw, given) {
  const { pairs, layersOf, layers, heads, keyHeads, n, d } = fitQueriesAndKeys(given);
  const places = placesOf(layersOf);
  const noValues = zeros([n, 1]);
  return (causal) => ({
    n,
    layers,
    heads,
    causal,
    rows: (layer, head, start, end) => {
      const { part, layer: own } = places[layer];
      const { q, k } = pairs[part];
      const queries = (own * heads + head) * n;
      const keys = (own * keyHeads + Math.floor((head * keyHeads) / heads)) * n;
      const { weights } = hw.scaledDotProductAttention(
        tensor(q.data.subarray((queries + start) * d, (queries + end) * d), [end - start, d]),
        tensor(k.data.subarray(keys * d, (keys + n) * d), [n, d]),
        noValues,
        { needWeights: true, isCausal: causal, causalOffset: start },
      );
      return /** @type {Float32Array} */ (weights?.data);
    },
  });
}

/**
 * Raw scores as weights: a softmax over each row's visible keys.
 *
 * @param {Heads} source
 * @returns {Heads}
 */
function softmaxHeads(source) {
  const { n, layers, heads } = source;
  /** @type {Heads['rows']} */
  const rows = (layer, head, start, end) => {
    const scores = source.rows(layer, head, start, end).slice();
    for (let query = start; query < end; query++) {
      const row = scores.subarray((query - start) * n, (query - start + 1) * n);
      const visible = row.subarray(0, source.causal ? query + 1 : n);
      const most = visible.reduce((largest, score) => Math.max(largest, score), -Infinity);
      // A row that is masked as a whole has no weight.
      const powers = visible.map((score) => (most === -Infinity ? 0 : Math.exp(score - most)));
      const sum = powers.reduce((total, power) => total + power, 0);
      row.fill(0);
      row.set(powers.map((power) => (sum > 0 ? power / sum : 0)));
    }
    return scores;
  };
  return { ...source, rows, causal: source.causal || isLowerTriangle(rows, layers, heads, n) };
}

/** @param {Heads} source @param {Token[]} tokens @param {number} bytes @returns {Run} */
const runOf = (source, tokens, bytes) => ({
  ids: tokens.map(({ id }) => id ?? -1),
  tokens,
  source,
  muted: [],
  ms: 0,
  bytes,
  logits: () => new Float32Array(0),
  actual: () => undefined,
  hasLogits: false,
  dispose: () => {},
});

/**
 * @param {Engine} hw
 * @param {TensorFiles} files
 * @param {{ signal?: AbortSignal, onProgress: (fraction: number) => void }} options
 * @returns {Promise<Tensors>}
 * @throws {PageError} or HeadwiseError: names the file, and the axis or tensor
 */
export async function openTensors(hw, { tensors, labels }, { signal, onProgress }) {
  const total = tensors.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  const parts = [];
  for (const file of tensors) {
    const read = await partsOf(file, signal, (loaded) => onProgress((before + loaded) / total));
    parts.push(...read);
    before += file.size;
  }
  if (parts.length === 0) {
    throw new PageError('ERR_FORMAT', `${tensors[0].name} has no tensor to look at.`);
  }
  const chosen = parts.filter(({ name }) => ['q', 'k'].includes(roleOf(name)));
  const kind = chosen.length > 0 ? 'queries' : 'weights';
  const used = kind === 'queries' ? chosen : parts.filter(({ name }) => roleOf(name) === 'weights');
  if (used.length === 0) {
    throw new PageError(
      'ERR_FORMAT',
      `${parts[0].label} are values alone; expected queries and keys, or weights.`,
    );
  }
  const headsOf = kind === 'queries' ? queryHeads(hw, used) : weightHeads(used);
  const file = labels && { name: labels.name, text: await ownText(labels, labels.name, 'text') };
  const names = readLabels(file, headsOf(true).n);
  const bytes = used.reduce((sum, { data }) => sum + data.byteLength, 0);
  return {
    kind,
    ...(kind === 'queries' ? { note: '', hasScores: false } : oddities(used)),
    run: ({ causal, softmax }) => {
      const source = headsOf(causal);
      return runOf(softmax ? softmaxHeads(source) : source, names, bytes);
    },
  };
}
