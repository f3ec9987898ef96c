// The package's own tests in a browser, as they are: an import map puts stand-ins in place of Node's modules.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'headwise';
import { bitsOf } from '../bits.js';
import { serve } from '../browser.js';
import { engine, enter, NO_BROWSER } from './engines.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What either module may compute otherwise. */
const NUMBERS = [
  ...['seeds', 'functions', 'modules', 'attention-options', 'forward-masks', 'nan', 'random'],
  ...['cache', 'blocks', 'torch', 'torch-options', 'torch-blocks', 'torch-gpt2', 'gpt2-generate'],
];
/** What JavaScript does around either. */
const AROUND = [
  ...['state', 'memory', 'cache-errors', 'errors', 'bad-calls', 'blocks-errors', 'formats'],
  ...['formats-hostile', 'gpt2-config', 'gpt2-state'],
];

const path = engine.find();
if (!path && process.env.CI) test('a browser is there', () => assert.fail(NO_BROWSER));
const options = { skip: path ? false : NO_BROWSER, timeout: 300_000 };

/** @type {import('puppeteer-core').Browser} */
let browser;
/** @type {() => Promise<void>} */
let leave = async () => {};
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;

before(async () => {
  if (!path) return;
  server = await serve(ROOT);
  ({ browser, leave } = await enter(path));
});

after(async () => {
  await leave();
  server?.close();
});

/**
 * Runs in the browser.
 *
 * @param {string} folder
 * @param {string} file
 * @param {string} simd
 * @returns {Promise<{ title: string, error?: string }[]>}
 */
async function runFile(folder, file, simd) {
  Object.assign(globalThis, { process: { env: { HEADWISE_SIMD: simd } } });
  await import(`${folder}${file}.test.js`);
  const { run } = await import(`${folder}browsers/node-test.js`);
  return run();
}

/** @param {'simd128' | 'relaxed'} simd @param {string[]} files */
function suite(simd, files) {
  /** One for all: the package's files are loaded once. @type {import('puppeteer-core').Page} */
  let page;
  before(async () => {
    if (!path) return;
    page = await browser.newPage();
    await page.goto(`${server.url}tests/browsers/suite.html`);
  });
  after(() => page?.close());

  for (const file of files)
    test(`the tests of ${file} pass`, options, async (t) => {
      const results = await page.evaluate(runFile, `${server.url}tests/`, file, simd);
      assert.ok(results.length > 0);
      const failed = results.filter(({ error }) => error !== undefined);
      const texts = failed.map(({ title, error }) => `${title}: ${error}`);
      assert.equal(texts.length, 0, texts.join('\n'));
      t.diagnostic(`${results.length} tests`);
    });
}

describe(`with the SIMD128 module in ${engine.name}`, () =>
  suite('simd128', [...NUMBERS, ...AROUND]));
if (engine.hasRelaxed)
  describe(`with the relaxed module in ${engine.name}`, () => suite('relaxed', NUMBERS));

test(`the SIMD128 module gives the same bits in ${engine.name} as in Node`, options, async () => {
  const page = await browser.newPage();
  try {
    await page.goto(`${server.url}tests/browsers/suite.html`);
    const bits = await page.evaluate(async (folder) => {
      Object.assign(globalThis, { process: { env: {} } });
      const { load: loadThere } = await import(`${folder}../web/headwise/index.js`);
      const { bitsOf: bitsThere } = await import(`${folder}bits.js`);
      return bitsThere(await loadThere({ simd: 'simd128' }));
    }, `${server.url}tests/`);
    assert.equal(bits, bitsOf(await load({ simd: 'simd128' })));
  } finally {
    await page.close();
  }
});
