/**
 * Random whole numbers that whole numbers decide: the same on every machine. (Generator: sfc32, Chris Doty-Humphrey.)
 *
 * @typedef {(n: number) => number} Below a whole number from 0 on, below n
 */

/** @param {...number} seeds whole numbers below 2³² @returns {Below} */
export function randomBelow(...seeds) {
  let [a, b, c] = [0x9e3779b9, 0x243f6a88, 0xb7e15162];
  let counter = 1;
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (const seed of seeds) {
    a ^= seed;
    for (let i = 0; i < 12; i++) next();
  }
  return (n) => Math.floor((next() * n) / 2 ** 32);
}
