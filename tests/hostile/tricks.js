// What a hostile caller does to arguments that fit: code of its own runs whenever something is read.
import { Tensor } from 'headwise';

/** @typedef {import('./calls/inputs.js').Call} Call */
/** @typedef {import('../helpers.js').Engine} Engine */

/** What the caller's own code throws: the call may pass it on. */
export const theirs = new Error('thrown by the caller');

/**
 * @param {any} value
 * @param {(tensor: any) => void} act on every array of numbers in it
 */
function eachArray(value, act) {
  if (value instanceof Tensor) return act(value.data);
  if (ArrayBuffer.isView(value)) return act(value);
  if (typeof value === 'object' && value !== null && [Object, Array].includes(value.constructor))
    for (const entry of Object.values(value)) eachArray(entry, act);
}

/**
 * What the caller's code does when it runs during the call.
 * @type {Record<string, (hw: Engine, call: Call, arrays: any[]) => void>}
 */
export const actions = {
  throws() {
    throw theirs;
  },
  'ends the module and makes another': (hw, { owned = [] }) => {
    owned.forEach((each) => each.dispose());
    refill(hw);
  },
  'ends the last made': (hw, { owned = [] }) => {
    owned.at(-1)?.dispose();
    refill(hw);
  },
  'ends the engine': (hw) => hw.dispose(),
  'moves the arrays away': (_hw, _call, arrays) => {
    for (const { buffer } of arrays)
      if (buffer.byteLength > 0) structuredClone(buffer, { transfer: [buffer] });
  },
  'grows the arrays': (_hw, _call, arrays) => {
    for (const { buffer } of arrays) if (buffer.resizable) buffer.resize(buffer.maxByteLength);
  },
  'shrinks the arrays': (_hw, _call, arrays) => {
    for (const { buffer } of arrays) if (buffer.resizable) buffer.resize(4);
  },
  'calls the engine': (hw) => {
    hw.matmul(ones([8, 64]), ones([64, 8]));
  },
  'calls the engine with much': (hw) => {
    const big = ones([64, 512]);
    hw.matmul(hw.transpose(big), big);
    refill(hw);
  },
};

const ones = (/** @type {number[]} */ [rows, columns]) =>
  new Tensor(new Float32Array(rows * columns).fill(1), [rows, columns]);

/** Takes what was freed, so that a write to it would be seen. @type {Map<Engine, any[]>} */
export const taken = new Map();

/** @param {Engine} hw */
function refill(hw) {
  const made = taken.get(hw) ?? [];
  // They draw no random numbers, on which results depend.
  for (const dim of [2, 4, 8, 12, 20, 32, 48, 64]) {
    const module = new hw.LayerNorm({ dim });
    made.push({ module, before: module.stateDict() });
  }
  taken.set(hw, made);
}

/** Properties of arrays of numbers that a caller can set. */
const ofArrays = ['length', 'byteLength', 'byteOffset', 'buffer', 'constructor', 'subarray'];

/** @param {any} value */
const isPlain = (value) =>
  typeof value === 'object' && value !== null && [Object, Array].includes(value.constructor);

/**
 * Where something of the caller's can stand: `path` from the arguments, `holder[key]` in the copy that it is given.
 * @param {any} holder
 * @param {readonly (string | number)[]} path
 * @returns {Generator<readonly (string | number)[]>}
 */
export function* places(holder, path = []) {
  const keys = ArrayBuffer.isView(holder)
    ? ofArrays
    : holder instanceof Tensor
      ? ['shape', 'data', 'dtype']
      : isPlain(holder)
        ? Object.keys(holder).slice(0, 12)
        : [];
  for (const key of keys) {
    yield [...path, key];
    yield* places(holder[key], [...path, key]);
  }
  if (path.length > 0 && !Array.isArray(holder) && !ArrayBuffer.isView(holder)) {
    const object = typeof holder === 'object' && holder !== null;
    if (object) yield [...path, 'constructor'];
  }
}

/**
 * @param {any[]} args
 * @param {readonly (string | number)[]} path
 */
function holderOf(args, path) {
  /** @type {any} */
  let holder = args;
  for (const key of path.slice(0, -1)) holder = holder[key];
  return { holder, key: path[path.length - 1] };
}

/**
 * Puts something else at a place.
 * @param {any[]} args
 * @param {readonly (string | number)[]} path
 * @param {unknown} value
 */
export function at(args, path, value) {
  const { holder, key } = holderOf(args, path);
  const all = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(holder, key, { value, ...all });
}

/**
 * A getter that acts when it is read for the n-th time.
 * @param {any[]} args
 * @param {readonly (string | number)[]} path
 * @param {number} nth
 * @param {() => void} act
 * @param {unknown[]} [later] what it gives then; default: what is there
 */
export function getter(args, path, nth, act, later) {
  let reads = 0;
  const { holder, key } = holderOf(args, path);
  const value = holder[key];
  Object.defineProperty(holder, key, {
    configurable: true,
    enumerable: true,
    get() {
      reads++;
      if (reads === nth) act();
      return later !== undefined && reads >= nth ? later[0] : value;
    },
  });
}

/**
 * A Proxy that acts at its n-th trap.
 * @param {any[]} args
 * @param {readonly (string | number)[]} path
 * @param {number} nth
 * @param {() => void} act
 */
export function proxy(args, path, nth, act) {
  let traps = 0;
  const count = () => {
    traps++;
    if (traps === nth) act();
  };
  const { holder, key } = holderOf(args, path);
  const value = holder[key];
  if (typeof value === 'object' && value !== null) {
    /** @type {ProxyHandler<any>} */
    const handler = {
      get(target, name) {
        count();
        return Reflect.get(target, name, target);
      },
      ownKeys(target) {
        count();
        return Reflect.ownKeys(target);
      },
      getPrototypeOf(target) {
        count();
        return Reflect.getPrototypeOf(target);
      },
    };
    at(args, path, new Proxy(value, handler));
  }
}

function revoked(/** @type {object} */ target) {
  const made = Proxy.revocable(target, {});
  made.revoke();
  return made.proxy;
}

function cyclic() {
  /** @type {any[]} */
  const array = [];
  array.push(array, array);
  return array;
}

function deep() {
  /** @type {any} */
  let array = 1;
  for (let i = 0; i < 20_000; i++) array = [array];
  return array;
}

function deepShapes() {
  /** @type {any} */
  let object = { shape: [1] };
  for (let i = 0; i < 20_000; i++) object = { shape: [object, object] };
  return object;
}

function cyclicShape() {
  /** @type {any} */
  const object = {};
  object.shape = [object, object, object];
  return object;
}

/** Values that fit at some places. @type {Record<string, () => unknown>} */
export const fitting = {
  ...{ undefined: () => undefined, null: () => null, 'a text': () => 'text', 'a number': () => 3 },
  ...{ 'an object': () => ({}), 'an array': () => [], 'a function': () => () => 1 },
};

/** Values that are none. @type {Record<string, () => unknown>} */
export const odd = {
  'a revoked Proxy': () => revoked({}),
  'a revoked Proxy of an array': () => revoked([]),
  'a revoked Proxy of a tensor': () => revoked(new Tensor(new Float32Array(2), [2])),
  'an array that holds itself': cyclic,
  'arrays nested 20,000 deep': deep,
  'shapes nested 20,000 deep': deepShapes,
  'a shape that holds itself': cyclicShape,
  'an array of holes': () => new Array(2 ** 32 - 1),
  'a name that is a symbol': () => ({ constructor: { name: Symbol('name') } }),
  'a name that is an object': () => ({ constructor: { name: Object.create(null) } }),
  'a constructor that throws': () =>
    Object.defineProperty({}, 'constructor', {
      get() {
        throw theirs;
      },
    }),
  'an object without a prototype': () => Object.create(null),
  'a tensor without fields': () => Object.create(Tensor.prototype),
  'a symbol': () => Symbol('value'),
  'a number that is an object': () => ({
    [Symbol.toPrimitive]() {
      throw theirs;
    },
  }),
  'a boxed number': () => Object(2),
  'a large bigint': () => 2n ** 100_000n,
  'a function whose name throws': () =>
    Object.defineProperty(() => 1, 'name', {
      get() {
        throw theirs;
      },
    }),
};

/** Arrays of numbers in the arguments, as they are before anything is changed. @param {any[]} args */
export function arraysOf(args) {
  /** @type {any[]} */
  const arrays = [];
  eachArray(args, (array) => arrays.push(array));
  return arrays;
}
