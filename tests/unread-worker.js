// The Worker of unread.test.js.
import { parentPort } from 'node:worker_threads';
import { serve } from '../web/headwise/worker/serve.js';
import { DEEP, withDeepValue } from './unread.js';

const post = parentPort?.postMessage.bind(parentPort);
Object.assign(/** @type {object} */ (parentPort), {
  /** @param {any} message @param {any} transfers */
  postMessage: (message, transfers) => post?.(withDeepValue(message, 6000), transfers),
});

let count = 0;

/** Stays in the Worker. */
class Counter {
  count() {
    return ++count;
  }
}

serve({
  deep: () => DEEP,
  /** @param {unknown} [_value] */
  count: (_value) => ++count,
  counter: () => new Counter(),
  /** @param {() => unknown} callback */
  ask: async (callback) => callback(),
});
