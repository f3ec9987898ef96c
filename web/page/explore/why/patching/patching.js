/**
 * What is known of two texts: whether they go together, and what of the one brings its prediction back in the other.
 *
 * @import { Explorer } from '../../explorer.js'
 * @import { Token } from '../../../types.js'
 * @import { Patching as Answer } from '../../worker/patching.js'
 */

import { computed, derived, signal } from '../../../shared/signals.js';
import { Asked } from '../../asked.js';
import { differingAt, problemOf } from './pair.js';

export class Patching {
  /** Counts sweeps: an earlier one ends when another one is wanted, or none. */
  #sweep = 0;

  /** @param {Explorer} room */
  constructor(room) {
    const { session, run, about, isPaired, shown } = room;
    /** The other text; null: there is none. */
    this.text = computed(() => (isPaired.value ? shown.value.corrupted : null));

    const read = new Asked(room, () => {
      const text = this.text.value;
      if (text === null) return undefined;
      return async () => {
        /** @type {{ text: string, tokens: Token[], problem: string }} */
        const answer = { text, tokens: [], problem: '' };
        try {
          return { ...answer, tokens: await session.tokensOf(text) };
        } catch (error) {
          return { ...answer, problem: /** @type {Error} */ (error).message };
        }
      };
    });

    /** Both texts, token by token. */
    this.pair = derived(() => {
      const { answer } = read;
      const { text, tokens = [], problem = '' } = answer.value ?? {};
      const clean = run.value?.tokens ?? [];
      if (this.text.value === null || text !== this.text.value || answer.value?.run !== run.value)
        return undefined;
      return {
        ...{ clean, other: tokens, differing: differingAt(clean, tokens) },
        problem: problem || problemOf(clean, tokens, about.value.at),
      };
    });

    /** What is asked now. */
    this.question = derived(() => {
      const pair = this.pair.value;
      const isAsked = pair !== undefined && pair.problem === '';
      return { text: isAsked ? this.text.value : null, about: about.value, run: run.value };
    });

    /** The question that was cancelled. */
    this.cancelled = signal(/** @type {object | undefined} */ (undefined));

    const sweep = new Asked(room, (now) => {
      const question = this.question.value;
      const { text } = question;
      const mine = ++this.#sweep;
      if (text === null || this.cancelled.value === question) return undefined;
      if (room.next.ended.value !== now) return undefined;
      return async (tell) => {
        /** @type {Answer | undefined} */
        let latest;
        for await (const part of session.patching(question.about, text)) {
          latest = part;
          await tell({ ...part, question });
          if (mine !== this.#sweep) break;
        }
        return { .../** @type {Answer} */ (latest), question };
      };
    });

    /** The shares, as far as they are known, of what is asked now. */
    this.shares = computed(() => {
      const answer = sweep.answer.value;
      return answer?.question === this.question.value && answer.count > 0 ? answer : undefined;
    });

    /** The chosen head's map in both texts. */
    const maps = new Asked(room, () => {
      const { text } = this.question.value;
      const { layer, head } = shown.value;
      if (text === null) return undefined;
      return async () => ({
        text,
        layer,
        head,
        ...(await session.pairMaps({ layer, head }, text)),
      });
    });
    this.maps = computed(() => {
      const answer = maps.answer.value;
      return answer?.text === this.question.value.text ? answer : undefined;
    });
  }

  cancel = () => (this.cancelled.value = this.question.peek());
  goOn = () => (this.cancelled.value = undefined);
}
