/**
 * A run that can go on where it ended: weights, moments of the optimizer, and how far it is.
 *
 * @import { Tensor } from 'headwise'
 * @import { Gpt2 } from 'headwise/gpt2'
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSafetensors, writeSafetensors } from 'headwise/formats';

/**
 * @typedef {object} Progress
 * @property {string} task
 * @property {number} seed
 * @property {number} steps of the whole run
 * @property {number} step steps done
 * @property {number} tokens seen
 * @property {number | null} loss a mean over the last steps; null: none was done
 * @property {number} seconds of processor time
 * @property {{ step: number, loss: number } | null} best of the models that were judged; null: none was
 *
 * @typedef {{ stateDict(): Record<string, Tensor>, loadStateDict(dict: Record<string, Tensor>): unknown }} Keeper
 * @typedef {{ model: Gpt2, optimizer: Keeper, best: Keeper }} Parts best: the model that was judged best, or nothing
 */

const NAME = 'checkpoint.safetensors';

/** @param {string} folder */
export const checkpointIn = (folder) => join(folder, NAME);

/** @param {string} folder @param {Parts} parts @param {Progress} progress */
export async function saveCheckpoint(folder, { model, optimizer, best }, progress) {
  const entries = Object.entries({ model, optimizer, best }).flatMap(([part, keeper]) =>
    Object.entries(keeper.stateDict()).map(([name, value]) => [`${part}/${name}`, value]),
  );
  const file = writeSafetensors(Object.fromEntries(entries), {
    progress: JSON.stringify(progress),
  });
  await mkdir(folder, { recursive: true });
  // Renamed when it is whole, so that a run that is ended meanwhile leaves the one before.
  await writeFile(`${checkpointIn(folder)}.new`, file);
  await rename(`${checkpointIn(folder)}.new`, checkpointIn(folder));
}

/**
 * @param {string} folder
 * @param {Parts} parts are loaded
 * @returns {Promise<Progress>}
 */
export async function resume(folder, { model, optimizer, best }) {
  const file = await readFile(checkpointIn(folder));
  const { tensors, metadata } = await readSafetensors(new Uint8Array(file));
  const entries = /** @type {[string, Tensor][]} */ (Object.entries(tensors));
  for (const [part, keeper] of Object.entries({ model, optimizer, best })) {
    const own = entries.filter(([name]) => name.startsWith(`${part}/`));
    const named = own.map(([name, value]) => [name.slice(part.length + 1), value]);
    keeper.loadStateDict(Object.fromEntries(named));
  }
  return JSON.parse(metadata.progress);
}
