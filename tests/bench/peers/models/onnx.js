/**
 * Writes ONNX models: the few messages of onnx.proto that are needed here, in protobuf's wire format.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */

const FLOAT = 1;
const INT64 = 7;
const utf8 = new TextEncoder();

/** @typedef {number[] | Uint8Array} Bytes */
/** @typedef {number | readonly number[]} Attribute integers */

/** Wire types */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** @param {number} value below 2^53, or negative down to -2^31 */
function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

/** @param {readonly Bytes[]} parts */
function concatenate(parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {number} number @param {number} value */
const int = (number, value) => [...varint((number << 3) | VARINT), ...varint(value)];

/** @param {number} number @param {Bytes} value */
const bytes = (number, value) =>
  concatenate([varint((number << 3) | LENGTH_DELIMITED), varint(value.length), value]);

/** @param {number} number @param {string} value */
const text = (number, value) => bytes(number, utf8.encode(value));

/** @param {number} number @param {readonly Bytes[]} fields */
const message = (number, fields) => bytes(number, concatenate(fields));

/** AttributeProto */
const attribute = (/** @type {string} */ name, /** @type {Attribute} */ value) => {
  if (typeof value === 'number') return message(5, [text(1, name), int(3, value), int(20, 2)]);
  return message(5, [text(1, name), ...value.map((each) => int(8, each)), int(20, 7)]);
};

/** ValueInfoProto of a float tensor. */
const valueInfo = (
  /** @type {number} */ number,
  /** @type {string} */ name,
  /** @type {readonly number[]} */ shape,
) => {
  const dims = shape.map((size) => message(1, [int(1, size)]));
  const tensorType = message(1, [int(1, FLOAT), message(2, dims)]);
  return message(number, [text(1, name), message(2, [tensorType])]);
};

export class OnnxModel {
  /** @type {Uint8Array[]} */
  #fields = [];
  #names = 0;

  #name() {
    this.#names++;
    return `t${this.#names}`;
  }

  /** @param {string} name @param {readonly number[]} shape */
  input(name, shape) {
    this.#fields.push(valueInfo(11, name, shape));
    return name;
  }

  /**
   * @param {Float32Array | readonly number[]} values an array of numbers makes an int64 tensor
   * @param {readonly number[]} shape
   */
  constant(values, shape) {
    const isFloat = values instanceof Float32Array;
    const raw = isFloat
      ? new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
      : new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    const name = this.#name();
    const type = int(2, isFloat ? FLOAT : INT64);
    const dims = shape.map((size) => int(1, size));
    this.#fields.push(message(5, [...dims, type, text(8, name), bytes(9, raw)]));
    return name;
  }

  /**
   * @param {string} type the operator, as domain:Operator if it is not ONNX's own
   * @param {readonly string[]} inputs
   * @param {{ attributes?: Record<string, Attribute>, outputs?: number }} [options]
   * @returns {string[]} the names of the outputs
   */
  nodes(type, inputs, { attributes = {}, outputs = 1 } = {}) {
    const [operator, domain = ''] = type.split(':').reverse();
    const names = Array.from({ length: outputs }, () => this.#name());
    this.#fields.push(
      message(1, [
        ...inputs.map((name) => text(1, name)),
        ...names.map((name) => text(2, name)),
        text(4, operator),
        ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
        text(7, domain),
      ]),
    );
    return names;
  }

  /**
   * An operator with one output.
   * @param {string} type
   * @param {readonly string[]} inputs
   * @param {Record<string, Attribute>} [attributes]
   */
  node(type, inputs, attributes) {
    return this.nodes(type, inputs, { attributes })[0];
  }

  /**
   * @param {string} output
   * @param {readonly number[]} shape
   * @returns {Uint8Array} the file
   */
  finish(output, shape) {
    const graph = message(7, [...this.#fields, text(2, 'graph'), valueInfo(12, output, shape)]);
    const opset = (/** @type {string} */ domain, /** @type {number} */ version) =>
      message(8, [text(1, domain), int(2, version)]);
    return concatenate([int(1, 10), graph, opset('', 23), opset('com.microsoft', 1)]);
  }
}
