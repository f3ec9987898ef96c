import { HeadwiseError } from '../checks/error.js';
import { whyNoWorker } from '../engine/hints.js';
import { startWorker } from '../engine/node.js';
import { Connection } from './connection.js';

const script = 'host.js';

/** What the Worker's script, whatever it is, may take to answer. A slow network takes long to bring it. */
const secondsToAnswer = 300;

const startHostWorker = () =>
  startWorker(
    import.meta.url,
    script,
    // Written out so that bundlers follow it.
    () => new Worker(new URL('./host.js', import.meta.url), { type: 'module' }),
  );

const why = (/** @type {{ message?: string }} */ failure) =>
  whyNoWorker(failure, import.meta.url, script);

/**
 * Ends a Worker that does not answer: another script than the package's.
 * @param {Connection} connection
 */
function expectAnswer(connection) {
  const message = `its script has not answered in ${secondsToAnswer} s; expected the package's ${script}, beside ${import.meta.url}`;
  let left = secondsToAnswer;
  /** @type {any} */
  let timer;
  // Second by second: one long wait would be over when a machine wakes that slept.
  const tick = () => {
    if (left-- === 0) connection.fail({ message });
    else timer = setTimeout(tick, 1000);
  };
  tick();
  const heard = () => clearTimeout(timer);
  connection.send(0, ['hello'], 'call', []).then(heard, heard);
}

/**
 * Starts the Worker of headwise/worker.
 * @returns {Promise<Connection>}
 * @throws {HeadwiseError} ERR_LOAD
 */
export async function startHost() {
  try {
    const connection = new Connection(await startHostWorker(), (failure) => {
      const message = `the engine's Worker failed: ${why(failure)}; load() starts another`;
      return new HeadwiseError('ERR_LOAD', message);
    });
    expectAnswer(connection);
    return connection;
  } catch (cause) {
    const message = `a Worker could not be started: ${why(/** @type {Error} */ (cause))}`;
    throw new HeadwiseError('ERR_LOAD', message, { cause });
  }
}
