// Recorded forwards of modules. The values for their backward stay in the engine's memory.
import { HeadwiseError } from '../checks/error.js';
import { classOf } from '../checks/describe.js';
import { optionGradients } from '../engine/abi.js';
import { finalizers, pressCollector } from '../engine/dispose.js';
import { addressOf, Owned } from '../engine/owned.js';
import { inputBytes, writeInput, writeStruct } from '../engine/struct.js';
import { forgetFrozen, trains } from '../modules/module.js';
import { copyOf, operandOf } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { gradientOfMask } from './attention.js';
import { attachAll, sourceOf } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../modules/forward-options.js').Asked} Asked */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('./record.js').Source} Source */
/** @typedef {import('../modules/call.js').Call} Call */

/**
 * Whether a forward is to be recorded: gradients lead to the module's parameters or to what it is given.
 * @param {Module} module
 * @param {...unknown} given input and masks as the caller gave them
 */
export const wantsGraph = (module, ...given) =>
  trains(module) || given.some((each) => sourceOf(each) !== undefined);

/** What graphs of an engine may hold together before the collector is to see it. */
const unseen = 2 ** 26;

/** What a forward left in the engine's memory for its backward. */
export class Graph extends Owned {
  #engine;
  #bytes;
  /** @type {ArrayBuffer | undefined} */
  pressure;

  /** @param {Engine} engine @param {number} pointer */
  constructor(engine, pointer) {
    super(engine, pointer, 'graph_destroy');
    const bytes = engine.call.graph_bytes(pointer);
    this.#engine = engine;
    this.#bytes = bytes;
    engine.graphBytes += bytes;
    finalizers.register(this, () => (engine.graphBytes -= bytes), this);
    this.pressure = engine.graphBytes > unseen ? pressCollector(bytes) : undefined;
  }

  /** @override */
  dispose() {
    super.dispose();
    this.#engine.graphBytes -= this.#bytes;
    this.#bytes = 0;
    this.pressure = undefined;
  }
}

/**
 * Runs a module's forward and keeps its graph.
 * @param {Engine} engine
 * @param {Call} call
 * @param {number} at the input's address
 * @param {number} output
 * @param {number} struct the options'
 */
export function runRecorded(engine, call, at, output, struct) {
  const status = engine.call.module_forward_recorded(call.pointer, at, output, struct);
  engine.check(status, call.name);
  call.graph = new Graph(engine, engine.result);
}

/**
 * Records that an output came from a call, and weights with it.
 * @template {Tensor} T
 * @param {Module} module
 * @param {Call} call that was recorded
 * @param {unknown} x the input as the caller gave it
 * @param {T} result
 * @param {Asked} [asked]
 * @param {readonly Tensor[]} [weights] of every layer, as they are in staging memory
 * @returns {T} the result
 */
export function attachForward(module, call, x, result, { mask, headMask } = {}, weights) {
  const { engine } = module;
  const { input, extras } = call;
  const { weightsAt = 0, weightsBytes = 0 } = extras ?? {};
  const graph = /** @type {Graph} */ (call.graph);
  const isFloat = input.dtype === 'float32';
  const sources = [isFloat && x, mask?.from, headMask?.from].map(sourceOf);
  const maskShape = mask?.shape;
  // Ids are the call's own.
  const own = {
    ...call,
    input: isFloat ? copyOf(input) : input,
    weights: weights && operandOf(engine.read(weightsAt, [weightsBytes / 4])),
  };
  attachAll(
    engine,
    [result, ...(weights ?? [])],
    sources,
    (gradient) => runBackward(module, own, graph, gradient, sources, maskShape),
    { check: () => checkCurrent(module, graph), dispose: () => graph.dispose() },
  );
  return result;
}

/** @param {Module} module @param {Graph} graph */
export function checkCurrent(module, graph) {
  const { engine } = module;
  const pointer = addressOf(module);
  if (!engine.call.graph_is_current(addressOf(graph), pointer)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `backward: the parameters of the ${classOf(module)} were changed after its forward (or its mode, with gradient checkpointing); expected them as they were (run the forward again)`,
    );
  }
}

/**
 * @param {Module} module
 * @param {Call} call
 * @param {Graph} graph
 * @param {FloatOperand} gradient of the output, and of weights after it
 * @param {readonly (Source | undefined)[]} sources of input, mask and head mask: undefined where no gradient is needed
 * @param {readonly number[]} [maskShape] as it was given
 * @returns {(Float32Array | undefined)[]} their gradients
 */
function runBackward(module, call, graph, gradient, sources, maskShape = []) {
  const { engine } = module;
  const pointer = addressOf(module);
  const { input, extras, weights } = call;
  const wanted = [input, extras?.mask?.tensor, extras?.headMask].map((each, i) =>
    sources[i] ? /** @type {FloatOperand | undefined} */ (each) : undefined,
  );
  // The engine adds to those of the options, so they start as zeros.
  const zeros = wanted.map(
    (each, i) =>
      each && (i > 0 ? { ...each, data: newArray(Float32Array, each.size) } : each.size * 4),
  );
  const parts = [inputBytes, input, gradient, ...zeros, optionGradients.bytes, weights];
  const addresses = engine.lay(parts);
  const [at, data, dy, dx, mask, headMask, asked, weightsAt] = addresses;
  writeInput(engine.words, at / 4, data, call);
  writeStruct(engine, asked, optionGradients, {
    mask,
    headMask,
    weights: weightsAt,
    weightsGradient: weightsAt && dy + call.outputSize * 4,
  });
  const { call: calls } = engine;
  const status = calls.module_backward(pointer, at, addressOf(graph), dy, dx, asked);
  engine.check(status, 'backward');
  forgetFrozen(module);
  const [ofInput, ofMask, ofHeads] = wanted.map(
    (each, i) => each && engine.read(addresses[3 + i], each.shape),
  );
  return [ofInput?.data, ofMask && gradientOfMask(engine, ofMask, maskShape), ofHeads?.data];
}
