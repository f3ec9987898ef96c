// A small model on a server that behaves as hubs do, on the disk and in memory, for tests of opening models.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { openModel } from '../web/headwise/models/open-model.js';
import { commit, serveFiles } from './file-server.js';
import { data } from './helpers.js';

/** @typedef {import('../web/headwise/models/open-model.js').Reading} Reading */

export const config = { model_type: 'llama', hidden_size: 8 };
export const text = JSON.stringify(config);
export const tensors = {
  a: data(1, [3000, 10]),
  unwanted: data(2, [90_000, 10]),
  b: data(3, [5000, 10]),
};
export const whole = writeSafetensors(tensors);
export const [first, second] = [
  writeSafetensors({ a: tensors.a }),
  writeSafetensors({ b: tensors.b }),
];
const index = JSON.stringify({ weight_map: { a: 'one.safetensors', b: 'two.safetensors' } });

export const folder = `/org/model/resolve/main`;
export const pinned = `/org/model/resolve/${commit}`;
/** @param {string} place @param {Record<string, Uint8Array | string>} files */
export const at = (place, files) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [`${place}/${name}`, file]));
export const oneFile = { 'config.json': text, 'model.safetensors': whole };
export const shards = {
  ...{ 'config.json': text, 'model.safetensors.index.json': index },
  ...{ 'one.safetensors': first, 'two.safetensors': second },
};

export const server = await serveFiles({
  ...{ ...at(folder, oneFile), ...at(pinned, oneFile), ...at('/plain/folder', oneFile) },
  ...{ ...at('/sharded', shards), ...at('/sharded-hub/resolve/v1.0', shards) },
});
export const disk = await mkdtemp(join(tmpdir(), 'headwise-models-'));
await mkdir(join(disk, 'sharded folder'));
for (const [name, file] of Object.entries(shards))
  await writeFile(join(disk, 'sharded folder', name), file);

after(() => {
  server.close();
  return rm(disk, { recursive: true });
});

afterEach(() => {
  for (const path of Object.keys(server.behaviours)) delete server.behaviours[path];
  server.served.length = 0;
  delete (/** @type {any} */ (globalThis).caches);
});

/** The hub's addresses lead to the server here. @type {typeof fetch} */
const hubFetch = (address, options) =>
  fetch(String(address).replace('https://huggingface.co', server.origin), options);

/** @param {unknown} source @param {Partial<Reading> & { revision?: string }} [how] */
export const open = (source, { revision = 'main', ...how } = {}) =>
  openModel(source, revision, { signal: undefined, fetch: hubFetch, isKept: true, ...how });

/**
 * All values of the wanted tensors, by name, and the progress.
 * @param {import('../web/headwise/models/open-model.js').OpenModel} model
 * @param {(name: string) => boolean} [wants]
 */
export async function valuesOf(model, wants = () => true) {
  /** @type {Record<string, number[]>} */
  const values = {};
  /** @type {{ loaded: number, total: number, size: number }[]} */
  const steps = [];
  for (const file of await model.openFiles())
    for await (const piece of file.pieces({
      ...{ wants, pieceBytes: 2 ** 16 },
      onProgress: (step) => steps.push({ ...step, size: file.byteLength }),
    }))
      (values[piece.name] ??= []).push(...piece.data);
  assert.ok(steps.every(({ loaded, total, size }) => loaded <= total && total === size));
  assert.equal(steps.at(-1)?.loaded, steps.at(-1)?.total);
  return values;
}

/** @param {Record<string, number[]>} values @param {string[]} names */
export function areTensors(values, names) {
  assert.deepEqual(Object.keys(values), names);
  for (const name of names)
    assert.ok(
      values[name].every((value, i) => value === /** @type {any} */ (tensors)[name].data[i]) &&
        values[name].length === /** @type {any} */ (tensors)[name].data.length,
      name,
    );
}

/** @param {number} [start] @returns {number} bytes of weights that were asked for */
export const weightBytes = (start = 0) =>
  server.served
    .slice(start)
    .filter(({ path }) => path.endsWith('.safetensors'))
    .reduce((sum, { bytes }) => sum + bytes, 0);

export const file = (/** @type {string | Uint8Array} */ content, /** @type {string} */ name) =>
  new File([/** @type {any} */ (content)], name);
