/**
 * A model with its tokenizer, and its runs.
 *
 * @import { Tensor, Trace } from '../../../headwise/index.js'
 * @import { Decoder } from '../../../headwise/models.js'
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Token } from '../../types.js'
 * @import { HostedModel, ModelFiles } from '../model-files.js'
 * @import { EncoderModel } from './masked.js'
 * @import { TextTokens } from './tokens.js'
 * @import { Heads } from './heads.js'
 *
 * @typedef {Awaited<ReturnType<typeof import('../../../headwise/index.js').load>>} Engine
 *
 * @typedef {object} DecoderModel
 * @property {Decoder} decoder
 * @property {TextTokens} text
 * @property {string} [note] why its text is token ids, where it is
 *
 * @typedef {DecoderModel | EncoderModel} Model
 *
 * @typedef {object} Run one forward, and the traces it left
 * @property {number[]} ids
 * @property {Token[]} tokens
 * @property {Heads} source
 * @property {readonly HeadName[]} muted
 * @property {number} ms of the forward
 * @property {number} bytes that the traces hold
 * @property {readonly Trace[]} [trace] of every layer of a decoder
 * @property {Tensor} [residuals] [numLayers + 1, tokens, dModel], where they are kept
 * @property {(at: number) => Float32Array} logits of a decoder: of the token after one; of an encoder: of this one, hidden
 * @property {(at: number) => number | undefined} actual id of the token that those logits predict, where the text has it
 * @property {boolean} hasLogits whether they are kept for every token
 * @property {() => void} dispose
 *
 * @typedef {object} How
 * @property {boolean} [keepsResiduals] so that runs of the text with muted heads begin where they differ
 * @property {Run} [heard] the text's run with all heads heard: what is the same in this run is taken from there, so that it must
 *   live as long
 */

import { UnclearError } from '../../../headwise/formats/source.js';
import { Encoder, loadModel } from '../../../headwise/models.js';
import { PageError } from '../../shared/errors.js';
import { formatCount } from '../../shared/format.js';
import { ownJson, ownText } from '../open/own-text.js';
import { checkFit } from './check-tokenizer.js';
import { hostedTokenizer } from './hosted-tokenizer.js';
import { idTokens } from './ids.js';
import { keepingLatest } from './latest.js';
import { maskedLogits, runEncoder } from './masked.js';
import { readTokenizer } from './tokens.js';
import { headMaskOf, tracedHeads } from './traced.js';

export { headMaskOf } from './traced.js';

/**
 * @param {string | Blob} file
 * @param {string} name
 */
async function readJson(file, name) {
  if (file instanceof Blob) return ownJson(await ownText(file, name, 'json'), name);
  const answer = await fetch(file).catch(({ message }) => ({ ok: false, status: message }));
  if (answer instanceof Response && answer.ok) return ownJson(await answer.text(), name);
  throw new PageError('ERR_LOAD', `${name} could not be fetched (${answer.status}).`);
}

/** @param {ModelFiles | HostedModel} files @param {AbortSignal} [signal] */
async function readTokens(files, signal) {
  if ('source' in files) return readTokenizer(await hostedTokenizer(files.source, signal));
  const { tokenizer } = files;
  if (tokenizer) return readTokenizer(await readJson(tokenizer, 'tokenizer.json'));
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
 * What a visitor can do where a server shows a file to those alone whom it knows.
 *
 * @param {unknown} error
 * @param {ModelFiles | HostedModel} files
 */
function withAdvice(error, files) {
  if (!(error instanceof UnclearError && 'source' in files)) return error;
  return new PageError(
    'ERR_LOAD',
    `The model ${files.source} does not exist, is private, or requires accepting a licence. If you have access, download its files from its own page, and drop their folder here.`,
    { cause: error },
  );
}

/**
 * Opens a model; without a tokenizer that can be read, its text is token ids.
 *
 * @param {Engine | Promise<Engine>} engine what it needs is fetched beside it
 * @param {ModelFiles | HostedModel} files
 * @param {{ onProgress?: (fraction: number) => void, signal?: AbortSignal }} [options]
 * @returns {Promise<Model>}
 */
export async function openModel(engine, files, { onProgress, signal } = {}) {
  const reading = readTokens(files, signal);
  reading.catch(() => {}); // told below
  const asked = 'source' in files ? undefined : askEarly(files.weights, signal);
  const hw = await engine;
  const source =
    'source' in files
      ? files.source
      : { config: files.config, weights: /** @type {Blob} */ (await asked) };
  /** @type {Decoder | Encoder} */
  const network = await loadModel(hw, source, {
    signal,
    onProgress: ({ loaded, total }) => onProgress?.(loaded / total),
  }).catch((error) => {
    throw withAdvice(error, files);
  });
  try {
    const text = await reading;
    if (text.vocabulary) checkFit(text.vocabulary, network.config.vocabSize);
    return modelOf(network, text);
  } catch (error) {
    const { code, message } = /** @type {PageError} */ (error);
    if (code === 'ERR_FORMAT') {
      const note = `${message}. The text is therefore token ids.`;
      return modelOf(network, idTokens(network.config.vocabSize), note);
    }
    network.dispose();
    throw error;
  }
}

/** @param {Decoder | Encoder} network @param {TextTokens} text @param {string} [note] @returns {Model} */
function modelOf(network, text, note) {
  if (!(network instanceof Encoder)) return { decoder: network, text, note };
  const hasHead = network.forward([0]).logits !== undefined;
  return { encoder: network, hasHead, text, note };
}

/** @param {Model} model */
export const networkOf = (model) => ('encoder' in model ? model.encoder : model.decoder);

/**
 * What a model predicts: the next token, a hidden one, or nothing, and why.
 *
 * @param {Model} model
 * @returns {{ predicts: 'next' | 'masked' | 'nothing', why?: string }}
 */
export function predictionOf(model) {
  if ('decoder' in model) return { predicts: 'next' };
  if (!model.hasHead) {
    const why = 'The file has no masked-language-model head, so the model predicts no tokens.';
    return { predicts: 'nothing', why };
  }
  if (model.text.mask === undefined) {
    const who = model.note ? 'Without a tokenizer there is' : 'The tokenizer has';
    const why = `${who} no [MASK] or <mask>, so the model predicts no tokens.`;
    return { predicts: 'nothing', why };
  }
  return { predicts: 'masked' };
}

/**
 * What an address says that a model wrote, as far as it can be: an encoder writes nothing.
 *
 * @param {Model} model
 * @param {readonly number[]} added ids
 */
export const writtenOf = (model, added) =>
  'encoder' in model ? [] : added.filter((id) => id < model.decoder.config.vocabSize);

/**
 * @param {Model} model
 * @param {string} text
 * @param {readonly number[]} added ids after the text's
 * @param {boolean} [isSample] the page's text and not the visitor's: what does not fit is left out
 * @returns {number[]}
 * @throws {PageError} no tokens, or more than fit
 */
export function idsOf(model, text, added, isSample = false) {
  const { text: tokens } = model;
  const { contextLength, vocabSize } = networkOf(model).config;
  const isEncoder = 'encoder' in model;
  // What a decoder writes stands right after the text.
  const [before, after] = [tokens.before, isEncoder ? tokens.after : []];
  const most = contextLength - before.length - after.length;
  const read = tokens.encode(text).slice(0, isSample ? Math.max(0, most) : undefined);
  const words = [...read, ...writtenOf(model, added)];
  const ids = [...before, ...words, ...after];
  if (words.length === 0) {
    const what = tokens.sample === undefined ? 'something' : 'a token id';
    const why =
      tokens.sample !== undefined || text.trim() === ''
        ? `There is no text yet: type ${what}.`
        : 'This model’s vocabulary has none of this text’s characters: type something else.';
    throw new PageError('ERR_EMPTY', why);
  }
  const beyond = ids.find((id) => id >= vocabSize);
  if (beyond !== undefined) {
    throw new PageError(
      'ERR_FORMAT',
      `tokenizer.json gives “${tokens.token(beyond).text}” the id ${beyond}, but this model’s ids end at ${vocabSize - 1}. Remove it from the text.`,
    );
  }
  if (ids.length > contextLength) {
    throw new PageError(
      'ERR_TOO_LONG',
      `This text has ${formatCount(ids.length)} tokens, and this model reads at most ${formatCount(contextLength)}. Shorten it by ${formatCount(ids.length - contextLength)}.`,
    );
  }
  return ids;
}

/** The most logits that a run keeps: those of longer texts are computed when they are asked for. */
const MOST_LOGITS = 2 ** 24;

/** The most numbers of the residual stream that a run keeps: 64 MB. With more, a run with muted heads reads the whole text. */
const MOST_RESIDUALS = 2 ** 24;

/** @param {number[]} ids @param {Decoder} decoder */
const keepsLogits = (ids, { config }) => ids.length * config.vocabSize <= MOST_LOGITS;

/** @param {number[]} ids @param {Decoder} decoder */
const fitsResiduals = (ids, { config: { numLayers, dModel } }) =>
  (numLayers + 1) * ids.length * dModel <= MOST_RESIDUALS;

/**
 * The logits of a prediction, with a mask of heads of its own.
 *
 * @param {Model} model
 * @param {number[]} ids
 * @param {number} at
 * @param {number[][]} [headMask]
 */
export const logitsAt = (model, ids, at, headMask) =>
  'encoder' in model
    ? maskedLogits(model, ids, at, headMask)
    : /** @type {Float32Array} */ (
        model.decoder.forward(ids.slice(0, at + 1), { headMask }).logits.data
      );

/**
 * @param {Model} model
 * @param {number[]} ids
 * @param {readonly HeadName[]} muted
 * @param {How} [how] of decoders
 */
export const runModel = (model, ids, muted, how = {}) =>
  'encoder' in model ? runEncoder(model, ids, muted) : runDecoder(model, ids, muted, how);

/**
 * The residual stream before a layer.
 *
 * @param {Tensor} residuals
 * @param {number} layer
 */
function streamBefore(residuals, layer) {
  const [, n, dModel] = residuals.shape;
  return residuals.slice([layer, layer + 1]).reshape([n, dModel]);
}

/**
 * Where a run with muted heads begins to differ from the one with all heads heard.
 *
 * @param {readonly HeadName[]} muted
 * @param {Run | undefined} heard
 */
function startOf(muted, heard) {
  if (!heard?.residuals || muted.length === 0) return undefined;
  const layer = Math.min(...muted.map((head) => head.layer));
  return { layer, residual: streamBefore(heard.residuals, layer) };
}

/**
 * @param {DecoderModel} model
 * @param {number[]} ids
 * @param {readonly HeadName[]} muted
 * @param {How} how
 * @returns {Run}
 */
function runDecoder(model, ids, muted, { heard, keepsResiduals = false }) {
  const { decoder, text } = model;
  const { vocabSize, numLayers } = decoder.config;
  const headMask = headMaskOf(decoder, muted);
  const start = startOf(muted, heard);
  const begun = performance.now();
  const isKept = keepsLogits(ids, decoder);
  const { trace, logits, residuals } = decoder.forward(ids, {
    ...{ trace: true, headMask, start, logits: isKept ? 'all' : 'none' },
    residuals: keepsResiduals && fitsResiduals(ids, decoder) && !(start && isKept),
  });
  const ms = performance.now() - begun;
  const last = residuals && streamBefore(residuals, residuals.shape[0] - 1);
  const shared = start ? (heard?.trace?.slice(0, start.layer) ?? []) : [];
  const all = [...shared, ...trace];
  const lastLogits = keepingLatest((at) =>
    last
      ? decoder.forward([ids[at]], {
          start: { layer: numLayers, residual: last.slice([at, at + 1]) },
        }).logits.data
      : logitsAt(model, ids, at, headMask),
  );
  return {
    ids,
    tokens: ids.map(text.token),
    source: tracedHeads(decoder, all, ids.length),
    trace: all,
    muted,
    ms,
    bytes: all.reduce((sum, { byteLength }) => sum + byteLength, 0),
    residuals: start ? undefined : residuals,
    logits: (at) =>
      /** @type {Float32Array | undefined} */ (
        logits?.data.subarray(at * vocabSize, (at + 1) * vocabSize)
      ) ?? lastLogits(at),
    actual: (at) => ids[at + 1],
    hasLogits: isKept,
    dispose: () => trace.forEach((layer) => layer.dispose()),
  };
}
