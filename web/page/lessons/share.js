/** Changed code as part of an address: JSON, deflated, in base64url. */

/** The longest code that an address may bring, in characters. */
const MOST = 100_000;

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} through */
const pass = (bytes, through) => new Response(new Blob([bytes]).stream().pipeThrough(through));

/** @param {Record<string, string>} code by the step's title */
export async function packCode(code) {
  const text = new TextEncoder().encode(JSON.stringify(code));
  const packed = await pass(text, new CompressionStream('deflate-raw')).arrayBuffer();
  const letters = Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * @param {string} packed
 * @returns {Promise<Record<string, string> | undefined>} undefined: it is no packed code
 */
export async function unpackCode(packed) {
  try {
    const letters = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const reader = pass(bytes, new DecompressionStream('deflate-raw')).body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += decoder.decode(value, { stream: true });
      // Few bytes can say much: stop before they fill the memory.
      if (text.length > MOST) return undefined;
    }
    const code = JSON.parse(text);
    const isCode = Object.values(code).every((value) => typeof value === 'string');
    return isCode && Object.keys(code).length > 0 ? code : undefined;
  } catch {
    return undefined;
  }
}
