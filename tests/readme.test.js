// README's lines, run as they stand there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fusedTable } from './seeds.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} code @returns {string} what it prints */
function run(code) {
  const args = ['--input-type=module', '-e', code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);

test('the first lines print the numbers of the notebooks', () => {
  const code = blocks.find((block) => block.includes("from 'headwise'"));
  assert.ok(code);
  const [output, weights] = run(
    `const print = (value) => process.stdout.write(JSON.stringify(value) + '\\n');\n${code.replaceAll('console.log', 'print')}`,
  )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(weights.length, 3);
  assert.ok(
    weights.every((/** @type {number[]} */ row) => Math.abs(row[0] + row[1] + row[2] - 1) < 1e-6),
  );
  // Tokens do not see later ones, so that three of the notebooks' six are enough.
  output.forEach((/** @type {number[]} */ row, /** @type {number} */ i) =>
    row.forEach((value, j) => assert.ok(Math.abs(value - fusedTable[i][j]) < 5.1e-5)),
  );
});

test('the lines with a Worker run and end', () => {
  const code = blocks.find((block) => block.includes("from 'headwise/worker'"));
  assert.ok(code);
  assert.equal(run(`${code}\nconsole.log(output.shape.join());`), '1,3\n');
});

test('the lines with a GPT-2 load a checkpoint, look into it and continue', () => {
  const code = blocks.find((block) => block.includes("from 'headwise/gpt2'"));
  assert.ok(code);
  const folder = new URL('fixtures/gpt2/f32/', import.meta.url).href;
  const here = code.replaceAll('https://example.org/gpt2/', folder);
  assert.notEqual(here, code);
  const [first, ...ids] =
    run(`const print = (...values) => process.stdout.write(JSON.stringify(values) + '\\n');
    ${here.replaceAll('console.log', 'print')}`)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const [shape, weights] = first;
  assert.deepEqual(shape, [1, 50]);
  assert.deepEqual([weights.length, weights[0]], [4, [1, 0, 0, 0]]);
  assert.equal(ids.length, 12);
  assert.ok(ids.every(([id]) => Number.isInteger(id) && id >= 0 && id < 50));
});
