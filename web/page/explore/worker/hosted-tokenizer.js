/**
 * The tokenizer of a model on a server: read and kept as the model's other files are. Older models have vocab.json and merges.txt.
 */

import { AbsentError } from '../../../headwise/formats/web-file.js';
import { openWeb } from '../../../headwise/formats/web-reader.js';
import { placeOf } from '../../../headwise/models/places.js';
import { PageError } from '../../shared/errors.js';
import { tokenizerFrom } from '../open/byte-level.js';
import { MOST_BYTES, ownJson, ownText } from '../open/own-text.js';

const NAME = 'tokenizer.json';

/** @param {string} why @returns {PageError} after which the model reads token ids */
const without = (why) => new PageError('ERR_FORMAT', why);

/** @param {string} source a name on the hub, or an address @returns {Promise<(file: string) => URL | undefined>} */
async function addressesOf(source) {
  const place = await placeOf(source, 'main');
  return (file) => {
    const found = 'find' in place ? place.find(file) : undefined;
    return found instanceof URL ? found : undefined;
  };
}

/** @param {URL} url @param {number} most bytes @param {AbortSignal} [signal] @returns {Promise<Blob>} no longer than can be told to be too long */
async function fetched(url, most, signal) {
  const reader = await openWeb(url, { fetch: globalThis.fetch, signal, isKept: true });
  try {
    return new Blob([(await reader.read(most + 1)).slice()]);
  } finally {
    reader.close();
  }
}

/**
 * What reads a model's files.
 *
 * @param {string} source
 * @param {AbortSignal} [signal]
 */
async function readerOf(source, signal) {
  const find = await addressesOf(source);
  /** @param {string} name @param {keyof typeof MOST_BYTES} kind @returns {Promise<string | undefined>} undefined: it is not there */
  return async (name, kind) => {
    const url = find(name);
    if (!url) return undefined;
    const file = await fetched(url, MOST_BYTES[kind], signal).catch((error) => {
      signal?.throwIfAborted();
      if (error instanceof AbsentError) return undefined;
      throw without(error.message);
    });
    return file && ownText(file, name, kind);
  };
}

/**
 * @param {string} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} what the file holds, or would hold
 * @throws {PageError} ERR_FORMAT: why it could not be read; an abort's reason
 */
export async function hostedTokenizer(source, signal) {
  const read = await readerOf(source, signal);
  const whole = await read(NAME, 'json');
  if (whole !== undefined) return ownJson(whole, NAME);
  const pieces = await read('vocab.json', 'json');
  const pairs = pieces && (await read('merges.txt', 'text'));
  if (!pieces || !pairs) throw without(`There is no ${NAME} beside config.json`);
  const config = ownJson((await read('config.json', 'json')) ?? '{}', 'config.json');
  return tokenizerFrom(pieces, pairs, config?.model_type);
}
