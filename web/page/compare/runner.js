/**
 * Runs the experiment whenever the settings change, and shows how far it is:
 * progress, a Cancel button, and words when it ends otherwise.
 *
 * @import { Connected } from '../engine/connect.js'
 * @import { CompareWorker } from '../engine/engine-worker.js'
 * @import { Summary } from '../types.js'
 * @import { Store } from '../state.js'
 */

import { byId } from '../dom.js';
import { orEnd } from '../engine/connect.js';
import { PageError } from '../engine/errors.js';
import { settingsOf } from '../state.js';

/** Work quicker than this shows no progress. */
const QUIET_MS = 200;

/** Why a run ends that others follow. */
const REPLACED = new PageError('ERR_STALE', 'Other settings were chosen since.');

/**
 * @param {Store} store
 * @param {Connected<CompareWorker>} engine
 * @param {(summary: Summary) => Promise<void>} finished draws a result
 * @returns {{ fail(error: unknown): void }} for errors from elsewhere
 */
export function connectRunner(store, engine, finished) {
  const busy = byId('busy', HTMLDivElement);
  const bar = byId('progress', HTMLProgressElement);
  const label = byId('progress-label', HTMLSpanElement);
  const message = byId('message', HTMLParagraphElement);
  const main = byId('main', HTMLElement);
  /** @type {AbortController | undefined} */
  let work;
  let asked = '';
  let hasResult = false;
  let runs = 0;

  /** @param {string} words */
  const say = (words) => {
    message.textContent = words;
    message.classList.toggle('error', words !== '');
    main.classList.toggle('stale', words !== '' && hasResult);
  };

  /** @param {unknown} error */
  const fail = (error) => {
    const { code } = /** @type {{ code?: string }} */ (error);
    if (code === 'ERR_STALE') return; // the next run draws
    const words = error instanceof Error ? error.message : String(error);
    const still = hasResult ? ' Below is still the last result.' : '';
    say(words + still);
  };

  const run = async () => {
    const settings = settingsOf(store.get());
    const wanted = JSON.stringify(settings);
    if (wanted === asked) return;
    asked = wanted;
    work?.abort(REPLACED);
    const mine = new AbortController();
    const { signal } = mine;
    work = mine;
    const showing = setTimeout(() => (busy.hidden = false), QUIET_MS);
    main.setAttribute('aria-busy', 'true');
    try {
      /** @param {number} fraction @param {string} [step] */
      const onProgress = (fraction, step) => {
        if (work !== mine) return;
        bar.value = fraction;
        if (step) label.textContent = `${step}…`;
      };
      const running = engine.remote.run(++runs, settings, onProgress, signal);
      const summary = await orEnd(engine, running, signal);
      if (work !== mine) return;
      hasResult = true;
      say('');
      await finished(summary);
    } catch (error) {
      if (work !== mine) return;
      asked = '';
      // Its Worker was ended with the run before.
      if (error === REPLACED) run();
      else fail(error);
    } finally {
      clearTimeout(showing);
      if (work === mine) {
        work = undefined;
        busy.hidden = true;
        bar.removeAttribute('value');
        main.removeAttribute('aria-busy');
      }
    }
  };

  byId('cancel', HTMLButtonElement).addEventListener('click', () =>
    work?.abort(new PageError('ERR_CANCELLED', 'Cancelled.')),
  );
  store.subscribe((after, before) => {
    const same = JSON.stringify(settingsOf(after)) === JSON.stringify(settingsOf(before));
    if (!same) run();
  });
  run();
  return { fail };
}
