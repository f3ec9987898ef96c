// Bad calls, each with its code, the argument that its message names and what came. How messages are worded stands in
// tests/wording/bad-calls.txt.

/** @typedef {import('../helpers.js').Engine} Engine */

/**
 * @typedef {import('headwise').HeadwiseError['code']} Code
 * @typedef {[title: string, call: () => unknown, code: Code, name: string, came?: string]} BadCall a call throws, or its
 *   promise rejects; name: what the message begins with; came: what it says of that
 */

/** Past the types: what plain JavaScript can pass. */
export const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
