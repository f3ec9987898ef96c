// Where the objects that stand for the other side's are.

/** @typedef {import('./endpoint.js').Endpoint} Endpoint */

/** @typedef {{ endpoint: Endpoint, id: number, name: string }} Place */

/** @type {WeakMap<object, Place>} */
const places = new WeakMap();

/** A net under those who forget to dispose. */
const forgotten = new FinalizationRegistry(
  (/** @type {{ endpoint: WeakRef<Endpoint>, id: number }} */ { endpoint, id }) =>
    endpoint.deref()?.drop(id),
);

/** What stands for all that an object's own one still needs on the other side. @type {WeakMap<object, ReadonlySet<object>>} */
const needs = new WeakMap();

/** @type {ReadonlySet<object>} */
const nothing = new Set();

/**
 * Keeps others as long as an object. On the other side a generator works with its model: nothing here says so otherwise, and
 * the model would be dropped.
 * @param {object} object
 * @param {ReadonlySet<object>} others
 */
export const keepWith = (object, others) => void needs.set(object, others);

/**
 * What is kept with all that comes of an object. A tensor passes on what it needs itself: the other side's graph holds tensors as
 * long as it has to, and a loss that is kept needs no logits.
 * @param {object} object
 * @returns {Iterable<object>}
 */
export function neededBy(object) {
  const place = placeOf(object);
  if (place === undefined) return nothing;
  return place.name === 'Tensor' ? (needs.get(object) ?? nothing) : [object];
}

/** @param {object} object @returns {Place | undefined} */
export const placeOf = (object) => places.get(object);

/**
 * Lets the other side drop what an object stands for when nobody has the object any more.
 * @param {object} object
 * @param {Endpoint} endpoint
 * @param {number} id
 */
export const dropWith = (object, endpoint, id) =>
  forgotten.register(object, { endpoint: new WeakRef(endpoint), id });

/**
 * Lets an object stand for one of the other side.
 * @param {object} object
 * @param {Place} place
 */
export function standFor(object, place) {
  places.set(object, place);
  dropWith(object, place.endpoint, place.id);
}
