// The parameters of a module, as listed by the engine with torch's names and shapes. They are copied through staging memory.
import { matrixType, parameterInfo } from '../engine/abi.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */

/**
 * @typedef {object} Parameter
 * @property {string} key its name in the state dict, torch's
 * @property {readonly number[]} shape torch's
 * @property {number} index the engine's number for it
 * @property {number} size elements
 * @property {boolean} loadsWhole whether all rows have to be loaded at once
 */

const { words: fields, bytes: infoBytes } = parameterInfo;

/** @param {Uint8Array} bytes @param {number} start */
const textAt = (bytes, start) =>
  String.fromCharCode(...bytes.subarray(start, bytes.indexOf(0, start)));

/**
 * @param {Engine} engine
 * @param {number} module
 * @returns {readonly Parameter[]} in torch's order
 */
export function listParameters(engine, module) {
  const { call } = engine;
  return Array.from({ length: call.module_parameter_count(module) }, (_, index) => {
    const at = engine.stage(infoBytes);
    engine.check(call.module_parameter(module, index, at), 'stateDict');
    const { bytes, words } = engine;
    const first = at / 4;
    const rank = words[first + fields.rank];
    const shapeAt = first + fields.shape;
    const shape = Object.freeze([...words.subarray(shapeAt, shapeAt + rank)]);
    const size = shape.reduce((product, n) => product * n, 1);
    const loadsWhole = bytes[(first + fields.loadsWhole) * 4] !== 0;
    return { key: textAt(bytes, (first + fields.name) * 4), shape, index, size, loadsWhole };
  });
}

/** @param {Engine} engine @param {number} module @param {Parameter} parameter */
export function readParameter(engine, module, { index, shape, size }) {
  const at = engine.stage(size * 4);
  engine.check(engine.call.module_store(module, index, 0, shape[0], at), 'stateDict');
  return engine.read(at, shape);
}

/** @param {Engine} engine @param {number} module @param {Parameter} parameter that has a gradient */
export function readGradient(engine, module, { index, shape, size }) {
  const at = engine.stage(size * 4);
  engine.check(engine.call.module_store_gradient(module, index, 0, shape[0], at), 'grad');
  return engine.read(at, shape);
}

/**
 * @param {Engine} engine
 * @param {number} module
 * @param {Parameter} parameter
 * @param {FloatOperand} value of its shape
 */
export function writeGradient(engine, module, { index, shape, key }, value) {
  const [at] = engine.lay([value]);
  const status = engine.call.module_load_gradient(module, index, 0, shape[0], at);
  const expected = `null, as ${key} is not kept as float32`;
  engine.check(status, 'grad', `grad is a tensor; expected ${expected}`);
}

/**
 * Copies a parameter in.
 * @param {Engine} engine
 * @param {number} module
 * @param {Parameter} parameter
 * @param {FloatOperand} value
 */
export function writeParameter(engine, module, { index, shape }, value) {
  const [at] = engine.lay([value]);
  const status = engine.call.module_load(module, index, 0, shape[0], matrixType.float32, at);
  engine.check(status, 'loadStateDict');
}

/**
 * Copies rows of a parameter in, as a file has them.
 * @param {Engine} engine
 * @param {number} module
 * @param {Parameter} parameter
 * @param {number} type of matrixType
 * @param {Uint8Array} bytes whole rows
 * @param {number} firstRow
 * @param {number} rows
 */
export function writeRows(engine, module, { index }, type, bytes, firstRow, rows) {
  const at = engine.stage(bytes.length);
  engine.bytes.set(bytes, at);
  const status = engine.call.module_load(module, index, firstRow, rows, type, at);
  engine.check(status, 'the weights');
}
