/**
 * The element `<attention-map>` draws one head's weights with their tokens; `drawWeights` draws the weights alone. Neither
 * needs a framework or an engine.
 * @module headwise/view
 */

/// <reference path="./view/elements.d.ts" preserve="true" />

/** @typedef {import('./view/draw-weights.js').DrawOptions} DrawOptions */
/** @typedef {import('./view/draw-weights.js').NestedWeights} NestedWeights */
/** @typedef {import('./view/draw-weights.js').Weights} Weights */
/** @typedef {import('./view/events.js').AttentionMapEvents} AttentionMapEvents */
/** @typedef {import('./view/events.js').Listening} Listening */
/** @typedef {import('./view/paint.js').KnownCells} KnownCells */
/** @typedef {import('./view/place.js').Pin} Pin */
/** @typedef {import('./view/place.js').Place} Place */
/** @typedef {import('./view/pool.js').Cells} Cells */
/** @typedef {import('./view/pool.js').Region} Region */
/** @typedef {import('./view/read-view.js').View} View */
/** @typedef {import('./view/read-view.js').ViewSource} ViewSource */
/** @typedef {import('./view/source.js').TraceLike} TraceLike */
/** @typedef {import('./view/viewport.js').Viewport} Viewport */

import { AttentionMap } from './view/attention-map.js';

// A server has no custom elements: the import defines none there.
if (globalThis.customElements?.get('attention-map') === undefined) {
  globalThis.customElements?.define('attention-map', AttentionMap);
}

export { AttentionMap };
export { gradient } from './view/colour.js';
export { drawWeights } from './view/draw-weights.js';
