// The package as bundlers and npm see it. npm run test:embed tries it with each of them.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build, parseAst } from 'vite';
import { run } from './child.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = join(ROOT, 'web', 'headwise');

const manifest = async () => JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

/** @returns {Promise<string[]>} paths of the package's JavaScript */
async function scripts() {
  const names = await readdir(PACKAGE, { recursive: true });
  return names.filter((name) => name.endsWith('.js')).map((name) => join(PACKAGE, name));
}

/**
 * Whether it is waited outside of functions.
 * @param {any} node of a syntax tree
 * @returns {boolean}
 */
function waits(node) {
  if (typeof node !== 'object' || node === null) return false;
  if (/Function|MethodDefinition/.test(node.type)) return false;
  return node.type === 'AwaitExpression' || node.await || Object.values(node).some(waits);
}

/**
 * What a bundler leaves of an app.
 * @param {string} code
 */
async function bundled(code) {
  const app = '\0app.js';
  const plugin = {
    name: 'app',
    resolveId: (/** @type {string} */ id) =>
      id === app ? app : id.startsWith('headwise') ? fileURLToPath(import.meta.resolve(id)) : null,
    load: (/** @type {string} */ id) => (id === app ? code : null),
  };
  const options = { write: false, modulePreload: false, rolldownOptions: { input: app } };
  const made = await build({
    configFile: false,
    root: join(ROOT, 'tests'),
    logLevel: 'silent',
    build: options,
    plugins: [plugin],
  });
  return /** @type {any} */ (made).output[0].code.trim();
}

test('types come first in every condition of exports, and every file is there', async () => {
  const { exports, files } = await manifest();
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    assert.deepEqual(Object.keys(target), ['types', 'default'], entry);
    assert.ok(target.default.startsWith(`./${files[0]}/`), entry);
    const types = target.default.replace('web/headwise/', 'web/headwise/types/');
    assert.equal(target.types, types.replace(/\.js$/, '.d.ts'), entry);
    await readFile(join(ROOT, target.default));
  }
});

test('importing leaves nothing in a bundle but of what defines an element', async () => {
  const entries = ['', '/inline', '/worker', '/formats', '/gpt2'].map((name) => `headwise${name}`);
  const code = entries.map((entry) => `import ${JSON.stringify(entry)};`).join('\n');
  assert.equal(await bundled(code), '');
  assert.match(await bundled("import 'headwise/view';"), /attention-map/);
});

test('no module waits at its top level, and none names a module of Node', async () => {
  const inModule = (/** @type {string} */ code) => waits(parseAst(`${code}\nexport {};`));
  assert.ok(inModule('const a = await b;') && inModule('for await (const a of b) c();'));
  assert.ok(!inModule('async function a() { await b; }\nclass C { async d() { await e; } }'));
  const paths = await scripts();
  assert.ok(paths.length > 50);
  for (const path of paths) {
    const text = await readFile(path, 'utf8');
    assert.ok(!waits(parseAst(text)), path);
    assert.doesNotMatch(text, /['"`]node:/, path);
  }
});

test('npm packs what users need, and nothing else', async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { status, stdout, stderr } = await run('npm pack', 'npm', args, { cwd: ROOT });
  assert.equal(status, 0, stderr);
  const paths = JSON.parse(stdout)[0].files.map((/** @type {{ path: string }} */ { path }) => path);
  const others = paths.filter(
    (/** @type {string} */ path) => !/^web\/headwise\/.*\.(js|d\.ts|wasm)$/.test(path),
  );
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const pictures = Array.from(readme.matchAll(/!\[.+\]\((.+)\)/g), ([, path]) => path);
  assert.equal(pictures.length, 5, 'README shows pictures');
  const documents = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md'];
  assert.deepEqual(others.sort(), [...documents, 'package.json', ...pictures].sort());
  for (const [, link] of readme.matchAll(/\]\(([^#)]+)\)/g)) {
    assert.ok(paths.includes(link), `README links to ${link}, which is packed`);
  }
  const wasm = paths.filter((/** @type {string} */ path) => path.endsWith('.wasm'));
  assert.equal(wasm.length, 4);
});

test('no file of the package imports itself in a circle, of which bundlers warn', async () => {
  /** @type {Map<string, string[]>} what each imports, types apart */
  const imports = new Map();
  for (const path of await scripts()) {
    const found = (await readFile(path, 'utf8')).matchAll(
      /^(?:import|export)[^;]*?from '(\.[^']+)'/gm,
    );
    imports.set(
      path,
      Array.from(found, ([, name]) => join(dirname(path), name)),
    );
  }
  const done = new Set();
  /** @param {string} path @param {string[]} way */
  const follow = (path, way) => {
    assert.ok(!way.includes(path), [...way, path].join(' imports '));
    if (!done.has(path)) imports.get(path)?.forEach((next) => follow(next, [...way, path]));
    done.add(path);
  };
  for (const path of imports.keys()) follow(path, []);
  assert.ok(done.size > 50);
});
