/**
 * Text and JSON of files that the visitor opened: no longer, and JSON no larger, than tokenizers are.
 */

import { parseJson } from '../../../headwise/formats/json.js';
import { PageError } from '../../shared/errors.js';
import { formatBytes } from '../../shared/format.js';

/** Gemma's tokenizer.json, one of the largest, has 33 MB and two million values. */
export const MOST_BYTES = { json: 2 ** 26, text: 2 ** 24 };
const MOST_VALUES = 2 ** 22;

/**
 * @param {Blob} file
 * @param {string} name
 * @param {keyof typeof MOST_BYTES} kind
 * @returns {Promise<string>}
 * @throws {PageError} ERR_FORMAT: it is longer than any such file
 */
export async function ownText(file, name, kind) {
  const most = MOST_BYTES[kind];
  if (file.size > most) {
    // How much longer is not known of one that is read from a server.
    const words = `${name} has more than ${formatBytes(most)}; expected a shorter file`;
    throw new PageError('ERR_FORMAT', words);
  }
  return file.text();
}

/**
 * @param {string} text
 * @param {string} name
 * @returns {any}
 * @throws {PageError} ERR_FORMAT, naming the file
 */
export function ownJson(text, name) {
  const error = (/** @type {string} */ problem) =>
    new PageError('ERR_FORMAT', `${name}: ${problem}`);
  if (text.startsWith('version https://git-lfs'))
    throw error('this is a Git LFS pointer; the file itself was not downloaded');
  return parseJson(text, error, { values: MOST_VALUES });
}
