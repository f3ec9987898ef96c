/**
 * A lesson's steps on the page, which run one after another as one module.
 *
 * @import { Item } from './audience.js'
 * @import { Lesson, Step } from './parse.js'
 * @import { Outcome } from './run.js'
 * @import { StepElements } from './step-view.js'
 */

import { el } from '../shared/dom.js';
import { ESCAPE, stopOnEscape } from '../shared/escape.js';
import { plural } from '../shared/format.js';
import { resultsOf } from './results.js';
import { startRun } from './run.js';
import { bringIntoSight, createStep, lateNote } from './step-view.js';
import { sourcesOf } from './words.js';

/** Runs quicker than this show no progress. */
const QUIET_MS = 300;

/** @typedef {StepElements & { step: Step, equal: number }} StepView equal: results that are as the document has them */

export class LessonView {
  /** @type {Lesson} */ #lesson;
  /** @type {string[]} */ #code;
  /** @type {StepView[]} */ #views;
  /** @type {(code: string[], step: number) => void} */ #onChange;
  /** @type {(code: string[]) => void} */ #onRun;
  /** @type {Item[][]} what each step of this run has shown */ #items = [];
  /** @type {(() => void) | undefined} */ #stopRun;
  #endEscape = () => {};
  /** The step that runs; -1: none has begun. */ #at = -1;
  /** The step whose button began the run. @type {number | undefined} */ #asked;
  #status = el('p', { class: 'note', role: 'status' });
  /** What is wrong with the address, until the next run. @type {HTMLElement | undefined} */ #warning;
  #busyLabel = el('span', { class: 'note' });
  #busy = el(
    'div',
    { class: 'busy', hidden: true },
    el('progress', { 'aria-label': 'Progress' }),
    this.#busyLabel,
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #showing;

  /**
   * @param {Lesson} lesson
   * @param {object} options
   * @param {string[]} options.code of every step, as the visitor has it
   * @param {Node[]} options.head
   * @param {Node[]} options.notes below what the last run was like
   * @param {(code: string[], step: number) => void} options.onChange step: whose code was changed
   * @param {(code: string[]) => void} options.onRun a run begins
   */
  constructor(lesson, { code, head, notes, onChange, onRun }) {
    this.#lesson = lesson;
    this.#code = [...code];
    this.#onChange = onChange;
    this.#onRun = onRun;
    const stop = el('button', { type: 'button', ...ESCAPE }, 'Stop');
    stop.addEventListener('click', () => this.stop());
    this.#busy.append(
      stop,
      el('kbd', { class: 'note', 'aria-hidden': 'true', translate: 'no' }, 'Esc'),
    );
    this.#views = lesson.steps.map((step, i) => this.#makeStep(step, i));
    /** The lesson's element. Its `data-state` says how its last run is. */
    this.element = el(
      'article',
      { class: 'lesson' },
      el('header', {}, ...head, this.#status, ...notes),
      ...this.#views.map(({ section }) => section),
      this.#busy,
    );
  }

  /** The sections of the steps, in order. */
  get sections() {
    return this.#views.map(({ section }) => section);
  }

  /** Whether a step's code is not the lesson's own. */
  get isChanged() {
    return this.#lesson.steps.some(({ code }, i) => code !== this.#code[i]);
  }

  /** @param {Step} step @param {number} i @returns {StepView} */
  #makeStep(step, i) {
    const number = i + 1;
    const title = el('span', {}, el('span', { class: 'number' }, String(number)), ` ${step.title}`);
    const elements = createStep({
      id: `step-${number}`,
      title,
      from: step.from,
      text: step.text,
      label: `Code of step ${number}`,
      code: this.#code[i],
      original: step.code,
      onChange: (code) => {
        this.#code[i] = code;
        this.#onChange(this.#code, i);
      },
      onRun: () => {
        this.run();
        this.#asked = i;
      },
      // What a link brings runs when Run is pressed, not when a step is reset.
      onReset: () => {
        if (this.element.dataset.state !== 'unrun') this.run();
      },
    });
    return { ...elements, step, equal: 0 };
  }

  /** Runs the lesson from its first step, as the code is now. */
  run() {
    this.#end();
    this.#onRun(this.#code);
    this.#asked = undefined;
    this.#warning?.remove();
    this.#at = -1;
    this.#items = this.#views.map(() => []);
    this.element.dataset.state = 'running';
    for (const { section, editor } of this.#views) {
      section.dataset.state = 'waiting';
      editor.mark(0);
    }
    this.#showing = setTimeout(() => {
      this.#busy.hidden = false;
      // What the last run gave is not what this one will.
      this.#status.textContent = 'Running …';
    }, QUIET_MS);
    this.#busyLabel.textContent = 'Starting …';
    this.#endEscape = stopOnEscape(() => this.stop());
    this.#stopRun = startRun(this.#code, {
      onStep: (step) => {
        if (this.#at >= 0 && step !== this.#at) this.#show(this.#at, true);
        this.#at = step;
        this.#views[step].section.dataset.state = 'running';
        this.#busyLabel.textContent = `Running step ${step + 1} …`;
      },
      onItem: (step, item) => this.#items[step].push(item),
      onEnd: (outcome) => this.#finish(outcome),
    });
  }

  /** Shows the code without running it: somebody else wrote it. @param {...(string | Node)} words */
  wait(...words) {
    this.element.dataset.state = 'unrun';
    this.#status.replaceChildren(...words);
  }

  /** Says what is wrong, until the next run. @param {string} words */
  warn(words) {
    this.#warning?.remove();
    this.#warning = el('p', { class: 'message error', role: 'alert' }, words);
    this.#status.before(this.#warning);
  }

  /** Ends the run; what it has shown stays. @returns {boolean} whether one was going on */
  stop() {
    const isRunning = this.#stopRun !== undefined;
    this.#stopRun?.();
    return isRunning;
  }

  destroy() {
    this.#end();
    for (const { editor } of this.#views) editor.destroy();
  }

  /** Ends the run without a word. */
  #end() {
    const stop = this.#stopRun;
    this.#stopRun = undefined;
    stop?.();
    this.#endEscape();
    clearTimeout(this.#showing);
    const hasFocus = this.#busy.contains(document.activeElement);
    this.#busy.hidden = true;
    if (hasFocus) this.#views[Math.max(0, this.#at)].run.focus();
  }

  /**
   * Shows what a step has given.
   *
   * @param {number} at
   * @param {boolean} complete
   * @param {...HTMLElement} words
   */
  #show(at, complete, ...words) {
    const view = this.#views[at];
    const options = { complete, changed: this.isChanged };
    const { elements, equal } = resultsOf(view.step, this.#items[at], options);
    view.results.replaceChildren(...elements, ...words);
    view.equal = equal;
    view.section.dataset.state = complete ? 'done' : 'failed';
  }

  /** @param {Outcome} outcome */
  #finish(outcome) {
    if (!this.#stopRun) return; // another run has begun
    const { how, step, late } = outcome;
    this.#end();
    if (this.#at >= 0) this.#show(this.#at, how === 'done');
    if (late) this.#show(late.step, true, lateNote(late.line));
    if (how !== 'done') this.#fail(outcome);
    this.#status.textContent = this.#summary(how, step);
    this.element.dataset.state = how;
    if (this.#asked === undefined) return;
    const { results } = this.#views[how === 'done' ? this.#asked : step];
    bringIntoSight(results.querySelector('.message.error') ?? results);
  }

  /** Says where the run ended, and in all steps without a result why they have none. @param {Outcome} outcome */
  #fail({ how, step, message, line }) {
    const where = line === undefined ? '' : `Line ${line}: `;
    const words = how === 'error' ? `${where}${message}` : 'Stopped before it finished.';
    this.#show(step, false, el('p', { class: 'message error', role: 'alert' }, words));
    this.#views[step].editor.mark(line ?? 0);
    const reason = this.#hasBegun(how)
      ? 'The run did not get this far.'
      : `Nothing ran: step ${step + 1} has an error.`;
    for (const [i, view] of this.#views.entries()) {
      if (i === step || i <= this.#at) continue;
      view.section.dataset.state = 'unreached';
      view.results.replaceChildren(el('p', { class: 'note' }, reason));
      view.equal = 0;
    }
  }

  /** Whether a step ran: what is no JavaScript keeps all from it. @param {Outcome['how']} how */
  #hasBegun(how) {
    return how !== 'error' || this.#at >= 0;
  }

  /**
   * @param {Outcome['how']} how
   * @param {number} step where
   */
  #summary(how, step) {
    const count = this.#views.length;
    if (!this.#hasBegun(how)) return `Nothing ran: step ${step + 1} of ${count} has an error.`;
    if (how !== 'done') return `The run ended in step ${step + 1} of ${count}.`;
    const equal = this.#views.reduce((sum, view) => sum + view.equal, 0);
    const known = this.#views.flatMap((view) => view.step.printed);
    const steps = plural(count, 'step');
    if (equal === known.length) {
      return `${steps}. All ${equal} known results are the same here: ${sourcesOf(known)}.`;
    }
    const differing = known.length - equal;
    const differ = `${differing} of ${known.length} known results ${differing === 1 ? 'differs' : 'differ'}`;
    return this.isChanged ? `${steps}. With your change, ${differ}.` : `${steps}. ${differ}.`;
  }
}
