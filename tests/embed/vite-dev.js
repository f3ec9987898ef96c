// Vite's development server, with the headers that a site is sent with.
import { createServer as createPort } from 'node:net';
import { join } from 'node:path';
import { HERE, tool } from './builders.js';

/** @returns {Promise<number>} a port that is free: the server's own 0 reaches its client as 0 */
const freePort = () =>
  new Promise((resolve) => {
    const probe = createPort().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });

/** Those that put what they make of the package elsewhere, without the files that it names. */
export const BUILT_DEPS = ['vite-5', 'vite-6', 'vite-7'];

export const VITES = ['vite', ...BUILT_DEPS];

/**
 * @param {string} name of the package that is this version of Vite
 * @param {Record<string, string>} headers
 * @param {string[]} exclude packages that stay as they are
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function viteDev(name, headers, exclude) {
  const { createServer } = await tool(name);
  const server = await createServer({
    configFile: false,
    root: join(HERE, 'app'),
    cacheDir: join(HERE, 'build', `${name}-cache-${exclude.length}`),
    logLevel: 'warn',
    optimizeDeps: { exclude },
    server: { headers, port: await freePort(), host: '127.0.0.1' },
  });
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}
