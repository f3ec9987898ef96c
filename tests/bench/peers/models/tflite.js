/**
 * Writes TFLite models: the few tables of schema.fbs that are needed here.
 * https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite/schema/schema.fbs
 */

import * as flatbuffers from 'flatbuffers';

/** @typedef {flatbuffers.Builder} Builder */
/** @typedef {(builder: Builder) => number} WriteOptions writes the options' table */

const FLOAT32 = 0;
const INT32 = 2;
const SCHEMA_VERSION = 3;

/** A BuiltinOperator, and the member of the union BuiltinOptions that goes with it. */
const OPERATORS = /** @type {const} */ ({
  ADD: { code: 0, options: 11 },
  CONCATENATION: { code: 2, options: 10 },
  FULLY_CONNECTED: { code: 9, options: 8 },
  MUL: { code: 18, options: 21 },
  RESHAPE: { code: 22, options: 17 },
  SOFTMAX: { code: 25, options: 9 },
  TRANSPOSE: { code: 39, options: 26 },
  SLICE: { code: 65, options: 48 },
  BATCH_MATMUL: { code: 126, options: 101 },
});

/** @typedef {keyof typeof OPERATORS} Operator */

/**
 * @param {Builder} builder
 * @param {readonly number[]} values
 */
function intVector(builder, values) {
  builder.startVector(4, values.length, 4);
  for (const value of values.toReversed()) builder.addInt32(value);
  return builder.endVector();
}

/**
 * @param {Builder} builder
 * @param {readonly number[]} offsets
 */
function offsetVector(builder, offsets) {
  builder.startVector(4, offsets.length, 4);
  for (const offset of offsets.toReversed()) builder.addOffset(offset);
  return builder.endVector();
}

/**
 * @param {Builder} builder
 * @param {readonly ((slot: number) => void)[]} fields by slot
 */
function table(builder, fields) {
  builder.startObject(fields.length);
  fields.forEach((write, slot) => write(slot));
  return builder.endObject();
}

const absent = () => {};

/**
 * @param {Builder} builder
 * @param {Operator} name
 */
const writeCode = (builder, name) =>
  table(builder, [
    (slot) => builder.addFieldInt8(slot, OPERATORS[name].code, 0),
    absent,
    absent,
    (slot) => builder.addFieldInt32(slot, OPERATORS[name].code, 0),
  ]);

/**
 * @param {Builder} builder
 * @param {Float32Array | Int32Array} data
 */
function writeBuffer(builder, { buffer, byteOffset, byteLength }) {
  // Pads so that the vector's first byte comes to lie at a multiple of 16.
  builder.startVector(1, byteLength, 16);
  const bytes = builder.createByteVector(new Uint8Array(buffer, byteOffset, byteLength));
  return table(builder, [(slot) => builder.addFieldOffset(slot, bytes, 0)]);
}

/** Writers of the options that are not all defaults. */
export const options = {
  /** @returns {WriteOptions} */
  none: () => (builder) => table(builder, []),
  /** @param {number} axis @returns {WriteOptions} */
  concatenation: (axis) => (builder) =>
    table(builder, [(slot) => builder.addFieldInt32(slot, axis, 0)]),
  /** @returns {WriteOptions} */
  softmax: () => (builder) => table(builder, [(slot) => builder.addFieldFloat32(slot, 1, 0)]),
  /** @param {boolean} transposeB @returns {WriteOptions} */
  batchMatMul: (transposeB) => (builder) =>
    table(builder, [absent, (slot) => builder.addFieldInt8(slot, Number(transposeB), 0)]),
};

/**
 * A model of one graph. Tensors are numbers; shapes are those of the caller, who must know them.
 */
export class TfliteModel {
  /** @type {{ shape: readonly number[], type: number, data?: Float32Array | Int32Array }[]} */
  #tensors = [];
  /** @type {{ operator: Operator, inputs: readonly number[], output: number, write: WriteOptions }[]} */
  #nodes = [];
  /** @type {number[]} */
  #inputs = [];

  /** @param {readonly number[]} shape */
  #tensor(shape) {
    return this.#tensors.push({ shape, type: FLOAT32 }) - 1;
  }

  /** @param {readonly number[]} shape */
  input(shape) {
    const tensor = this.#tensor(shape);
    this.#inputs.push(tensor);
    return tensor;
  }

  /** @param {Float32Array | Int32Array} data @param {readonly number[]} shape */
  constant(data, shape) {
    return (
      this.#tensors.push({ shape, type: data instanceof Float32Array ? FLOAT32 : INT32, data }) - 1
    );
  }

  /**
   * @param {Operator} operator
   * @param {readonly number[]} inputs
   * @param {readonly number[]} shape of the output
   * @param {WriteOptions} [write]
   * @returns {number} the output
   */
  node(operator, inputs, shape, write = options.none()) {
    const output = this.#tensor(shape);
    this.#nodes.push({ operator, inputs, output, write });
    return output;
  }

  /**
   * @param {number} output
   * @returns {Uint8Array} the file
   */
  finish(output) {
    const bytes = this.#tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0);
    const builder = new flatbuffers.Builder(bytes + 65536);
    const operators = [...new Set(this.#nodes.map(({ operator }) => operator))];
    const buffers = offsetVector(builder, this.#writeBuffers(builder));
    const tensors = offsetVector(builder, this.#writeTensors(builder));
    const nodes = offsetVector(builder, this.#writeNodes(builder, operators));
    const inputs = intVector(builder, this.#inputs);
    const outputs = intVector(builder, [output]);
    const graph = table(builder, [
      (slot) => builder.addFieldOffset(slot, tensors, 0),
      (slot) => builder.addFieldOffset(slot, inputs, 0),
      (slot) => builder.addFieldOffset(slot, outputs, 0),
      (slot) => builder.addFieldOffset(slot, nodes, 0),
    ]);
    const graphs = offsetVector(builder, [graph]);
    const codes = offsetVector(
      builder,
      operators.map((name) => writeCode(builder, name)),
    );
    const model = table(builder, [
      (slot) => builder.addFieldInt32(slot, SCHEMA_VERSION, 0),
      (slot) => builder.addFieldOffset(slot, codes, 0),
      (slot) => builder.addFieldOffset(slot, graphs, 0),
      absent,
      (slot) => builder.addFieldOffset(slot, buffers, 0),
    ]);
    builder.finish(model, 'TFL3');
    return builder.asUint8Array();
  }

  /** Buffer 0 is empty, for tensors that are computed. @param {Builder} builder */
  #writeBuffers(builder) {
    const constants = this.#tensors.flatMap(({ data }) => (data ? [data] : []));
    return [table(builder, []), ...constants.map((data) => writeBuffer(builder, data))];
  }

  /** @param {Builder} builder */
  #writeTensors(builder) {
    let buffers = 0;
    return this.#tensors.map(({ shape, type, data }) => {
      const buffer = data ? ++buffers : 0;
      const dimensions = intVector(builder, shape);
      return table(builder, [
        (slot) => builder.addFieldOffset(slot, dimensions, 0),
        (slot) => builder.addFieldInt8(slot, type, 0),
        (slot) => builder.addFieldInt32(slot, buffer, 0),
      ]);
    });
  }

  /** @param {Builder} builder @param {readonly Operator[]} operators */
  #writeNodes(builder, operators) {
    return this.#nodes.map(({ operator, inputs, output, write }) => {
      const [from, to] = [intVector(builder, inputs), intVector(builder, [output])];
      const written = write(builder);
      return table(builder, [
        (slot) => builder.addFieldInt32(slot, operators.indexOf(operator), 0),
        (slot) => builder.addFieldOffset(slot, from, 0),
        (slot) => builder.addFieldOffset(slot, to, 0),
        (slot) => builder.addFieldInt8(slot, OPERATORS[operator].options, 0),
        (slot) => builder.addFieldOffset(slot, written, 0),
      ]);
    });
  }
}
