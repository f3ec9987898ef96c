/**
 * The sum of the logit that is asked about. A bar says when it takes long; what was cancelled can be gone on with.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { RunSummary } from '../session.js'
 * @import { Attribution } from '../worker/attribution.js'
 * @import { About } from '../worker/questions.js'
 */

import { computed, signal } from '../../shared/signals.js';
import { drawn, html } from '../../shared/template.js';
import { Asked } from '../asked.js';
import { bar, leaveBar, Waiting } from '../waiting.js';

export class Summing {
  #room;
  /** @type {Asked<Attribution & { about: About }>} */
  #asked;
  waiting = new Waiting(300);
  /** What was cancelled. @type {import('../../shared/signals.js').Signal<{ run?: RunSummary, about?: About }>} */
  #skipped = signal({});

  /** @param {Explorer} room */
  constructor(room) {
    this.#room = room;
    this.#asked = new Asked(room, (run) => {
      const about = room.about.value;
      const isWhy = room.isWhy.value;
      const isWanted = isWhy || room.measure.value === 'attribution';
      const canAsk = room.predicts.value === 'next' && room.next.ended.value === run;
      if (!isWanted || !canAsk || this.isSkipped.value) return undefined;
      // They are there already when one comes back from the maps. It asks for the first time while it is made.
      const known = this.#asked?.answer.peek();
      const isKnown = known?.run === run && known.about === about;
      if (isKnown && (known.directions || !isWhy)) return undefined;
      return async () => {
        const end = this.waiting.begin('Adding up the parts');
        try {
          return { ...(await room.session.attribution(about, isWhy)), about };
        } finally {
          end();
        }
      };
    });
  }

  /** Whether the parts could not be added up. */
  get hasFailed() {
    return this.#asked.hasFailed;
  }

  isSkipped = computed(() => {
    const { run, about } = this.#skipped.value;
    return run !== undefined && run === this.#room.run.value && about === this.#room.about.value;
  });

  /** The parts of what is asked now. */
  parts = computed(() => {
    const answer = this.#asked.answer.value;
    const { run, about } = this.#room;
    const isNow = answer?.run === run.value && answer?.about === about.value;
    return isNow && !this.isSkipped.value ? answer : undefined;
  });

  skip = () => {
    const { run, about } = this.#room;
    this.#skipped.value = { run: run.peek(), about: about.peek() };
  };

  goOn = () => void (this.#skipped.value = {});
}

/** Stands where the sum is to be. @param {Explorer} room */
export const summingBar = ({ summing }) => {
  const goOn = () => {
    summing.goOn();
    leaveBar('explore-summing');
  };
  return drawn(() => {
    const now = summing.waiting.now.value;
    if (summing.hasFailed.value) return html`<p class="note">The parts could not be added up.</p>`;
    if (!summing.isSkipped.value)
      return now
        ? bar('explore-summing', now, summing.skip)
        : html`<p class="note">Adding up …</p>`;
    return html`<div class="waiting-bar" id="explore-unsummed">
      <span class="note">The parts were not added up.</span>
      <button type="button" class="quiet" @click=${goOn}>Go on</button>
    </div>`;
  });
};
