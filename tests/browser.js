// Chromium, and a static server for it to look at.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, extname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import puppeteer from 'puppeteer-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const PLACES = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** Chromium's path, from CHROMIUM_PATH or PATH; undefined if there is none. */
export function findBrowser() {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const folders = PATH.split(delimiter).filter(Boolean);
  const places = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...places, ...PLACES].find((place) => existsSync(place));
}

/** How long a browser may take to start: long where it is read from a slow disk, or much else runs. */
export const LAUNCH_MS = 90_000;

/** What Chromium is started with. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/**
 * @param {string} executablePath
 * @param {{ protocolTimeout?: number }} [options] protocolTimeout: ms that one call into the page may take
 */
export function launch(executablePath, options) {
  return puppeteer.launch({ timeout: LAUNCH_MS, ...options, executablePath, args: FLAGS });
}

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** What a page needs to have SharedArrayBuffer, and so threads. */
export const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** @typedef {Record<string, string> | undefined} Headers */

/**
 * Serves a folder's files as they are, on a free port of this machine.
 *
 * @param {string} root
 * @param {{ headersOf?: (path: string) => Headers | Promise<Headers>, redirects?: Record<string, string>,
 *   swaps?: Record<string, string>, onRequest?: (path: string, body: Buffer) => void, onPost?: (body: string) => void }} [options]
 *   headersOf: more headers for a file, undefined if it is to be missing; it comes when they are there; redirects: where paths lead for good;
 *   swaps: whose content a path has instead of its own; onRequest is told every file that was sent;
 *   onPost is given what a page posts
 * @returns {Promise<{ url: string, withhold(ending: string | string[], status?: number): void, close(): void }>}
 *   url ends in a slash; `withhold` makes files that end so missing, or answers a request for them with another status
 */
export async function serve(
  root,
  { headersOf = () => ({}), redirects = {}, swaps = {}, onRequest, onPost } = {},
) {
  /** @type {string[]} */
  let missing = [];
  let without = 404;
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      onPost?.(await text(request));
      response.writeHead(204).end();
      return;
    }
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (redirects[pathname] !== undefined) {
      response.writeHead(308, { location: redirects[pathname] }).end();
      return;
    }
    const path = normalize(decodeURIComponent(pathname)).replace(/\/$/, '/index.html');
    try {
      const more = await headersOf(path);
      if (!more || missing.some((ending) => path.endsWith(ending))) throw new Error('withheld');
      const body = await readFile(join(root, swaps[path] ?? path));
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      const headers = { 'content-type': type, 'cache-control': 'no-store' };
      response.writeHead(200, { ...headers, ...more }).end(body);
      onRequest?.(path, body);
    } catch {
      response.writeHead(without).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    withhold(ending, status = 404) {
      missing = [ending].flat().filter(Boolean);
      without = status;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
