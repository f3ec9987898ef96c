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

/**
 * @param {Record<string, string>} headers
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function viteDev(headers) {
  const { createServer } = await tool('vite');
  const server = await createServer({
    configFile: false,
    root: join(HERE, 'app'),
    cacheDir: join(HERE, 'build', 'vite-cache'),
    logLevel: 'warn',
    server: { headers, port: await freePort(), host: '127.0.0.1' },
  });
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}
