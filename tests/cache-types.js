// Types of key-value caches, and what they make of a number: by division, where the engine looks at bits.

/** @typedef {'float32' | 'bfloat16' | 'float16'} CacheType */

/** @type {readonly Exclude<CacheType, 'float32'>[]} */
export const halves = ['bfloat16', 'float16'];

const formats = {
  bfloat16: { digits: 8, smallest: -126, largest: (2 - 2 ** -7) * 2 ** 127 },
  float16: { digits: 11, smallest: -14, largest: 65504 },
};

/**
 * The nearest number of the type, of two the even one.
 * @param {Exclude<CacheType, 'float32'>} dtype
 * @returns {(x: number) => number}
 */
export const rounding = (dtype) => (x) => {
  const { digits, smallest, largest } = formats[dtype];
  if (x === 0 || !Number.isFinite(x)) return x;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), smallest);
  const step = 2 ** (exponent - digits + 1);
  const below = Math.floor(x / step);
  const over = x / step - below;
  const rounded = (over === 0.5 ? below + (Math.abs(below) % 2) : Math.round(x / step)) * step;
  return Math.abs(rounded) > largest ? Math.sign(x) * Infinity : rounded;
};
