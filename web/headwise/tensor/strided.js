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
 * Copies elements one after another, in row-major order.
 * @param {Float32Array | Uint8Array} source
 * @param {Strided} part
 * @param {Float32Array | Uint8Array} target as long as the part has elements
 */
export function copyStrided(source, { offset, shape, strides }, target) {
  const last = shape.length - 1;
  let at = 0;
  /** @type {(axis: number, from: number) => void} */
  const visit = (axis, from) => {
    const stride = strides[axis];
    for (let i = 0; i < shape[axis]; i++) {
      if (axis < last) {
        visit(axis + 1, from + i * stride);
      } else {
        target[at++] = source[from + i * stride];
      }
    }
  };
  if (shape.length === 0) {
    target[0] = source[offset];
  } else if (target.length > 0) {
    visit(0, offset);
  }
}
