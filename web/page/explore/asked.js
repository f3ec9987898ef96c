/**
 * What the Worker answers to what is asked now: asked anew whenever a signal that the question read has changed, one at a
 * time, and of what is asked meanwhile only the newest. An answer about a run that is over is dropped; one that is there is
 * not asked for again when the room is left and seen again.
 *
 * @import { ReadonlySignal, Signal } from '../shared/signals.js'
 * @import { RunSummary, Session } from './session.js'
 */

import { computed, effect, signal, untracked, when } from '../shared/signals.js';
import { newest } from './newest.js';

/** Errors that only say that something newer is under way. */
const SUPERSEDED = ['ERR_STALE', 'ERR_DISPOSED'];

/** @param {unknown} error */
export const isSuperseded = (error) =>
  SUPERSEDED.includes(/** @type {{ code?: string }} */ (error).code ?? '');

/** @template T */
export class Asked {
  /** The latest answer. @type {Signal<(T & { run: RunSummary }) | undefined>} */
  answer = signal(undefined);
  /** The run about which an answer came last, or an error. @type {Signal<RunSummary | undefined>} */
  ended = signal(undefined);
  /** Whether what is asked now could not be answered. @type {ReadonlySignal<boolean>} */
  hasFailed;

  /**
   * @param {object} room
   * @param {ReadonlySignal<RunSummary | undefined>} room.run
   * @param {ReadonlySignal<boolean>} room.isShown what is not seen asks for nothing
   * @param {Session} room.session
   * @param {(error: unknown) => void} room.fail
   * @param {(run: RunSummary) => ((tell: (part: T) => Promise<void>) => Promise<T>) | undefined} ask reads signals; returns
   *   what asks the Worker, and may tell of a part before the whole is there, and go on when the room is seen; undefined:
   *   nothing is to be asked
   */
  constructor({ run, isShown, session, fail }, ask) {
    // The same object until a signal that it was made from has changed, also while the room is not seen.
    const question = computed(() => {
      const about = run.value;
      const put = about && ask(about);
      return put && { about, put };
    });
    /** @type {Signal<typeof question.value>} */
    const failed = signal(undefined);
    this.hasFailed = computed(() => failed.value !== undefined && failed.value === question.value);
    /** @type {typeof question.value} */
    let answered;
    const work = newest(
      /** @param {NonNullable<typeof question.value>} now */
      async (now) => {
        const { about, put } = now;
        if (!isShown.peek() || session.run !== about || now === answered) return;
        const take = (/** @type {T} */ part) => {
          if (session.run === about) this.answer.value = { ...part, run: about };
        };
        const tell = (/** @type {T} */ part) => {
          take(part);
          return when(isShown);
        };
        try {
          failed.value = undefined;
          take(await put(tell));
          answered = now;
        } catch (error) {
          failed.value = now;
          throw error;
        } finally {
          this.ended.value = about;
        }
      },
      fail,
    );
    effect(() => {
      const now = isShown.value ? question.value : undefined;
      if (now) untracked(() => work(now));
    });
  }
}
