// A server of models' files as Hugging Face's is: parts, redirects, commits; and as connections are: cut, slow, refused.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * What is done with one path, unless it is served as it is.
 * @typedef {object} Behaviour
 * @property {number} [status] another answer than the file
 * @property {string} [to] redirects there
 * @property {boolean} [isWhole] no parts
 * @property {number} [cutAfter] bytes of an answer, then the connection breaks
 * @property {number} [cuts] how often; default: always
 * @property {boolean} [stalls] after cutAfter bytes nothing comes any more, and the connection stays
 */

/** @typedef {{ path: string, range: string | undefined, bytes: number }} Served */

/** @type {WeakMap<Uint8Array, string>} */
const tags = new WeakMap();

/** The name of a version of a file. @param {Uint8Array} bytes */
function tagOf(bytes) {
  const tag =
    tags.get(bytes) ?? `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  tags.set(bytes, tag);
  return tag;
}

/** Of all files here. */
export const commit = 'c0ffee'.padEnd(40, '0');

/** @param {import('node:http').ServerResponse} response @param {Uint8Array} bytes @param {Behaviour} behaviour */
function send(response, bytes, behaviour) {
  const { cutAfter = Infinity, cuts = Infinity, stalls } = behaviour;
  if (cutAfter >= bytes.length || cuts <= 0) {
    response.end(bytes);
    return;
  }
  behaviour.cuts = cuts - 1;
  response.write(bytes.subarray(0, cutAfter), () => {
    if (!stalls) setTimeout(() => response.destroy(), 20);
  });
}

/**
 * @param {Record<string, Uint8Array | string>} files by path
 * @returns {Promise<{ origin: string, files: Record<string, Uint8Array | string>, behaviours: Record<string, Behaviour>,
 *   served: Served[], close(): void }>} served: what was asked for, in order
 */
export async function serveFiles(files) {
  /** @type {Record<string, Behaviour>} */
  const behaviours = {};
  /** @type {Served[]} */
  const served = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://any').pathname);
    const behaviour = behaviours[path] ?? {};
    const { range } = request.headers;
    /** @type {Served} */
    const entry = { path, range, bytes: 0 };
    served.push(entry);
    const headers = {
      ...{
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
        connection: 'close',
      },
      'x-repo-commit': commit,
    };
    if (behaviour.to !== undefined) {
      response.writeHead(302, { ...headers, location: behaviour.to }).end();
      return;
    }
    const content = files[path];
    if (behaviour.status !== undefined || content === undefined) {
      response.writeHead(behaviour.status ?? 404, headers).end('<!doctype html><title>No</title>');
      return;
    }
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const type = path.endsWith('.html')
      ? 'text/html'
      : path.endsWith('.js')
        ? 'text/javascript'
        : 'application/octet-stream';
    const usual = { ...headers, etag: tagOf(bytes), 'content-type': type };
    const match = behaviour.isWhole ? null : /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
    if (match === null) {
      entry.bytes = bytes.length;
      response.writeHead(200, { ...usual, 'content-length': bytes.length });
      send(response, bytes, behaviour);
      return;
    }
    const [start, end] = [
      Number(match[1]),
      Math.min(Number(match[2] || Infinity) + 1, bytes.length),
    ];
    if (start >= bytes.length) {
      response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    entry.bytes = end - start;
    response.writeHead(206, {
      ...{ ...usual, 'content-length': end - start },
      'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
    });
    send(response, bytes.subarray(start, end), behaviour);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    ...{ origin: `http://127.0.0.1:${port}`, files, behaviours, served },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
