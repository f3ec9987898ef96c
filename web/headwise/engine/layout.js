// Layouts of C structs in the engine's memory.

/**
 * How a field is written, by the letter that a layout's text says of it; words have none.
 * @type {Record<string, { size: number, write: (view: DataView, at: number, value: any) => void }>}
 */
const kinds = {
  '': { size: 4, write: (view, at, value) => view.setInt32(at, value, true) },
  f: { size: 4, write: (view, at, value) => view.setFloat32(at, value, true) },
  d: { size: 8, write: (view, at, value) => view.setFloat64(at, value, true) },
  b: { size: 1, write: (view, at, value) => view.setUint8(at, Number(value)) },
};

/** @typedef {{ keys: readonly string[], at: number, write: (view: DataView, at: number, value: any) => void }} Field at: in bytes */

/**
 * @template {string} [Name=string]
 * @typedef {object} Layout
 * @property {number} bytes
 * @property {number} alignment in bytes
 * @property {readonly Field[]} fields
 * @property {Readonly<Record<Name, number>>} words where each field is, in words
 */

/** @param {number} size @param {number} unit */
const roundUp = (size, unit) => Math.ceil(size / unit) * unit;

/**
 * Lays fields out as C does: each after the last one, aligned to its size.
 * @param {string} text the fields' names; `:b` for a bool, `:f` for a float, `:d` for a double, `@8` where arrays or structs lie before it
 * @param {string} [name] of a struct that the struct begins with
 * @param {Layout<any>} [inner] its layout
 * @returns {Layout<any>}
 */
export function layoutOf(text, name = '', inner = undefined) {
  const fields = (inner?.fields ?? []).map((field) => ({ ...field, keys: [name, ...field.keys] }));
  let { bytes = 0, alignment = 4 } = inner ?? {};
  for (const field of text.split(' ')) {
    const [, key, kind = '', place] = /** @type {string[]} */ (/(\w+)(?::(.))?@?(.*)/.exec(field));
    const { size, write } = kinds[kind];
    const at = Number(place) || roundUp(bytes, size);
    fields.push({ keys: [key], at, write });
    bytes = at + size;
    alignment = Math.max(alignment, size);
  }
  const words = Object.fromEntries(fields.map(({ keys, at }) => [keys.join('.'), at / 4]));
  return { bytes: roundUp(bytes, alignment), alignment, fields, words };
}
