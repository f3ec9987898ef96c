/**
 * What some files are together: a model in Hugging Face's format, or tensors with the tokens' labels. Decided by names,
 * and by the index of shards; what is in the others is checked where they are read.
 *
 * @import { Found } from '../../shared/dropped.js'
 * @import { ModelFiles } from '../model-files.js'
 *
 * @typedef {object} TensorFiles
 * @property {string} name for those who look
 * @property {File[]} tensors
 * @property {File} [labels]
 *
 * @typedef {Omit<ModelFiles, 'config' | 'tokenizer'> & { name: string, config: File, tokenizer?: File, vocab?: File, merges?: File, training?: File }} OwnModel
 *   without a tokenizer, or vocab and merges: its text is token ids; training: what Train says of its run
 */

import {
  ADAPTER,
  isAdapterName,
  isWeightsName,
  listed,
  refusal,
  weightsIn,
} from './sort-weights.js';

const WANTED =
  'Expected a folder or a .zip with config.json, model.safetensors and tokenizer.json, or .npy or .safetensors files with tensors.';

/** @param {string} path */
const folderOf = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** @param {string} path */
const baseOf = (path) => path.slice(path.lastIndexOf('/') + 1);

/**
 * A model's name by its folder, or its archive: of one in Hugging Face's cache, which ends in a commit, its name there.
 *
 * @param {string} folder with a slash at its end
 */
function nameOf(folder) {
  const parts = folder.split('/').slice(0, -1);
  const cached = parts.findLast((part) => part.startsWith('models--'));
  return (
    cached?.slice('models--'.length).replaceAll('--', '/') ?? parts.at(-1)?.replace(/\.zip$/i, '')
  );
}

/** A model's files besides its weights. */
const OTHERS = ['config.json', 'tokenizer.json', 'vocab.json', 'merges.txt', 'training.json'];

/** A path as it would be, had no browser numbered a second download and no system changed its case. @param {string} path */
function plainPath(path) {
  const base = baseOf(path).toLowerCase();
  const plain = base.replace(/ ?\(\d+\)(?=\.\w+$)/, '');
  return OTHERS.includes(plain) || isWeightsName(plain) ? folderOf(path) + plain : path;
}

/** Each file by the name that it has in a model, where only one can be meant. @param {Found[]} found @returns {Found[]} */
function plainlyNamed(found) {
  const plain = found.map(({ path }) => plainPath(path));
  return found.map((one, i) =>
    plain.indexOf(plain[i]) === plain.lastIndexOf(plain[i]) ? { ...one, path: plain[i] } : one,
  );
}

/** A model whose adapter is left out is another model. @param {Found[]} found @param {string} [config] path @throws {Error} ERR_FORMAT */
function refuseAdapter(found, config) {
  const isAdapter = (/** @type {string} */ path) =>
    config === undefined
      ? isAdapterName(baseOf(path))
      : path === `${folderOf(config)}adapter_config.json`;
  const adapter = found.find(({ path }) => isAdapter(path));
  if (adapter) throw refusal(`${adapter.path} ${ADAPTER}.`);
}

/** @param {Found[]} found @param {string} config path @returns {Promise<OwnModel>} */
async function modelOf(found, config) {
  const folder = folderOf(config);
  const files = new Map(
    found
      .filter(({ path }) => folderOf(path) === folder)
      .map(({ path, file }) => [baseOf(path), file]),
  );
  const weights = await weightsIn(files);
  const name = nameOf(folder) ?? [weights].flat()[0].name;
  return {
    name,
    config: /** @type {File} */ (files.get('config.json')),
    weights,
    tokenizer: files.get('tokenizer.json'),
    vocab: files.get('vocab.json'),
    merges: files.get('merges.txt'),
    training: files.get('training.json'),
  };
}

/** @param {Found[]} found @returns {TensorFiles} */
function tensorsOf(found) {
  const tensors = found.filter(({ path }) => /\.(npy|safetensors)$/i.test(path));
  const others = found.filter((one) => !tensors.includes(one));
  const names = (/** @type {Found[]} */ some) => some.map(({ path }) => path).join(', ');
  if (tensors.length === 0) throw refusal(`Nothing to open in ${names(found)}. ${WANTED}`);
  if (others.some(({ path }) => baseOf(path) === 'tokenizer.json')) {
    throw refusal(
      `config.json is missing beside ${names(tensors)}: open config.json, model.safetensors and tokenizer.json together.`,
    );
  }
  const labels = others.filter(({ path }) => /\.(txt|json)$/i.test(path));
  if (labels.length > 1 || others.length > labels.length) {
    const odd = others.filter((one) => !labels.includes(one));
    throw refusal(
      `${names(odd.length > 0 ? odd : labels)} came with ${names(tensors)}; expected at most one text or JSON file, with the tokens.`,
    );
  }
  return {
    name: tensors.map(({ file }) => file.name).join(', '),
    tensors: tensors.map(({ file }) => file),
    labels: labels[0]?.file,
  };
}

/** @param {string} path */
const depthOf = (path) => path.split('/').length;

/** Files that systems leave in every folder. @param {Found} found */
const isMeant = ({ path }) => !baseOf(path).startsWith('.') && baseOf(path) !== 'Thumbs.db';

/** @param {Found[]} found @returns {string | undefined} the path of the model's config, where there is one */
function configOf(found) {
  const configs = found.map(({ path }) => path).filter((path) => baseOf(path) === 'config.json');
  const least = Math.min(...configs.map(depthOf));
  const [config, ...others] = configs.filter((path) => depthOf(path) === least);
  if (others.length === 0) return config;
  // Folders that are dropped together, or stand in one.
  const folders = [config, ...others].map((path) => folderOf(path).slice(0, -1));
  throw refusal(
    `There are ${folders.length} models: ${listed(folders)}. Open the folder of one of them.`,
  );
}

/**
 * @param {Found[]} all
 * @returns {Promise<OwnModel | TensorFiles>}
 * @throws {Error} ERR_FORMAT: says which file is missing or not wanted
 */
export async function sortFiles(all) {
  const found = plainlyNamed(all.filter(isMeant));
  if (found.length === 0) throw refusal(`There is no file in it. ${WANTED}`);
  const config = configOf(found);
  refuseAdapter(found, config);
  return config === undefined ? tensorsOf(found) : modelOf(found, config);
}
