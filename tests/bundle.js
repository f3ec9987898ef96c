// What an app's bundler makes of the package: Vite's defaults, an app that uses all of an entry.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

/**
 * @typedef {{
 *   type: 'chunk', isEntry: boolean, code: string, fileName: string, imports: string[],
 *   modules: Record<string, { renderedLength: number }>,
 * }} Chunk
 */
/** @typedef {{ type: 'asset', source: string | Uint8Array, originalFileNames: string[] }} Asset */

/**
 * @param {string} entry of the package
 * @returns {Promise<(Chunk | Asset)[]>} what Vite's defaults make of an app that uses all of it
 */
export async function bundle(entry) {
  const app = '\0app.js';
  const result = await build({
    configFile: false,
    root: fileURLToPath(new URL('.', import.meta.url)),
    logLevel: 'error',
    build: { write: false, rolldownOptions: { input: app } },
    plugins: [
      {
        name: 'app',
        resolveId: (id) => (id === app ? app : undefined),
        load: (id) =>
          id === app
            ? `import * as all from ${JSON.stringify(fileURLToPath(import.meta.resolve(entry)))};
               globalThis.headwise = all;`
            : undefined,
      },
    ],
  });
  return /** @type {any} */ (result).output;
}

/**
 * The entry and what it imports at once.
 * @param {(Chunk | Asset)[]} files
 */
export function firstChunks(files) {
  const chunks = files.filter((file) => file.type === 'chunk');
  const wanted = new Set(chunks.filter((chunk) => chunk.isEntry).map((chunk) => chunk.fileName));
  for (const name of wanted)
    for (const file of chunks.find((chunk) => chunk.fileName === name)?.imports ?? [])
      wanted.add(file);
  return chunks.filter((chunk) => wanted.has(chunk.fileName));
}

/** @param {string | Uint8Array} content */
export const gzipped = (content) => gzipSync(content, { level: 9 }).length;
