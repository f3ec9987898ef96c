/**
 * What the Worker answers to what is asked now: asked anew whenever a signal that the question read has changed, one at a
 * time, and of what is asked meanwhile only the newest. An answer about a run that is over is dropped.
 *
 * @import { ReadonlySignal, Signal } from '../shared/signals.js'
 * @import { RunSummary, Session } from './session.js'
 */

import { effect, signal, untracked } from '../shared/signals.js';
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

  /**
   * @param {object} room
   * @param {ReadonlySignal<RunSummary | undefined>} room.run
   * @param {ReadonlySignal<boolean>} room.isShown what is not seen asks for nothing
   * @param {Session} room.session
   * @param {(error: unknown) => void} room.fail
   * @param {(run: RunSummary) => ((tell: (part: T) => void) => Promise<T>) | undefined} ask reads signals; returns what
   *   asks the Worker, and may tell of a part before the whole is there; undefined: nothing is to be asked
   */
  constructor({ run, isShown, session, fail }, ask) {
    const work = newest(
      /** @param {RunSummary} about @param {(tell: (part: T) => void) => Promise<T>} question */
      async (about, question) => {
        const tell = (/** @type {T} */ part) => {
          if (session.run === about) this.answer.value = { ...part, run: about };
        };
        if (session.run !== about) return;
        try {
          tell(await question(tell));
        } finally {
          this.ended.value = about;
        }
      },
      fail,
    );
    effect(() => {
      const about = isShown.value ? run.value : undefined;
      const question = about && ask(about);
      if (question) untracked(() => work(about, question));
    });
  }
}
