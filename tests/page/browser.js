// A built copy of the page on a static server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { serve } from '../browser.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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
  const { url, withhold, close } = await serve(root);
  return {
    url: `${url}any/folder/`,
    withhold,
    async close() {
      close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
