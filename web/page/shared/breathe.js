const channel = new MessageChannel();
/** Node's ports have more: a port that is held keeps the program from ending. */
const port = /** @type {MessagePort & { ref?: () => void, unref?: () => void }} */ (channel.port1);
/** @type {(() => void)[]} */
const waiting = [];
port.onmessage = () => {
  waiting.shift()?.();
  if (waiting.length === 0) port.unref?.();
};
port.unref?.();

/**
 * Between two slices of long work: lets messages in, such as other calls and aborts.
 *
 * @param {AbortSignal} [signal] ends the work: its reason is thrown
 */
export async function breathe(signal) {
  // A task of its own, not slowed as timers are.
  await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    waiting.push(resolve);
    port.ref?.();
    channel.port2.postMessage(null);
  });
  signal?.throwIfAborted();
}
