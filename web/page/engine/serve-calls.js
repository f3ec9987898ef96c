/**
 * The Worker's side of EngineClient: answers `{ id, type, payload }` with `{ id, result }` or
 * `{ id, error: { code, message } }`; on the way `{ id, progress }`. Long work comes in slices, between which it hears
 * `{ cancel: id }` and other calls.
 *
 * @typedef {{ fraction: number, label?: string, detail?: unknown }} Progress
 *
 * @typedef {object} Call
 * @property {number} id
 * @property {(progress: Progress) => Promise<void>} report tells the page how far it is, and lets messages in; rejects
 *   when the call was cancelled
 * @property {() => Promise<void>} breathe the same without telling
 *
 * @typedef {{ postMessage(message: unknown, transfer: Transferable[]): void }} Port
 */

import { Cancelled, PageError } from './errors.js';

const port = /** @type {Port} */ (/** @type {unknown} */ (globalThis));

const { port1, port2 } = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
port1.onmessage = () => waiting.shift()?.();

/** Lets the messages in: a task of its own, not slowed as timers are. */
const nextTask = () =>
  new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });

/** @param {Record<string, (payload: any, call: Call) => unknown>} answers for each type of call */
export function serveCalls(answers) {
  /** @type {Set<number>} */
  const cancelled = new Set();

  /**
   * @param {number} id
   * @returns {Call}
   */
  const callOf = (id) => {
    const breathe = async () => {
      await nextTask();
      if (cancelled.has(id)) throw new Cancelled();
    };
    const report = (/** @type {Progress} */ progress) => {
      port.postMessage({ id, progress }, []);
      return breathe();
    };
    return { id, report, breathe };
  };

  addEventListener('message', async ({ data }) => {
    if (data.cancel !== undefined) {
      cancelled.add(data.cancel);
      return;
    }
    const { id, type, payload } = data;
    try {
      const answer = answers[type];
      if (!answer) throw new PageError('ERR_TYPE', `Unknown question "${type}".`);
      port.postMessage({ id, result: await answer(payload, callOf(id)) }, []);
    } catch (error) {
      const { code = 'ERR_INTERNAL', message } = /** @type {{ code?: string, message: string }} */ (
        error
      );
      port.postMessage({ id, error: { code, message } }, []);
    } finally {
      cancelled.delete(id);
    }
  });
}
