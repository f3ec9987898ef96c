/**
 * The heads on the same weights: all of them, the chosen one's map, its pinned row, its table.
 *
 * @import { Remote } from '../shared/connect.js'
 * @import { CompareWorker } from './worker/compare-worker.js'
 * @import { MapData, Mode, Summary } from '../types.js'
 * @import { Store } from '../state.js'
 */

import { AttentionMap } from '../../headwise/view.js';
import { largestOf } from '../../headwise/view/paint.js';
import { byId, el } from '../shared/dom.js';
import { formatCount } from '../shared/format.js';
import { HeadTable, MODES } from './head-table.js';
import { showLegend } from '../shared/legend.js';
import { viewOf } from '../shared/map-view.js';
import { lineTable, TABLE_TOKENS, wholeTable } from '../shared/weights-table.js';
import { showRow } from './row-list.js';

export class Explorer {
  /** @type {Store} */ #store;
  /** @type {Remote<CompareWorker>} */ #engine;
  #failed;
  /** @type {Summary | null} */ #summary = null;
  #map = byId('map', AttentionMap);
  #details = byId('table-details', HTMLDetailsElement);
  #table = byId('map-table', HTMLElement);
  /** @type {HeadTable} */ #heads;
  /** What the small maps were drawn for. */
  #drawn = '';
  /** The latest picture asked for; answers to earlier ones are dropped. */
  #ticket = 0;

  /**
   * @param {Store} store
   * @param {Remote<CompareWorker>} engine
   * @param {(error: unknown) => void} failed takes the error of a drawing that nobody waits for
   */
  constructor(store, engine, failed) {
    this.#store = store;
    this.#engine = engine;
    this.#failed = failed;
    this.#heads = new HeadTable(byId('grid', HTMLElement), (choice) => store.set(choice));
    this.#map.addEventListener('pin', ({ detail: row }) => store.set({ row }));
    this.#map.addEventListener('head', ({ detail: by }) => {
      const heads = this.#summary?.heads ?? 1;
      store.set({ head: (this.#head() + by + heads) % heads });
    });
    this.#details.addEventListener('toggle', () => this.redraw());
    let width = innerWidth;
    addEventListener('resize', () => {
      if (innerWidth !== width) this.redraw();
      width = innerWidth;
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#drawn = '';
      this.redraw();
    });
  }

  /** @param {Summary} summary */
  show(summary) {
    this.#summary = summary;
    this.#heads.heads = summary.heads;
    // The address says which row is read out, not one that there is not.
    if (this.#store.get().row >= summary.tokens.length) this.#store.set({ row: -1 });
    return this.#draw();
  }

  /** The row that is read out: the pinned one, or the last. */
  get row() {
    const last = (this.#summary?.tokens.length ?? 1) - 1;
    const { row } = this.#store.get();
    return row >= 0 && row <= last ? row : last;
  }

  #head() {
    return Math.min(this.#store.get().head, (this.#summary?.heads ?? 1) - 1);
  }

  /** After a choice, or when the window or its colours change. */
  redraw() {
    this.#draw().catch(this.#failed);
  }

  /** Draws what the store says. */
  async #draw() {
    const summary = this.#summary;
    if (!summary) return;
    const ticket = ++this.#ticket;
    const { mode } = this.#store.get();
    const head = this.#head();
    const { run } = summary;
    this.#heads.chosen = { mode, head };
    const size = this.#map.resolution;
    const [map, row] = await Promise.all([
      this.#engine.map({ run, source: mode, head, size }),
      this.#engine.row({ run, source: mode, head, row: this.row }),
    ]);
    if (ticket !== this.#ticket) return;
    this.#drawChosen(summary, map, row);
    await this.#drawAll(summary, ticket);
  }

  /** The small maps, where they are not the ones that are seen. @param {Summary} summary @param {number} ticket */
  async #drawAll(summary, ticket) {
    const { run, heads } = summary;
    const size = this.#heads.resolution;
    const wanted = [run, this.#store.get().scale, size].join(' ');
    if (wanted === this.#drawn) return;
    this.#drawn = ''; // until all are: another scale may be wanted meanwhile
    for (const mode of MODES) {
      for (let head = 0; head < heads; head++) {
        const map = await this.#smallMap(summary, { mode, head, size });
        if (ticket !== this.#ticket) return;
        const data = this.#data(map);
        this.#heads.show({ mode, head }, data, this.#max(data, mode));
      }
    }
    this.#drawn = wanted;
    byId('grid', HTMLElement).dataset.drawn = String(run);
  }

  /** @param {Summary} summary @param {{ mode: Mode, head: number, size: number }} wanted */
  #smallMap({ run, difference, tokens }, { mode, head, size }) {
    const n = tokens.length;
    if (mode === 'difference' && difference.weights === 0) {
      const side = Math.min(n, size);
      return { n, size: side, values: new Float32Array(side * side) };
    }
    return this.#engine.map({ run, source: mode, head, size });
  }

  /**
   * @param {Omit<MapData, 'causal'>} map
   * @returns {MapData}
   */
  #data(map) {
    return { ...map, causal: this.#summary?.settings.causal ?? true };
  }

  /**
   * The value at the end of a map's colour scale; 'row': every row's own.
   *
   * @param {MapData} map
   * @param {Mode} mode
   */
  #max(map, mode) {
    const { scale } = this.#store.get();
    if (scale === 'row') return 'row';
    if (scale === 'head') return largestOf(map.values);
    return mode === 'difference' ? (this.#summary?.difference.weights ?? 0) : 1;
  }

  /**
   * @param {Summary} summary
   * @param {Omit<MapData, 'causal'>} map
   * @param {Float32Array} row
   */
  #drawChosen(summary, map, row) {
    const { mode, scale } = this.#store.get();
    const head = this.#head();
    const { tokens } = summary;
    const data = this.#data(map);
    const max = this.#max(data, mode);
    const difference = mode === 'difference';
    const noun = difference ? 'difference' : 'weight';
    const title = `Head H${head}: ${difference ? 'wrapper − fused' : mode}`;
    byId('map-title', HTMLElement).textContent = title;
    const name = `${difference ? 'Differences' : 'Attention weights'}, ${title}`;
    this.#map.show({
      ...viewOf(data),
      tokens: tokens.map(({ text }) => text),
      max,
      name,
      noun,
    });
    this.#map.pinned = this.row;
    byId('map-note', HTMLElement).textContent =
      map.size < map.n
        ? `${formatCount(map.n)} tokens in ${formatCount(map.size)} cells: each cell shows the largest of the weights it covers.`
        : '';
    const what = difference ? 'absolute difference' : 'attention weight';
    const whats = {
      unit: what,
      head: `${what}, as a share of its head’s largest`,
      row: `${what}, as a share of its row’s largest`,
    };
    showLegend(byId('legend', HTMLElement), {
      max: typeof max === 'number' ? max : 1,
      what: whats[scale],
      masked: data.causal,
    });
    this.#drawRow(row, noun);
    this.#drawTable(data, row, noun);
  }

  /** @param {Float32Array} row @param {'weight' | 'difference'} noun */
  #drawRow(row, noun) {
    if (!this.#summary) return;
    const { tokens, settings } = this.#summary;
    const at = this.row;
    const visible = settings.causal ? at + 1 : tokens.length;
    byId('row-title', HTMLElement).replaceChildren(
      el('span', { class: 'token', translate: 'no' }, tokens[at].text),
      noun === 'difference' ? ' differs by' : ' attends to',
    );
    const max = row.reduce((most, value) => Math.max(most, value), 0);
    const inOrder = visible <= 12;
    showRow(byId('row', HTMLElement), {
      tokens,
      values: row,
      visible,
      max,
      inOrder,
      noun,
    });
  }

  /**
   * @param {MapData} map
   * @param {Float32Array} row
   * @param {'weight' | 'difference'} noun
   */
  #drawTable(map, row, noun) {
    byId('table-title', HTMLElement).textContent = `The ${noun}s of this head as a table`;
    if (!this.#details.open || !this.#summary) return;
    const names = this.#summary.tokens.map(({ text }) => text);
    const named = { names, causal: map.causal };
    const at = this.row;
    const caption = `Too large to read as a whole: the row of “${names[at]}” (${at + 1}).`;
    const table =
      map.n <= TABLE_TOKENS
        ? wholeTable(map.values, named)
        : lineTable(row, named, { side: 'query', token: at, caption, noun });
    this.#table.replaceChildren(table);
  }
}
