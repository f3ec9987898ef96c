// Recorded forwards of modules. The values for their backward stay in the engine's memory.
import { HeadwiseError } from '../checks/error.js';
import { classOf } from '../checks/describe.js';
import { addressOf, Owned } from '../engine/owned.js';
import { inputBytes, writeInput } from '../engine/struct.js';
import { copyOf } from '../tensor/operand.js';
import { attach, sourceOf } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/call.js').Call} Call */

/**
 * Whether a forward is to be recorded: gradients lead to the module's parameters or to its input.
 * @param {Module} module
 * @param {unknown} x the input as the caller gave it
 */
export const wantsGraph = (module, x) => sourceOf(x) !== undefined || module.trains;

/** What a forward left in the engine's memory for its backward. */
export class Graph extends Owned {
  /** @param {Engine} engine @param {number} pointer */
  constructor(engine, pointer) {
    super(engine, pointer, 'graph_destroy');
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
 * Records that an output came from a call.
 * @template {Tensor} T
 * @param {Module} module
 * @param {Call} call that was recorded
 * @param {unknown} x the input as the caller gave it
 * @param {T} result
 * @returns {T} the result
 */
export function attachForward(module, call, x, result) {
  const { engine } = module;
  const { input } = call;
  const graph = /** @type {Graph} */ (call.graph);
  const source = input.dtype === 'float32' ? sourceOf(x) : undefined;
  // Ids are the call's own.
  const own = { ...call, input: input.dtype === 'float32' ? copyOf(input) : input };
  attach(
    engine,
    result,
    [source],
    (gradient) => [runBackward(module, own, graph, gradient, source !== undefined)],
    { check: () => checkCurrent(module, graph), dispose: () => graph.dispose() },
  );
  return result;
}

/** @param {Module} module @param {Graph} graph */
export function checkCurrent(module, graph) {
  const { engine, pointer } = module;
  if (!engine.call.graph_is_current(addressOf(graph), pointer)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `backward: the parameters of the ${classOf(module)} were changed after its forward; expected them as they were (run the forward again)`,
    );
  }
}

/**
 * @param {Module} module
 * @param {Call} call
 * @param {Graph} graph
 * @param {FloatOperand} gradient of the output
 * @param {boolean} needsInput
 * @returns {Float32Array | undefined} the input's gradient
 */
function runBackward(module, call, graph, gradient, needsInput) {
  const { engine, pointer } = module;
  const { input } = call;
  const dxBytes = needsInput ? input.size * 4 : undefined;
  const [at, data, dy, dx] = engine.lay([inputBytes, input, gradient, dxBytes]);
  writeInput(engine.words, at / 4, data, call);
  const status = engine.call.module_backward(pointer, at, addressOf(graph), dy, dx);
  engine.check(status, 'backward');
  module.forgetFrozen();
  return needsInput ? engine.read(dx, input.shape).data : undefined;
}
