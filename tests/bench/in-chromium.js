// The benchmark in Chromium, on the very files of the repository: no bundler in between.
import { fileURLToPath } from 'node:url';
import { ISOLATION, findBrowser, launch, serve } from '../browser.js';
import { UsageError } from '../../web/build/command-line.js';

/** @typedef {import('../../web/page/bench/bench.js').Result} Result */
/** @typedef {ReturnType<typeof import('./in-page.js').start>} Started */
/** @typedef {{ start: typeof import('./in-page.js').start, results: Awaited<Started>['results'] }} BenchPage */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** No call into the page, of one result, takes longer. */
const LONGEST_MS = 900_000;

const NO_BROWSER =
  '--browser is chromium, but there is none: install it or name it in CHROMIUM_PATH';

/**
 * One result after another, out of the page.
 * @param {import('puppeteer-core').Page} page
 * @returns {AsyncGenerator<Result, void, void>}
 */
async function* resultsOf(page) {
  for (;;) {
    const { done, value } = await page.evaluate(() =>
      /** @type {BenchPage} */ (/** @type {unknown} */ (globalThis)).results.next(),
    );
    if (done) return;
    yield /** @type {Result} */ (value);
  }
}

/** @param {import('./options.js').Options} options */
export async function runInChromium({ shapes, threads, simds, seconds }) {
  const executable = findBrowser();
  if (!executable) throw new UsageError(NO_BROWSER);
  const site = await serve(ROOT, { headersOf: () => ISOLATION });
  const browser = await launch(executable, { protocolTimeout: LONGEST_MS });
  const close = async () => {
    await browser.close();
    site.close();
  };
  try {
    const page = await browser.newPage();
    await page.goto(`${site.url}tests/bench/page.html`);
    const missing = await page.evaluate(
      async (options) => {
        const here = /** @type {BenchPage} */ (/** @type {unknown} */ (globalThis));
        const started = await here.start(options);
        here.results = started.results;
        return started.missing;
      },
      { shapes, threads, simds, seconds },
    );
    const notes = missing.map((simd) => `This browser cannot run the ${simd} module.`);
    return { runtime: await browser.version(), notes, results: resultsOf(page), close };
  } catch (error) {
    await close();
    throw error;
  }
}
