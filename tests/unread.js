// Values that can be posted and not be read where there is less stack.

/** Maps are posted as they are, where they are arguments. @param {number} depth */
export function deepMap(depth) {
  let map = new Map();
  for (let i = 0; i < depth; i++) map = new Map([[0, map]]);
  return map;
}

/** A call's result that stands for a deep one: no method returns one that is copied. */
export const DEEP = 'deep';

/** @param {any} message @param {number} depth */
export const withDeepValue = (message, depth) =>
  message.value === DEEP ? { ...message, value: deepMap(depth) } : message;
