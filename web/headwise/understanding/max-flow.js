// Maximal flows through layers of nodes: Dinic 1970, "Algorithm for solution of a problem of maximum flow in networks".

/** Less than this is no capacity: what subtractions leave. */
const least = 1e-12;

/**
 * A network of levels of n nodes each. Edges go down: from node i of level l + 1 to node j of level l, of capacity
 * capacities[l][i · n + j].
 */
export class LayeredNetwork {
  #capacities;
  #n;
  /** What edges can still carry, and what can be sent back. @type {Float64Array[]} */ #left = [];
  /** @type {Float64Array[]} */ #back = [];
  #distances;
  #next;

  /** @param {readonly Float64Array[]} capacities @param {number} n */
  constructor(capacities, n) {
    this.#capacities = capacities;
    this.#n = n;
    this.#distances = new Int32Array((capacities.length + 1) * n);
    this.#next = new Int32Array(this.#distances.length);
  }

  /**
   * The neighbour at a node's edge: n edges down, then n edges back up.
   * @param {number} node
   * @param {number} edge
   * @returns {number} -1: there is none, or it can carry nothing
   */
  #neighbour(node, edge) {
    const n = this.#n;
    const level = Math.floor(node / n);
    const place = node % n;
    if (edge < n) {
      const carries = level > 0 && this.#left[level - 1][place * n + edge] > least;
      return carries ? (level - 1) * n + edge : -1;
    }
    const above = edge - n;
    const carries = level < this.#back.length && this.#back[level][above * n + place] > least;
    return carries ? (level + 1) * n + above : -1;
  }

  /** @param {number} node @param {number} edge @param {number} flow */
  #send(node, edge, flow) {
    const n = this.#n;
    const level = Math.floor(node / n);
    const isDown = edge < n;
    const layer = isDown ? level - 1 : level;
    const at = isDown ? (node % n) * n + edge : (edge - n) * n + (node % n);
    this.#left[layer][at] -= isDown ? flow : -flow;
    this.#back[layer][at] += isDown ? flow : -flow;
  }

  /** Distances from the source. @param {number} source @param {number} sink @returns {boolean} whether the sink is reached */
  #measure(source, sink) {
    const distances = this.#distances.fill(-1);
    const queue = [source];
    distances[source] = 0;
    for (let at = 0; at < queue.length && distances[sink] < 0; at++) {
      for (let edge = 0; edge < 2 * this.#n; edge++) {
        const node = this.#neighbour(queue[at], edge);
        if (node >= 0 && distances[node] < 0) {
          distances[node] = distances[queue[at]] + 1;
          queue.push(node);
        }
      }
    }
    return distances[sink] >= 0;
  }

  /** @param {number} node @param {number} sink @param {number} most @returns {number} the flow of one more path */
  #augment(node, sink, most) {
    if (node === sink) return most;
    for (; this.#next[node] < 2 * this.#n; this.#next[node]++) {
      const edge = this.#next[node];
      const to = this.#neighbour(node, edge);
      if (to < 0 || this.#distances[to] !== this.#distances[node] + 1) continue;
      const level = Math.floor(node / this.#n);
      const place = node % this.#n;
      const capacity =
        edge < this.#n
          ? this.#left[level - 1][place * this.#n + edge]
          : this.#back[level][(edge - this.#n) * this.#n + place];
      const flow = this.#augment(to, sink, Math.min(most, capacity));
      if (flow > 0) {
        this.#send(node, edge, flow);
        return flow;
      }
    }
    return 0;
  }

  /** Whether no capacity is NaN on the ways down from a node of the highest level. @param {number} from */
  #isKnown(from) {
    const n = this.#n;
    let reached = new Set([from]);
    for (const layer of [...this.#capacities].reverse()) {
      const rows = [...reached].map((i) => layer.subarray(i * n, (i + 1) * n));
      if (rows.some((row) => row.some(Number.isNaN))) return false;
      reached = new Set(rows.flatMap((row) => [...row.keys()].filter((j) => row[j] > 0)));
    }
    return true;
  }

  /**
   * The maximal flow from a node of the highest level to one of the lowest; NaN where a capacity on a way down is.
   * @param {number} from its place in the level
   * @param {number} to
   */
  flow(from, to) {
    if (!this.#isKnown(from)) return NaN;
    this.#left = this.#capacities.map((layer) => layer.slice());
    this.#back = this.#capacities.map((layer) => new Float64Array(layer.length));
    const source = this.#capacities.length * this.#n + from;
    let total = 0;
    while (this.#measure(source, to)) {
      this.#next.fill(0);
      for (let flow = 1; flow > 0; total += flow) flow = this.#augment(source, to, Infinity);
    }
    return total;
  }
}
