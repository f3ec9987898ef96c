// The checkpoints in tests/fixtures/models, which torch_referee/model_checkpoints.py lists.
import { readdirSync, readFileSync } from 'node:fs';
import { readSafetensors } from 'headwise/formats';

const folder = new URL('fixtures/models/', import.meta.url);

export const checkpoints = readdirSync(folder).sort();

/** @param {string} name @returns {Record<string, any>} */
export const readConfig = (name) =>
  JSON.parse(readFileSync(new URL(`${name}/config.json`, folder), 'utf8'));

/** Those of decoders. */
export const decoders = checkpoints.filter((name) => !/bert/.test(readConfig(name).model_type));

/** @param {string} name @returns {Promise<Record<string, import('headwise').AnyTensor>>} under the files' names */
export async function readTensors(name) {
  const own = new URL(`${name}/`, folder);
  const files = readdirSync(own).filter((file) => file.endsWith('.safetensors'));
  const read = files.map(async (file) => {
    const { tensors } = await readSafetensors(new Uint8Array(readFileSync(new URL(file, own))));
    return tensors;
  });
  return Object.assign({}, ...(await Promise.all(read)));
}
