/**
 * The tokenizer of a model on a server: read and kept as the model's other files are.
 */

import { AbsentError } from '../../../headwise/formats/web-file.js';
import { openWeb } from '../../../headwise/formats/web-reader.js';
import { placeOf } from '../../../headwise/models/places.js';
import { PageError } from '../../shared/errors.js';
import { MOST_BYTES, ownJson, ownText } from '../open/own-text.js';

const NAME = 'tokenizer.json';

/** @param {string} why @returns {PageError} after which the model reads token ids */
const without = (why) => new PageError('ERR_FORMAT', why);

/** @param {string} source a name on the hub, or an address @returns {Promise<URL | undefined>} */
async function addressOf(source) {
  const place = await placeOf(source, 'main');
  const found = 'find' in place ? place.find(NAME) : undefined;
  return found instanceof URL ? found : undefined;
}

/** @param {URL} url @param {AbortSignal} [signal] @returns {Promise<Blob>} no longer than can be told to be too long */
async function fetched(url, signal) {
  const reader = await openWeb(url, { fetch: globalThis.fetch, signal, isKept: true });
  try {
    return new Blob([(await reader.read(MOST_BYTES.json + 1)).slice()]);
  } finally {
    reader.close();
  }
}

/**
 * @param {string} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} what the file holds
 * @throws {PageError} ERR_FORMAT: why it could not be read; an abort's reason
 */
export async function hostedTokenizer(source, signal) {
  const url = await addressOf(source);
  if (!url) throw without(`There is no ${NAME} beside config.json`);
  const file = await fetched(url, signal).catch((error) => {
    signal?.throwIfAborted();
    throw without(error instanceof AbsentError ? `There is no ${NAME}` : error.message);
  });
  return ownJson(await ownText(file, NAME, 'json'), NAME);
}
