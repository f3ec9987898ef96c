// Where the scripts of Workers come from: another origin, and an address at which another script lies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ISOLATION, serve } from '../browser.js';
import { engine } from '../browsers/engines.js';
import { browser, options } from './harness.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HOST = '/web/headwise/worker/host.js';

/**
 * Runs in the browser.
 * @param {string} address of the package's folder
 */
async function computeWith(address) {
  const here = await import(`${address}index.js`);
  const inWorker = await import(`${address}worker.js`);
  const found = [];
  for (const { load, zeros } of [here, inWorker]) {
    const hw = await load({ threads: 2 });
    const module = await new hw.Linear({ inFeatures: 3, outFeatures: 2 });
    const { output } = await module.forward(zeros([4, 3]));
    found.push({ info: hw.info, shape: output.shape });
    await hw.dispose();
  }
  return found;
}

test('a package from another origin has its Worker and its threads', options, async () => {
  const away = await serve(ROOT, {
    headersOf: () => ({
      ...ISOLATION,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    }),
  });
  const home = await serve(ROOT, { headersOf: () => ISOLATION });
  const page = await browser.newPage();
  try {
    await page.goto(`${home.url}web/headwise/index.js`);
    const found = await page.evaluate(computeWith, `${away.url}web/headwise/`);
    const threads = engine.hasThreads ? 2 : 1;
    assert.deepEqual(
      found.map(({ info, shape }) => [info.threads, shape]),
      [
        [threads, [4, 2]],
        [threads, [4, 2]],
      ],
    );
    if (engine.hasThreads) assert.equal(found[1].info.threadsReason, '');
  } finally {
    await page.close();
    home.close();
    away.close();
  }
});

/**
 * Runs in the browser.
 * @param {string} address of headwise/worker
 * @param {boolean} isHasty its seconds are short
 */
async function failToLoad(address, isHasty) {
  const wait = globalThis.setTimeout;
  const soon = (/** @type {() => void} */ run, ms = 0) => wait(run, ms / 500);
  if (isHasty) Object.assign(globalThis, { setTimeout: soon });
  const { load } = await import(address);
  return load().then(
    () => 'loaded',
    (/** @type {any} */ error) => `${error.code} ${error.message}`,
  );
}

/**
 * @param {Awaited<ReturnType<typeof serve>>} server is closed
 * @param {boolean} isHasty
 */
async function failureFrom(server, isHasty) {
  const page = await browser.newPage();
  try {
    await page.goto(`${server.url}web/headwise/index.js`);
    return await page.evaluate(failToLoad, `${server.url}web/headwise/worker.js`, isHasty);
  } finally {
    await page.close();
    server.close();
  }
}

test('a Worker whose script is another one is given up, with the address', options, async () => {
  const swaps = { [HOST]: '/web/headwise/engine/hints.js' };
  const told = await failureFrom(await serve(ROOT, { swaps }), true);
  assert.match(told, /^ERR_LOAD the engine's Worker failed: its script has not answered in 300 s/);
  assert.match(told, /expected the package's host\.js, beside http.*start-host\.js/);
});

test('a Worker whose script is missing is told of with the address', options, async () => {
  const server = await serve(ROOT);
  server.withhold('/host.js');
  assert.match(
    await failureFrom(server, false),
    /^ERR_LOAD .* could not be loaded \(host\.js, expected beside http.*start-host\.js\)/,
  );
});
