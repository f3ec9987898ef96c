/** @typedef {import('./place.js').Place} Place */

/** Cells that Page Up and Page Down go by. */
const PAGE = 10;

/**
 * Where a key leads on a map.
 *
 * @param {string} pressed its name, as KeyboardEvent has it
 * @param {Place} from a token on each side
 * @param {{ queries: [number, number], keys: [number, number] } | undefined} cell the drawn one that it is in, which may be
 *   several tokens: a step goes to the next cell; undefined: none is drawn
 * @param {{ size: { queries: number, keys: number }, causal: boolean }} map
 * @returns {Place | undefined} which may lie outside; undefined: the key leads nowhere
 */
export function stepOf(pressed, { query, key }, cell, { size: { queries, keys }, causal }) {
  const [top, bottom] = cell?.queries ?? [query, query + 1];
  const [left, right] = cell?.keys ?? [key, key + 1];
  const page = PAGE * (bottom - top);
  const last = causal ? Math.min(query + keys - queries, keys - 1) : keys - 1;
  /** @type {Record<string, Place>} */
  const steps = {
    ArrowUp: { query: top - 1, key },
    ArrowDown: { query: bottom, key },
    ArrowLeft: { query, key: left - 1 },
    ArrowRight: { query, key: right },
    PageUp: { query: query - page, key },
    PageDown: { query: query + page, key },
    Home: { query, key: 0 },
    End: { query, key: last },
  };
  return steps[pressed];
}
