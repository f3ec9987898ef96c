// What a step's code imports, however it is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStep } from '../web/page/lessons/imports.js';
import { notAwaited } from '../web/page/lessons/not-awaited.js';

/** @param {string} code */
const importsOf = (code) => readStep(code).imports.map(({ name }) => name);

test('every way to import or to hand on is found, with its place', () => {
  const code = `import a, { b as c } from 'one';
import * as d from "two";
import 'three';
export { e } from 'four';
export * from 'five';
const { f } = await import('six');`;
  const { imports } = readStep(code);
  assert.deepEqual(
    imports.map(({ name }) => name),
    ['one', 'two', 'three', 'four', 'five', 'six'],
  );
  for (const { name, from, to } of imports) {
    assert.match(code.slice(from, to), new RegExp(`^(['"])${name}\\1$`));
  }
});

test('what is taken from a module by name is found, with its line', () => {
  const wantedIn = (/** @type {string} */ code) => readStep(code).imports[0].wanted;
  assert.deepEqual(wantedIn("import {\n  b as c,\n  d,\n} from 'one';"), [
    { name: 'b', line: 2 },
    { name: 'd', line: 3 },
  ]);
  assert.deepEqual(wantedIn("import a, { default as e } from 'one';"), [
    { name: 'default', line: 1 },
    { name: 'default', line: 1 },
  ]);
  assert.deepEqual(wantedIn("\nexport { x as y } from 'one';"), [{ name: 'x', line: 2 }]);
  assert.deepEqual(wantedIn("export { x as default } from 'one';"), [{ name: 'x', line: 1 }]);
  for (const code of ["import * as f from 'one';", "export * from 'one';", "import('one');"]) {
    assert.deepEqual(wantedIn(code), [], code);
  }
});

test('comments, texts and computed names import nothing', () => {
  for (const code of [
    "// from 'numpy'",
    "/* import x from 'numpy'; */",
    `const text = 'import x from "numpy"';`,
    "const text = `from 'numpy' ${1}`;",
    "export default 'numpy';",
    "export const name = 'numpy';",
    'import(name);',
    "const pattern = /from 'numpy'/;",
    "Array.from('numpy');",
  ]) {
    assert.deepEqual(importsOf(code), [], code);
  }
});

test('code that is not whole yet says what it imports all the same', () => {
  assert.deepEqual(importsOf("import { a } from 'one';\nconst = 1;\nimport b from 'two'"), [
    'one',
    'two',
  ]);
});

test('the line where code breaks off is known, and that of every name it declares', () => {
  assert.equal(readStep('const a = 1;\nlet b = 2;\n').broken, 0);
  assert.equal(readStep('const a = 1;\nconst = 2;\nconst c = 3;').broken, 2);
  assert.equal(
    readStep('const a = 1;\nif (a) {\n  a;\n').broken,
    3,
    'what is not closed: at the end',
  );
  assert.equal(readStep('const = 1;\nreturn 5;').broken, 1, 'the first such line');
  assert.deepEqual(readStep('const a = 1;\nlet b;\nconst a = 2;').declared, { a: 3, b: 2 });
});

test('a number with a comma for thousands breaks off in its own line', () => {
  assert.equal(readStep('const a = {\n  length: 1,024,\n  b: 2,\n};').broken, 2);
  assert.equal(readStep('const a = {\n  width: 12,768,\n};').broken, 2);
  assert.equal(readStep('const a = 1;\nconst b = [1,024];').broken, 2);
  assert.equal(readStep('const a = 1;\nconst b = 0_24;').broken, 2);
  for (const code of [
    'const a = [10,768, 0, 0.5, 0x1f, 0n, 1_024];',
    'const a = { 1: 2, 3() {}, get 4() { return 5; }, [6]: 7, b: 0 };',
    'class A { 1 = 2; 3; }\nconst { 4: b } = {};',
  ]) {
    assert.equal(readStep(code).broken, 0, code);
    assert.doesNotThrow(() => new Function(`'use strict'; ${code}`), code);
  }
});

test('what stands where nothing may stand breaks off in its own line, not in the one before', () => {
  assert.equal(readStep('const a = 1;\n\n# a comment of Python\nconst b = 2;').broken, 3);
  assert.equal(readStep('const a = [1];\n)\n').broken, 2);
  assert.equal(readStep('const a = [1, 2\nconst b = 2;').broken, 1, 'what is missing: before it');
});

test('a constant without a value has its line', () => {
  assert.equal(readStep('let a;\nconst b = 1,\n  c;').broken, 3);
  assert.equal(readStep('for (const a of b) c;\nfor (const d in b) c;\nlet e, f = 1;').broken, 0);
  assert.equal(readStep('const { a, b: [c] } = d;\nconst e = () => 1;').broken, 0);
});

test('a return or an await that stands where there is none has its line', () => {
  assert.equal(readStep('const a = 1;\nif (a) {\n  return 5;\n}\nconst = 2;').broken, 3);
  assert.equal(readStep('const a = [1].map((b) =>\n  await b);').broken, 2);
  assert.equal(readStep('async function a() {\n  [1].map((b) => await b);\n}').broken, 2);
  for (const code of [
    'function a() { if (b) return 1; }',
    'const a = (b) => { return b; };',
    'class A { b() { return 1; } get c() { return 2; } }',
    'const a = { b() { return 1; }, get c() { return 2; }, async d() { await e; } };',
    'await a;\nfor await (const b of c) await b;',
    'const a = async (b) => await b;\nconst c = async function () { return await d; };',
    'class A { async *b() { await c; } }',
  ]) {
    assert.equal(readStep(code).broken, 0, code);
  }
});

test('of a line that uses what was not awaited it is said which line lacks the await', () => {
  const isAsync = (/** @type {string} */ name) => name === 'load';
  /** @param {string[]} codes @param {number} step @param {number} line */
  const hint = (codes, step, line) => notAwaited(codes.map(readStep), { step, line }, isAsync);
  const late = 'const a = 1;\nconst hw = load();\nhw.matmul(a);\na.b;';
  assert.equal(hint([late], 0, 3), '. “hw” is a Promise, for line 2 has no await before “load”');
  assert.match(hint([late, 'hw.sum();'], 1, 1), /, for line 2 of step 1 has no await/);
  assert.match(
    hint(['const { model, encode } = load();\nmodel.forward();'], 0, 2),
    /Without await, “load” gives a Promise, which has no “model”: see line 1$/,
  );
  assert.match(hint(['const hw = load();', 'hw.sum();'], 1, 1), /, for line 1 of step 1 has no/);
  assert.equal(hint(['const hw = load();'], 0, 1), '', 'the line itself fails');
  assert.equal(hint(['hw.sum();', late], 0, 1), '', 'a later step has no part in it');
  assert.equal(hint([late], 0, 4), '', 'it uses another variable');
  assert.equal(hint(['const a = 1, b = load();\na.c(1);'], 0, 2), '', 'a is no Promise');
  for (const code of [
    'const hw = await load();\nhw.matmul();',
    'const hw = draw();\nhw.matmul();',
    'const p = load();\nconst hw = await p; p.a;',
    'const hw = load();\nhw.then((one) => one.a);',
    'const p = load();\nconst both = Promise.all([p, p]);',
  ]) {
    assert.equal(hint([code], 0, 2), '', code);
  }
});
