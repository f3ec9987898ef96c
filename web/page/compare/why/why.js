/**
 * Why the fused module exists: a drawing of what is fused, and plots of where it matters.
 *
 * @import { Remote } from '../../shared/connect.js'
 * @import { CompareWorker } from '../worker/compare-worker.js'
 * @import { Summary, Work } from '../../types.js'
 * @import { Store } from '../../state.js'
 */

import { signal } from '../../shared/signals.js';
import { html, render } from '../../shared/template.js';
import { Measured } from './measured.js';
import { plots } from './plots.js';
import { stepper } from './stepper.js';

/** @typedef {{ show(summary: Summary): void }} Why */

/** @type {Promise<Why> | undefined} */
let opened;

/** @param {HTMLElement} room @param {{ store: Store, remote: Remote<CompareWorker> }} parts @returns {Promise<Why>} */
export function openWhy(room, parts) {
  if (opened) return opened;
  opened = open(room, parts);
  // A later run tries again.
  opened.catch(() => (opened = undefined));
  return opened;
}

/** @param {HTMLElement} room @param {{ store: Store, remote: Remote<CompareWorker> }} parts @returns {Promise<Why>} */
async function open(room, { store, remote }) {
  const numbers = await remote.projections();
  const measured = new Measured();
  /** @type {import('../../shared/signals.js').Signal<Work | undefined>} */
  const current = signal(undefined);
  render(template(stepper(numbers), plots(measured, current)), room);

  let isSeen = false;
  const follow = () => {
    if (isSeen && store.get().room === 'compare' && !document.hidden) measured.go();
    else measured.stop();
  };
  const section = /** @type {HTMLElement} */ (room.querySelector('#time-room'));
  new IntersectionObserver(([entry]) => {
    isSeen = entry.isIntersecting;
    follow();
  }).observe(section);
  store.subscribe(follow);
  document.addEventListener('visibilitychange', follow);
  return {
    show({ work }) {
      current.value = work;
      follow();
    },
  };
}

/** @param {unknown} drawing @param {unknown} curves */
const template = (drawing, curves) => html`
  <section aria-labelledby="why-title">
    <div class="section-head">
      <h2 id="why-title">Why the fused module exists</h2>
      <a href="#lessons?lesson=fused">Write it yourself: the lesson on fusing →</a>
    </div>
    ${drawing}
  </section>
  <section id="time-room" aria-labelledby="time-title">
    <div class="section-head">
      <h2 id="time-title">Where it matters, measured here</h2>
      <a href="#bench">More shapes in Bench →</a>
    </div>
    ${curves}
  </section>
`;
