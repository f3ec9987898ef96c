// PyTorch as referee: reads what tests/fixtures/make-torch-fixtures.py wrote, makes the same inputs, runs the package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, boolTensor } from './helpers.js';
import { sizeOf } from './reference.js';

/** @typedef {import('./helpers.js').Engine} Engine */
/** @typedef {import('headwise').Tensor} Tensor */

/**
 * What torch gives: `every` so manieth number of a result of this shape, from `at` on.
 * @typedef {{ shape: number[], at: number, every?: number, rtol: number, atol: number }} Expected
 */

/**
 * @typedef {object} Case
 * @property {string} title
 * @property {string} [function] a function of the engine, called with args and options
 * @property {any[]} [args]
 * @property {string} [class] or a class: made with options under the seed, given the state, run over the input
 * @property {any} [options]
 * @property {number} [seed]
 * @property {any} [state]
 * @property {boolean} [exactState] whether the seed alone gives the very state
 * @property {boolean} [train]
 * @property {any} [input]
 * @property {any} [forward] options
 * @property {number[]} [pieces] of how many tokens each the input is appended to a cache
 * @property {Record<string, Expected>} expect
 */

/** @typedef {{ cases: Case[], numbers: Float32Array }} Group */

/**
 * @param {string} name
 * @returns {Group}
 */
export function readGroup(name) {
  const file = (/** @type {string} */ kind) =>
    new URL(`fixtures/torch/${name}.${kind}`, import.meta.url);
  const { cases } = JSON.parse(readFileSync(file('json'), 'utf8'));
  const bytes = readFileSync(file('bin'));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const numbers = Float32Array.from({ length: bytes.length / 4 }, (_, i) =>
    view.getFloat32(i * 4, true),
  );
  return { cases, numbers };
}

/**
 * The finalizer of MurmurHash3, 32 bit.
 * @param {number} x
 */
function mix(x) {
  x ^= x >>> 16;
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * A seed's numbers: multiples of 2^-24 in [0, 1).
 * @param {number} seed
 */
function units(seed) {
  const start = mix(seed);
  return (/** @type {number} */ i) => (mix((start + i) >>> 0) >>> 8) / 2 ** 24;
}

/**
 * The tensor of a spec; tests/fixtures/torch_referee/data.py lists what a spec can be.
 * @param {any} spec
 * @param {Group} group
 * @returns {any} a Tensor, of truth values where it is a mask
 */
export function make(spec, { numbers }) {
  const { shape, seed, share, scale = 1, offset = 0, integers, emptyRows = [] } = spec;
  const size = sizeOf(shape);
  if (spec.at !== undefined) return tensor(numbers.slice(spec.at, spec.at + size), shape);
  if (spec.values !== undefined) return tensor(Float32Array.from(spec.values, Number), shape);

  const isMask = share !== undefined && spec.blocked === undefined;
  const choice = units(isMask ? seed : seed + 1);
  const isShown = (/** @type {number} */ i) =>
    choice(i) < share && !emptyRows.includes(Math.floor(i / shape.at(-1)));
  if (isMask) {
    const flags = Array.from({ length: size }, (_, i) => isShown(i));
    return boolTensor(flags, shape);
  }
  const unit = units(seed);
  const data = new Float32Array(size);
  for (let i = 0; i < size; i++) {
    if (share !== undefined && !isShown(i)) data[i] = Number(spec.blocked);
    else if (integers === undefined) data[i] = (unit(i) * 2 - 1) * scale + offset;
    else data[i] = (Math.floor(unit(i) * (2 * integers + 1)) - integers) * scale;
  }
  return tensor(data, shape);
}

/**
 * A copy in which tensors stand where specs stood.
 * @param {any} value
 * @param {Group} group
 * @returns {any}
 */
export function makeAll(value, group) {
  if (Array.isArray(value)) return value.map((entry) => makeAll(entry, group));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value.shape)) return make(value, group);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, makeAll(entry, group)]),
  );
}

/**
 * Fails unless the package's result is torch's within the fixture's tolerance.
 * @param {{ shape: readonly number[], data: ArrayLike<number> }} actual
 * @param {Expected} expected
 * @param {Group} group
 * @param {string} what
 */
export function isTorchs(actual, expected, { numbers }, what) {
  const { shape, at, every = 1, rtol, atol } = expected;
  assert.deepEqual([...actual.shape], shape, `${what}: shape`);
  assert.equal(actual.data.length, sizeOf(shape), `${what}: number of elements`);
  const length = Math.ceil(actual.data.length / every);
  const sample = Array.from({ length }, (_, i) => actual.data[i * every]);
  const right = { shape: [length], data: numbers.subarray(at, at + length) };
  const name = every > 1 ? `${what}, 1 element in ${every}` : what;
  allClose({ shape: [length], data: sample }, right, { rtol, atol, what: name });
}

/**
 * A result's part: `present.key` is result.present.key.
 * @param {any} result
 * @param {string} path
 */
const partOf = (result, path) => path.split('.').reduce((part, key) => part?.[key], result);

/**
 * @param {any} result
 * @param {Case} fixture
 * @param {Group} group
 * @param {string[]} [names]
 */
function compare(result, fixture, group, names = Object.keys(fixture.expect)) {
  for (const name of names) {
    const actual = partOf(result, name);
    assert.ok(actual, `${name} is missing in the result`);
    isTorchs(actual, fixture.expect[name], group, name);
  }
}

/**
 * With weights asked for attention takes another way: the output is compared of both.
 * @param {(options: any) => any} forward
 * @param {Case} fixture
 * @param {Group} group
 */
function compareBoth(forward, fixture, group) {
  const { weights, ...others } = fixture.expect;
  compare(forward({}), fixture, group, Object.keys(others));
  if (weights) compare(forward({ needWeights: true }), fixture, group);
}

/**
 * @param {Engine} hw
 * @param {Case} fixture
 * @param {Group} group
 */
function runFunction(hw, fixture, group) {
  const args = makeAll(fixture.args, group);
  assert.ok(String(fixture.function) in hw, `the engine has no ${fixture.function}`);
  const call = (/** @type {any[]} */ ...values) =>
    /** @type {any} */ (hw)[String(fixture.function)](...values);
  if (fixture.options === undefined) {
    compare({ output: call(...args) }, fixture, group);
    return;
  }
  const options = makeAll(fixture.options, group);
  const forward = (/** @type {any} */ more) => {
    if (fixture.seed !== undefined) hw.manualSeed(fixture.seed);
    const result = call(...args, { ...more, ...options });
    return 'data' in result ? { output: result } : result;
  };
  compareBoth(forward, fixture, group);
}

/**
 * The forwards of pieces, appended to a cache, as one result.
 * @param {any} module
 * @param {Tensor} x [batch, tokens, dIn]
 * @param {number[]} pieces
 */
function forwardInPieces(module, x, pieces) {
  const [batch, tokens, width] = x.shape;
  const cache = module.createCache({ batch });
  /** @type {Float32Array | undefined} */
  let all;
  let outWidth = 0;
  let start = 0;
  for (const count of pieces) {
    const part = (/** @type {number} */ b) =>
      x.data.slice((b * tokens + start) * width, (b * tokens + start + count) * width);
    const data = Array.from({ length: batch }, (_, b) => [...part(b)]).flat();
    const input = tensor(Float32Array.from(data), [batch, count, width]);
    const { output } = module.forward(input, { cache });
    outWidth = output.shape[2];
    all ??= new Float32Array(batch * tokens * outWidth);
    for (let b = 0; b < batch; b++) {
      const rows = output.data.subarray(b * count * outWidth, (b + 1) * count * outWidth);
      all.set(rows, (b * tokens + start) * outWidth);
    }
    start += count;
  }
  assert.equal(cache.length, tokens);
  cache.dispose();
  return { output: tensor(all ?? [], [batch, tokens, outWidth]) };
}

/**
 * @param {Engine} hw
 * @param {Case} fixture
 * @param {Group} group
 */
function runModule(hw, fixture, group) {
  const { seed, pieces } = fixture;
  const state = makeAll(fixture.state, group);
  const input = makeAll(fixture.input, group);
  const Module = /** @type {any} */ (hw)[String(fixture.class)];
  assert.ok(Module, `the engine has no ${fixture.class}`);
  if (fixture.exactState) {
    hw.manualSeed(Number(seed));
    const drawn = new Module(fixture.options);
    hasBits(drawn.stateDict(), state);
    drawn.dispose();
  }
  const create = () => {
    // What is loaded must come from the state dict: the module is not to have it already.
    if (seed !== undefined) hw.manualSeed(state ? seed + 1 : seed);
    const module = new Module(fixture.options);
    if (state) module.loadStateDict(state);
    return fixture.train ? module : module.eval();
  };
  const options = makeAll(fixture.forward ?? {}, group);
  /** @type {any} */
  let module;
  const forward = (/** @type {any} */ more) => {
    // In training mode the draws of dropout follow those of the weights: a new module for each forward.
    if (module === undefined || fixture.train) {
      module?.dispose();
      module = create();
    }
    return pieces
      ? forwardInPieces(module, input, pieces)
      : module.forward(input, { ...more, ...options });
  };
  compareBoth(forward, fixture, group);
  module.dispose();
}

/**
 * Fails unless what torch drew for the same seed is there, to the bit; torch's buffers and other names aside.
 * @param {Record<string, Tensor>} own
 * @param {Record<string, Tensor>} torchs
 */
function hasBits(own, torchs) {
  for (const [key, value] of Object.entries(own)) {
    const right = torchs[key] ?? torchs[key.replace('out_proj', 'fc_out')];
    assert.ok(right, `torch has no ${key}`);
    assert.deepEqual([...value.shape], [...right.shape], key);
    assert.ok(
      value.data.every((x, i) => Object.is(x, right.data[i])),
      `${key} has other bits than torch's`,
    );
  }
}

/**
 * Fails unless a number that is off by 1.5 times the tolerance, wherever it is, is found.
 * @param {Case} fixture
 * @param {Group} group
 */
export function noticesErrors(fixture, group) {
  for (const [name, expected] of Object.entries(fixture.expect)) {
    const { shape, at, every = 1, rtol, atol } = expected;
    const data = new Float64Array(sizeOf(shape));
    const length = Math.ceil(data.length / every);
    for (let i = 0; i < length; i++) data[i * every] = group.numbers[at + i];
    isTorchs({ shape, data }, expected, group, name);
    const samples = Math.min(length, 16);
    for (let n = 0; n < samples; n++) {
      const i = Math.floor((n * length) / samples) * every;
      const right = data[i];
      const off = 1.5 * (atol + rtol * Math.abs(right));
      for (const wrong of [right + off, right - off, NaN]) {
        data[i] = Number.isFinite(right) ? wrong : 0;
        const notice = () => isTorchs({ shape, data }, expected, group, name);
        assert.throws(notice, /elements differ/, `${fixture.title}: ${name}, element ${i}`);
      }
      data[i] = right;
    }
  }
}

/**
 * A test for each case of a group, and one that wrong numbers would be noticed.
 * @param {Engine} hw
 * @param {string} name
 */
export function testGroup(hw, name) {
  const group = readGroup(name);
  for (const fixture of group.cases)
    test(fixture.title, () => {
      if (fixture.function !== undefined) runFunction(hw, fixture, group);
      else runModule(hw, fixture, group);
    });
  test(`every fixture of ${name} notices a number that is off by more than its tolerance`, () => {
    assert.ok(group.cases.length > 0);
    for (const fixture of group.cases) noticesErrors(fixture, group);
  });
}
