/**
 * The Compare room: wrapper, fused and their difference on the same weights.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { CompareWorker } from './worker/compare-worker.js'
 * @import { Summary } from '../types.js'
 * @import { Store } from '../state.js'
 */

import { byId } from '../shared/dom.js';
import { connect } from '../shared/connect.js';
import { connectControls } from './controls.js';
import { Explorer } from './explorer.js';
import { pinInOutputs, showOutputs, showSentence } from './outputs.js';
import { connectRunner } from './runner.js';
import { agreementOf } from './verdict.js';

/** @param {Summary} summary */
function showAgreement(summary) {
  const { words, note } = agreementOf(summary);
  byId('verdict', HTMLElement).textContent = words;
  byId('verdict-note', HTMLElement).textContent = note;
  // Of this room alone: others may load another module.
  byId('engine-simd', HTMLElement).textContent = ` (WebAssembly, ${summary.simd})`;
}

/** @param {Store} store */
export function openCompare(store) {
  /** @type {Connected<CompareWorker>} */
  const engine = connect(
    () => new Worker(new URL('./worker/compare-worker.js', import.meta.url), { type: 'module' }),
  );
  const explorer = new Explorer(store, engine.remote, (error) => runner.fail(error));
  connectControls(store);
  /** @param {Summary} summary */
  const explain = async (summary) => {
    const { openWhy } = await import('./why/why.js');
    const why = await openWhy(byId('why', HTMLElement), { store, remote: engine.remote });
    why.show(summary);
  };
  const runner = connectRunner(store, engine, async (summary) => {
    showAgreement(summary);
    showSentence(summary);
    const maps = showOutputs(summary, engine.remote, (row) => store.set({ row }));
    await Promise.all([maps, explorer.show(summary), explain(summary)]);
    pinInOutputs(explorer.row);
    document.documentElement.dataset.run = String(summary.run);
  });
  store.subscribe((after, before) => {
    const { room, mode, scale, head, row } = after;
    const same =
      mode === before.mode && scale === before.scale && head === before.head && row === before.row;
    // What was drawn while the room was hidden had no size.
    const isBack = room === 'compare' && room !== before.room;
    if (same && !isBack) return;
    explorer.redraw();
    pinInOutputs(explorer.row);
  });
}
