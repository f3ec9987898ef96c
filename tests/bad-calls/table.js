// Bad calls, each with its code and the part of the message that names what came and what was expected.

/** @typedef {import('../helpers.js').Engine} Engine */

/**
 * @typedef {import('headwise').HeadwiseError['code']} Code
 * @typedef {[title: string, call: () => unknown, code: Code, message: string]} BadCall a call throws, or its promise rejects
 */

/** Past the types: what plain JavaScript can pass. */
export const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
