/**
 * Why the chosen head looks from one token at another, in a report.
 *
 * @import { Seen } from '../settings.js'
 * @import { Part } from '../../why/sum.js'
 *
 * @typedef {object} Score of a head
 * @property {string} head
 * @property {{ text: string, at: number }} query at: counts from 1
 * @property {{ text: string, at: number }} key
 * @property {number} score before the softmax
 * @property {{ name: string, value: number }[]} atQuery parts that add up to the score, the largest first
 * @property {{ name: string, value: number }[]} atKey so do these
 * @property {{ name: string, value: number }[]} pairs and these: of a part at the query with one at the key
 */

import { shortName } from '../../../shared/head-names.js';
import { largestPairs, sideParts, strongestKey } from '../../why/score/parts.js';
import { nameOf } from '../../why/part-names.js';
import { escaped } from '../svg.js';
import { barTable, number, quoted, room } from './tables.js';

/** Parts that are told one by one. */
const MOST = 24;

/** @param {Seen} seen @param {number} query @returns {Promise<Score>} */
export async function gatherScore({ state, run, session }, query) {
  const { layer, head } = state;
  const own = { of: /** @type {const} */ ('head'), over: /** @type {const} */ ('layer') };
  const row = await session.row({ ...own, layer, head, hideFirst: false }, query);
  const isThere = state.key !== null && state.key <= query;
  const key = isThere ? /** @type {number} */ (state.key) : strongestKey(row);
  const found = await session.qkScore({ layer, head, query, key }, 'report');
  const named = (/** @type {Part[]} */ parts) =>
    parts.map((part) => ({ name: nameOf(part), value: part.value }));
  const { pairs, rest, restValue } = largestPairs(found.pairs, MOST);
  const others = rest > 0 ? [{ name: `${rest} smaller`, value: restValue }] : [];
  const token = (/** @type {number} */ at) => ({ text: run.tokens[at].text, at: at + 1 });
  return {
    head: shortName(state),
    ...{ query: token(query), key: token(key), score: found.score },
    atQuery: named(sideParts(found.query, MOST)),
    atKey: named(sideParts(found.key, MOST)),
    pairs: [
      ...pairs.map((pair) => ({
        name: `${nameOf({ ...pair.query, value: 0 })} · ${nameOf({ ...pair.key, value: 0 })}`,
        value: pair.value,
      })),
      ...others,
    ],
  };
}

/** @param {Score} score */
export function scoreSection({ head, query, key, score, atQuery, atKey, pairs }) {
  const values = [atQuery, atKey, pairs].flat().map(({ value }) => value);
  const range = /** @type {const} */ ([
    Math.min(0, score, ...values),
    Math.max(0, score, ...values, Number.MIN_VALUE),
  ]);
  const table = (/** @type {string} */ title, /** @type {typeof pairs} */ parts) =>
    `<h3>${escaped(title)}</h3>${room(
      title,
      barTable(
        ['part', 'score'],
        parts.map(({ name, value }) => ({ name, start: 0, end: value })),
        { name: 'Score', value: score },
        range,
      ),
    )}`;
  return `<p>The score of ${escaped(head)} from ${quoted(query.text)} (${query.at}) to ${quoted(key.text)} (${key.at}) is <b>${number(score)}</b>: scale · query · key, before the softmax. Query and key are sums over what wrote the residual stream, with the scales of norms held fixed.</p>${[
    table(`What asks, at “${query.text}”`, atQuery),
    table(`What answers, at “${key.text}”`, atKey),
    table('What asks · what answers', pairs),
  ].join('')}`;
}
