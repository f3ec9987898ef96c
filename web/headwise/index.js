export { HeadwiseError } from './error.js';
export { load } from './load.js';
export { Tensor, tensor, zeros } from './tensor.js';
