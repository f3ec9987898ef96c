/** @typedef {import('./load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./headwise.js').Headwise} Headwise */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */

export { HeadwiseError } from './error.js';
export { load } from './load.js';
export { Tensor, tensor, zeros } from './tensor.js';
