// Reads from each architecture's config which layers attend to a window only and which layers do not rotate.

import { isInteger } from '../checks/check.js';

/** @typedef {import('./config-fields.js').Fields} Fields */

/**
 * @typedef {object} LayerKinds
 * @property {number} window of how many tokens a sliding layer sees, itself included; 0: no layer slides
 * @property {readonly boolean[]} slides of each layer
 * @property {readonly boolean[]} [rotates] of each layer; default: all
 */

/** Of layers, as configs name them. */
export const kinds = ['full_attention', 'sliding_attention'];

/**
 * @param {Fields} fields
 * @param {number} layers
 * @param {number} window 0: none
 * @param {(layer: number) => boolean} usual
 * @returns {LayerKinds}
 */
function byTypes(fields, layers, window, usual) {
  const types = fields.list('layer_types', layers, window > 0 ? kinds : kinds.slice(0, 1));
  const slides = Array.from({ length: layers }, (_, layer) =>
    types === undefined ? window > 0 && usual(layer) : types[layer] === 'sliding_attention',
  );
  return { window, slides };
}

/** A window only if use_sliding_window says so. @param {Fields} fields @param {number} otherwise */
function windowIfUsed(fields, otherwise) {
  const window = fields.sizeOrNone('sliding_window', otherwise);
  return fields.boolean('use_sliding_window', false) ? window : 0;
}

/** @param {Fields} fields @param {number} layers */
export const mistralKinds = (fields, layers) =>
  byTypes(fields, layers, fields.sizeOrNone('sliding_window', 4096), () => true);

/** @param {Fields} fields @param {number} layers */
export function qwenKinds(fields, layers) {
  const first = fields.get('max_window_layers', 28);
  if (!isInteger(first) || first < 0) {
    throw fields.error('max_window_layers', 'an integer of at least 0');
  }
  return byTypes(fields, layers, windowIfUsed(fields, 4096), (layer) => layer >= first);
}

/** @param {Fields} fields @param {number} layers */
export function gemmaKinds(fields, layers) {
  const spelling = fields.spelling('sliding_window_pattern _sliding_window_pattern');
  const every = fields.size(spelling, 6);
  const window = fields.sizeOrNone('sliding_window', 4096);
  return byTypes(fields, layers, window, (layer) => (layer + 1) % every !== 0);
}

/** @param {Fields} fields @param {number} layers */
export function smolKinds(fields, layers) {
  const every = fields.size('no_rope_layer_interval', 4);
  const listed = fields.list('no_rope_layers', layers, [0, 1, false, true]);
  const rotates = Array.from({ length: layers }, (_, layer) =>
    Boolean(listed?.[layer] ?? (layer + 1) % every !== 0),
  );
  const types = byTypes(fields, layers, windowIfUsed(fields, 0), (layer) => !rotates[layer]);
  return { ...types, rotates };
}
