/**
 * A lesson on the page: its steps with their code, which can be edited and run, and beside it what the run showed.
 *
 * @import { Item } from './audience.js'
 * @import { Lesson, Printed, Step } from './parse.js'
 * @import { Outcome } from './run.js'
 */

import { el } from '../shared/dom.js';
import { plural } from '../shared/format.js';
import { createEditor } from './editor.js';
import { resultsOf } from './results.js';
import { startRun } from './run.js';

/** Runs quicker than this show no progress. */
const QUIET_MS = 300;

/**
 * Text in which `code` is marked.
 *
 * @param {string} text
 */
function prose(text) {
  const parts = text.split('`');
  return el('p', {}, ...parts.map((part, i) => (i % 2 ? el('code', {}, part) : part)));
}

/** @param {Printed[]} known */
function sourcesOf(known) {
  const printed = known.filter(({ by }) => by === 'prints').length;
  const derived = known.length - printed;
  if (printed === 0) return 'they follow from the documents';
  if (derived === 0) return 'they are printed in the documents';
  return `${printed} printed in the documents, ${derived} derived from them`;
}

/**
 * @typedef {object} StepView
 * @property {Step} step
 * @property {HTMLElement} section
 * @property {HTMLElement} results
 * @property {HTMLButtonElement} reset
 * @property {ReturnType<typeof createEditor>} editor
 * @property {number} equal results of the last run that are as the documents have them
 */

export class LessonView {
  /** @type {string[]} */ #code;
  /** @type {StepView[]} */ #views;
  /** @type {Item[][]} what each step of this run has shown */ #items = [];
  /** @type {(() => void) | undefined} */ #stopRun;
  #at = 0;
  #status = el('p', { class: 'note', role: 'status' });
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
   * @param {string[]} code of every step, as the visitor has edited it; edits are kept in it
   * @param {Node} heading
   */
  constructor(lesson, code, heading) {
    this.#code = code;
    const stop = el('button', { type: 'button' }, 'Stop');
    stop.addEventListener('click', () => this.stop());
    this.#busy.append(stop);
    this.#views = lesson.steps.map((step, i) => this.#makeStep(step, i));
    /** The lesson's element. Its `data-state` says how its last run is. */
    this.element = el(
      'article',
      { class: 'lesson' },
      el('header', {}, heading, ...lesson.text.map(prose), this.#status),
      ...this.#views.map(({ section }) => section),
      this.#busy,
    );
  }

  /**
   * @param {Step} step
   * @param {number} i
   * @returns {StepView}
   */
  #makeStep(step, i) {
    const number = i + 1;
    const id = `step-${number}`;
    const place = el('div', { class: 'editor' });
    const results = el('div', { class: 'results' });
    const run = el(
      'button',
      { type: 'button', class: 'quiet', title: 'Ctrl+Enter in the code' },
      'Run',
    );
    const reset = el('button', { type: 'button', class: 'quiet', hidden: true }, 'Reset');
    for (const button of [run, reset]) button.setAttribute('aria-describedby', id);
    const editor = createEditor({
      place,
      code: this.#code[i],
      label: `Code of step ${number}`,
      onChange: (code) => {
        this.#code[i] = code;
        reset.hidden = code === step.code;
      },
      onRun: () => this.run(),
    });
    reset.hidden = this.#code[i] === step.code;
    run.addEventListener('click', () => this.run());
    reset.addEventListener('click', () => {
      editor.set(step.code);
      run.focus();
      this.run();
    });
    const section = el(
      'section',
      { class: 'step', 'aria-labelledby': id },
      el(
        'div',
        { class: 'step-head' },
        el('h3', { id }, el('span', { class: 'number' }, String(number)), ` ${step.title}`),
        ...(step.from ? [el('p', { class: 'note' }, step.from)] : []),
      ),
      el(
        'div',
        { class: 'step-code' },
        ...step.text.map(prose),
        place,
        el('div', { class: 'row' }, run, reset),
      ),
      results,
    );
    return {
      step,
      section,
      results,
      reset,
      editor,
      equal: 0,
    };
  }

  /** Runs the lesson from its first step, as the code is now. */
  run() {
    this.#end();
    this.#at = 0;
    this.#items = this.#views.map(() => []);
    this.element.dataset.state = 'running';
    for (const { section, editor } of this.#views) {
      section.dataset.state = 'waiting';
      editor.mark(0);
    }
    this.#showing = setTimeout(() => (this.#busy.hidden = false), QUIET_MS);
    this.#busyLabel.textContent = 'Starting…';
    this.#stopRun = startRun(this.#code, {
      onStep: (step) => {
        if (step !== this.#at) this.#show(this.#at, true);
        this.#at = step;
        this.#views[step].section.dataset.state = 'running';
        this.#busyLabel.textContent = `Running step ${step + 1}…`;
      },
      onItem: (step, item) => this.#items[step].push(item),
      onEnd: (outcome) => this.#finish(outcome),
    });
  }

  /** Ends the run, if one is going on; what it has shown stays. */
  stop() {
    this.#stopRun?.();
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
    clearTimeout(this.#showing);
    this.#busy.hidden = true;
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
    const { elements, equal } = resultsOf(view.step, this.#items[at], complete);
    view.results.replaceChildren(...elements, ...words);
    view.equal = equal;
    view.section.dataset.state = complete ? 'done' : 'failed';
  }

  /** @param {Outcome} outcome */
  #finish({ how, step, message, line }) {
    if (!this.#stopRun) return; // another run has begun
    this.#end();
    this.#show(this.#at, how === 'done');
    if (how !== 'done') {
      const where = line === undefined ? '' : `Line ${line}: `;
      const words = how === 'error' ? `${where}${message}` : 'Stopped before it came to an end.';
      this.#show(step, false, el('p', { class: 'message error', role: 'alert' }, words));
      this.#views[step].editor.mark(line ?? 0);
      for (const view of this.#views.slice(Math.max(step, this.#at) + 1)) {
        view.section.dataset.state = 'unreached';
        view.results.replaceChildren(el('p', { class: 'note' }, 'The run did not come this far.'));
        view.equal = 0;
      }
    }
    this.#status.textContent = this.#summary(how, step);
    this.element.dataset.state = how;
  }

  /**
   * @param {Outcome['how']} how
   * @param {number} step where
   */
  #summary(how, step) {
    const count = this.#views.length;
    if (how !== 'done') return `The run ended in step ${step + 1} of ${count}.`;
    const equal = this.#views.reduce((sum, view) => sum + view.equal, 0);
    const known = this.#views.flatMap((view) => view.step.printed);
    return equal === known.length
      ? `${plural(count, 'step')}. All ${equal} known results come out the same here: ${sourcesOf(known)}.`
      : `${plural(count, 'step')}. Of ${known.length} known results, ${known.length - equal} came out differently.`;
  }
}
