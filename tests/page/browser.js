// A built copy of the page on a static server, and Chromium to look at it.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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

export const NO_BROWSER =
  'The tests of the page did not run: no Chromium found. Install one ' +
  '(for instance: apt install chromium) or name it: CHROMIUM_PATH=/path/to/chromium npm test';

/** @param {string} executablePath */
export function launch(executablePath) {
  return puppeteer.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
}

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
};

/**
 * Builds the page into a folder below a static server's root.
 *
 * @returns {Promise<{ url: string, withhold(ending: string): void, close(): Promise<void> }>}
 *   `withhold` makes files that end so missing
 */
export async function servePage() {
  const root = await mkdtemp(join(tmpdir(), 'headwise-page-'));
  await build({
    configFile: join(ROOT, 'vite.config.js'),
    root: join(ROOT, 'web'),
    logLevel: 'warn',
    build: { outDir: join(root, 'any', 'folder'), emptyOutDir: true },
  });
  let missing = '';
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = normalize(decodeURIComponent(pathname)).replace(/\/$/, '/index.html');
    try {
      if (missing && path.endsWith(missing)) throw new Error('withheld');
      const body = await readFile(join(root, path));
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/any/folder/`,
    withhold(ending) {
      missing = ending;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
