// A browser that nobody drives. In Firefox the listener of a driver (as that of its developer tools) can let a Worker hang
// for ever in which Workers are made and ended: seen in version 153.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engine } from './engines.js';

/**
 * @param {string} url
 * @returns {Promise<() => Promise<void>>} what ends the browser
 */
export async function show(url) {
  const profile = await mkdtemp(join(tmpdir(), 'headwise-profile-'));
  // A group of its own: the program may be a script that starts the browser.
  const child = spawn(String(engine.find()), [...engine.flags(profile), url], {
    detached: true,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  return async () => {
    process.kill(-Number(child.pid), 'SIGKILL');
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}
