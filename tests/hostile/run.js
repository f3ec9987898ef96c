// Code of the caller's that runs during a call (getters, Proxies) ends in a result that is right, in what it threw itself or in a
// HeadwiseError; other modules keep their weights, and the engine computes on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { HeadwiseError, load, Tensor } from 'headwise';
import { data } from '../helpers.js';
import { calls } from './calls/index.js';
import {
  actions,
  arraysOf,
  at,
  getter,
  odd,
  places,
  fitting,
  proxy,
  taken,
  theirs,
} from './tricks.js';

/** @typedef {import('../helpers.js').Engine} Engine */
/** @typedef {{ hw: Engine, call: import('./calls/inputs.js').Call, arrays: any[] }} Context */

const wasm = new URL('../../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);
const compiled = await WebAssembly.compile(readFileSync(wasm));

/** All that a result says, with its modules' weights. @param {any} result @returns {any} */
function plain(result) {
  if (result instanceof Tensor) return { shape: [...result.shape], data: Array.from(result.data) };
  if (typeof result?.stateDict === 'function') return plain(result.stateDict());
  if (typeof result?.weights === 'function') return plain(result.weights({ head: 0 }));
  if (ArrayBuffer.isView(result)) return Array.from(/** @type {any} */ (result));
  if (Array.isArray(result)) return result.map(plain);
  return typeof result === 'object' && result !== null
    ? Object.fromEntries(Object.entries(result).map(([key, value]) => [key, plain(value)]))
    : result;
}

/** Modules of an engine that has ended say nothing. @param {any} result */
function plainOrNot(result) {
  try {
    return plain(result);
  } catch {
    return unsaid;
  }
}

const unsaid = Symbol('of an engine that has ended');

/** An engine with modules that no call is given. */
async function world() {
  const hw = await load({ wasm: compiled });
  hw.manualSeed(1);
  const others = [3, 4].map((n) => new hw.Linear({ inFeatures: n, outFeatures: n }));
  hw.manualSeed(2);
  return { hw, others, before: others.map((each) => each.stateDict()) };
}

const probe = data(9, [2, 5]);
const probed = (await world()).hw.softmax(probe);

/** @param {Engine} hw */
function isEnded(hw) {
  try {
    return hw.memoryBytes === 0;
  } catch {
    return true;
  }
}

/**
 * What came of a call, when all else is as it was.
 * @param {string} name
 * @param {(context: Context) => unknown} [spoil]
 * @returns {Promise<{ result?: any, error?: any }>}
 */
async function outcome(name, spoil) {
  const { hw, others, before } = await world();
  const call = calls[name](hw);
  spoil?.({ hw, call, arrays: arraysOf(call.args) });
  /** @type {{ result?: any, error?: any }} */
  let came;
  try {
    came = { result: await call.run(...call.args) };
  } catch (error) {
    came = { error };
  }
  const ended = isEnded(hw);
  if ('result' in came) came.result = ended ? plainOrNot(came.result) : plain(came.result);
  if (!ended) {
    const own = others.map((each) => each.stateDict());
    assert.deepEqual(own, before, 'weights of other modules');
    for (const { module, before: weights } of taken.get(hw) ?? [])
      assert.deepEqual(module.stateDict(), weights, 'weights of modules made during the call');
    assert.deepEqual(hw.softmax(probe), probed, 'what the engine computes afterwards');
  }
  taken.delete(hw);
  return came;
}

const isAllowed = (/** @type {unknown} */ error) =>
  error === theirs || error instanceof HeadwiseError;

/**
 * Runs a call; whatever else comes of it than is allowed is a failure.
 * @param {string[]} failures filled
 * @param {string} name
 * @param {string} label
 * @param {(context: Context) => unknown} spoil
 * @param {any} [honest] what the result must be; default: anything
 */
async function attempt(failures, name, label, spoil, honest) {
  try {
    const { result, error } = await outcome(name, spoil);
    if (error !== undefined) assert.ok(isAllowed(error), error?.stack ?? String(error));
    else if (honest !== undefined && result !== unsaid)
      assert.deepEqual(result, honest, 'another result');
  } catch (error) {
    failures.push(`${label}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Tests every public call with the caller's code at every place of its arguments.
 * @param {number} step one of so many cases is run, others for every call; 1: all
 */
export async function hostileTests(step) {
  const ran = { changes: [0, 0, 0], values: 0, orders: 0 };
  /** One count for each read: a later one is only tried where an earlier one was. */
  const turns = [0, 0, 0, 0];
  const isNext = (nth = 0) => turns[nth]++ % step === 0;

  for (const name of Object.keys(calls)) {
    const { hw } = await world();
    const where = [...places(calls[name](hw).args)];

    test(`${name}: what getters and Proxies do during the call does no harm`, async () => {
      const { result: honest } = await outcome(name);
      /** @type {string[]} */
      const failures = [];
      for (const { nth, label, spoil } of changes(where)) {
        if (!isNext(nth)) continue;
        await attempt(failures, name, label, spoil, honest);
        ran.changes[nth - 1]++;
      }
      assert.deepEqual(failures, []);
    });

    test(`${name}: what is no value gets a HeadwiseError soon`, async () => {
      const { result: honest } = await outcome(name);
      /** @type {string[]} */
      const failures = [];
      for (const path of where)
        for (const [what, make] of Object.entries({ ...odd, ...fitting })) {
          if (!isNext()) continue;
          const label = `${path.join('.')} is ${what}`;
          const put = (/** @type {Context} */ { call }) => at(call.args, path, make());
          await attempt(failures, name, label, put);
          if (what in fitting) continue;
          const change = (/** @type {Context} */ { call }) =>
            getter(call.args, path, 2, () => {}, [make()]);
          await attempt(failures, name, `${label} from the second read on`, change, honest);
          ran.values++;
        }
      assert.deepEqual(failures, []);
    });
  }

  for (const name of Object.keys(calls))
    test(`${name}: arguments in another order, or fewer, get a HeadwiseError`, async () => {
      /** @type {string[]} */
      const failures = [];
      const orders = [...ordersOf(calls[name]((await world()).hw).args.length)];
      for (const order of orders) {
        const spoil = (/** @type {Context} */ { call }) => {
          call.args = order.map((i) => call.args[i]);
        };
        await attempt(failures, name, `arguments ${order}`, spoil);
        ran.orders++;
      }
      assert.deepEqual(failures, []);
    });

  test('hundreds of cases were run', () => {
    const { changes: changed, values, orders } = ran;
    const [first, second, third] = changed;
    const isMany = Math.min(first, values) > 300 && second > 100 && third > 10 && orders > 200;
    assert.ok(isMany, JSON.stringify(ran));
  });
}

/**
 * The arguments from a later one on, the first ones behind the last or left out; and back to front.
 * @param {number} count
 * @returns {Generator<number[]>}
 */
function* ordersOf(count) {
  const all = Array.from({ length: count }, (_, i) => i);
  for (let start = 1; start <= count; start++) {
    yield [...all.slice(start), ...all.slice(0, start - 1)];
    if (start < count) yield [...all.slice(start), ...all.slice(0, start)];
  }
  if (count > 2) yield all.toReversed();
}

/**
 * What the caller's code does, at the first, second or third read of every place.
 * @param {readonly (readonly (string | number)[])[]} where
 * @returns {Generator<{ nth: number, label: string, spoil: (context: Context) => unknown }>}
 */
function* changes(where) {
  for (const path of where)
    for (const [kind, trick] of Object.entries({ getter, proxy })) {
      let acted = true;
      // More reads than the call makes are not waited for.
      for (let nth = 1; nth <= 3 && acted; nth++) {
        acted = false;
        for (const [action, act] of Object.entries(actions)) {
          yield {
            nth,
            label: `${kind} of ${path.join('.')}: ${action} at read ${nth}`,
            spoil: ({ hw, call, arrays }) =>
              trick(call.args, path, nth, () => {
                acted = true;
                act(hw, call, arrays);
              }),
          };
        }
      }
    }
}
