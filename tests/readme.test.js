// README's lines, run as they stand there.
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { zeros } from 'headwise';
import { writeNpy, writeSafetensors } from 'headwise/formats';
import { TransformerEncoderLayer } from 'headwise/torch';
import { findBrowser, ISOLATION, launch, serve } from './browser.js';
import { NO_BROWSER } from './browsers/engines.js';
import { runNode } from './child.js';
import { engine } from './helpers.js';
import { fusedTable } from './seeds.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHECKPOINT = new URL('fixtures/gpt2/f32/', import.meta.url);

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
/** @param {string} language */
const blocksOf = (language) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, code]) => code);
const blocks = [...blocksOf('js'), ...blocksOf('mjs')];
/** Those that a test has run. @type {Set<string>} */
const ran = new Set();

/** The one that imports it first. @param {string} entry */
function blockOf(entry) {
  const code = blocks.find((block) => !ran.has(block) && block.includes(`'${entry}';`));
  assert.ok(code, `README has lines with ${entry}`);
  ran.add(code);
  return code;
}

/** A folder within the package, so that its name leads to it, with the files that the lines open. @type {string} */
let folder;

before(async () => {
  await mkdir(join(ROOT, 'build'), { recursive: true });
  folder = await mkdtemp(join(ROOT, 'build', 'readme-'));
  await copyFile(new URL('model.safetensors', CHECKPOINT), join(folder, 'model.safetensors'));
  await writeFile(join(folder, 'x.npy'), writeNpy(zeros([2, 3])));
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {string} code @returns {Promise<any[][]>} what each line that it logs says */
async function run(code) {
  const print = `const print = (...values) => process.stdout.write(JSON.stringify(values) + '\\n');`;
  const script = `${print}\n${code.replaceAll('console.log', 'print')}`;
  const args = ['--input-type=module', '-e', script];
  const { status, stdout, stderr } = await runNode('lines of README', args, { cwd: folder });
  assert.equal(status, 0, stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test('the lines with a model load it by name, look into it and continue', async () => {
  const code = blockOf('headwise/models');
  const place = fileURLToPath(new URL('fixtures/models/llama', import.meta.url));
  const here = code.replace("'HuggingFaceTB/SmolLM2-135M'", JSON.stringify(place));
  assert.notEqual(here, code);
  const [[shape, weights], ...ids] = await run(here);
  assert.deepEqual([shape[0], weights.length, weights[0]], [1, 4, [1, 0, 0, 0]]);
  assert.equal(ids.length, 12);
});

test('the lines on heads attribute a logit, patch a head and tell what it does', async () => {
  const code = blockOf('headwise/models');
  assert.match(code, /attribution/);
  const place = fileURLToPath(new URL('fixtures/models/llama', import.meta.url));
  const here = code.replace("'HuggingFaceTB/SmolLM2-135M'", JSON.stringify(place));
  const [[heads, total], [logits], [norms], [copying]] = await run(here);
  assert.deepEqual([heads.length, heads[0].length], [2, 2]);
  assert.ok(Number.isFinite(total) && Math.abs(copying) <= 1);
  assert.deepEqual(
    [logits, norms],
    [
      [1, 40],
      [4, 4],
    ],
  );
});

test("the lines with torch's modules load a state dict and show heads", async () => {
  const hw = await engine();
  const layer = new TransformerEncoderLayer(hw, { dModel: 12, nhead: 3, dimFeedforward: 30 });
  await writeFile(join(folder, 'layer.safetensors'), writeSafetensors(layer.stateDict()));
  const [[shape, weights], [crossShape]] = await run(blockOf('headwise/torch'));
  assert.deepEqual(shape, [7, 12]);
  for (const row of weights) assert.deepEqual(row.slice(5), [0, 0]);
  assert.deepEqual(crossShape, [3, 7, 5]);
});

test('the lines with sweeps ablate, patch and read all layers in a Worker', async () => {
  const code = blockOf('headwise/understanding');
  const place = fileURLToPath(new URL('fixtures/models/llama', import.meta.url));
  const here = code.replace("'HuggingFaceTB/SmolLM2-135M'", JSON.stringify(place));
  assert.notEqual(here, code);
  const [[effects], [recovered], [lens]] = await run(here);
  assert.deepEqual([effects.length, effects[0].length], [2, 2]);
  assert.deepEqual(
    [recovered, lens],
    [
      [2, 4],
      [3, 4, 3],
    ],
  );
});

test('the lines on scores say what heads do and why', async () => {
  const code = blockOf('headwise/understanding');
  const place = fileURLToPath(new URL('fixtures/models/llama', import.meta.url));
  const here = code.replace("'HuggingFaceTB/SmolLM2-135M'", JSON.stringify(place));
  const [[induction], [score, heads, embedding], [row]] = await run(here);
  assert.deepEqual([induction.length, heads.length, row.length], [2, 2, 4]);
  assert.ok(Number.isFinite(score + embedding));
});

test('the lines with a GPT-2 load a checkpoint, look into it and continue', async () => {
  const code = blockOf('headwise/gpt2');
  const here = code.replaceAll('https://example.org/gpt2/', CHECKPOINT.href);
  assert.notEqual(here, code);
  const [[shape, weights], ...ids] = await run(here);
  assert.deepEqual(shape, [1, 50]);
  assert.deepEqual([weights.length, weights[0]], [4, [1, 0, 0, 0]]);
  assert.equal(ids.length, 12);
  assert.ok(ids.every(([id]) => Number.isInteger(id) && id >= 0 && id < 50));
});

test('the lines with a Worker run and end', async () => {
  const code = blockOf('headwise/worker');
  assert.deepEqual(await run(`${code}\nconsole.log(output.shape);`), [[[1, 3]]]);
});

test('the lines with files read a checkpoint and write an array', async () => {
  const pieces = await run(`${blockOf('headwise/formats')}\nconsole.log(bytes.length);`);
  const [size] = pieces.pop() ?? [];
  // 8 bytes of length, a header, 2 · 3 floats.
  assert.ok(size > 8 + 24 && size < 200, `${size} bytes`);
  const names = pieces.map(([name]) => name);
  assert.ok(names.includes('transformer.wte.weight') || names.includes('wte.weight'), `${names}`);
  assert.ok(names.every((name) => !name.endsWith('.attn.bias')));
});

// Where a browser must be there, its absence is a failure.
const skip = findBrowser() || process.env.CI ? false : NO_BROWSER;

test(
  'the lines with <attention-map> draw weights, and a click says its row',
  { skip },
  async () => {
    const [html] = blocksOf('html').filter((block) => block.includes('<attention-map'));
    const code = blockOf('headwise/view');
    const server = await serve(ROOT);
    const browser = await launch(findBrowser() ?? assert.fail(NO_BROWSER));
    try {
      const page = await browser.newPage();
      /** @type {string[]} */
      const said = [];
      page.on('console', (message) => {
        if (!message.location().url?.endsWith('favicon.ico')) said.push(message.text());
      });
      page.on('pageerror', (error) => said.push(String(error)));
      await page.goto(`${server.url}tests/browsers/suite.html`);
      await page.evaluate(
        (body, text) => {
          document.body.innerHTML = body;
          const type = 'module';
          document.body.append(Object.assign(document.createElement('script'), { type, text }));
        },
        html,
        `${code}\nglobalThis.isShown = true;`,
      );
      await page.waitForFunction('globalThis.isShown');
      const map = await page.$('attention-map >>> canvas');
      const box = (await map?.boundingBox()) ?? assert.fail('no canvas');
      assert.ok(box.width > 100 && box.height > 100, `${box.width} × ${box.height}`);
      await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
      // What the page says arrives a moment after the click.
      for (let i = 0; i < 100 && said.length === 0; i++) await setTimeout(50);
      assert.deepEqual(said, ['row 1 was clicked']);
    } finally {
      await browser.close();
      server.close();
    }
  },
);

test('the first lines print the numbers of the notebooks', async () => {
  const [[output], [weights]] = await run(blockOf('headwise'));
  assert.equal(weights.length, 3);
  assert.ok(
    weights.every((/** @type {number[]} */ row) => Math.abs(row[0] + row[1] + row[2] - 1) < 1e-6),
  );
  // Tokens do not see later ones, so that three of the notebooks' six are enough.
  output.forEach((/** @type {number[]} */ row, /** @type {number} */ i) =>
    row.forEach((value, j) => assert.ok(Math.abs(value - fusedTable[i][j]) < 5.1e-5)),
  );
});

test('the lines that train come near to what is wanted', async () => {
  const code = blocks.find((block) => block.includes('hw.AdamW')) ?? assert.fail('no lines');
  ran.add(code);
  const [[rows]] = await run(code);
  assert.equal(rows.length, 3);
  rows.forEach((/** @type {number[]} */ [value], /** @type {number} */ i) =>
    assert.ok(Math.abs(value - (i + 1)) < 0.3, `${value}`),
  );
});

test('every entry of the package has a heading of its own, and links within the file lead somewhere', async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const headings = Array.from(readme.matchAll(/^#+ (.+)$/gm), ([, heading]) => heading);
  for (const entry of Object.keys(exports)) {
    if (entry === '.' || /[.*]/.test(entry.slice(1))) continue;
    assert.ok(headings.includes(entry.replace('.', 'headwise')), entry);
  }
  const places = headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'));
  for (const [, place] of readme.matchAll(/\]\(#([^)]+)\)/g)) {
    assert.ok(places.includes(place), place);
  }
});

test('the lines with headers for Vite set them on every answer', async () => {
  const code = blocks.find((block) => block.includes('configureServer')) ?? assert.fail('no lines');
  ran.add(code);
  const server = `{ middlewares: { use: (handle) =>
    handle({}, { setHeader: (name, value) => print([name.toLowerCase(), value]) }, () => print('and on')) } }`;
  const lines = await run(
    `${code}\nisolation.configureServer(${server});\nisolation.configurePreviewServer(${server});`,
  );
  const once = [...Object.entries(ISOLATION), 'and on'].map((line) => [line]);
  assert.deepEqual(lines, [...once, ...once]);
});

test('all lines of JavaScript in README have run', () => {
  assert.deepEqual(
    blocks.filter((block) => !ran.has(block)),
    [],
  );
});
