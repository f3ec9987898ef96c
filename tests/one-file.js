// A file on a server that is a function, for tests of how it is read.
import { writeSafetensors } from 'headwise/formats';
import { openWeb } from '../web/headwise/formats/web-reader.js';
import { data } from './helpers.js';

export const bytes = writeSafetensors({
  ...{ a: data(1, [30_000]), unwanted: data(2, [400_000]), b: data(3, [300_000]) },
});

/**
 * @typedef {object} How
 * @property {string[]} [hidden] of another origin a browser shows content-range and etag only if the server says so
 * @property {(range: string | undefined, n: number, signal?: AbortSignal) => Response | Promise<Response> | undefined | void} [instead]
 * @property {Uint8Array<ArrayBuffer>} [content]
 *
 * @param {How} [how]
 * @returns {any} fetch
 */
export function serverOf({ hidden = [], instead = () => undefined, content = bytes } = {}) {
  let n = 0;
  return async (
    /** @type {string} */ _,
    /** @type {{ headers: { range?: string }, signal?: AbortSignal }} */ asked,
  ) => {
    const { range } = asked.headers;
    const other = await instead(range, n++, asked.signal);
    if (other) return other;
    const [, start, last] = /(\d+)-(\d+)/.exec(range ?? '')?.map(Number) ?? [
      0,
      0,
      content.length - 1,
    ];
    if (range && start >= content.length) return new Response(null, { status: 416 });
    const part = content.slice(start, last + 1);
    const headers = new Headers({ etag: '"1"', 'content-length': `${part.length}` });
    const place = `bytes ${start}-${start + part.length - 1}/${content.length}`;
    if (range) headers.set('content-range', place);
    hidden.forEach((name) => headers.delete(name));
    return new Response(part, { status: range ? 206 : 200, headers });
  };
}

/** @param {How} [how] @param {boolean} [isKept] */
export const open = (how, isKept = false) =>
  openWeb(new URL('http://files.test/a.bin'), {
    ...{ fetch: serverOf(how), signal: undefined, isKept },
  });

/** @param {Awaited<ReturnType<typeof open>>} reader */
export async function readAll(reader) {
  const parts = [];
  for (let part; (part = await reader.read(2 ** 18)).length > 0;) parts.push(part);
  return Buffer.concat(parts);
}

/** Answers as a connection brings it, for `instead`. @param {string | undefined} range */
export async function inPieces(range) {
  const answer = await serverOf()('', { headers: { range } });
  const whole = new Uint8Array(await answer.arrayBuffer());
  let at = 0;
  const pull = (/** @type {ReadableStreamDefaultController} */ stream) => {
    stream.enqueue(whole.slice(at, (at += 2 ** 16)));
    if (at >= whole.length) stream.close();
  };
  return new Response(new ReadableStream({ pull }), answer);
}
