/**
 * The Bench room: other runtimes' published ratios, then the benchmark in the visitor's own browser.
 *
 * @import { Peers } from './peers.js'
 * @import { Shape } from './work.js'
 * @import { Store } from '../state.js'
 */

import { version } from '../../headwise/engine/version.js';
import { byId } from '../shared/dom.js';
import { download } from '../shared/download.js';
import { ESCAPE, stopOnEscape } from '../shared/escape.js';
import { effect } from '../shared/signals.js';
import { drawn, html, nothing, render, taking } from '../shared/template.js';
import published from './peers.json';
import { peersChart } from './peers.js';
import { resultsTable } from './results.js';
import { BenchSession } from './session.js';
import all from './shapes.json';
import { ceilingOf, verdictOf } from './words.js';

const shapes = /** @type {Record<string, Shape>} */ (/** @type {unknown} */ (all));
const peers = /** @type {Peers} */ (/** @type {unknown} */ (published));

/** @param {BenchSession} session what was measured, as a file */
function save(session) {
  const results = session.results.peek();
  const ceiling = ceilingOf(results);
  const report = {
    ...{ headwise: version, date: new Date().toISOString(), browser: navigator.userAgent },
    ...{ cores: navigator.hardwareConcurrency, ceilingGflops: ceiling, results },
  };
  const blob = new Blob([JSON.stringify(report, null, 2)], { type: 'application/json' });
  download(blob, 'headwise-bench.json');
}

/** @param {BenchSession} session */
const controls = (session) => html`
  <div class="bench-controls">
    <button type="button" id="bench-run" class=${drawn(() => (session.isRunning ? '' : 'primary'))}
      title=${drawn(() => (session.isRunning ? ESCAPE.title : nothing))}
      aria-keyshortcuts=${drawn(() => (session.isRunning ? ESCAPE['aria-keyshortcuts'] : nothing))}
      @click=${() => (session.isRunning ? session.stop() : session.start())}>
      ${drawn(() => (session.isRunning ? 'Stop' : 'Run the benchmark'))}
    </button>
    <label class="check" for="bench-all">
      <input
        type="checkbox"
        id="bench-all"
        ?disabled=${drawn(() => session.isRunning)}
        @change=${taking(({ checked }) => (session.isAll.value = checked))}
      />
      Measure all shapes and both modules: several minutes instead of 30 seconds
    </label>
    ${drawn(() =>
      session.results.value.some(({ timing }) => timing) && !session.isRunning
        ? html`<button type="button" id="bench-save" class="quiet" @click=${() => save(session)}>
            Save as JSON
          </button>`
        : '',
    )}
  </div>
  <div class="bench-progress">
    ${drawn(() =>
      session.isRunning
        ? html`<progress max="1" .value=${session.progress.value} aria-label="Progress"></progress>`
        : '',
    )}
    <p class="note" role="status" aria-busy=${drawn(() => String(session.isRunning))}>
      ${drawn(() => session.words.value)}
    </p>
  </div>
  <p class="bench-verdict" id="bench-verdict" role="status">
    ${drawn(() => {
      const results = session.results.value;
      return results.length && !session.isRunning ? verdictOf(results) : '';
    })}
  </p>
  ${drawn(() => {
    const results = session.results.value;
    const ceiling = ceilingOf(results);
    return html`
      ${
        ceiling === undefined
          ? ''
          : html`<p id="bench-ceiling">
            This machine’s ceiling: <b>${ceiling.toFixed(1)} GFLOP/s</b> a thread.
          </p>`
      }
      ${resultsTable(results, shapes)}
    `;
  })}
`;

const threads = () =>
  globalThis.crossOriginIsolated
    ? 'Threads can be used: this page is served with the headers that they need.'
    : 'One thread: this page is served without the headers that threads need.';

const glossary = html`<dl class="glossary">
  <dt>Share of the ceiling</dt>
  <dd>
    The ceiling is the most that one thread of this machine can do in WebAssembly: a loop of multiplications and
    additions in registers, or a read of memory where reading is the limit (D1). With 4 threads it is 4 times as high. The
    same run measures it. 100 % would be perfect.
  </dd>
  <dt>GFLOP/s</dt>
  <dd>
    A thousand million multiplications and additions in a second, each counted as one. What a causal mask hides is not
    counted. Where reading memory is the limit: GB/s, a thousand million bytes read in a second.
  </dd>
  <dt>S0 to S3, C1 and C2, G1 and G2, D1, M1, T1 to T3</dt>
  <dd>
    S: multi-head attention with projections, from the six words of Compare’s example (S0) to 4,096 tokens (S3). C: attention alone. G: a
    linear layer. D: decoding one more token. M: the maps of all heads. From S1 to M1 the sizes are those of GPT-2 small. T: one step of
    training a small model. The long run adds C1 and C2 with other masks and head widths, and T3 with gradient checkpointing.
  </dd>
  <dt>Wrapper, fused</dt>
  <dd>
    One module per head, or all heads at once. Both do the same work: a linear layer follows the wrapper as its output
    projection.
  </dd>
  <dt>Relaxed, simd128</dt>
  <dd>
    Two builds of the engine. Relaxed SIMD multiplies and adds in one instruction where the processor can; simd128 runs
    in older browsers too.
  </dd>
</dl>`;

/** @param {Store} store */
export function openBench(store) {
  const session = new BenchSession(shapes);
  const follow = () => (session.isHere = store.get().room === 'bench' && !document.hidden);
  store.subscribe(follow);
  document.addEventListener('visibilitychange', follow);
  effect(() => (session.isMeasuring ? stopOnEscape(() => session.stop()) : undefined));
  const room = byId('bench-room', HTMLElement);
  render(
    html`<div class="lead">
        <h1>How fast is it?</h1>
        <p>
          The bars show how long other runtimes take for the same work, as multiples of Headwise’s time. Shorter is
          faster. Below you can run the benchmark on your own machine.
        </p>
      </div>
      <section aria-label="Other runtimes">${peersChart(peers, shapes)}</section>
      <section aria-labelledby="bench-title">
        <div class="section-head">
          <h2 id="bench-title">On this machine</h2>
          <p class="note">${threads()}</p>
        </div>
        ${controls(session)}
      </section>
      <section aria-labelledby="bench-words">
        <h2 id="bench-words">What the names mean</h2>
        ${glossary}
      </section>`,
    room,
  );
}
