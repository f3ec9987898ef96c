// What a TypeScript project sees: the generated declarations, README's JavaScript and a consumer's code, checked strictly.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { withUndefined } from '../web/build/optional-types.js';
import { withReExports } from '../web/build/re-exports.js';
import { runNode } from './child.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'headwise-types-'));
after(() => rm(folder, { recursive: true, force: true }));

/** @param {string[]} args @returns {Promise<string>} what it complains about */
async function tsc(args) {
  const path = join(ROOT, 'node_modules/@typescript/native/bin/tsc');
  const { stdout, stderr } = await runNode('tsc', [path, ...args], { cwd: ROOT });
  return stdout + stderr;
}

/** The package where a project has it, with the declarations that `npm pack` makes. */
async function install() {
  const place = join(folder, 'headwise');
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.package.json', 'web/headwise'])
    await cp(join(ROOT, part), join(place, part), {
      recursive: true,
      filter: (path) => !path.includes('types/'),
    });
  await mkdir(join(folder, 'node_modules'));
  await symlink(place, join(folder, 'node_modules/headwise'));
  const typeRoots = join(ROOT, 'node_modules/@types');
  const config = join(place, 'tsconfig.package.json');
  const complaint = await tsc(['-p', config, '--types', 'node', '--typeRoots', typeRoots]);
  const script = join(ROOT, 'web/build/package-types.js');
  const { stderr } = await runNode('types', [script, join(place, 'web/headwise/types')]);
  return complaint + stderr;
}

/**
 * Checks files under the strictest options, the declarations too.
 * @param {Record<string, string>} files name to code
 * @param {Record<string, unknown>} [options] of the compiler, besides
 */
async function complaints(files, options) {
  const name = Object.keys(files)[0].replace(/\..*/, '');
  const compilerOptions = JSON.parse(
    await readFile(join(ROOT, 'tests/embed/types/tsconfig.json'), 'utf8'),
  ).compilerOptions;
  for (const [file, code] of Object.entries(files)) await writeFile(join(folder, file), code);
  const config = join(folder, `${name}.tsconfig.json`);
  await writeFile(
    config,
    JSON.stringify({
      compilerOptions: { ...compilerOptions, ...options },
      files: Object.keys(files),
    }),
  );
  return tsc(['-p', config]);
}

/** Whether a member is one of the package's own for everyone. @param {ts.Symbol} member */
const isPublic = ({ name, declarations = [] }) =>
  !name.includes('#') &&
  declarations.length > 0 &&
  declarations.every(
    (node) =>
      node.getSourceFile().fileName.startsWith(folder) &&
      !(ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Protected),
  );

await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
const declared = await install();
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);

test('declarations are written without a complaint', () => assert.equal(declared, ''));

test('optional properties take undefined, within each other too, and Required takes it away', () =>
  assert.equal(
    withUndefined('export class A { a?: Required<B<{ c?: () => void }>>; d: number }\n'),
    'export class A { a?: { [Key in keyof B<{ c?: (() => void) | undefined }>]-?: ' +
      'Exclude<B<{ c?: (() => void) | undefined }>[Key], undefined> } | undefined; d: number }\n',
  ));

test('a type of another file is handed on, and not one with other parameters', () => {
  const kept = "export type E = import('./d.js').E<any>;\n";
  const text = withReExports(
    `export type A<T = 1> = import('./b.js').A<T>;\nexport type C = import("./d.js").D;\n${kept}`,
  );
  assert.equal(
    text,
    "import type { A } from './b.js';\nexport type { A };\n" +
      `import type { D as C } from "./d.js";\nexport type { C };\n${kept}`,
  );
});

test('each way of calling a function has its comment, as editors show it', async () => {
  const types = join(folder, 'headwise/web/headwise/types');
  /** @param {string} name */
  const read = (name) => readFile(join(types, name), 'utf8');
  let overloads = 0;
  for (const name of await readdir(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await read(name);
    const functions = [...text.matchAll(/(\*\/\n)?export declare function (\w+)/g)];
    for (const [line, comment, called] of functions) {
      if (functions.filter(([, , other]) => other === called).length < 2) continue;
      assert.ok(comment, `${name}: ${line}`);
      overloads++;
    }
  }
  assert.ok(overloads > 10, `${overloads}`);
  for (const name of ['models/decoder.d.ts', 'models/encoder.d.ts'])
    assert.match(await read(name), /\* Makes a model[^]*\*\/\n {4}constructor\(hw/);
  for (const name of ['formats/npy.d.ts', 'formats/safetensors.d.ts', 'models/load-model.d.ts']) {
    const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\nexport declare (async )?function/g;
    for (const [text] of (await read(name)).matchAll(comment))
      assert.doesNotMatch(text, / source\n/);
  }
});

test('every public name of every entry has a comment, and so has each of its members', async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const entries = Object.keys(exports).filter(
    (entry) => exports[entry].types && !/js$/.test(entry),
  );
  const paths = entries.map((entry) => join(folder, 'headwise', exports[entry].types));
  const lib = ['lib.esnext.d.ts', 'lib.dom.d.ts'];
  const program = ts.createProgram(paths, { strict: true, types: [], lib });
  const checker = program.getTypeChecker();
  /** @param {ts.Symbol} name */
  const isBare = (name) => name.getDocumentationComment(checker).length === 0;
  const bare = new Set();
  let names = 0;
  for (const path of paths) {
    const entry = checker.getSymbolAtLocation(program.getSourceFile(path) ?? assert.fail(path));
    for (const exported of checker.getExportsOfModule(entry ?? assert.fail(path))) {
      const isTaken = exported.flags & ts.SymbolFlags.Alias;
      const name = isTaken ? checker.getAliasedSymbol(exported) : exported;
      if (isBare(name)) bare.add(exported.name);
      const members = checker.getDeclaredTypeOfSymbol(name).getProperties().filter(isPublic);
      for (const member of members.filter(isBare)) bare.add(`${name.name}.${member.name}`);
      names += 1 + members.length;
    }
  }
  assert.deepEqual([...bare], []);
  assert.ok(names > 1000, `${names}`);
});

test('every block of README compiles under strict', async () => {
  assert.ok(blocks.length >= 5);
  const files = Object.fromEntries(
    blocks.map((code, i) => [`readme-${i + 1}.ts`, `${code}\nexport {};\n`]),
  );
  assert.equal(await complaints(files), '');
});

test('with the lines of README React knows the element', async () => {
  const [, lines] = /```ts\n([^]*?)```/.exec(readme) ?? [];
  await mkdir(join(folder, 'node_modules/@types'));
  for (const name of ['@types/react', 'csstype'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const tsx = `import type {} from './react.js';
    export const weights = <attention-map compact zoomable style={{ width: '20rem' }}
      ref={(map) => void map?.show({ weights: [[1]], tokens: ['a'] })} />;`;
  const files = { 'map.tsx': tsx, 'react.d.ts': `${lines}` };
  assert.equal(await complaints(files, { jsx: 'react-jsx' }), '');
  assert.match(
    await complaints(
      { 'wrong.tsx': tsx.replace('zoomable', 'zoomable="yes"'), ...files },
      { jsx: 'react-jsx' },
    ),
    /wrong\.tsx.*not assignable to type 'boolean'/,
  );
});

test('a consumer’s code compiles, and its errors are errors', async () => {
  const path = join(ROOT, 'tests/embed/types/consumer.ts');
  assert.equal(await complaints({ 'consumer.ts': await readFile(path, 'utf8') }), '');
});

test('what an app makes with the package it can export, with declarations of its own', async () => {
  const code = await readFile(join(ROOT, 'tests/embed/types/exported.ts'), 'utf8');
  const outDir = join(folder, 'declared');
  const written = { declaration: true, emitDeclarationOnly: true, noEmit: false, outDir };
  assert.equal(await complaints({ 'exported.ts': code }, written), '');
  const bundler = { ...written, module: 'ESNext', moduleResolution: 'Bundler' };
  assert.equal(await complaints({ 'exported.ts': code }, bundler), '');
  assert.match(await readFile(join(outDir, 'exported.d.ts'), 'utf8'), /const hw: Headwise;/);
});

test('what was not asked for is not there for sure', async () => {
  const code = `import { load, tensor } from 'headwise';
    const hw = await load();
    const block = new hw.TransformerBlock({ dModel: 4, numHeads: 2, dFf: 8 });
    console.log(block.forward(tensor([[1, 2, 3, 4]])).trace.shape);
    export {};`;
  assert.match(await complaints({ 'careless.ts': code }), /careless\.ts\(4,.*possibly 'undefined'/);
});

test('every option that may be left out may be undefined, whatever the entry', async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const lines = [
    'type Passed<T> = { [K in keyof T]: {} extends Pick<T, K> ? T[K] | undefined : T[K] };',
  ];
  for (const [entry, { default: path = '' }] of Object.entries(exports)) {
    const source = path.endsWith('.js') ? await readFile(join(ROOT, path), 'utf8') : '';
    for (const [, name] of source.matchAll(/@typedef \{.*\} (\w+Options)\b/g)) {
      const type = `import('${entry.replace('.', 'headwise')}').${name}`;
      lines.push(`export const is${lines.length} = (given: Passed<${type}>): ${type} => given;`);
    }
  }
  assert.ok(lines.length > 40, `${lines.length - 1} types of options`);
  assert.equal(await complaints({ 'passed.ts': lines.join('\n') }), '');
});
