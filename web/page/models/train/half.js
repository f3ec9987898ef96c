/**
 * Float16, which JavaScript has no array for: numbers as 16-bit words, and model.safetensors of them.
 *
 * @import { Tensor } from 'headwise'
 */

const words = new Uint32Array(1);
const floats = new Float32Array(words.buffer);

/** The nearest float16, the even one of two (IEEE 754). @param {number} value @returns {number} its bits */
export function halfOf(value) {
  floats[0] = value;
  const sign = (words[0] >>> 16) & 0x8000;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  const exponent = Math.max(((words[0] >>> 23) & 255) - 127, -14);
  // In units of the last place; what rounds up to 2048 of them is carried into the exponent by the sum.
  const units = Math.fround(size) * 2 ** (10 - exponent);
  const low = Math.floor(units);
  const rest = units - low;
  const rounded = low + Number(rest > 0.5 || (rest === 0.5 && low % 2 === 1));
  return sign | (rounded + (exponent + 14) * 1024);
}

/**
 * The bytes of a .safetensors file of float16 tensors, as Hugging Face writes them.
 *
 * @param {Readonly<Record<string, Tensor>>} tensors
 */
export function writeHalves(tensors) {
  /** @type {Record<string, object>} */
  const header = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    const start = end;
    end += 2 * data.length;
    header[name] = { dtype: 'F16', shape, data_offsets: [start, end] };
  }
  const json = JSON.stringify(header);
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const file = new Uint8Array(8 + text.length + end);
  const view = new DataView(file.buffer);
  view.setUint32(0, text.length, true);
  file.set(text, 8);
  let at = 8 + text.length;
  for (const { data } of Object.values(tensors)) {
    for (const value of data) {
      view.setUint16(at, halfOf(value), true);
      at += 2;
    }
  }
  return file;
}
