// The API reference: whole, and without a link that leads nowhere.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'headwise';
import config from '../vite.config.js';
import { readHeader } from '../web/reference/c-documents.js';
import { runNode } from './child.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Entries that are not called: what bundlers are told to put beside the bundle, and files. */
const NOT_CALLED = ['./host.js', './worker-thread.js', './wasm/*', './package.json'];

/** @type {string} */
let out;
/** Texts of the pages, by their place. @type {Map<string, string>} */
const pages = new Map();

before(async () => {
  out = await mkdtemp(join(tmpdir(), 'headwise-reference-'));
  const args = [join(ROOT, 'web/reference/build.js'), out];
  const { status, stdout, stderr } = await runNode('the API reference', args);
  assert.equal(status, 0, stdout + stderr);
  for (const name of await readdir(out, { recursive: true })) {
    if (!name.endsWith('.html')) continue;
    // TypeDoc lets long names break.
    const text = (await readFile(join(out, name), 'utf8')).replaceAll(/<wbr\/?>/g, '');
    pages.set(join(out, name), text);
  }
});

after(() => rm(out, { recursive: true, force: true }));

const page = (/** @type {string} */ name) => pages.get(join(out, name)) ?? assert.fail(name);
const addressOf = (/** @type {string} */ entry) => entry.replace('.', 'headwise');
const moduleOf = (/** @type {string} */ entry) =>
  page(`modules/${addressOf(entry).replace('/', '_')}.html`);

test('every entry of the package has a page with all its exports, values and types', async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const called = Object.keys(exports).filter((entry) => !NOT_CALLED.includes(entry));
  assert.ok(called.length >= 4);
  for (const entry of called) {
    const source = await readFile(join(ROOT, exports[entry].default), 'utf8');
    const types = [...source.matchAll(/@typedef \{.*\} (\w+)/g)].map(([, name]) => name);
    const values = Object.keys(await import(addressOf(entry)));
    assert.ok(values.length > 0);
    for (const name of [...values, ...types]) {
      assert.ok(moduleOf(entry).includes(`>${name}<`), `${name} of ${addressOf(entry)}`);
    }
  }
});

test('everything that an engine has is on its page', async () => {
  const hw = await load();
  const text = page('classes/headwise.Headwise.html');
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(hw));
  for (const name of [...Object.keys(hw), ...methods.filter((each) => each !== 'constructor')]) {
    assert.ok(text.includes(`<span>${name}</span>`), name);
  }
  hw.dispose();
});

test('a class’s page has its constructor, as it is called', () => {
  const called = {
    Linear: /new Linear\(options: LinearOptions\): Linear/,
    MultiHeadAttention:
      /new MultiHeadAttention\( ?options: MultiHeadAttentionOptions,? ?\): MultiHeadAttention/,
    TransformerBlock:
      /new TransformerBlock\( ?options: TransformerBlockOptions,? ?\): TransformerBlock/,
    AdamW: /new AdamW\( ?parameters: .*options\?: AdamWOptions/,
  };
  for (const [name, pattern] of Object.entries(called)) {
    const text = page(`classes/headwise.${name}.html`).replaceAll(/<[^>]+>|\s+/g, ' ');
    assert.match(
      text
        .replaceAll(/ +/g, ' ')
        .replaceAll(/ ([(),:;?])/g, '$1')
        .replaceAll('( ', '('),
      pattern,
    );
  }
});

test('every page leads back to the page that it lies beside, and can be searched', async () => {
  for (const [file, text] of pages) {
    const [, href] = /<a href="([^"]*)"[^>]*>To the page/.exec(text) ?? assert.fail(file);
    assert.equal(resolve(dirname(file), href), resolve(out, '..', 'index.html'));
    assert.match(text, /id="tsd-search-trigger"|tsd-search/, file);
    assert.ok(!text.includes('headwise.invalid'), file);
  }
  const index = await readFile(join(out, 'assets/search.js'), 'utf8');
  assert.ok(index.length > 10_000);
});

test('the navigation names the package once', async () => {
  const packed = await readFile(join(out, 'assets/navigation.js'), 'utf8');
  const [, base64] = /"([^"]+)"/.exec(packed) ?? assert.fail('no data');
  const stream = new Blob([Buffer.from(base64, 'base64')])
    .stream()
    .pipeThrough(new DecompressionStream('deflate'));
  /** @type {{ text: string }[]} */
  const entries = await new Response(stream).json();
  const names = entries.map(({ text }) => text);
  assert.equal(names.filter((name) => name === 'headwise').length, 1, names.join(', '));
  assert.equal(new Set(names).size, names.length);
});

test('everything that headwise.h declares has a heading', async () => {
  const header = await readFile(join(ROOT, 'include/headwise.h'), 'utf8');
  const code = header.replaceAll(/\/\*[^]*?\*\//g, '');
  const declared = [
    ...code.matchAll(/\b(hw_\w+)\(/g),
    ...code.matchAll(/^(?:typedef .*|\}) (hw_\w+);/gm),
    ...code.matchAll(/^#define (HW_\w+)/gm),
  ]
    .map(([, name]) => name)
    .filter((name) => name !== 'HW_API'); // of no interest to callers
  const documents = [...pages]
    .filter(([name]) => name.includes('documents'))
    .map(([, text]) => text);
  const headings = documents.flatMap((text) => [...text.matchAll(/<h2 id="[^"]*"[^>]*>(.*?)<a/g)]);
  const names = new Set(headings.flatMap(([, heading]) => heading.split(', ')));
  assert.ok(declared.length > 60, `${declared.length} declarations`);
  for (const text of documents) assert.doesNotMatch(text, /HW_API/);
  assert.deepEqual(
    declared.filter((name) => !names.has(name)),
    [],
  );
});

test('a declaration without a comment is refused by its name', () => {
  const section = '/* ---- Status ---- */\n\n';
  const documented = `/* What for. */\n#ifdef __cplusplus\n${section}/* One. */\nvoid hw_one(int a);\n`;
  const [{ declarations }] = readHeader(documented).sections;
  assert.deepEqual(declarations[0].names, ['hw_one']);
  assert.throws(() => readHeader(`${documented}\nvoid hw_two(void);\n`), /hw_two has no comment/);
});

test('no link leads nowhere, neither to a missing file nor to a missing place in one', async () => {
  let links = 0;
  for (const [file, text] of pages) {
    for (const [, link] of text.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(link) || /^(\.\.\/)+index\.html$/.test(link)) continue;
      const [path, place] = decodeURIComponent(link.replaceAll('&amp;', '&')).split('#');
      const target = path === '' ? file : resolve(dirname(file), path);
      links++;
      if (!target.endsWith('.html')) {
        assert.ok(await readFile(target), `${link} in ${file}`);
        continue;
      }
      const found = pages.get(target) ?? assert.fail(`${link} in ${file}`);
      if (place) assert.ok(found.includes(` id="${place}"`), `${link} in ${file}`);
    }
  }
  assert.ok(links > 1000, `${links} links`);
});

test('the page that is built links to it', async () => {
  const html = await readFile(join(ROOT, 'web/index.html'), 'utf8');
  const [plugin] = /** @type {any} */ (config).plugins;
  assert.match(plugin.transformIndexHtml(html), /href="\.\/reference\/index\.html"/);
});
