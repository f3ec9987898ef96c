/**
 * What is known of two texts: whether they go together, and what of the one brings its prediction back in the other.
 *
 * @import { ReadonlySignal } from '../../../shared/signals.js'
 * @import { Explorer } from '../../explorer.js'
 * @import { Token } from '../../../types.js'
 * @import { Patching as Answer } from '../../worker/patching.js'
 */

import { computed, derived, signal } from '../../../shared/signals.js';
import { Asked } from '../../asked.js';
import { differingAt, problemOf } from './pair.js';

/** The other text, token by token, or why it could not be cut into tokens. @param {Explorer} room @param {ReadonlySignal<string | null>} wanted */
const otherText = (room, wanted) =>
  new Asked(room, ({ ids, n, written }) => {
    const text = wanted.value;
    if (text === null) return undefined;
    return async () => {
      // What the model wrote after the text stands after the other one too.
      /** @type {{ text: string, tokens: Token[], problem: string }} */
      const answer = { text, tokens: [], problem: '' };
      try {
        return { ...answer, tokens: await room.session.tokensOf(text, ids.slice(n - written)) };
      } catch (error) {
        return { ...answer, problem: /** @type {Error} */ (error).message };
      }
    };
  });

/** Both texts, token by token; undefined: not yet read, or there is no other one. @param {Explorer} room @param {ReadonlySignal<string | null>} wanted */
function pairOf(room, wanted) {
  const { run, about } = room;
  const { answer } = otherText(room, wanted);
  return derived(() => {
    const { text, tokens = [], problem = '' } = answer.value ?? {};
    const clean = run.value?.tokens ?? [];
    if (wanted.value === null || text !== wanted.value || answer.value?.run !== run.value)
      return undefined;
    return {
      ...{ clean, other: tokens, differing: differingAt(clean, tokens) },
      problem: problem || problemOf(clean, tokens, about.value.at),
    };
  });
}

/** @param {Explorer} room @param {ReadonlySignal<number[] | null>} others ids of the other text */
function mapsOf(room, others) {
  const maps = new Asked(room, () => {
    const ids = others.value;
    const { layer, head } = room.shown.value;
    if (ids === null) return undefined;
    return async () => ({
      ...{ ids, layer, head },
      ...(await room.session.pairMaps({ layer, head }, ids)),
    });
  });
  return computed(() => {
    const answer = maps.answer.value;
    return answer?.ids === others.value ? answer : undefined;
  });
}

export class Patching {
  /** Counts sweeps: an earlier one ends when another one is wanted, or none. */
  #sweep = 0;

  /** What is typed in place of the other text, or of the text that is read, and not taken yet. @type {{ of: string, text: string } | undefined} */
  draft;

  /** @param {Explorer} room */
  constructor(room) {
    const { session, run, about, isPaired, shown } = room;
    /** The other text; null: there is none. */
    this.text = computed(() => (isPaired.value ? shown.value.corrupted : null));

    /** Both texts, token by token. */
    this.pair = pairOf(room, this.text);

    /** Ids of the other text; null: there is none that goes together with this one. */
    const others = derived(() => {
      const { other, problem } = this.pair.value ?? { other: [], problem: 'none' };
      return problem === '' ? other.map(({ id }) => Number(id)) : null;
    });

    /** What is asked now. */
    this.question = derived(() => ({
      others: others.value,
      about: about.value,
      run: run.value,
    }));

    /** The question that was cancelled. */
    this.cancelled = signal(/** @type {object | undefined} */ (undefined));

    const sweep = new Asked(room, (now) => {
      const question = this.question.value;
      const { others: ids } = question;
      const mine = ++this.#sweep;
      if (ids === null || this.cancelled.value === question) return undefined;
      if (room.next.ended.value !== now) return undefined;
      return async (tell) => {
        /** @type {Answer | undefined} */
        let latest;
        for await (const part of session.patching(question.about, ids)) {
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
    this.maps = mapsOf(room, others);
  }

  cancel = () => (this.cancelled.value = this.question.peek());
  goOn = () => (this.cancelled.value = undefined);
}
