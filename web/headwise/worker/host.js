// The Worker's side of headwise/worker.
//   { call, id, path, how, args }  how: 'call' or 'new' what is at the path from object id, or 'get' it
//                                  → { call, value } or { call, error: { code, message } }
//   { drop: id }                   nobody holds the object any more
import { load } from '../engine/load.js';
import { importNode } from '../engine/node.js';
import { pack, unpack } from './wire.js';

/**
 * @typedef {object} Port
 * @property {((event: { data: any }) => void) | null} onmessage
 * @property {(message: unknown, transfers: Transferable[]) => void} postMessage
 */

/** What the page holds; 0 is where it begins. @type {Map<number, any>} */
const objects = new Map([[0, { load }]]);
let lastId = 0;

/** @param {any} value */
const isClass = (value) => typeof value === 'function' && value.prototype !== undefined;

/** @param {Function} Class */
const staticsOf = (Class) =>
  Object.keys(Class).filter((name) => typeof (/** @type {any} */ (Class)[name]) === 'function');

/**
 * Keeps an object, and says what it has: methods, values to be asked for, constants (what is frozen), and classes with
 * their static methods.
 * @param {object} object
 */
function keep(object) {
  const id = ++lastId;
  objects.set(id, object);
  /** @type {{ methods: Set<string>, values: Set<string>, constants: Record<string, unknown>, classes: Record<string, string[]> }} */
  const has = { methods: new Set(), values: new Set(), constants: {}, classes: {} };
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (name === 'constructor' || name === 'engine') continue;
      if (isClass(value)) has.classes[name] = staticsOf(value);
      else if (typeof value === 'function') has.methods.add(name);
      else if (typeof value === 'object' && Object.isFrozen(value)) has.constants[name] = value;
      else has.values.add(name);
    }
  }
  return { $: 'object', id, name: object.constructor.name, has };
}

/**
 * @param {{ id: number, path: string[], how: 'call' | 'new' | 'get', args: unknown[] }} message
 * @param {Set<Transferable>} transfers filled
 */
async function answer({ id, path, how, args }, transfers) {
  const target = objects.get(id);
  const last = path[path.length - 1];
  const owner = path.slice(0, -1).reduce((object, name) => object[name], target);
  const given = args.map((value) => unpack(value, ({ id: of }) => objects.get(of)));
  const result = await (how === 'get'
    ? owner[last]
    : how === 'new'
      ? new owner[last](...given)
      : owner[last](...given));
  if (result === target) {
    return { $: 'self' };
  }
  return pack(result, { transfers, moves: true, packObject: keep });
}

/** @param {Port} port */
function serve(port) {
  port.onmessage = async ({ data }) => {
    if (data.drop !== undefined) {
      objects.get(data.drop)?.dispose?.();
      objects.delete(data.drop);
      return;
    }
    /** @type {Set<Transferable>} */
    const transfers = new Set();
    const { call } = data;
    try {
      const value = await answer(data, transfers);
      port.postMessage({ call, value }, [...transfers]);
    } catch (error) {
      const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
      port.postMessage({ call, error: { code, message } }, []);
    }
  };
}

if (typeof globalThis.postMessage === 'function') {
  serve(/** @type {any} */ (globalThis));
} else {
  importNode('worker_threads').then(({ parentPort }) => serve(parentPort));
}
