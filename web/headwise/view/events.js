/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/**
 * The events of `<attention-map>`.
 * @typedef {object} AttentionMapEvents
 * @property {CustomEvent<number>} pin a row was clicked, or Enter pressed: `detail` is the row's token
 * @property {CustomEvent<number>} pin-key a cell was clicked, or Enter pressed, with Shift: `detail` is the column's token
 * @property {CustomEvent<-1 | 1>} head `[` or `]` was pressed: `detail` is the direction
 * @property {CustomEvent<Place | null>} point pointer or keyboard moved to a cell; null: they left the map
 * @property {CustomEvent<Viewport | null>} view pointer or keyboard moved or zoomed the view; null: the whole map
 * @property {CustomEvent<null>} drawn cells have arrived and are drawn
 * @property {ErrorEvent} error reading the cells of a zoomed view failed: `error` is the reason
 */
/**
 * The type of addEventListener and removeEventListener for these events.
 * @typedef {<Name extends keyof AttentionMapEvents>(type: Name, listener: (event: AttentionMapEvents[Name]) => unknown,
 *   options?: boolean | AddEventListenerOptions) => void} Listening
 */
/**
 * The event methods of the element.
 * @typedef {object} HasEvents
 * @property {Listening} addEventListener listens to the element's own events, and to any element's
 * @property {Listening} removeEventListener stops listening
 */

export {};
