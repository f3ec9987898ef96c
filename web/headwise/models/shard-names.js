import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { isRecord } from '../formats/json.js';

/** No model has more shards than this. */
export const mostShards = 4096;

/**
 * The names of the shards that an index lists.
 * @param {Record<string, unknown>} index
 * @param {string} name the file's
 * @returns {string[]} each once, in order
 * @throws {HeadwiseError} ERR_FORMAT
 */
export function shardNames(index, name) {
  const { weight_map: map } = index;
  const names = isRecord(map) ? [...new Set(Object.values(map))] : [];
  const bad = names.findIndex(
    (one) => typeof one !== 'string' || !/^[^/\\]+\.safetensors$/.test(one),
  );
  if (names.length === 0 || names.length > mostShards || bad >= 0) {
    const expected = `an object that names 1 to ${mostShards} .safetensors files beside it`;
    const found =
      bad < 0
        ? `weight_map is ${describe(map)}`
        : `weight_map is an object with ${describe(names[bad])}`;
    throw new HeadwiseError('ERR_FORMAT', `${name}: ${found}; expected ${expected}`);
  }
  return /** @type {string[]} */ (names).sort();
}
