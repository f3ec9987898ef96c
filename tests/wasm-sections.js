// The sections of a wasm module (WebAssembly Core Specification, "Binary Format").

/** @param {Uint8Array} bytes @param {number} at @returns {[value: number, next: number]} LEB128 */
export function readNumber(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at];
  }
}

/**
 * @param {Uint8Array} bytes of a module
 * @returns {Generator<{ id: number, start: number, end: number }>} the place of what each section holds
 */
export function* sectionsOf(bytes) {
  for (let at = 8; at < bytes.length;) {
    const [size, start] = readNumber(bytes, at + 1);
    yield { id: bytes[at], start, end: start + size };
    at = start + size;
  }
}

const CUSTOM = 0;
const CODE = 10;
const FUNCTION_NAMES = 1;

/** @param {Uint8Array} bytes @param {number} at @returns {[text: string, next: number]} */
function readText(bytes, at) {
  const [length, start] = readNumber(bytes, at);
  const end = start + length;
  return [new TextDecoder().decode(bytes.subarray(start, end)), end];
}

/**
 * @param {Uint8Array} bytes
 * @param {{ start: number, end: number }} section named "name"
 */
function namesIn(bytes, { start, end }) {
  /** @type {Map<number, string>} */
  const names = new Map();
  for (let at = start; at < end;) {
    const kind = bytes[at];
    const [size, inside] = readNumber(bytes, at + 1);
    let [count, next] = readNumber(bytes, inside);
    for (; kind === FUNCTION_NAMES && count > 0; count--) {
      const [index, nameAt] = readNumber(bytes, next);
      const [name, after] = readText(bytes, nameAt);
      names.set(index, name);
      next = after;
    }
    at = inside + size;
  }
  return names;
}

/** @param {Uint8Array} bytes @param {number} start of the code section @returns {number[]} bytes of each function */
function sizesIn(bytes, start) {
  const [count, first] = readNumber(bytes, start);
  let at = first;
  return Array.from({ length: count }, () => {
    const [size, body] = readNumber(bytes, at);
    at = body + size;
    return size;
  });
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes of a module with names
 * @returns {{ name: string, bytes: number }[]} its own functions
 */
export function functionsOf(bytes) {
  const imported = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).filter(
    ({ kind }) => kind === 'function',
  ).length;
  /** @type {Map<number, string>} */
  let names = new Map();
  /** @type {number[]} */
  let sizes = [];
  for (const section of sectionsOf(bytes)) {
    if (section.id === CODE) sizes = sizesIn(bytes, section.start);
    if (section.id !== CUSTOM) continue;
    const [title, start] = readText(bytes, section.start);
    if (title === 'name') names = namesIn(bytes, { start, end: section.end });
  }
  return sizes.map((size, i) => ({ name: names.get(i + imported) ?? '', bytes: size }));
}
