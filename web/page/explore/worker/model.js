/**
 * A decoder with its tokenizer, and its runs.
 *
 * @import { Decoder } from '../../../headwise/models.js'
 * @import { Token } from '../../types.js'
 * @import { HostedModel, ModelFiles } from '../model-files.js'
 * @import { HeadName } from '../address.js'
 * @import { TextTokens } from './tokens.js'
 * @import { Heads } from './heads.js'
 *
 * @typedef {Awaited<ReturnType<typeof import('../../../headwise/index.js').load>>} Engine
 *
 * @typedef {object} Model
 * @property {Decoder} decoder
 * @property {TextTokens} text
 * @property {string} [note] why its text is token ids, where it is
 *
 * @typedef {object} Run one forward, and the traces it left
 * @property {number[]} ids
 * @property {Token[]} tokens
 * @property {Heads} source
 * @property {readonly HeadName[]} muted
 * @property {number} ms of the forward
 * @property {number} bytes that the traces hold
 * @property {(at: number) => Float32Array} logits of the token behind one
 * @property {boolean} hasLogits whether they are kept for every token
 * @property {() => void} dispose
 */

import { loadModel } from '../../../headwise/models.js';
import { PageError } from '../../shared/errors.js';
import { ownJson, ownText } from '../open/own-text.js';
import { idTokens } from './ids.js';
import { readTokenizer } from './tokens.js';

/**
 * @param {string | Blob} file
 * @param {string} name
 */
async function readJson(file, name) {
  if (file instanceof Blob) return ownJson(await ownText(file, name, 'json'), name);
  const answer = await fetch(file);
  if (answer.status === 404) throw new PageError('ERR_FORMAT', `There is no ${name}`);
  if (!answer.ok)
    throw new PageError('ERR_LOAD', `${name} could not be fetched (${answer.status}).`);
  return ownJson(await answer.text(), name);
}

/** @param {ModelFiles['tokenizer']} file */
async function readTokens(file) {
  if (file) return readTokenizer(await readJson(file, 'tokenizer.json'));
  throw new PageError('ERR_FORMAT', 'There is no tokenizer.json beside config.json');
}

/**
 * Asks for a file while the engine is loaded. What fails is asked for again, by who says what is wrong.
 *
 * @template {Blob | Blob[]} F
 * @param {string | F} file
 * @param {AbortSignal} [signal]
 */
async function askEarly(file, signal) {
  if (typeof file !== 'string') return file;
  const answer = await fetch(file, { signal }).catch(() => undefined);
  return answer?.ok ? answer : file;
}

/**
 * Opens a decoder; without a tokenizer that can be read, its text is token ids.
 *
 * @param {Engine | Promise<Engine>} engine what it needs is fetched beside it
 * @param {ModelFiles | HostedModel} files
 * @param {{ onProgress?: (fraction: number) => void, signal?: AbortSignal }} [options]
 * @returns {Promise<Model>}
 */
export async function openModel(engine, files, { onProgress, signal } = {}) {
  const reading = readTokens(files.tokenizer);
  reading.catch(() => {}); // told below
  const asked = 'source' in files ? undefined : askEarly(files.weights, signal);
  const hw = await engine;
  const source =
    'source' in files
      ? files.source
      : { config: files.config, weights: /** @type {Blob} */ (await asked) };
  const decoder = await loadModel(hw, source, {
    signal,
    onProgress: ({ loaded, total }) => onProgress?.(loaded / total),
  });
  try {
    return { decoder, text: await reading };
  } catch (error) {
    const { code, message } = /** @type {PageError} */ (error);
    if (code === 'ERR_FORMAT') {
      const note = `${message}. The text is therefore token ids.`;
      return { decoder, text: idTokens(decoder.config.vocabSize), note };
    }
    decoder.dispose();
    throw error;
  }
}

/**
 * A 1 for each head that is heard, a 0 for each that is muted.
 *
 * @param {Decoder} decoder
 * @param {readonly HeadName[]} muted
 * @returns {number[][] | undefined} [numLayers, numHeads]; undefined: all are heard
 */
export function headMaskOf({ config: { numLayers, numHeads } }, muted) {
  if (muted.length === 0) return undefined;
  const mask = Array.from({ length: numLayers }, () => Array(numHeads).fill(1));
  for (const { layer, head } of muted) if (mask[layer]?.[head]) mask[layer][head] = 0;
  return mask;
}

/**
 * @param {Model} model
 * @param {string} text
 * @param {readonly number[]} added ids behind the text's
 * @param {boolean} [isSample] the page's text and not the visitor's: what does not fit is left out
 * @returns {number[]}
 * @throws {PageError} no tokens, or more than fit
 */
export function idsOf({ decoder, text: tokens }, text, added, isSample = false) {
  const { contextLength, vocabSize } = decoder.config;
  const read = tokens.encode(text).slice(0, isSample ? contextLength : undefined);
  const ids = [...read, ...added.filter((id) => id < vocabSize)];
  if (ids.length === 0) {
    const unit = tokens.sample === undefined ? 'word' : 'token id';
    throw new PageError('ERR_EMPTY', `There is no text yet: type a ${unit}.`);
  }
  if (ids.length > contextLength) {
    const format = new Intl.NumberFormat('en').format;
    throw new PageError(
      'ERR_TOO_LONG',
      `This text has ${format(ids.length)} tokens, and this model reads at most ${format(contextLength)}. Shorten it by ${format(ids.length - contextLength)}.`,
    );
  }
  return ids;
}

/** The most logits that a run keeps: those of longer texts are computed when they are asked for. */
const MOST_LOGITS = 2 ** 24;

/** @param {number[]} ids @param {Decoder} decoder */
const keepsLogits = (ids, { config }) => ids.length * config.vocabSize <= MOST_LOGITS;

/**
 * @param {Model} model
 * @param {number[]} ids
 * @param {readonly HeadName[]} muted
 * @returns {Run}
 */
export function runModel({ decoder, text }, ids, muted) {
  const { numLayers, numHeads, vocabSize } = decoder.config;
  const headMask = headMaskOf(decoder, muted);
  const start = performance.now();
  const isKept = keepsLogits(ids, decoder);
  const { trace = [], logits } = decoder.forward(ids, {
    trace: true,
    headMask,
    logits: isKept ? 'all' : 'none',
  });
  const ms = performance.now() - start;
  return {
    ids,
    tokens: ids.map(text.token),
    source: {
      n: ids.length,
      layers: numLayers,
      heads: numHeads,
      causal: true,
      rows: (layer, head, first, end) =>
        /** @type {Float32Array} */ (trace[layer].weights({ head, rows: [first, end] }).data),
      norms: (layer, head, first, end) =>
        /** @type {Float32Array} */ (trace[layer].norms({ head, rows: [first, end] }).data),
      map: (layer, head, size) =>
        /** @type {Float32Array} */ (trace[layer].map({ head, size }).data),
    },
    muted,
    ms,
    bytes: trace.reduce((sum, { byteLength }) => sum + byteLength, 0),
    logits: (at) =>
      /** @type {Float32Array} */ (
        logits?.data.subarray(at * vocabSize, (at + 1) * vocabSize) ??
          decoder.forward(ids.slice(0, at + 1), { headMask }).logits.data
      ),
    hasLogits: isKept,
    dispose: () => trace.forEach((layer) => layer.dispose()),
  };
}
