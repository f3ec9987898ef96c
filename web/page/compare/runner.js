/**
 * Runs the experiment whenever the settings change, and shows how far it is:
 * progress, a Cancel button, and words when it ends otherwise.
 *
 * @import { EngineClient } from '../engine/engine-client.js'
 * @import { Summary } from '../types.js'
 * @import { Store } from '../state.js'
 */

import { byId } from '../dom.js';
import { settingsOf } from '../state.js';

/** Work quicker than this shows no progress. */
const QUIET_MS = 200;

/**
 * @param {Store} store
 * @param {EngineClient} client
 * @param {(summary: Summary) => Promise<void>} finished draws a result
 * @returns {{ fail(error: unknown): void }} for errors from elsewhere
 */
export function connectRunner(store, client, finished) {
  const busy = byId('busy', HTMLDivElement);
  const bar = byId('progress', HTMLProgressElement);
  const label = byId('progress-label', HTMLSpanElement);
  const message = byId('message', HTMLParagraphElement);
  const main = byId('main', HTMLElement);
  /** @type {AbortController | undefined} */
  let work;
  let asked = '';
  let hasResult = false;

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
    work?.abort();
    const mine = new AbortController();
    work = mine;
    const showing = setTimeout(() => (busy.hidden = false), QUIET_MS);
    main.setAttribute('aria-busy', 'true');
    try {
      const summary = await client.call('run', settings, {
        signal: mine.signal,
        onProgress: (progress) => {
          if (work !== mine) return;
          bar.value = progress.fraction;
          if (progress.label) label.textContent = `${progress.label}…`;
        },
      });
      if (work !== mine) return;
      hasResult = true;
      say('');
      await finished(summary);
    } catch (error) {
      if (work !== mine) return;
      asked = '';
      fail(error);
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

  byId('cancel', HTMLButtonElement).addEventListener('click', () => work?.abort());
  store.subscribe((after, before) => {
    const same = JSON.stringify(settingsOf(after)) === JSON.stringify(settingsOf(before));
    if (!same) run();
  });
  run();
  return { fail };
}
