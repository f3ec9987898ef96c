import { checkFunction, checkOptions, maybe } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyList } from '../checks/foreign.js';
import { MOST_TOKENS, drawOptions, howOf, matrixOf, sidesOf } from './draw-weights.js';
import { cellsSource, checkSource, traceSource, weightsSource } from './source.js';

/** @typedef {import('./draw-weights.js').DrawOptions} DrawOptions */
/** @typedef {import('./draw-weights.js').NestedWeights} NestedWeights */
/** @typedef {import('./draw-weights.js').Weights} Weights */
/** @typedef {import('./pool.js').Cells} Cells */
/** @typedef {import('./pool.js').Region} Region */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./source.js').TraceLike} TraceLike */

/**
 * The source of a map's weights, exactly one of `weights`, `trace` and `cells`, with its labels.
 * @typedef {object} ViewSource
 * @property {Weights | NestedWeights} [weights] one head's weights, a Tensor or nested arrays [Lq, Lkv]
 * @property {TraceLike} [trace] a trace from `forward(x, { trace: true })`, in this thread or in a Worker; it is pooled if it
 *   has more weights than the element has pixels
 * @property {number} [batch] of the trace; default 0
 * @property {number} [head] of the trace; default 0
 * @property {(region: Region) => Cells | PromiseLike<Cells>} [cells] computes a region, the whole map or a zoomed
 *   part, in as many cells as there are pixels. If `show` gets the same function again, it only redraws
 * @property {readonly (string | number)[]} [tokens] labels of the keys, texts or ids; the queries are the last of these
 *   tokens. Default: numbers. With `cells`, the number of labels is the default for `keys` and `queries`
 * @property {readonly (string | number)[]} [queryTokens] labels of the queries, if they differ from tokens
 * @property {string} [name] the accessible name; default 'Attention weights'
 * @property {string} [noun] the word for a value; default 'weight'
 */

/**
 * The argument of `show`: the source of the weights and the drawing options.
 * @typedef {ViewSource & DrawOptions} View
 */

const viewOptions = /** @type {const} */ ([
  ...['weights', 'trace', 'cells', 'batch', 'head', 'tokens', 'queryTokens', 'name', 'noun'],
  ...drawOptions,
]);

/**
 * A checked view with defaults filled in.
 * @typedef {object} Given
 * @property {Source} source
 * @property {import('./draw-weights.js').How} how
 * @property {string} name
 * @property {string} noun
 * @property {readonly string[]} queryNames as many as there are queries
 * @property {readonly string[]} keyNames
 */

/**
 * @param {unknown} view
 * @returns {Given | Promise<Given>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE
 */
export function readView(view) {
  const options = checkOptions(view, viewOptions, 'show', 'view');
  checkSource(options);
  const how = howOf(options);
  /** @type {Record<string, any>} */
  const given = {
    ...options,
    ...sidesOf(options),
    tokens: maybe(checkLabels)(options.tokens, 'tokens'),
    queryTokens: maybe(checkLabels)(options.queryTokens, 'queryTokens'),
  };
  const { name = 'Attention weights', noun = 'weight' } = given;
  for (const [key, text] of Object.entries({ name, noun })) {
    if (typeof text !== 'string') throw misfit(text, key, 'a text');
  }
  const withNames = (/** @type {Source} */ source) => ({
    ...{ source, how, name, noun },
    ...namesOf(given, source.size),
  });
  if (given.trace !== undefined) return traceSource(given.trace, given).then(withNames);
  return withNames(given.cells === undefined ? ofWeights(given) : ofCells(given));
}

/** @param {Record<string, any>} given */
function ofWeights({ weights, queries, keys }) {
  const matrix = matrixOf(weights);
  return weightsSource(matrix, { queries: queries ?? matrix.rows, keys: keys ?? matrix.columns });
}

/** @param {Record<string, any>} given */
function ofCells({ cells, tokens, queryTokens, keys = tokens?.length, queries }) {
  checkFunction(cells, 'cells');
  if (keys === undefined) {
    throw new HeadwiseError('ERR_VALUE', 'cells are given without tokens; expected tokens or keys');
  }
  return cellsSource(cells, { queries: queries ?? queryTokens?.length ?? keys, keys });
}

/**
 * @param {unknown} labels texts, or ids
 * @param {string} name
 * @returns {string[]}
 */
function checkLabels(labels, name) {
  const list = copyList(labels, MOST_TOKENS);
  if (list === undefined) throw misfit(labels, name, 'an array of labels');
  return list.map((label, i) => {
    if (typeof label === 'string' || typeof label === 'number') return String(label);
    throw misfit(label, `${name}[${i}]`, 'a text or a number');
  });
}

/**
 * @param {{ tokens?: string[], queryTokens?: string[] }} given
 * @param {import('./viewport.js').Sides} size
 * @returns {{ queryNames: readonly string[], keyNames: readonly string[] }} as many as there are tokens
 */
function namesOf({ tokens, queryTokens }, { queries, keys }) {
  const numbers = Array.from({ length: Math.max(queries, keys) }, (_, i) => String(i + 1));
  const columns = tokens ?? numbers;
  const rows = queryTokens ?? columns.slice(Math.max(0, keys - queries));
  for (const [what, names, count] of /** @type {const} */ ([
    ['tokens', columns, keys],
    ['queryTokens', rows, queries],
  ])) {
    if (names.length < count) {
      const found = `${what} has ${names.length} labels`;
      throw new HeadwiseError('ERR_SHAPE', `${found}; expected one for each of ${count} tokens`);
    }
  }
  return { queryNames: rows.slice(0, queries), keyNames: columns.slice(0, keys) };
}
