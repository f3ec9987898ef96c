// The stand-in on one side for an object of the other side.
import { HeadwiseError, misfit } from '../checks/error.js';
import { noValueYet, stepsOf } from './steps.js';

/** An object as it is told of: its methods, values to be asked for, constants (what is frozen), and classes with their static methods. */
/** @typedef {{ methods: Set<string>, values: Set<string>, constants: Record<string, unknown>, classes: Record<string, string[]> }} Members */

/** Asks what is at a path from the object. @typedef {(path: string[], how: 'call' | 'new' | 'get' | 'set', args: unknown[], target?: object) => Promise<any>} Ask */

/** @param {any} value */
const isClass = (value) => typeof value === 'function' && value.prototype !== undefined;

/** @param {Function} Class */
const staticsOf = (Class) =>
  Object.keys(Class).filter((name) => typeof (/** @type {any} */ (Class)[name]) === 'function');

/**
 * @param {object} object
 * @returns {Members}
 */
export function membersOf(object) {
  /** @type {Members} */
  const has = { methods: new Set(), values: new Set(), constants: {}, classes: {} };
  for (let at = object; Object.getPrototypeOf(at) !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (name === 'constructor' || name === 'engine') continue;
      if (isClass(value)) has.classes[name] = staticsOf(value);
      else if (typeof value === 'function') has.methods.add(name);
      else if (typeof value === 'object' && Object.isFrozen(value)) has.constants[name] = value;
      else has.values.add(name);
    }
  }
  return has;
}

/**
 * What the other side asks of an object here.
 * @param {any} object
 * @param {string[]} path from it
 * @param {'call' | 'new' | 'get' | 'set'} how
 * @param {unknown[]} args
 */
export function reach(object, path, how, args) {
  const owner = path.slice(0, -1).reduce((at, name) => at[name], object);
  const last = path[path.length - 1];
  if (how === 'get') return owner[last];
  if (how === 'set') return void (owner[last] = args[0]);
  if (how === 'new') return new owner[last](...args);
  return last === undefined ? object(...args) : owner[last](...args);
}

/** `await using` of runtimes that have it; the others find it by the registered name, as compilers do. */
const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

class RemoteObject {
  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'RemoteObject';
  }
}

/** A class that is there to be extended. */
const base = 'Module';

/**
 * What stands for a class. Its instances live on the other side, so that no class here can add to them.
 * @param {string} name
 * @param {(args: unknown[]) => Promise<any>} construct
 */
function remoteClass(name, construct) {
  // Not an arrow: it is called with new.
  return function Remote(/** @type {unknown[]} */ ...args) {
    if (name === base || (new.target !== undefined && new.target !== Remote)) {
      const problem = `${name}: classes of headwise/worker cannot be extended`;
      const own = name === base ? 'its other modules, called in turn' : `new ${name}(options)`;
      const expected = `${own}, or a class that extends ${name} of headwise`;
      throw new HeadwiseError('ERR_VALUE', `${problem}; expected ${expected}`);
    }
    return construct(args);
  };
}

/** Values whose entries' settings may be set, one by one: an optimizer's groups of parameters. */
const settable = ['groups'];

/**
 * @param {string} name of the value
 * @param {Record<string, unknown>[]} entries of the value, copied
 * @param {Ask} ask
 */
function settableEntries(name, entries, ask) {
  entries.forEach((entry, i) => {
    for (const [key, first] of Object.entries(entry)) {
      let value = Array.isArray(first) ? Object.freeze(first) : first;
      Object.defineProperty(entry, key, {
        get: () => value,
        set(given) {
          value = given;
          ask([name, `${i}`, key], 'set', [given]);
        },
      });
    }
    Object.seal(entry);
  });
  return entries;
}

/**
 * @param {Members} has
 * @param {Ask} ask
 * @returns {Record<PropertyKey, any>}
 */
export function remoteObject(has, ask) {
  /** @type {Record<PropertyKey, any>} */
  const remote = Object.assign(new RemoteObject(), has.constants);
  // They were frozen before they were sent.
  Object.values(has.constants).forEach(Object.freeze);
  for (const method of has.methods) {
    remote[method] = (/** @type {unknown[]} */ ...args) => ask([method], 'call', args, remote);
  }
  for (const value of has.values) {
    Object.defineProperty(remote, value, {
      get() {
        const answer = ask([value], 'get', [], remote);
        return settable.includes(value)
          ? answer.then((entries) => settableEntries(value, entries, ask))
          : answer;
      },
      // In order, as all else; what is refused is an unhandled rejection.
      set(given) {
        ask([value], 'set', [given], remote);
      },
    });
  }
  if (has.methods.has('dispose')) {
    Object.defineProperty(remote, asyncDispose, { value: () => remote.dispose() });
  }
  for (const [of, statics] of Object.entries(has.classes)) {
    remote[of] = remoteClass(of, (args) => ask([of], 'new', args, remote));
    for (const method of statics) {
      remote[of][method] = (/** @type {unknown[]} */ ...args) =>
        ask([of, method], 'call', args, remote);
    }
  }
  return remote;
}

/** @param {any} object */
export const isIterator = (object) =>
  typeof object.next === 'function' &&
  (Symbol.iterator in object || Symbol.asyncIterator in object);

/** @returns {Promise<void>} when what the other side posted meanwhile was heard */
const turn = () => new Promise((resolve) => setTimeout(resolve));

/**
 * An iterator, as the other side is to call it.
 * @param {any} given
 * @param {() => void} ended
 */
export function heldIterator(given, ended) {
  const iterator = stepsOf(given) ?? given;
  const end = async () => {
    ended();
    await iterator.return?.();
  };
  return {
    async next() {
      try {
        let result = await iterator.next();
        while (result.value === noValueYet) {
          await turn();
          result = await iterator.next();
        }
        if (result.done) ended();
        return result;
      } catch (error) {
        ended();
        throw error;
      }
    },
    return: end,
    dispose: end,
  };
}

/**
 * What stands for an iterator. Leaving its loop ends it on the other side.
 * @param {Ask} ask
 * @param {() => void} ended called once, when nothing more comes
 * @returns {AsyncGenerator<any, any, void>}
 */
export function remoteIterator(ask, ended) {
  const iterator = remoteValues(ask, ended);
  iterator.next(); // begins it: a generator that has not begun ends without its finally
  return iterator;
}

/** @type {typeof remoteIterator} */
async function* remoteValues(ask, ended) {
  let isOpen = true;
  try {
    yield; // what begins it
    while (isOpen) {
      isOpen = false; // what throws has ended
      const { value, done } = await ask(['next'], 'call', []);
      if (done) return value;
      isOpen = true;
      yield value;
    }
  } finally {
    if (isOpen) await ask(['return'], 'call', []);
    ended();
  }
}

/** @param {'next' | 'return' | 'throw'} name @returns {(this: Promise<any>, value?: unknown) => Promise<any>} */
const step = (name) =>
  function (value) {
    return this.then((iterator) => {
      if (typeof iterator?.[name] === 'function') return iterator[name](value);
      const expected = 'an iterator, as generate gives; await the call, and loop over its result';
      throw misfit(iterator, "a call's result", expected);
    });
  };

const steps = {
  ...{ next: step('next'), return: step('return'), throw: step('throw') },
  [asyncDispose]: step('return'),
  [Symbol.asyncIterator]() {
    return this;
  },
};

/**
 * A call whose result is an iterator can be iterated before that has arrived.
 * @param {Promise<any>} call
 * @returns {any} the same
 */
export const iterable = (call) => Object.assign(call, steps);
