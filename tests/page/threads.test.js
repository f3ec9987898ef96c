// Threads: with the headers they run, on a page and in its Workers, bundled or not; without the headers or
// without Workers, load goes on with one thread and says why.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { ISOLATION, serve } from '../browser.js';
import { compute, computeInWorker } from '../browsers/compute-threads.js';
import { engine } from '../browsers/engines.js';
import { show } from '../browsers/show.js';
import { browser, options } from './harness.js';

/** @import { Page } from 'puppeteer-core' */
/** @import { Outcome } from '../browsers/compute-threads.js' */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = 'web/headwise/index.js';
const COMPUTE = 'tests/browsers/compute-threads';
const NO_THREADS = engine.hasThreads ? false : `${engine.name} has no SharedArrayBuffer`;

/**
 * A test with a page and what it asked the server for.
 *
 * @param {string} title
 * @param {(path: string) => Record<string, string> | undefined} headersOf
 * @param {(page: Page, address: string, asked: string[]) => Promise<void>} body
 * @param {{ root?: string, isOff?: false | string }} [where]
 */
function isolationTest(title, headersOf, body, { root = ROOT, isOff = NO_THREADS } = {}) {
  test(title, isOff ? { ...options, skip: isOff } : options, async () => {
    /** @type {string[]} */
    const asked = [];
    const server = await serve(root, {
      headersOf(path) {
        asked.push(path);
        return headersOf(path);
      },
    });
    const page = await browser.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on('pageerror', (error) => {
      // Firefox tells so of a Worker whose script is refused, besides the Worker's own event.
      if (!/worker script|Loading Worker/.test(String(error))) errors.push(String(error));
    });
    try {
      await page.goto(`${server.url}${PACKAGE}`);
      await body(page, `${server.url}${PACKAGE}`, asked);
      assert.deepEqual(errors, []);
    } finally {
      await page.close();
      server.close();
    }
  });
}

const NEEDS_COEP = /isolated page's Workers need Cross-Origin-Embedder-Policy: require-corp/;

/** @param {Outcome} outcome */
function hasThreads({ infos, same }) {
  assert.deepEqual(
    infos.map(({ threads }) => threads),
    [1, 2, 3],
  );
  assert.deepEqual([infos[1].threadsReason, infos[2].threadsReason], ['', '']);
  assert.ok(same);
}

/** @param {Outcome} outcome @param {RegExp} reason */
function hasOneThread({ infos, same }, reason) {
  for (const { threads, threadsReason } of infos.slice(1)) {
    assert.equal(threads, 1);
    assert.match(threadsReason, reason);
  }
  assert.ok(same);
}

isolationTest(
  'with cross-origin isolation two and three threads work on the page',
  () => ISOLATION,
  async (page, address) => hasThreads(await page.evaluate(compute, address)),
);

test(
  'with cross-origin isolation two and three threads work in a Worker',
  NO_THREADS ? { ...options, skip: NO_THREADS } : options,
  async () => {
    /** @type {(outcome: string) => void} */
    let told = () => {};
    const outcome = new Promise((/** @type {(text: string) => void} */ resolve) => {
      told = resolve;
    });
    const server = await serve(ROOT, { headersOf: () => ISOLATION, onPost: told });
    const close = await show(`${server.url}${COMPUTE}.html`);
    try {
      hasThreads(JSON.parse(await outcome));
    } finally {
      await close();
      server.close();
    }
  },
);

isolationTest(
  'many engines with threads leave no Worker behind',
  () => ISOLATION,
  async (page, address) => {
    const threads = await page.evaluate(async (path) => {
      const { load, zeros } = await import(path);
      Object.assign(globalThis, { last: await load({ threads: 4 }) });
      const counts = new Set();
      for (let i = 0; i < 30; i++) {
        const hw = await load({ threads: 3 });
        new hw.Linear({ inFeatures: 2, outFeatures: 2 }).forward(zeros([500, 2]));
        counts.add(hw.info.threads);
        hw.dispose();
      }
      return [...counts];
    }, address);
    assert.deepEqual(threads, [3]);
    const left = async (/** @type {number} */ count) => {
      while (page.workers().length !== count)
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await left(3);
    await page.evaluate('last.dispose()');
    await left(0);
  },
);

/**
 * Runs in the browser: a thread is ended while it computes.
 *
 * @param {string} address of the package
 * @param {string} mortal address of tests/mortal-worker.js
 */
async function computeUntilDeath(address, mortal) {
  const { load } = await import(address);
  const { Crew } = await import(new URL('engine/threads.js', address).href);
  const start = Crew.start.bind(Crew);
  Crew.start = async (/** @type {number} */ count) =>
    Object.assign(await start(count), { mebilooks: 64 });
  /** @type {Worker[]} */
  const workers = [];
  const Own = Worker;
  Object.assign(globalThis, {
    Worker: class extends Own {
      /** @param {string | URL} script */
      constructor(script) {
        super(mortal, { type: 'module' });
        this.postMessage({ script: String(script) });
        workers.push(this);
      }
    },
  });
  const hw = await load({ threads: 3 });
  const errors = [];
  const q = hw.rand([6000, 64]);
  // At another time each: one may be between two calls.
  workers.forEach((worker, i) => worker.postMessage({ end: 100 + 230 * i }));
  const end = performance.now() + 120_000;
  while (errors.length < 2 && performance.now() < end) {
    try {
      hw.scaledDotProductAttention(q, q, q);
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      errors.push(`${code} ${message}`);
    }
  }
  hw.dispose();
  globalThis.Worker = Own;
  const another = await load({ threads: 2 });
  const { shape } = another.scaledDotProductAttention(q, q, q).output;
  another.dispose();
  return { threads: [hw.info.threads, another.info.threads], errors, shape };
}

isolationTest(
  'a thread that is ended while it computes fails its call and all that follow; another engine works',
  () => ISOLATION,
  async (page, address) => {
    const mortal = new URL('/tests/mortal-worker.js', address).href;
    const { threads, errors, shape } = await page.evaluate(computeUntilDeath, address, mortal);
    const error = 'ERR_LOAD a thread of the engine died; load() starts another';
    assert.deepEqual(errors, [error, error]);
    assert.deepEqual(threads, [3, 2]);
    assert.deepEqual(shape, [6000, 64]);
  },
);

isolationTest(
  'without the headers there is one thread, and no module for threads is fetched',
  () => ({}),
  async (page, address, asked) => {
    const reason = /SharedArrayBuffer.*Cross-Origin-Embedder-Policy/;
    hasOneThread(await page.evaluate(compute, address), reason);
    const self = new URL(`/${COMPUTE}.js`, address).href;
    hasOneThread(await page.evaluate(computeInWorker, address, self), reason);
    assert.ok(asked.some((path) => path.endsWith('.wasm')));
    assert.deepEqual(
      asked.filter((path) => path.includes('-threads.wasm') || path.endsWith('worker-thread.js')),
      [],
    );
  },
  { isOff: false },
);

if (NO_THREADS)
  isolationTest(
    'with the headers, but without SharedArrayBuffer, there is one thread and the reason',
    () => ISOLATION,
    async (page, address) => {
      hasOneThread(await page.evaluate(compute, address), /^SharedArrayBuffer is not available/);
    },
    { isOff: false },
  );

isolationTest(
  'a policy that forbids Workers leaves one thread and the reason',
  () => ({ ...ISOLATION, 'content-security-policy': "worker-src 'none'" }),
  async (page, address) => {
    hasOneThread(await page.evaluate(compute, address), /^a Worker could not be started: /);
  },
);

isolationTest(
  "a missing file of the Workers' leaves one thread and the reason",
  (path) => (path.endsWith('worker-thread.js') ? undefined : ISOLATION),
  async (page, address) => {
    hasOneThread(await page.evaluate(compute, address), /^a Worker could not be started: /);
  },
);

isolationTest(
  "a file of the Workers' that is sent without the headers leaves one thread and names the header",
  (path) => (path.endsWith('worker-thread.js') ? {} : ISOLATION),
  async (page, address) => {
    hasOneThread(await page.evaluate(compute, address), NEEDS_COEP);
  },
);

isolationTest(
  'an engine whose Worker is sent without the headers is refused with the header it needs',
  (path) => (path.endsWith('host.js') ? {} : ISOLATION),
  async (page, address) => {
    const told = await page.evaluate(async (path) => {
      const { load } = await import(path);
      return load().then(
        () => 'runs',
        (/** @type {any} */ { name, code, message }) => `${name} ${code}: ${message}`,
      );
    }, new URL('worker.js', address).href);
    assert.match(told, /^HeadwiseError ERR_LOAD: /);
    assert.match(told, NEEDS_COEP);
  },
);

test(
  'threads work in what a bundler makes of the package',
  engine.hasThreads ? options : { skip: String(NO_THREADS) },
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'headwise-bundle-'));
    const entry = `import { load } from ${JSON.stringify(join(ROOT, PACKAGE))}; globalThis.load = load;`;
    await writeFile(join(root, 'index.html'), '<script type="module" src="./main.js"></script>');
    await writeFile(join(root, 'main.js'), entry);
    await build({ configFile: false, root, base: './', logLevel: 'warn' });
    const server = await serve(join(root, 'dist'), { headersOf: () => ISOLATION });
    const page = await browser.newPage();
    try {
      await page.goto(server.url);
      const bundled = 'data:text/javascript,export const { load } = globalThis';
      hasThreads(await page.evaluate(compute, bundled));
    } finally {
      await page.close();
      server.close();
      await rm(root, { recursive: true, force: true });
    }
  },
);
