/**
 * The Bench room: the benchmark in the visitor's own browser, against the ceiling of the visitor's own machine.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { Result } from './bench.js'
 * @import { BenchWorker } from './room-worker.js'
 * @import { Shape } from './work.js'
 */

import { byId, el } from '../shared/dom.js';
import { connect } from '../shared/connect.js';
import { formatBytes, formatTime, plural } from '../shared/format.js';
import { doubtOf } from './ceiling.js';
import all from './shapes.json';

const shapes = /** @type {Record<string, Shape>} */ (/** @type {unknown} */ (all));

/** What a first look needs, and no more than some seconds. */
const SHORT = ['S0', 'S1', 'S2', 'C1', 'G1', 'D1', 'M1'];
const SECONDS = { short: 0.4, all: 1 };

const COLUMNS = ['Way', 'Threads', 'Time', 'Rate', 'Of the ceiling', 'Memory'];

/** @param {Shape} shape in words */
function describe(shape) {
  switch (shape.kind) {
    case 'multiHeadAttention': {
      const { batch, tokens, dIn, heads } = shape;
      const many = batch > 1 ? `${batch} × ` : '';
      return `multi-head attention, ${many}${plural(tokens, 'token')}, ${dIn} wide, ${plural(heads, 'head')}`;
    }
    case 'attention': {
      const masks = {
        causal: 'causal',
        causalBoolMask: 'causal by a bool mask',
        causalFloatMask: 'causal by a float mask',
        randomBoolMask: 'half masked at random',
        window: `a window of ${shape.window}`,
      };
      const { tokens, heads, headDim, visible } = shape;
      return `attention, ${masks[visible]}, ${plural(tokens, 'token')}, ${heads} heads of ${headDim}`;
    }
    case 'linear':
      return `linear layer, ${shape.rows} × ${shape.inFeatures} by ${shape.outFeatures}`;
    case 'decode':
      return `one token more after ${shape.past}, ${shape.dIn} wide`;
    case 'maps':
      return `maps of ${shape.heads} heads, ${shape.tokens} tokens, ${shape.size} cells a side`;
  }
}

/** @param {number} percent of the ceiling */
function share(percent) {
  const words = `${percent.toFixed(1)} %`;
  const doubt = doubtOf(percent);
  return el(
    'span',
    { class: 'share' },
    el('meter', {
      min: '0',
      max: '100',
      value: String(Math.min(percent, 100)),
      'aria-label': words,
    }),
    words,
    doubt === undefined ? '' : el('span', { class: 'note' }, ` Warning: ${doubt}.`),
  );
}

/** @param {Result} result */
function headingOf({ shape, simd }) {
  const words = ` ${describe(shapes[shape])}`;
  const module = el('span', { class: 'note' }, ` · ${simd} module`);
  return el(
    'tr',
    {},
    el(
      'th',
      { colspan: String(COLUMNS.length), scope: 'rowgroup' },
      el('b', {}, shape),
      words,
      module,
    ),
  );
}

/** @param {Result} result */
function rowOf({ name, threads, timing, skipped, problem }) {
  const what = [el('th', { scope: 'row' }, name), el('td', {}, String(threads))];
  if (!timing) {
    const words = problem === undefined ? `not run: ${skipped}` : `failed: ${problem}`;
    return el(
      'tr',
      {},
      ...what,
      el('td', { colspan: '4', class: problem ? 'bad' : 'note' }, words),
    );
  }
  return el(
    'tr',
    {},
    ...what,
    el('td', {}, formatTime(timing.minimum)),
    el('td', {}, `${timing.rate.toFixed(1)} ${timing.unit}`),
    el('td', {}, share(timing.percent)),
    el('td', {}, formatBytes(timing.memoryBytes)),
  );
}

/** Threads to try: one, and all that this page may use. */
function threadCounts() {
  const most = globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 8) : 1;
  return most > 1 ? [1, most] : [1];
}

class BenchRoom {
  #start = el('button', { type: 'button' }, 'Run the benchmark');
  #long = el('input', { type: 'checkbox', id: 'bench-all' });
  #status = el('p', { class: 'note', role: 'status' });
  #table = el(
    'table',
    {},
    el('thead', {}, el('tr', {}, ...COLUMNS.map((title) => el('th', { scope: 'col' }, title)))),
  );
  #place = el(
    'div',
    { class: 'bench-results', tabindex: '0', role: 'region', 'aria-label': 'Results', hidden: '' },
    this.#table,
  );
  /** @type {Connected<BenchWorker>['end'] | undefined} */ #endWorker;
  #done = 0;
  #last = '';

  constructor() {
    this.#start.addEventListener('click', () => (this.#endWorker ? this.#stop() : this.#run()));
  }

  elements() {
    const label = el(
      'label',
      { for: 'bench-all' },
      this.#long,
      ' all shapes, also the largest (some minutes)',
    );
    return [el('div', { class: 'bench-controls' }, this.#start, label), this.#status, this.#place];
  }

  #run() {
    const names = this.#long.checked ? Object.keys(shapes) : SHORT;
    this.#done = 0;
    for (const body of [...this.#table.tBodies]) body.remove();
    this.#last = '';
    this.#place.hidden = false;
    this.#start.textContent = 'Stop';
    this.#say('Measuring this machine’s ceiling …');
    /** @type {Connected<BenchWorker>} */
    const { remote, end } = connect(
      () => new Worker(new URL('./room-worker.js', import.meta.url), { type: 'module' }),
      { explain: (why) => new Error(why) },
    );
    this.#endWorker = end;
    const results = remote.measure({
      shapes: Object.fromEntries(names.map((name) => [name, shapes[name]])),
      threads: threadCounts(),
      seconds: this.#long.checked ? SECONDS.all : SECONDS.short,
    });
    this.#show(results, () => this.#endWorker === end);
  }

  /**
   * @param {ReturnType<Connected<BenchWorker>['remote']['measure']>} results
   * @param {() => boolean} isWanted
   */
  async #show(results, isWanted) {
    try {
      for (;;) {
        const { value, done } = await results.next();
        if (!isWanted()) return;
        if (done) {
          const lacks = value.map((simd) => ` This browser cannot run the ${simd} module.`);
          const words = `Done: ${plural(this.#done, 'result')}, each compared with float64 first.`;
          this.#end(words + lacks.join(''));
          return;
        }
        this.#add(value);
        const count = plural(++this.#done, 'result');
        this.#say(`${count}. Each was compared with float64 before it was timed.`);
      }
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      if (isWanted()) this.#end(`The benchmark could not run${message && `: ${message}`}.`);
    }
  }

  /** @param {Result} result */
  #add(result) {
    const group = `${result.shape} ${result.simd}`;
    if (group !== this.#last) this.#table.append(el('tbody', {}, headingOf(result)));
    this.#last = group;
    this.#table.tBodies[this.#table.tBodies.length - 1].append(rowOf(result));
  }

  #stop() {
    this.#end(`Stopped after ${plural(this.#done, 'result')}.`);
  }

  /** @param {string} words */
  #end(words) {
    this.#endWorker?.(words);
    this.#endWorker = undefined;
    this.#start.textContent = 'Run the benchmark';
    this.#say(words);
  }

  /** @param {string} words */
  #say(words) {
    this.#status.textContent = words;
  }
}

export function openBench() {
  const threads = globalThis.crossOriginIsolated
    ? 'This page may use threads.'
    : 'One thread: this page is served without the headers that threads need.';
  byId('bench-room', HTMLElement).append(
    el(
      'div',
      { class: 'lead' },
      el('h1', {}, 'How fast is it on this machine?'),
      el(
        'p',
        {},
        'The ceiling is what this machine can do at most in WebAssembly: a loop of multiplications and additions in ',
        'registers, or a read of memory where reading is what limits. It is measured in the same run, here and now. ',
        threads,
      ),
    ),
    el('section', { 'aria-label': 'Benchmark' }, ...new BenchRoom().elements()),
  );
}
