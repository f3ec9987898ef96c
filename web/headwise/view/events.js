/** @typedef {import('./frame.js').Place} Place */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/**
 * The element's own events.
 * @typedef {object} AttentionMapEvents
 * @property {CustomEvent<number>} pin a row was clicked, or Enter pressed: `detail` is its token
 * @property {CustomEvent<number>} pin-key the same with Shift, of the column
 * @property {CustomEvent<-1 | 1>} head `[` or `]` was pressed: `detail` says which way
 * @property {CustomEvent<Place | null>} point pointer or keyboard went to a cell; null: they left
 * @property {CustomEvent<Viewport | null>} view pointer or keyboard moved or zoomed what is shown; null: to the whole
 * @property {CustomEvent<null>} drawn cells have arrived and are drawn
 * @property {ErrorEvent} error cells for a closer look failed: `error` says why
 */
/**
 * How to listen to them.
 * @typedef {<Name extends keyof AttentionMapEvents>(type: Name, listener: (event: AttentionMapEvents[Name]) => unknown,
 *   options?: boolean | AddEventListenerOptions) => void} Listening
 */
/**
 * What an element has beside what every one has.
 * @typedef {object} HasEvents
 * @property {Listening} addEventListener listens to the element's own events, and to any element's
 * @property {Listening} removeEventListener listens no more
 */

export {};
