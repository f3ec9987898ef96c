/**
 * Elements of a row-major array: the one at [i, j, …] is at offset + i · strides[0] + j · strides[1] + …
 * @typedef {object} Strided
 * @property {number} offset
 * @property {readonly number[]} shape
 * @property {readonly number[]} strides
 */

/**
 * Strides of a row-major array.
 * @param {readonly number[]} shape
 */
export function stridesOf(shape) {
  const strides = new Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  }
  return strides;
}

/**
 * Goes along the rows of a part: what its last axis holds.
 * @param {Strided} part
 * @param {(from: number, at: number, length: number, stride: number) => void} each where a row's first element is, how many
 *   elements came before it, how many the row has and how far apart they are
 */
function visitRows({ offset, shape, strides }, each) {
  const last = shape.length - 1;
  let at = 0;
  /** @type {(axis: number, from: number) => void} */
  const visit = (axis, from) => {
    if (axis >= last) {
      const length = axis > last ? 1 : shape[last];
      each(from, at, length, axis > last ? 1 : strides[last]);
      at += length;
      return;
    }
    for (let i = 0; i < shape[axis]; i++) {
      visit(axis + 1, from + i * strides[axis]);
    }
  };
  visit(0, offset);
}

/**
 * Copies elements one after another, in row-major order.
 * @param {Float32Array | Uint8Array} source
 * @param {Strided} part
 * @param {Float32Array | Uint8Array} target as long as the part has elements
 */
export function gatherStrided(source, part, target) {
  visitRows(part, (from, at, length, stride) => {
    for (let i = 0; i < length; i++) {
      target[at + i] = source[from + i * stride];
    }
  });
}

/**
 * Copies elements back to where they came from.
 * @param {Float32Array} source as long as the part has elements
 * @param {Strided} part
 * @param {Float32Array} target
 */
export function scatterStrided(source, part, target) {
  visitRows(part, (from, at, length, stride) => {
    for (let i = 0; i < length; i++) {
      target[from + i * stride] = source[at + i];
    }
  });
}
