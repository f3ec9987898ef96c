const { port1, port2 } = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
port1.onmessage = () => waiting.shift()?.();

/**
 * Between two slices of long work: lets messages in, such as other calls and aborts.
 *
 * @param {AbortSignal} [signal] ends the work: its reason is thrown
 */
export async function breathe(signal) {
  // A task of its own, not slowed as timers are.
  await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });
  signal?.throwIfAborted();
}
