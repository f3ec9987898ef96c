/**
 * What kind of head a head is, in numbers, from its weights on one text. Rows are taken as they come, so that the whole
 * map of a long text is never held.
 *
 * @typedef {object} HeadScores means over the queries from the second token on (the first can only attend to itself);
 *   NaN where a text has no such query
 * @property {number} entropy of a row, in bits
 * @property {number} first weight on the first token
 * @property {number} previous weight on the token before
 * @property {number} next weight on the token after, over the queries that have one
 * @property {number} induction weight on tokens that stood after an earlier occurrence of the query's token, over the
 *   queries whose token has occurred before ("prefix matching": Olsson et al. 2022, In-context Learning and Induction
 *   Heads)
 * @property {number} distance tokens between query and key, weighted
 *
 * @typedef {keyof HeadScores} ScoreName
 */

/** @type {readonly ScoreName[]} */
export const SCORES = ['entropy', 'first', 'previous', 'next', 'induction', 'distance'];

/**
 * For each query, the keys that stood after an earlier occurrence of its token; the query itself is none of them.
 *
 * @param {ArrayLike<number>} ids
 * @returns {number[][]}
 */
export function inductionKeys(ids) {
  /** @type {Map<number, number[]>} */
  const seen = new Map();
  return Array.from(ids, (id, query) => {
    const before = seen.get(id) ?? [];
    seen.set(id, [...before, query]);
    return before.map((at) => at + 1).filter((key) => key < query);
  });
}

/** One head's scores, of rows that are added in any order. */
export class HeadScorer {
  #n;
  #inductionKeys;
  #sums = { entropy: 0, first: 0, previous: 0, next: 0, induction: 0, distance: 0 };
  #queries = 0;
  #withNext = 0;
  #repeats = 0;

  /** @param {number} n keys in a row @param {number[][]} keys inductionKeys of the text; the same for all heads */
  constructor(n, keys) {
    this.#n = n;
    this.#inductionKeys = keys;
  }

  /**
   * @param {ArrayLike<number>} weights rows of n, one query after another
   * @param {number} start the first one's query
   */
  add(weights, start) {
    const n = this.#n;
    const count = weights.length / n;
    for (let i = 0; i < count; i++) {
      if (start + i > 0) this.#addRow(weights, i * n, start + i);
    }
  }

  /** @param {ArrayLike<number>} weights @param {number} at where the row begins @param {number} query */
  #addRow(weights, at, query) {
    let entropy = 0;
    let distance = 0;
    for (let key = 0; key < this.#n; key++) {
      const weight = weights[at + key];
      if (weight > 0) entropy -= weight * Math.log2(weight);
      distance += weight * Math.abs(query - key);
    }
    const sums = this.#sums;
    sums.entropy += entropy;
    sums.distance += distance;
    sums.first += weights[at];
    sums.previous += weights[at + query - 1];
    if (query + 1 < this.#n) {
      sums.next += weights[at + query + 1];
      this.#withNext++;
    }
    this.#queries++;
    const keys = this.#inductionKeys[query];
    if (keys.length > 0) {
      this.#repeats++;
      for (const key of keys) sums.induction += weights[at + key];
    }
  }

  /** @returns {HeadScores} */
  get scores() {
    const { entropy, first, previous, next, induction, distance } = this.#sums;
    const queries = this.#queries;
    return {
      entropy: entropy / queries,
      first: first / queries,
      previous: previous / queries,
      next: next / this.#withNext,
      induction: induction / this.#repeats,
      distance: distance / queries,
    };
  }
}
