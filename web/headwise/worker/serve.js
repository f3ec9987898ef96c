import { importNode } from '../engine/node.js';
import { Endpoint } from './endpoint.js';

/**
 * The Worker's side of a Connection: answers calls of the methods of an object, in their order. What they return stays
 * here unless it is plain, a tensor, an array or a Blob; iterators are asked for one step after another. Functions,
 * AbortSignals, URLs, Responses and streams are as good as any argument until the call is answered, or the iterator that it
 * returned has ended.
 * @param {object} object
 */
export async function serve(object) {
  const port =
    'postMessage' in globalThis
      ? /** @type {any} */ (globalThis)
      : (await importNode('worker_threads')).parentPort;
  const endpoint = new Endpoint(
    (message, transfers) => port.postMessage(message, transfers),
    object,
  );
  port.onmessage = (/** @type {{ data: any }} */ { data }) => endpoint.hear(data);
  port.onmessageerror = () => endpoint.hearUnread();
}
