/**
 * Which files of a folder are the model's weights: model.safetensors, the shards that an index lists, or a whole set of shards.
 */

import { mostShards, shardNames } from '../../../headwise/models/shard-names.js';
import { PageError } from '../../shared/errors.js';
import { formatList, plural } from '../../shared/format.js';
import { ownJson, ownText } from './own-text.js';

const WHOLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

const ADAPTER_WEIGHTS = 'adapter_model.safetensors';

/** @param {string} name */
export const isAdapterName = (name) => name === 'adapter_config.json' || name === ADAPTER_WEIGHTS;

/** Of a file of an adapter: why it is not opened. */
export const ADAPTER =
  'is of an adapter (LoRA), which is not applied here; merge it into its model with merge_and_unload() and save that';

/** Weights in formats that are not read, and why. @type {[RegExp, string][]} */
const OTHER_WEIGHTS = [
  [/\.safetensors\.index\.json$/, 'says that the weights are in several files, which are missing'],
  [
    /\.(bin|pt|pth|ckpt)$/,
    'is a pickle, which can run code; save the model with safe_serialization=True',
  ],
  [new RegExp(`^${ADAPTER_WEIGHTS}$`), ADAPTER],
  [/\.(h5|msgpack|onnx|gguf)$/, 'is in another format; save the model as model.safetensors'],
];

/** @param {string} problem */
export const refusal = (problem) => new PageError('ERR_FORMAT', problem);

/** How many names a message lists. */
const NAMED = 5;

/** @param {string[]} names */
export const listed = (names) =>
  formatList(
    names.length > NAMED + 1 ? [...names.slice(0, NAMED), `${names.length - NAMED} more`] : names,
  );

/** One of several files with weights: name, number, how many there are. */
const SHARD = /^(.*-)(\d+)-of-(\d+)\.safetensors$/;

/** Whether a file is named as weights are, whole or in parts. @param {string} name */
export const isWeightsName = (name) => name === WHOLE || name === INDEX || SHARD.test(name);

/** The names of all shards of the set that one is of. @param {string} name @returns {string[]} none: it is no shard */
function setOf(name) {
  const [, start, number, count] = SHARD.exec(name) ?? [];
  if (count === undefined || Number(count) > mostShards) return [];
  return Array.from({ length: Number(count) }, (_, i) => {
    const digits = String(i + 1).padStart(number.length, '0');
    return `${start}${digits}-of-${count}.safetensors`;
  });
}

/** @param {string[]} all shards @param {string[]} there @throws {PageError} if not all are there */
function checkShards(all, there) {
  const missing = all.filter((name) => !there.includes(name));
  if (missing.length === 0) return;
  throw refusal(
    `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} missing: the weights are in ${plural(all.length, 'file')}.`,
  );
}

/** The one whole set of shards, without an index. @param {string[]} there @returns {string[]} none: there is no set, or there are several */
function wholeSet(there) {
  const sets = new Map(there.map((name) => [name.replace(SHARD, '$1of-$3'), name]));
  const all = [...sets.values()].map(setOf).filter((names) => names.length > 0);
  const whole = all.filter((names) => names.every((name) => there.includes(name)));
  if (whole.length === 1) return whole[0];
  if (whole.length === 0) for (const names of all) checkShards(names, there);
  return [];
}

/** @param {File} file @returns {Promise<string[]>} the shards that an index lists */
async function listedIn(file) {
  const index = ownJson(await ownText(file, INDEX, 'json'), INDEX);
  return shardNames(Object(index), INDEX);
}

/** Why there are no weights. @param {Map<string, File>} files @param {string[]} there */
function whyNone(files, there) {
  for (const [pattern, why] of OTHER_WEIGHTS) {
    const other = [...files.keys()].find((key) => pattern.test(key));
    if (other) return refusal(`There is no ${WHOLE}, and ${other} ${why}.`);
  }
  return refusal(
    there.length > 1
      ? `There are ${there.length} .safetensors files (${there.join(', ')}) beside config.json; expected one, ${WHOLE}.`
      : `${WHOLE} is missing beside config.json.`,
  );
}

/**
 * @param {Map<string, File>} files by name, of one folder
 * @returns {Promise<File | File[]>} a list: shards
 * @throws {Error} ERR_FORMAT
 */
export async function weightsIn(files) {
  const there = [...files.keys()].filter(
    (name) => name.endsWith('.safetensors') && name !== ADAPTER_WEIGHTS,
  );
  const file = (/** @type {string} */ name) => /** @type {File} */ (files.get(name));
  if (files.has(WHOLE)) return file(WHOLE);
  if (files.has(INDEX) && there.length > 0) {
    const names = await listedIn(file(INDEX));
    checkShards(names, there);
    return names.map(file);
  }
  const shards = wholeSet(there);
  if (shards.length > 0) return shards.map(file);
  if (there.length === 1) return file(there[0]);
  throw whyNone(files, there);
}
