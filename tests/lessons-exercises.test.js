// The exercises: what they begin with is not right yet and says why, their solutions are right, half-way is told apart.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listen } from '../web/page/lessons/audience.js';
import { citations } from '../web/page/lessons/documents.js';
import { parseExercise } from '../web/page/lessons/parse-exercise.js';
import { tensorFrom } from '../web/page/lessons/tensors.js';

/** @import { CheckItem, Item } from '../web/page/lessons/audience.js' */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LESSONS = new URL('../web/page/lessons/', import.meta.url);
const names = (await readdir(new URL('exercises/', LESSONS))).sort();
const exercises = new Map();
for (const name of names) {
  const source = await readFile(new URL(`exercises/${name}`, LESSONS), 'utf8');
  exercises.set(name.replace('.md', ''), parseExercise(source));
}

/** @type {Item[]} */
let shown = [];
/** In the package, so that its name leads to it. @type {string} */
let folder;
before(async () => {
  listen((item) => shown.push(item));
  await mkdir(join(ROOT, 'build'), { recursive: true });
  folder = await mkdtemp(join(ROOT, 'build', 'exercises-'));
});
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;

/**
 * @param {string} code the visitor's
 * @param {string} check
 * @returns {Promise<CheckItem[]>}
 */
async function run(code, check) {
  const file = join(folder, `${files++}.mjs`);
  const tools = new URL('tools.js', LESSONS).href;
  await writeFile(file, `${code}\n${check}`.replaceAll("'../tools.js'", `'${tools}'`));
  shown = [];
  await import(pathToFileURL(file).href);
  return shown.filter((item) => item.kind === 'check');
}

const wrongIn = (/** @type {CheckItem[]} */ checks) => checks.filter(({ passed }) => !passed);

test('every lesson has an exercise, and no exercise is without one', async () => {
  const lessons = await readdir(new URL('files/', LESSONS));
  assert.deepEqual(
    lessons.map((name) => name.replace(/^\d+-|\.js$/g, '')).sort(),
    [...exercises.keys()].sort(),
  );
});

for (const [id, { from, start, solution, check }] of exercises) {
  test(`the exercise of ${id} says what is wrong at its start, and passes with its solution`, async () => {
    assert.ok(citations(from).length > 0);
    const first = await run(start, check);
    const wrong = wrongIn(first);
    assert.ok(wrong.length > 0, 'there is something to do');
    for (const { name, words } of wrong) {
      assert.ok(words.length > 10 && !/undefined|NaN/.test(words), `${name}: ${words}`);
    }
    const solved = await run(solution, check);
    assert.deepEqual(wrongIn(solved), []);
    assert.deepEqual(
      solved.map(({ name }) => name),
      first.map(({ name }) => name),
      'the same things are checked',
    );
  });
}

/** @typedef {[from: string | RegExp, to: string]} Change of code */

/** @param {string} code @param {Change[]} changes */
const changed = (code, changes) =>
  changes.reduce((text, [from, to]) => {
    const next = text.replace(from, to);
    assert.notEqual(next, text, `${from} is in the code`);
    return next;
  }, code);

/** What a check says of code, where it is not right. @param {string} code @param {string} check */
const wrongWords = async (code, check) =>
  wrongIn(await run(code, check)).map(({ name, words }) => `${name}: ${words}`);

/** @param {string} id @param {Change[]} changes of its start */
function halfWay(id, changes) {
  const { start, check } = exercises.get(id);
  return wrongWords(changed(start, changes), check);
}

test('half a solution is told what is still missing', async () => {
  assert.deepEqual(await halfWay('wrapper', [['numHeads: 2', 'numHeads: 1']]), [
    'There are two heads: There is 1. The heads have to stay.',
  ]);
  for (const numHeads of [1, 2]) {
    const fused = await halfWay('wrapper', [
      ['Wrapper', ''],
      ['numHeads: 2', `numHeads: +${numHeads}`],
    ]);
    assert.deepEqual(fused, [
      'There are two heads: This is no MultiHeadAttentionWrapper. The wrapper has to stay.',
    ]);
  }
  const [scaled, sums, whole] = await halfWay('by-hand', [
    ['k.reshape([3, 2])', 'hw.transpose(k)'],
  ]);
  assert.match(scaled, /2 \/ √3 = 1\.1547; it is 2\.0000/);
  assert.match(sums, /The rows sum to 2\.0000 and 3\.0000/);
  assert.match(whole, /scaledDotProductAttention/);
  const biases = await halfWay('gpt2-size', [
    ['dIn: 3', 'dIn: 768'],
    ['dOut: 2', 'dOut: 768'],
    ['contextLength: 6', 'contextLength: 1024'],
    ['numHeads: 2', 'numHeads: 12'],
  ]);
  assert.equal(biases.length, 1);
  assert.match(biases[0], /3 · 768: the biases/);
  const [added] = await halfWay('causal', [[' => true)', ' => Number(j <= i))']]);
  assert.match(added, /It is of float32: numbers are added/);
  const spilled = await halfWay('what-differs', [
    ['first = 0', 'first = 5 * 64'],
    ['last = 768', 'last = 6 * 64'],
    ['last * 768)', 'last * 768 + 1)'],
  ]);
  assert.deepEqual(spilled, ['All other heads are as they were: Changed too: head 6.']);
  assert.deepEqual(
    await halfWay('head-to-block', [['causalRows = []', 'causalRows = [0, 1, 2, 3, 4, 5]']]).then(
      ([rows]) => rows,
    ),
    'Rows of causal attention: Rows 0, 1 do not notice.',
  );
  const outside = await halfWay('induction-heads', [
    ['tried = [0]', 'tried = [...Array(8).keys()]'],
    ['costliest = 0', 'costliest = 8'],
  ]);
  assert.deepEqual(outside, ['No other head costs more: There is no head 8.']);
  const shapes = await halfWay('shapes', [['[1, 10, 3, 0, 0]', '[1, 10, 24, 64]']]);
  assert.ok(shapes.some((words) => /It has 5 dimensions, not 4/.test(words)));
});

/** What a check says of another solution. @param {string} id @param {...Change} changes of the solution */
function spoilt(id, ...changes) {
  const { solution, check } = exercises.get(id);
  return wrongWords(changed(solution, changes), check);
}

test('what is wrong is written with the minus of tables', async () => {
  const [words] = await halfWay('feed-forward', [['Math.max(0, x)', '-x']]);
  assert.match(words, /At x = −3 it should be −0\.0036; yours is 3\.0000/);
});

test('no number, too few and too many are not right', async () => {
  /** @type {[id: string, from: string | RegExp, to: string, words: RegExp][]} */
  const wrong = [
    ['feed-forward', '=>\n  0.5', '=>\n  x > 1 ? NaN : 0.5', /At x = 1\.25 .* yours is NaN/],
    ['by-hand', '(weights, v)', '(weights, v).slice([0, 1])', /output is that of/],
    [
      'causal',
      /j <= i\)([^]*)mask,\n/,
      'true)$1isCausal: true,\n',
      /looks ahead: The zeros in your weights come from isCausal.* lets token 0 see token 1/,
    ],
    ['causal', 'j <= i)', 'j <= i + 1)', /looks ahead: Token 0 gives .* to token 1/],
    ['head-to-block', '[2, 3, 4, 5]', '[2, 2, 3, 4, 5]', /Name each row once/],
    ['induction-heads', 'const costliest', 'tried[7] = -1;\nconst costliest', /7 of 8/],
    ['sentence', /const furthest = .*/, 'const furthest = 0;\nlookBack.fill(NaN);', /12 of 12/],
    ['shapes', '[1, 10, 1536]', "['1,10', 1536]", /3 dimensions, not 2/],
    ['stack', /push\(x\)[^]*/, 'push(x.slice([0, 0]));\n}', /Its output is not/],
  ];
  for (const [id, from, to, words] of wrong) {
    assert.match((await spoilt(id, [from, to])).join('; '), words, `${id}: ${to}`);
  }
});

test('a right answer in another form is right', async () => {
  const backward = 'hw.enableGrad(() => hw.mseLoss(layer.forward(x).output, target).backward());\n';
  /** @type {[id: string, ...Change[]][]} */
  const right = [
    // With the batch axis of the lesson's last step.
    ['by-hand', [/tensor\((\[\[.*\]\])\)/g, 'tensor([$1])'], [' [2, 2]', ' [1, 2, 2]']],
    [
      'by-hand',
      ['weights = hw.softmax(scaled)', 'shares = hw.softmax(scaled)'],
      ['output = hw.matmul(weights, v);', 'output = hw.matmul(shares, v).toNested();'],
      ["show('Weights'", 'const weights = shares.toNested();\nshow("Weights"'],
    ],
    ['fused', ['[1, 0, 2])', '[1, 0, 2]).toNested()'], [/showChain\([^]*/, '']],
    ['train-a-head', ['(dOutput), x)', '(dOutput), x).toNested()'], [/showChain\([^]*/, '']],
    [
      'train-a-head',
      [/const dWeight = .*/, `${backward}const dWeight = layer.parameters()[0].grad;`],
    ],
    ['train-a-head', ['const dWeight', `${backward}const dWeight`]],
    ['gpt2-size', ['qkvBias: true', 'qkvBias: true,\n  packedQkv: true']],
    ['head-to-block', ['[2, 3, 4, 5]', 'new Set([2, 3, 4, 5])']],
    ['feed-forward', ['=>\n', '=>\n  x.toFixed() &&\n']],
    [
      'stack',
      ['[]', '[embeddings]'],
      [/let x.*/, ''],
      [/x = .*/, 'const x = block.forward(outputs.at(-1)).output;'],
    ],
  ];
  for (const [id, ...changes] of right) {
    assert.deepEqual(await spoilt(id, ...changes), [], `${id}: ${changes}`);
  }
});

test('what is wrong is said of what the code does', async () => {
  /** @type {[id: string, change: Change, words: RegExp][]} */
  const wrong = [
    [
      'gpt2-size',
      ['hw.MultiHeadAttention', 'hw.MultiHeadAttentionWrapper'],
      /has to be a MultiHeadAttention\./,
    ],
    [
      'head-to-block',
      ['[2, 3, 4, 5]', "['starts', 'with']"],
      /^Rows of causal attention: Name rows by their numbers, from 0 to 5\.$/,
    ],
    [
      'head-to-block',
      ['[2, 3, 4, 5]', '[3, 4, 5, 6]'],
      /attention: Name rows by their numbers, from 0 to 5\.$/,
    ],
    ['head-to-block', ['[2, 3, 4, 5]', '2'], /attention: 3 more rows notice\.$/],
    [
      'pre-and-post',
      ['ln1(add(x, attn(x)))', 'add(x, attn(x))'],
      /0\.\d{4}\. The sum after attn takes no norm\.$/,
    ],
    [
      'pre-and-post',
      ['ln2(add(attended, ffn(attended)))', 'add(attended, ffn(attended))'],
      /\. The sum after ffn takes no norm\.$/,
    ],
    [
      'pre-and-post',
      ['ln1(add(x, attn(x)))', 'add(x, attn(ln1(x)))'],
      /\. The norm ln1 still comes before attn, not after the sum\.$/,
    ],
    ['pre-and-post', ['attn(x)', 'attn(ln1(x))'], /\. The input of attn still takes a norm\.$/],
    [
      'pre-and-post',
      ['ln2(add(attended, ffn(attended)))', 'add(attended, ln2(ffn(attended)))'],
      /\. The norm ln2 takes what ffn gives, not the sum\.$/,
    ],
    [
      'pre-and-post',
      ['ln1(add(x, attn(x)))', 'ln1(attn(x))'],
      /\. What attn gives is not added to its input\.$/,
    ],
    [
      'pre-and-post',
      ['ffn(attended)', 'ffn(x)'],
      /\. Look at what each norm takes, and at what each sum adds\.$/,
    ],
    [
      'shapes',
      ['8, 64],\n  queries', '64, 8],\n  queries'],
      /not right yet\. After the 3 comes the number of heads, then the width of one head\.$/,
    ],
    [
      'shapes',
      ['8, 64],\n  queries', '8, 8],\n  queries'],
      /not right yet\. The three last numbers multiply to 1,536\.$/,
    ],
    ['shapes', [/ {2}scores.*\n/, ''], /^Scores: It is not given yet\. A square/],
  ];
  for (const [id, change, words] of wrong) {
    assert.match((await spoilt(id, change)).join('; '), words, `${id}: ${change}`);
  }
});

test('of an answer that is no tensor its variable is named', async () => {
  for (const [to, words] of [
    ['2', 'split is a number; make it a tensor with tensor(…)'],
    ['undefined', 'split is undefined; make it a tensor with tensor(…)'],
    ['null', 'split is null; make it a tensor with tensor(…)'],
    ['{}', 'split is an object; make it a tensor with tensor(…)'],
    ['load()', 'split is a Promise: write await before it'],
    ['{ output: queries }', 'split is what a forward gives: take its output'],
    [
      '[[1], [2, 3]]',
      'split cannot become a tensor: split[1] is [2, 3]; expected an array of 1, like its neighbours',
    ],
  ]) {
    const answer = spoilt('fused', [/const split = [^]*/, `const split = ${to};`]);
    await assert.rejects(answer, { name: 'HeadwiseError', message: words });
  }
});

test('an answer may be an array of numbers, typed or not', () => {
  for (const answer of [[1, 0.5], Float32Array.of(1, 0.5)]) {
    const { data, shape } = tensorFrom('split', answer);
    assert.deepEqual([[...data], shape], [[1, 0.5], [2]]);
  }
});

test('the code needs no imports for its check, and may use the names of a check', async () => {
  const { solution, check } = exercises.get('two-forms');
  assert.doesNotMatch(solution, /check|largestDifference/);
  const clashes = 'const apart = 1;\nconst check = 2;\nconst largestDifference = 3;\n';
  assert.deepEqual(wrongIn(await run(`${solution}\n${clashes}`, check)), []);
});

test('an exercise without a part is refused', () => {
  const parts = ['Start', 'Hint', 'Solution', 'Check'].map(
    (name) => `## ${name}\n${name === 'Hint' ? 'words' : '```js\n1;\n```'}\n`,
  );
  const head = '# Title\nFrom 000, step 1\n\nText with\ntwo lines.\n\n';
  assert.deepEqual(parseExercise(head + parts.join('')).text, ['Text with two lines.']);
  for (const part of parts) {
    const rest = parts.filter((one) => one !== part);
    assert.throws(() => parseExercise(head + rest.join('')), /Start, Hint, Solution and Check/);
  }
});
