// Streams and Responses as arguments. The other side reads them piece by piece.
import { isOf } from '../checks/foreign.js';
import { checkUnread, discard } from '../checks/response.js';
import { chunksOf, isNodeStream } from '../formats/node-stream.js';

/**
 * A stream of this side, as the other side asks for it.
 * @typedef {object} Pieces
 * @property {() => Promise<any>} next { value, done }
 * @property {() => Promise<unknown>} return ends it: nothing more is wanted
 * @property {() => void} release lets others read what is left
 */

/**
 * @param {unknown} object
 * @returns {Pieces | undefined} undefined: no stream
 * @throws {TypeError} it is read elsewhere
 */
export function piecesOf(object) {
  const chunks = isOf(object, 'ReadableStream')
    ? object.getReader()
    : isNodeStream(object) && !object.destroyed && !object.readableEnded
      ? chunksOf(object)
      : undefined;
  return (
    chunks && {
      next: () => chunks.read(),
      return: () => chunks.cancel(),
      release: () => chunks.releaseLock(),
    }
  );
}

/**
 * The stream that has the other side's pieces.
 * @param {(path: string[]) => Promise<any>} ask
 */
export const streamOf = (ask) =>
  new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await ask(['next']);
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => ask(['return']),
    },
    { highWaterMark: 0 }, // read only on request
  );

/** @param {Response} response */
export function packResponse(response) {
  const { url, status, statusText, headers, ok, body } = response;
  checkUnread(response, url || 'an argument');
  if (!ok) {
    discard(response);
  }
  return { url, status, statusText, headers: [...headers], body: ok ? body : null };
}

/** @param {{ url: string, status: number, statusText: string, headers: [string, string][], body: ReadableStream | null }} packed */
export function responseOf({ url, status, body, ...rest }) {
  // Of other origins, without their leave, nothing is known.
  const response = status === 0 ? Response.error() : new Response(body, { status, ...rest });
  return Object.defineProperty(response, 'url', { value: url });
}
