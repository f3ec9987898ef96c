// The benchmark on tiny shapes: that it validates, counts and prints. How long anything takes is not tested.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bench } from '../web/page/bench/bench.js';
import { best } from '../web/page/bench/ceiling.js';
import { check } from '../web/page/bench/check.js';
import { visiblePairs, workOf } from '../web/page/bench/work.js';
import { visibility } from '../web/page/bench/cases.js';
import { median, takeTurns } from '../web/page/shared/measure.js';
import { readShapes } from './bench/options.js';
import { contest } from './bench/peers/contest.js';
import { contestLines } from './bench/peers/table.js';
import { benchLine } from './bench/table.js';
import { runNode } from './child.js';
import { hotLoops } from './spills.js';

/** @typedef {import('../web/page/bench/bench.js').Result} Result */
/** @typedef {import('../web/page/bench/work.js').Shape} Shape */
/** @typedef {import('../web/page/bench/work.js').Visible} Visible */

const RUN = fileURLToPath(new URL('bench/run.js', import.meta.url));
const RUN_PEERS = fileURLToPath(new URL('bench/peers/run.js', import.meta.url));
const ENGINE = new URL('../web/headwise/engine/engine.js', import.meta.url).href;

/** @param {string} simd */
const ceilingPath = (simd) =>
  fileURLToPath(new URL(`../web/page/bench/wasm/ceiling-${simd}.wasm`, import.meta.url));

/** @param {string} simd */
const ceilingBytes = (simd) => readFile(ceilingPath(simd));

/**
 * npm run bench, fast.
 * @param {string[]} args
 * @param {string[]} [nodeArgs]
 */
function run(args, nodeArgs = []) {
  const all = [...nodeArgs, RUN, '--seconds', '0.02', ...args];
  return runNode('bench', all);
}

/** @param {Record<string, Shape>} shapes @returns {Promise<Result[]>} */
async function runHere(shapes) {
  const simd = process.env.HEADWISE_SIMD ?? 'simd128';
  const ceilings = { [simd]: await WebAssembly.compile(await ceilingBytes(simd)) };
  const results = [];
  const options = { shapes, ceilings, threads: [1], seconds: 0.001 };
  for await (const result of bench(options)) results.push(result);
  return results;
}

test('the JSON of a run is well formed and its figures agree with each other', async () => {
  const { status, stdout, stderr } = await run(['--shape', 's0', '--threads', '1', '--json']);
  assert.equal(status, 0, stderr);
  const { runtime, results } = JSON.parse(stdout);
  assert.match(runtime, /^Node v\d+/);
  const ways = results.map((/** @type {Result} */ { name }) => name);
  assert.deepEqual([...new Set(ways)], ['wrapper', 'fused']);
  for (const { shape, simd, threads, timing } of results) {
    assert.deepEqual([shape, threads], ['S0', 1]);
    assert.ok(['simd128', 'relaxed'].includes(simd));
    const { flops } = workOf({
      kind: 'multiHeadAttention',
      batch: 2,
      tokens: 6,
      dIn: 3,
      dOut: 2,
      heads: 2,
    });
    assert.ok(timing.minimum > 0 && timing.minimum <= timing.median);
    assert.ok(Math.abs(timing.rate / (flops / timing.minimum / 1e6) - 1) < 1e-9);
    assert.ok(Math.abs(timing.percent / ((100 * timing.rate) / timing.ceiling) - 1) < 1e-9);
    assert.ok(timing.ceiling > 0 && timing.runs >= 1 && timing.memoryBytes > 0);
    assert.ok(timing.maxError < 1e-6);
    assert.equal(timing.unit, 'GFLOP/s');
  }
});

test('the table has one line a case, with its percentage of the ceiling', async () => {
  const { status, stdout, stderr } = await run([
    '--shape',
    'S0',
    '--simd',
    'simd128',
    '--threads',
    '1',
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^shape .* of ceiling/m);
  assert.match(stdout, /^S0 +wrapper +simd128 +1 .* GFLOP\/s +\d+\.\d %/m);
  assert.match(stdout, /^S0 +fused +simd128 +1 .* GFLOP\/s +\d+\.\d %/m);
});

test('another commit is timed by turns with this one', async () => {
  const args = ['--shape', 'S0', '--simd', 'simd128', '--threads', '1', '--against', 'HEAD'];
  const { status, stdout, stderr } = await run([...args, '--json']);
  assert.equal(status, 0, stderr);
  const { notes, results } = JSON.parse(stdout);
  assert.deepEqual(notes, ['Against: how many times as fast as HEAD, by turns in this run.']);
  assert.equal(results.length, 2);
  for (const { timing } of results) assert.ok(timing.against > 0);
});

test('a wrong result is shown as such and makes the run fail', async () => {
  const spoil = `import { Engine } from ${JSON.stringify(ENGINE)};
    const { read } = Engine.prototype;
    Engine.prototype.read = function (...args) {
      const tensor = read.apply(this, args);
      tensor.data[0] += 1e-3;
      return tensor;
    };`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(spoil)}`;
  const { status, stdout } = await run(['--shape', 'S0', '--threads', '1'], [preload]);
  assert.equal(status, 1);
  assert.match(stdout, /^S0 +fused .* FAILED: wrong: row 0, column 0 is .*float64 gives/m);
});

for (const [args, complaint] of /** @type {[string[], RegExp][]} */ ([
  [['--shape', 'S9'], /--shape is S9; expected some of S0, /],
  [['--threads', '0'], /--threads is 0; expected integers of at least 1/],
  [['--seconds', ''], /--seconds is ; expected a number of seconds/],
  [['--simd', 'avx'], /--simd is avx; expected some of relaxed, simd128/],
  [['--against', 'no-such-commit'], /--against is no-such-commit: /],
  [
    ['--against', 'HEAD', '--browser', 'chromium'],
    /--against works in Node; expected no --browser/,
  ],
  [['--browser', 'lynx'], /--browser is lynx; expected one of chromium/],
  [['--fast'], /--fast/],
]))
  test(`${args.join(' ')} is refused with a usage line`, async () => {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, complaint);
    assert.match(stderr, /^usage: npm run bench/m);
  });

/** @type {Visible[]} */
const VISIBLE = ['causal', 'causalBoolMask', 'causalFloatMask', 'randomBoolMask', 'window'];

test('every kind of shape agrees with float64', async () => {
  const attention = VISIBLE.map((visible) => [
    visible,
    /** @type {Shape} */ ({
      kind: 'attention',
      heads: 3,
      tokens: 21,
      headDim: 5,
      visible,
      window: 6,
    }),
  ]);
  const results = await runHere({
    ...Object.fromEntries(attention),
    linear: { kind: 'linear', rows: 33, inFeatures: 13, outFeatures: 7 },
    maps: { kind: 'maps', tokens: 24, dIn: 9, dOut: 12, heads: 3, size: 8 },
    heads: { kind: 'multiHeadAttention', batch: 2, tokens: 11, dIn: 9, dOut: 12, heads: 3 },
    decode: { kind: 'decode', past: 10, dIn: 9, dOut: 12, heads: 3 },
    ...Object.fromEntries(
      [10, 0].map((hidden) => [
        `train ${hidden}`,
        {
          ...{ kind: 'train', layers: 2, width: 12, heads: 3, hidden, vocabulary: 7 },
          ...{ tokens: 14, batch: 4, microBatch: 2 },
        },
      ]),
    ),
  });
  assert.equal(results.length, VISIBLE.length + 1 + 1 + 2 + 1 + 2);
  for (const { shape, name, timing, problem } of results) {
    assert.equal(problem, undefined, `${shape} ${name}`);
    assert.ok(timing && timing.maxError < 1e-6, `${shape} ${name}`);
  }
});

test('what throws is a failure of its case, not of the run', async () => {
  const results = await runHere({
    huge: { kind: 'linear', rows: 1, inFeatures: 2 ** 20, outFeatures: 2 ** 20 },
    small: { kind: 'linear', rows: 1, inFeatures: 2, outFeatures: 2 },
  });
  assert.match(results[0].problem ?? '', /memory/);
  assert.doesNotMatch(results[0].problem ?? '', /HeadwiseError/);
  assert.equal(results[0].timing, undefined);
  assert.ok(results[1].timing);
});

test('a result is wrong if one sampled element is off, or any is not finite', () => {
  const expected = { rows: [0, 2], columns: 2, values: Float64Array.of(1, 2, 5, 6) };
  assert.deepEqual(check([1, 2, 3, 4, 5, 6], expected), { maxError: 0 });
  assert.match(check([1, 2, 3, 4, 5, 6.01], expected).problem ?? '', /row 2, column 1 is 6.01/);
  assert.match(check([1, NaN, 3, 4, 5, 6], expected).problem ?? '', /row 0, column 1 is NaN/);
  assert.match(check([1, 2, Infinity, 4, 5, 6], expected).problem ?? '', /element 2 is Infinity/);
  assert.match(
    check([9, 2, 3, 4, 9, 9], expected).problem ?? '',
    /row 0, column 0 is 9/,
    'the first',
  );
  assert.ok(Number.isNaN(check([1, NaN, 3, 4, 5, 6], expected).maxError), 'of what is no number');
});

test('an error is one of the number’s size, and of 1 where that is less', () => {
  const of = (/** @type {number} */ value) => ({
    rows: [0],
    columns: 1,
    values: Float64Array.of(value),
  });
  assert.deepEqual(check([1001.01], of(1001)).problem, undefined);
  assert.match(check([1001.1], of(1001)).problem ?? '', /is 1001\.1/);
  assert.equal(check([1e-5], of(0)).problem, undefined);
  assert.match(check([1e-4], of(0)).problem ?? '', /is 0\.0001/);
});

test('visible pairs are those that the mask shows, causal work counted as half', () => {
  const tokens = 40;
  const count = (/** @type {any} */ shape) => {
    const { sees } = visibility(shape);
    let pairs = 0;
    for (let i = 0; i < tokens; i++) for (let j = 0; j < tokens; j++) pairs += Number(sees(i, j));
    return pairs;
  };
  const base = /** @type {const} */ ({ kind: 'attention', heads: 1, headDim: 1, tokens });
  for (const window of [1, 7, 40, 64]) {
    const shape = { ...base, visible: /** @type {const} */ ('window'), window };
    assert.equal(visiblePairs(shape), count(shape));
  }
  // Half of n², where the diagonal makes it half a row more.
  for (const visible of VISIBLE.slice(0, 3))
    assert.equal(visiblePairs({ ...base, visible }), count({ ...base, visible }) - tokens / 2);
  assert.equal(visiblePairs({ ...base, visible: 'randomBoolMask' }), tokens ** 2);
});

test('operations of the large shapes are those of the published table', async () => {
  const shapes = await readShapes();
  const giga = (/** @type {string} */ name) => workOf(shapes[name]).flops / 1e9;
  assert.equal(giga('S2'), (2 * 1024 * 768 * 768 * 4 + 2 * 1024 * 1024 * 768) / 1e9);
  assert.equal(giga('C2'), (2 * 4096 * 4096 * 64 * 12) / 1e9);
  assert.equal(giga('G2'), (2 * 1024 * 768 * 2304) / 1e9);
  const [rows, weights] = [8 * 128, 4 * (4 + 2 * 4) * 128 * 128 + 512 * 128];
  assert.equal(giga('T2'), (6 * rows * weights + 7 * rows * 4 * 128 * 128) / 1e9);
  assert.equal(workOf(shapes.D1).bytes, 4 * (4 * 768 * 768 + 2 * 1024 * 768));
});

test('contestants take turns, the yardstick before each, and calls that are short are warmed', async () => {
  for (const [ms, order] of /** @type {const} */ ([
    [60, '|ab|||a|||b'],
    [6, '|ab||||||aa||||||bb'],
  ])) {
    /** @type {string[]} */
    const log = [];
    const slow = (/** @type {string} */ name) => () => {
      log.push(name);
      for (const end = performance.now() + ms; performance.now() < end;);
    };
    const { runs } = await takeTurns(slow('|'), [slow('a'), slow('b')], 0.001);
    assert.deepEqual(
      runs.map(({ turns }) => turns),
      [1, 1],
    );
    assert.equal(log.join(''), order);
  }
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

/** @type {Shape[]} */
const TASKS = [
  { kind: 'linear', rows: 5, inFeatures: 7, outFeatures: 9 },
  { kind: 'attention', heads: 2, tokens: 9, headDim: 3, visible: 'causal' },
  { kind: 'multiHeadAttention', batch: 2, tokens: 5, dIn: 6, dOut: 8, heads: 2 },
  { kind: 'decode', past: 6, dIn: 6, dOut: 8, heads: 2 },
];

for (const shape of TASKS)
  test(`a contest of ${shape.kind} validates and times those who take part`, async () => {
    const options = { shape, threads: 1, seconds: 0.001 };
    const { outcomes, ceiling, flops } = await contest(options, ceilingBytes, [
      'headwise',
      'plain',
    ]);
    assert.deepEqual(
      outcomes.map(({ name }) => name),
      ['Headwise', 'plain JS'],
    );
    for (const { name, minimum = 0, maxError = 1, notes } of outcomes) {
      assert.deepEqual(notes, [], name);
      assert.ok(minimum > 0 && maxError < 1e-6, name);
    }
    assert.ok(ceiling > 0);
    assert.equal(flops, workOf(shape).flops);
  });

test('a Python that has no PyTorch does not take part, and is named with what it said', async () => {
  /** @type {Shape} */
  const shape = {
    ...{ kind: 'train', layers: 1, width: 4, heads: 1, hidden: 4, vocabulary: 16 },
    ...{ tokens: 12, batch: 2, microBatch: 1 },
  };
  const options = { shape, threads: 1, seconds: 0.001, python: process.execPath };
  const { outcomes } = await contest(options, ceilingBytes, ['headwise', 'pytorch']);
  const [own, { name, minimum, notes }] = outcomes;
  assert.ok(own.minimum && own.minimum > 0);
  assert.equal(name, 'PyTorch');
  assert.equal(minimum, undefined);
  assert.equal(notes.length, 2);
  for (const note of notes) assert.match(note, /: Python ended: .*ERR_UNKNOWN_FILE_EXTENSION/s);
});

test('the ceiling is the best of its loops, whichever that is on this machine', () => {
  const loops = [4, 2, 3].map((fastest, i) => ({ run: () => i, amount: 100, fastest }));
  assert.equal(best(loops), loops[1]);
  loops[2].amount = 200;
  assert.equal(best(loops), loops[2]);
  assert.equal(best(loops.slice(0, 1)), loops[0]);
});

test('a share above 100 % of the ceiling is printed with a warning, others without', () => {
  for (const percent of [99.9, 100, 100.4, 111]) {
    const warned = percent > 100;
    const limit = 28;
    /** @type {import('../web/page/bench/bench.js').Timing} */
    const timing = {
      ...{ minimum: 1, median: 1, runs: 3, rate: (limit * percent) / 100, unit: 'GFLOP/s' },
      ...{ ceiling: limit, percent, memoryBytes: 1e6, maxError: 1e-7 },
    };
    const text = benchLine({ shape: 'G1', name: 'linear', simd: 'simd128', threads: 1, timing });
    assert.equal(/WARNING: more than the ceiling/.test(text), warned, text);
    const names = ['Headwise', 'LiteRT.js', 'onnxruntime-web', 'tfjs-wasm', 'plain JS'];
    const outcomes = names.map((name) => ({ name, notes: [], minimum: 1 }));
    const told = { outcomes, ceiling: limit, flops: limit * percent * 1e4 };
    const lines = contestLines({ shape: 'G1', threads: 1 }, told);
    assert.equal(/WARNING: more than the ceiling/.test(lines), warned, lines);
  }
});

test('npm run bench:peers refuses what it does not know with a usage line', async () => {
  const { status, stderr } = await runNode('bench:peers', [RUN_PEERS, '--shape', 'C1-d32']);
  assert.equal(status, 2);
  assert.match(stderr, /--shape is C1-d32; expected some of S0, /);
  assert.match(stderr, /^usage: npm run bench:peers/m);
});

// Where this runtime has no relaxed SIMD, tests/simd.slow.test.js runs this file with it.
for (const [simd, bytes] of await Promise.all(
  ['simd128', 'relaxed'].map(
    async (name) => /** @type {const} */ ([name, await ceilingBytes(name)]),
  ),
).then((all) => all.filter(([, module]) => WebAssembly.validate(module))))
  test(`the ${simd} ceiling multiplies, adds and reads what it says`, async () => {
    const { exports } = new WebAssembly.Instance(await WebAssembly.compile(bytes));
    const { memory, __heap_base, loops, multiply_add, operations, read } =
      /** @type {import('../web/page/bench/ceiling.js').CeilingExports} */ (
        /** @type {unknown} */ (exports)
      );
    assert.equal(loops(), 3);
    for (let loop = 0; loop < loops(); loop++) {
      // With a factor of 1 every sum grows by a constant a round: twice the rounds, twice the growth.
      const [none, some, twice] = [0, 10, 20].map((rounds) => multiply_add(loop, rounds, 1));
      assert.ok(some > none && twice - some === some - none);
      assert.equal(operations(loop) % 8, 0);
      // Half of the loaded loops' sums grow by 1 a round, half by 2; of four lanes each.
      if (loop > 0) assert.equal(some - none, (10 * 3 * operations(loop)) / 4);
    }
    const start = Math.ceil(__heap_base.value / 16) * 16;
    const values = new Float32Array(memory.buffer, start, 480).map((_, i) => i);
    new Float32Array(memory.buffer, start, 480).set(values);
    assert.equal(read(start, 480), (479 * 480) / 2);
  });

const skip = process.arch !== 'x64' && `machine code is read for x64, and this is ${process.arch}`;

for (const simd of ['simd128', 'relaxed'])
  test(`the ${simd} ceiling's loops of multiply-adds stay in registers`, { skip }, async () => {
    const loops = await hotLoops(ceilingPath(simd), 6);
    assert.ok(loops.length >= 3);
    for (const { multiplyAdds, loads, broadcasts, stores, copies, stackMoves } of loops) {
      const moved = { broadcasts, stores, copies, stackMoves };
      const none = { broadcasts: 0, stores: 0, copies: 0, stackMoves: 0 };
      assert.deepEqual(moved, none, `${multiplyAdds} multiply-adds a round`);
      // One vector for two sums, or none at all.
      assert.ok(loads === 0 || loads === multiplyAdds / 2, `${loads} loads`);
    }
  });
