import { HeadwiseError } from '../checks/error.js';
import { whyNoWorker } from '../engine/hints.js';
import { startNodeWorker } from '../engine/node.js';
import { Connection } from './connection.js';

/** @returns {Promise<any>} */
async function startWorker() {
  if (globalThis.Worker !== undefined) {
    // Written out so that bundlers follow it.
    return new Worker(new URL('./host.js', import.meta.url), { type: 'module' });
  }
  return startNodeWorker(import.meta.url, 'host.js');
}

const why = (/** @type {{ message?: string }} */ failure) => whyNoWorker(failure, import.meta.url);

/**
 * Starts the Worker of headwise/worker.
 * @returns {Promise<Connection>}
 * @throws {HeadwiseError} ERR_LOAD
 */
export async function startHost() {
  try {
    return new Connection(await startWorker(), (failure) => {
      const message = `the engine's Worker failed: ${why(failure)}; load() starts another`;
      return new HeadwiseError('ERR_LOAD', message);
    });
  } catch (cause) {
    const message = `a Worker could not be started: ${why(/** @type {Error} */ (cause))}`;
    throw new HeadwiseError('ERR_LOAD', message, { cause });
  }
}
