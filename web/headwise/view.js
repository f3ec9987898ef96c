/**
 * `<attention-map>`, an element that draws one head's weights with their tokens, and the function behind it. Neither needs a
 * framework, or an engine.
 * @module headwise/view
 */

/// <reference path="./view/elements.d.ts" preserve="true" />

/** @typedef {import('./view/attention-map.js').AttentionMapEvents} AttentionMapEvents */
/** @typedef {import('./view/attention-map.js').Listening} Listening */
/** @typedef {import('./view/attention-map.js').View} View */
/** @typedef {import('./view/attention-map.js').ViewSource} ViewSource */
/** @typedef {import('./view/attention-map.js').TraceLike} TraceLike */
/** @typedef {import('./view/draw-weights.js').DrawOptions} DrawOptions */
/** @typedef {import('./view/draw-weights.js').Weights} Weights */

import { AttentionMap } from './view/attention-map.js';

// On a server there are no elements, and importing this is harmless.
if (globalThis.customElements?.get('attention-map') === undefined) {
  globalThis.customElements?.define('attention-map', AttentionMap);
}

export { AttentionMap };
export { gradient } from './view/colour.js';
export { drawWeights } from './view/draw-weights.js';
