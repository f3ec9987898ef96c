// Tensors that were recorded on the other side: their values are here, their graph is there.
import { attachEnd } from '../autograd/record.js';
import { copyArray } from '../checks/foreign.js';
import { mostDimensions } from '../tensor/shape.js';
import { Tensor } from '../tensor/tensor.js';
import { keepWith, neededBy, standFor } from './places.js';

/** @typedef {import('./endpoint.js').Endpoint} Endpoint */

/**
 * Iterates over the first axis by the tensor's own methods.
 * @param {Tensor} tensor
 */
function* rowsOf(tensor) {
  const [count, ...shape] = tensor.shape;
  for (let i = 0; i < count; i++) yield tensor.slice([i, i + 1]).reshape(shape);
}

/** An engine here knows nothing of the graph there. */
const end =
  'a tensor of a Worker has its graph there; expected its own backward, or detach() where it is used here';

/**
 * Lets a tensor stand for one of the other side. What its shape methods return while that records stands for what they return
 * there. Changes of `data` here do not reach it: where the tensor is passed on, the other side takes its own values.
 * @param {Endpoint} endpoint
 * @param {number} id
 * @param {Tensor} tensor
 * @returns {Tensor} the same
 */
export function standIn(endpoint, id, tensor) {
  const derive = (/** @type {'reshape' | 'permute' | 'slice'} */ name, most = 1) => ({
    value(/** @type {any[]} */ ...given) {
      // What the caller may change is read once, and only what the method takes is sent.
      const args = given.slice(0, most).map((arg) => copyArray(arg, mostDimensions) ?? arg);
      /** @type {any} */
      const method = Tensor.prototype[name];
      const result = method.apply(tensor, args);
      if (endpoint.hasEnded) return result;
      if (!endpoint.modes.latest) return result.detach();
      keepWith(result, new Set(neededBy(tensor)));
      return standIn(endpoint, endpoint.derive(id, name, args), result);
    },
  });
  Object.defineProperties(tensor, {
    requiresGrad: {
      get: () => true,
      set(value) {
        endpoint.send(id, ['requiresGrad'], 'set', [value]);
      },
    },
    backward: {
      value: (/** @type {unknown[]} */ ...args) => endpoint.send(id, ['backward'], 'call', args),
    },
    ...{ reshape: derive('reshape'), permute: derive('permute'), slice: derive('slice', Infinity) },
    [Symbol.iterator]: { value: tensor[Symbol.iterator] && (() => rowsOf(tensor)) },
  });
  attachEnd(undefined, tensor, end);
  standFor(tensor, { endpoint, id, name: 'Tensor' });
  return tensor;
}
