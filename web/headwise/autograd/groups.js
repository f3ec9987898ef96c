// Groups of parameters, each with its own settings, as in torch.
import { checkOptions } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, isArray, tagOf } from '../checks/foreign.js';
import { checkLeaf, identityOf, placeOf } from '../modules/parameter.js';
import { wordsOperand } from '../tensor/operand.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/parameter.js').Place} Place */
/** @typedef {import('../modules/parameter.js').TensorPlace} TensorPlace */
/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */

/** More than any model has. */
const most = 2 ** 20;

/**
 * @param {Engine} engine that they must be of
 * @param {unknown} value a list of parameters, or one of them
 * @param {string} name
 * @param {number} [least] how many there must be
 * @returns {{ list: any[], places: Place[] }}
 */
export function checkParameters(engine, value, name, least = 1) {
  const list = isArray(value) ? copyArray(value, most) : [value];
  if (list === undefined || list.length < least) {
    throw misfit(value, name, 'one or more parameters, as parameters() lists them');
  }
  const places = list.map((one, i) => {
    const own = () => (isArray(value) ? `${name}[${i}]` : name);
    const place = placeOf(one) ?? checkLeaf(one, own());
    if (place.module !== undefined && place.module.engine !== engine) {
      throw new HeadwiseError('ERR_VALUE', `${own()} is of another engine; expected one of this`);
    }
    return place;
  });
  return { list, places };
}

/** @typedef {{ module: Module, indices: IdsOperand }} Part the numbers of a module's parameters */

/**
 * Sorts places by what has them.
 * @param {readonly Place[]} places
 * @returns {{ modules: Part[], tensors: TensorPlace[] }}
 */
export function partsOf(places) {
  /** @type {Map<Module, number[]>} */
  const found = new Map();
  /** @type {TensorPlace[]} */
  const tensors = [];
  for (const place of places) {
    if (place.module === undefined) {
      tensors.push(place);
    } else {
      const indices = found.get(place.module) ?? [];
      found.set(place.module, indices);
      indices.push(place.entry.index);
    }
  }
  const modules = [...found].map(([module, indices]) => ({
    module,
    indices: wordsOperand(indices),
  }));
  return { modules, tensors };
}

/**
 * Settings, with the defaults of those that were not given.
 * @param {Record<string, any>} given
 * @param {Record<string, any>} defaults
 */
export const filled = (given, defaults) =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, otherwise]) => [name, given[name] ?? otherwise]),
  );

/**
 * @typedef {object} Given
 * @property {any[]} params as they were given
 * @property {Place[]} places
 * @property {Record<string, any>} settings
 */

/**
 * @param {Engine} engine
 * @param {unknown} value parameters, or groups of them
 * @param {Record<string, any>} defaults
 * @param {string} owner
 * @returns {Given[]}
 */
export function checkGroups(engine, value, defaults, owner) {
  const list = isArray(value) ? copyArray(value, most) : undefined;
  const isOfGroups = list?.some((one) => tagOf(one) === undefined && !isArray(one));
  const descriptions = isOfGroups ? /** @type {unknown[]} */ (list) : [{}];
  const names = ['params', ...Object.keys(defaults)];
  const groups = descriptions.map((one, i) => {
    const name = isOfGroups ? `parameters[${i}]` : 'parameters';
    const { params, ...own } = checkOptions(one, names, owner, name);
    const { list: checked, places } = checkParameters(
      engine,
      isOfGroups ? params : value,
      isOfGroups ? `${name}.params` : name,
      isOfGroups ? 0 : 1,
    );
    return { params: checked, places, settings: filled(own, defaults) };
  });
  const all = groups.flatMap(({ places }) => places.map(identityOf));
  if (new Set(all).size < all.length) {
    throw new HeadwiseError(
      'ERR_VALUE',
      'parameters has a parameter twice; expected each once, in one group',
    );
  }
  return groups;
}
