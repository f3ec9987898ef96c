/** Whether Node's own modules are there. */
export const isNode =
  typeof globalThis.process === 'object' && Boolean(globalThis.process.versions?.node);

/**
 * A module of Node's own, under a name that no bundler follows: browsers never get here.
 * @param {string} name
 * @returns {Promise<any>}
 */
export const importNode = (name) =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ ['node', name].join(':'));
