// The graph of recorded tensors, which `backward` follows. Nodes refer to nodes, never to tensors, so the garbage collector
// frees an unreachable tensor together with its nodes.
import { HeadwiseError, misfit } from '../checks/error.js';
import { operandOf } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * From the gradient of a result those of the inputs, undefined for inputs that need none. Arrays may be shared.
 * @callback Backward
 * @param {FloatOperand} gradient
 * @returns {readonly (Float32Array | undefined)[]}
 */

/**
 * What a node keeps in an engine's memory.
 * @typedef {object} Kept
 * @property {() => void} check throws if a backward could not go through
 * @property {() => void} dispose
 */

/** A tensor that was made, not computed: gradients add up in it. */
export class Leaf {
  /** It belongs to none. */
  engine = undefined;
  requiresGrad = false;
  /** @type {Tensor | null} */
  grad = null;

  /** @param {readonly number[]} shape @param {number} size */
  constructor(shape, size) {
    this.shape = shape;
    this.size = size;
  }
}

/** Numbers nodes in the order in which they are made: inputs come before what is computed from them. */
let lastId = 0;

/** A tensor that was computed. */
export class Node {
  id = ++lastId;
  /** Whether a backward has freed it. */
  isFreed = false;

  /**
   * @param {Engine | undefined} engine undefined: of a leaf's shape alone
   * @param {Pick<FloatOperand, 'shape' | 'size'>} result
   * @param {readonly (Leaf | Node | undefined)[]} inputs undefined: needs no gradient
   * @param {Backward} backward
   * @param {Kept} [kept]
   */
  constructor(engine, { shape, size }, inputs, backward, kept) {
    this.engine = engine;
    this.shape = shape;
    this.size = size;
    this.inputs = inputs;
    this.backward = backward;
    this.kept = kept;
  }

  /** Forgets what a backward needs. */
  free() {
    this.isFreed = true;
    this.kept?.dispose();
    this.inputs = [];
    this.backward = () => [];
    this.kept = undefined;
  }
}

/** @typedef {Leaf | Node} Source */

/** @type {WeakMap<object, Source>} */
const sources = new WeakMap();

/**
 * What a tensor is or came from; undefined if no gradient leads there. Reads nothing of the tensor's, so that no code of the
 * caller's runs.
 * @param {any} tensor
 * @returns {Source | undefined}
 */
export function sourceOf(tensor) {
  const source = sources.get(tensor);
  return source instanceof Leaf && !source.requiresGrad ? undefined : source;
}

/** @param {object} tensor @returns {Tensor | null} */
export function gradOf(tensor) {
  const source = sources.get(tensor);
  return source instanceof Leaf ? source.grad : null;
}

/**
 * @param {object} tensor
 * @param {Tensor | null} value of the tensor's shape
 */
export function setGrad(tensor, value) {
  const source = sources.get(tensor);
  if (source instanceof Leaf) {
    source.grad = value;
  } else if (value !== null) {
    const expected = source
      ? 'null, as it was computed'
      : 'null, for a tensor without requiresGrad';
    throw misfit(value, 'grad', expected);
  }
}

/**
 * Whether gradients add up in a tensor, or did before it was frozen.
 * @param {any} tensor
 */
export const isLeaf = (tensor) => sources.get(tensor) instanceof Leaf;

/**
 * @param {object} tensor
 * @param {FloatOperand} operand its fields
 * @param {boolean} value
 */
export function setRequiresGrad(tensor, { shape, size }, value) {
  const known = sources.get(tensor);
  if (known instanceof Node) {
    if (!value) {
      const expected = 'true, as it was computed; detach() gives a tensor without gradients';
      throw misfit(value, 'requiresGrad', expected);
    }
    return;
  }
  if (known === undefined && !value) {
    return;
  }
  const leaf = known ?? new Leaf([...shape], size);
  leaf.requiresGrad = value;
  sources.set(tensor, leaf);
}

/** Of the engines that there are. They keep none alive. @type {Set<import('./recording-modes.js').RecordingModes>} */
export const modesOfEngines = new Set();

/** @param {any} value */
const isThenable = (value) => {
  try {
    return typeof value?.then === 'function';
  } catch {
    return false;
  }
};

/**
 * Calls a function in another mode, which lasts until the promise of an async one settles.
 * @template T
 * @param {Engine} engine
 * @param {boolean} mode
 * @param {() => T} fn
 * @returns {T} what it returns
 */
export function withRecording(engine, mode, fn) {
  engine.checkAlive();
  if (typeof fn !== 'function') {
    throw misfit(fn, 'fn', 'a function');
  }
  const end = engine.modes.begin(mode);
  let result;
  try {
    result = fn();
  } catch (error) {
    end();
    throw error;
  }
  if (isThenable(result)) {
    return /** @type {any} */ (Promise.resolve(result).finally(end));
  }
  end();
  return result;
}

/**
 * Whether what is made of a source without an engine is recorded: a leaf belongs to none.
 * @param {Source} source
 */
export const isRecorded = (source) =>
  source instanceof Node && source.engine !== undefined
    ? source.engine.isRecording
    : [...modesOfEngines].some(({ latest }) => latest);

/**
 * Records what a result came from, if any of the inputs needs a gradient. Only for an engine that records.
 * @template {Tensor} T
 * @param {Engine} engine
 * @param {T} result
 * @param {readonly unknown[]} inputs tensors as the caller gave them
 * @param {(needs: boolean[]) => Backward} save keeps copies of what the backward needs
 * @returns {T} the result
 */
export function record(engine, result, inputs, save) {
  const found = inputs.map(sourceOf);
  if (found.some((source) => source !== undefined)) {
    attach(engine, result, found, save(found.map((source) => source !== undefined)));
  }
  return result;
}

/**
 * Records what a result came from.
 * @param {Engine | undefined} engine
 * @param {Tensor} result
 * @param {readonly (Source | undefined)[]} inputs
 * @param {Backward} backward
 * @param {Kept} [kept]
 */
export function attach(engine, result, inputs, backward, kept) {
  sources.set(result, new Node(engine, operandOf(result), inputs, backward, kept));
}

/**
 * Makes a backward through a result say why gradients end there, instead of leaving them out.
 * @param {Engine | undefined} engine
 * @param {Tensor} result
 * @param {string} cause with what was expected
 */
export function attachEnd(engine, result, cause) {
  const check = () => {
    throw new HeadwiseError('ERR_VALUE', `backward: ${cause}`);
  };
  attach(engine, result, [], () => [], { check, dispose() {} });
}

/**
 * Records what results of one call came from: their gradients are handed to its backward one after another.
 * @param {Engine} engine
 * @param {readonly Tensor[]} results
 * @param {readonly (Source | undefined)[]} inputs
 * @param {Backward} backward
 * @param {Kept} [kept]
 */
export function attachAll(engine, results, inputs, backward, kept) {
  if (results.length === 1) {
    attach(engine, results[0], inputs, backward, kept);
    return;
  }
  const size = results.reduce((sum, { data }) => sum + data.length, 0);
  const call = new Node(engine, { shape: [size], size }, inputs, backward, kept);
  let end = 0;
  for (const result of results) {
    const start = end;
    end += result.data.length;
    attach(engine, result, [call], ({ data }) => {
      const all = newArray(Float32Array, size);
      all.set(data, start);
      return [all];
    });
  }
}

/**
 * The nodes that lead to one, latest first: what is computed from a node comes before it.
 * @param {Node} root
 * @returns {Node[]}
 * @throws {HeadwiseError} ERR_VALUE: one of them was freed; ERR_DISPOSED
 */
export function nodesOf(root) {
  const found = new Set([root]);
  // The loop also visits nodes that it adds.
  for (const node of found) {
    if (node.isFreed) {
      throw new HeadwiseError(
        'ERR_VALUE',
        'backward: the graph was freed by an earlier backward; expected one that ran with retainGraph: true',
      );
    }
    node.engine?.checkAlive();
    node.kept?.check();
    for (const input of node.inputs) {
      if (input instanceof Node) {
        found.add(input);
      }
    }
  }
  return [...found].sort((a, b) => b.id - a.id);
}
