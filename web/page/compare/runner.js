/**
 * Runs the experiment whenever the settings change, and shows how far it is:
 * progress, a Cancel button, and words when it ends otherwise.
 *
 * @import { Connected } from '../shared/connect.js'
 * @import { CompareWorker } from './worker/compare-worker.js'
 * @import { Summary } from '../types.js'
 * @import { Store } from '../state.js'
 */

import { byId, turnFocusTo } from '../shared/dom.js';
import { orEnd } from '../shared/connect.js';
import { PageError, sentence } from '../shared/errors.js';
import { settingsOf } from './address.js';

/** Work quicker than this shows no progress. */
const QUIET_MS = 200;

/** Why a run ends that others follow. */
const REPLACED = new PageError('ERR_STALE', 'Replaced by newer settings.');

class Runner {
  #store;
  #engine;
  #finished;
  #busy = byId('busy', HTMLDivElement);
  #bar = byId('progress', HTMLProgressElement);
  #label = byId('progress-label', HTMLSpanElement);
  #message = byId('message', HTMLParagraphElement);
  #again = byId('again', HTMLButtonElement);
  #verdict = byId('verdict', HTMLElement);
  /** Is read aloud when a run has ended: what it came to may be said in the same words as before. */
  #told = byId('told', HTMLElement);
  #note = byId('verdict-note', HTMLElement);
  /** While nothing has been computed. */ #computing = this.#note.textContent;
  #count = byId('token-count', HTMLElement);
  #text = byId('text', HTMLTextAreaElement);
  #main = byId('main', HTMLElement);
  /** @type {AbortController | undefined} */ #work;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #showing;
  /** What had the focus when the run began: mostly what started it. @type {Element | null | undefined} */
  #starter;
  #asked = '';
  #hasResult = false;
  #runs = 0;

  /**
   * @param {Store} store
   * @param {Connected<CompareWorker>} engine
   * @param {(summary: Summary) => Promise<void>} finished draws a result
   */
  constructor(store, engine, finished) {
    this.#store = store;
    this.#engine = engine;
    this.#finished = finished;
  }

  /** @param {string} words @param {boolean} [isError] */
  #say(words, isError = false) {
    this.#message.textContent = words;
    this.#message.classList.toggle('error', isError);
    this.#main.classList.toggle('stale', words !== '' && this.#hasResult);
  }

  /** @param {unknown} error */
  fail(error) {
    const { code } = /** @type {{ code?: string }} */ (error);
    if (code === 'ERR_STALE') {
      // The run that is under way draws; without one, what is drawn was lost with its Worker.
      if (!this.#work) this.runAgain();
      return;
    }
    const still = this.#hasResult ? ' The last result is still shown below.' : '';
    this.#say(sentence(error) + still, code !== 'ERR_CANCELLED');
    this.#again.hidden = code !== 'ERR_CANCELLED' && code !== 'ERR_LOAD';
    this.#count.textContent = ''; // of the text of the last result
    if (!this.#hasResult) this.#note.textContent = 'Nothing has been computed yet.';
    this.#main.classList.add('has-failed'); // what is empty may stay so
  }

  cancel() {
    this.#work?.abort(new PageError('ERR_CANCELLED', 'Cancelled.'));
  }

  /** With the same settings. */
  runAgain() {
    this.#asked = '';
    this.run();
  }

  async run() {
    const settings = settingsOf(this.#store.get());
    const wanted = JSON.stringify(settings);
    if (wanted === this.#asked) return;
    this.#asked = wanted;
    this.#work?.abort(REPLACED);
    const mine = new AbortController();
    this.#work = mine;
    if (!this.#hasFocus()) this.#starter = document.activeElement;
    this.#hideAgain();
    if (!this.#hasResult) this.#note.textContent = this.#computing;
    clearTimeout(this.#showing);
    this.#showing = setTimeout(() => (this.#busy.hidden = false), QUIET_MS);
    this.#main.setAttribute('aria-busy', 'true');
    this.#told.textContent = '';
    let verdict = '';
    try {
      const summary = await this.#compute(settings, mine);
      if (this.#work !== mine) return;
      this.#hasResult = true;
      this.#say('');
      this.#hideProgress(); // what is drawn now cannot be cancelled
      await this.#finished(summary);
      verdict = this.#verdict.textContent;
    } catch (error) {
      if (this.#work !== mine) return;
      this.#asked = '';
      // Its Worker was ended with the run before.
      if (error === REPLACED) this.run();
      else this.fail(error);
    } finally {
      if (this.#work === mine) this.#rest(verdict);
    }
  }

  /** @param {ReturnType<typeof settingsOf>} settings @param {AbortController} mine */
  #compute(settings, mine) {
    /** @param {number} fraction @param {string} [step] */
    const onProgress = (fraction, step) => {
      if (this.#work !== mine) return;
      this.#bar.value = fraction;
      if (step) this.#label.textContent = `${step}…`;
    };
    const { signal } = mine;
    const running = this.#engine.remote.run(++this.#runs, settings, onProgress, signal);
    return orEnd(this.#engine, running, signal);
  }

  /** The button goes while it works: its focus goes to what it does the same for. */
  #hideAgain() {
    if (this.#again === document.activeElement) turnFocusTo(this.#text);
    this.#again.hidden = true;
  }

  /** Whether Cancel has it. */
  #hasFocus() {
    return this.#busy.contains(document.activeElement);
  }

  #hideProgress() {
    clearTimeout(this.#showing);
    // Cancel goes: back to what started the run.
    if (this.#hasFocus()) turnFocusTo(this.#starter, this.#text);
    this.#busy.hidden = true;
    this.#bar.removeAttribute('value');
  }

  /** @param {string} verdict '': there is none */
  #rest(verdict) {
    this.#work = undefined;
    this.#hideProgress();
    this.#main.removeAttribute('aria-busy');
    this.#told.textContent = verdict; // what is busy is not read aloud everywhere
  }
}

/**
 * @param {Store} store
 * @param {Connected<CompareWorker>} engine
 * @param {(summary: Summary) => Promise<void>} finished draws a result
 * @returns {{ fail(error: unknown): void }} for errors from elsewhere
 */
export function connectRunner(store, engine, finished) {
  const runner = new Runner(store, engine, finished);
  byId('cancel', HTMLButtonElement).addEventListener('click', () => runner.cancel());
  byId('again', HTMLButtonElement).addEventListener('click', () => runner.runAgain());
  store.subscribe((after, before) => {
    const same = JSON.stringify(settingsOf(after)) === JSON.stringify(settingsOf(before));
    if (!same) runner.run();
  });
  runner.run();
  return runner;
}
