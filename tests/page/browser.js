// A built copy of the page on a static server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode } from '../child.js';
import { serve } from '../browser.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Below a server's root: the page works in any folder. */
const FOLDER = join('any', 'folder');

/** @returns {Promise<string>} a new folder, with the page in it */
async function buildPage() {
  const root = await mkdtemp(join(tmpdir(), 'headwise-page-'));
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = ['build', '--outDir', join(root, FOLDER), '--emptyOutDir', '--logLevel', 'warn'];
  const { status, stdout, stderr } = await runNode('vite build', [vite, ...args], { cwd: ROOT });
  if (status !== 0) throw new Error(`vite build failed\n${stdout}${stderr}`);
  return root;
}

/** @param {string} root */
const remove = (root) => rm(root, { recursive: true, force: true });

/**
 * Builds the page once for all test files that `body` runs: their processes find it by HEADWISE_SITE.
 *
 * @template T
 * @param {() => Promise<T>} body
 */
export async function withPage(body) {
  const root = await buildPage();
  process.env.HEADWISE_SITE = root;
  try {
    return await body();
  } finally {
    await remove(root);
  }
}

/**
 * @returns {Promise<{ url: string, root: string, withhold(ending: string | string[]): void, close(): Promise<void> }>}
 *   root: the folder with index.html; `withhold` makes files that end so missing
 */
export async function servePage() {
  const shared = process.env.HEADWISE_SITE;
  const root = shared ?? (await buildPage());
  const { url, withhold, close } = await serve(root);
  return {
    url: `${url}any/folder/`,
    root: join(root, FOLDER),
    withhold,
    async close() {
      close();
      if (!shared) await remove(root);
    },
  };
}
