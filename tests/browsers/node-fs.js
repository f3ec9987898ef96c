// node:fs's readFileSync for the tests of the package in browsers: fixtures come from the server.

/**
 * @param {URL} url
 * @param {'utf8'} [encoding]
 * @returns {any} text with an encoding, bytes without
 */
export function readFileSync(url, encoding) {
  const request = new XMLHttpRequest();
  request.open('GET', url, false);
  // A synchronous request gives text only: one character a byte.
  if (encoding === undefined) request.overrideMimeType('text/plain; charset=x-user-defined');
  request.send();
  if (request.status !== 200) throw new Error(`${url}: ${request.status}`);
  const text = request.responseText;
  return encoding === undefined ? Uint8Array.from(text, (c) => c.charCodeAt(0) & 255) : text;
}
