/**
 * A lesson's exercise: a task, code to begin with, a check that says what is still wrong, a hint and a solution.
 *
 * @import { CheckItem, Item } from './audience.js'
 * @import { Exercise } from './parse-exercise.js'
 * @import { Outcome } from './run.js'
 */

import { el } from '../shared/dom.js';
import { ESCAPE, stopOnEscape } from '../shared/escape.js';
import { resultsOf } from './results.js';
import { startRun } from './run.js';
import { bringIntoSight, createStep, lateNote, prose } from './step-view.js';

/** Runs quicker than this show no button to stop them. */
const QUIET_MS = 300;

/** A variable that is not there, in the words of Chromium and Firefox, and of WebKit. */
const unknownName = /^ReferenceError: (?:([\w$]+) is not defined|Can't find variable: ([\w$]+))/;

/** What went wrong in the check, which is not seen. @param {string} message @param {string} code the visitor's */
function checkFailure(message, code) {
  const [, before, after] = unknownName.exec(message) ?? [];
  const name = before ?? after;
  // A name that the code itself uses may be missing in what the check has called.
  return name && !new Set(code.match(/[\w$]+/g)).has(name)
    ? `The check needs the variable “${name}”, which your code does not have.`
    : `The check could not finish: ${message}`;
}

export class ExerciseView {
  /** @type {Exercise} */ #exercise;
  #code = '';
  /** How many runs have begun or been dropped: only the newest may speak. */
  #runs = 0;
  /** @type {(() => void) | undefined} */ #stopRun;
  /** @type {() => void} */ #onSolved;
  /** @type {import('./step-view.js').StepElements} */ #step;
  #stop = el('button', { type: 'button', class: 'quiet stop', hidden: true, ...ESCAPE }, 'Stop');
  #escape = el(
    'kbd',
    { class: 'note', hidden: true, 'aria-hidden': 'true', translate: 'no' },
    'Esc',
  );
  /** What is said of the run. One element for all: one that comes with its words is not always read out. */
  #status = el('p', { class: 'note', role: 'status' }, 'The check has not run yet.');
  /** What the run gave. */
  #given = el('div', { class: 'given' });
  #endEscape = () => {};

  /**
   * @param {Exercise} exercise
   * @param {object} options
   * @param {string} [options.code] as the visitor has it
   * @param {(code: string) => void} options.onChange
   * @param {() => void} options.onSolved every part of the check has passed
   */
  constructor(exercise, { code = exercise.start, onChange, onSolved }) {
    this.#exercise = exercise;
    this.#code = code;
    this.#onSolved = onSolved;
    const { title, from, text, start, hint, solution } = exercise;
    const heading = el('span', {}, el('span', { class: 'tag' }, 'Exercise'), ` ${title}`);
    this.#step = createStep({
      id: 'exercise-title',
      title: heading,
      from,
      text,
      label: 'Code of the exercise',
      code,
      original: start,
      runWord: 'Check',
      onChange: (next) => {
        this.#code = next;
        onChange(next);
      },
      onRun: () => this.run(),
    });
    const use = el('button', { type: 'button', class: 'quiet' }, 'Copy it to the editor');
    use.addEventListener('click', () => {
      this.#step.editor.set(solution);
      this.run();
    });
    const { section, row, results } = this.#step;
    section.classList.add('exercise');
    section.id = 'exercise';
    this.#stop.addEventListener('click', () => this.stop());
    row.append(this.#stop, this.#escape);
    row.after(
      el('details', {}, el('summary', {}, 'Hint'), prose(hint)),
      el(
        'details',
        {},
        el('summary', {}, 'Show solution'),
        el('pre', { translate: 'no' }, solution),
        use,
      ),
    );
    this.element = section;
    results.append(this.#status, this.#given);
  }

  /** @param {string} words @param {string} kind the class of what is said */
  #say(words, kind) {
    this.#status.className = kind;
    this.#status.textContent = words;
  }

  /** Whether a run goes on for so long that it can be stopped. @param {boolean} isLong */
  #setLong(isLong) {
    const hadFocus = document.activeElement === this.#stop;
    this.#stop.hidden = this.#escape.hidden = !isLong;
    if (isLong) this.#say('Running …', 'note');
    else if (hadFocus) this.#step.run.focus();
  }

  run() {
    this.#drop();
    const run = ++this.#runs;
    const { editor } = this.#step;
    editor.mark(0);
    this.element.dataset.state = 'running';
    /** @type {Item[]} */
    const items = [];
    const showing = setTimeout(() => this.#setLong(true), QUIET_MS);
    this.#endEscape = stopOnEscape(() => this.stop());
    this.#stopRun = startRun([this.#code, this.#exercise.check], {
      onStep() {},
      onItem: (_, item) => items.push(item),
      onEnd: (outcome) => {
        clearTimeout(showing);
        this.#endEscape();
        if (run === this.#runs) this.#finish(outcome, items);
      },
    });
  }

  /** @param {Outcome} outcome @param {Item[]} items */
  #finish({ how, step, line, message, late }, items) {
    this.#setLong(false);
    this.element.dataset.state = how;
    // What is right and wrong comes first, what the code shows after it.
    const checks = items.filter((item) => item.kind === 'check');
    const others = items.filter((item) => item.kind !== 'check');
    const elements = [checks, others].flatMap(
      (some) => resultsOf({ printed: [] }, some, { complete: true, changed: true }).elements,
    );
    // A line of the check would tell nothing: it is not seen.
    const place = step === 0 ? line : undefined;
    this.#step.editor.mark((how === 'error' && place) || 0);
    const where = place === undefined ? '' : `Line ${place}: `;
    const error = step === 1 ? checkFailure(String(message), this.#code) : `${where}${message}`;
    const failure = how === 'error' ? error : 'Stopped before it finished.';
    if (how === 'done') this.#judge(checks);
    else this.#say(failure, 'message error');
    const notes = late?.step === 0 ? [lateNote(late.line)] : [];
    this.#given.replaceChildren(...elements, ...notes);
    bringIntoSight(this.#status);
  }

  /** @param {CheckItem[]} checks */
  #judge(checks) {
    const left = checks.filter(({ passed }) => !passed).length;
    if (left > 0) {
      this.#say(`${checks.length - left} of ${checks.length} right so far.`, 'verdict');
      return;
    }
    this.#say('Solved.', 'verdict solved');
    this.#onSolved();
  }

  /** Ends a run, and says so. @returns {boolean} whether one was going on */
  stop() {
    const isRunning = this.element.dataset.state === 'running';
    this.#stopRun?.();
    return isRunning;
  }

  /** Ends a run without a word. */
  #drop() {
    this.#runs++;
    const stop = this.#stopRun;
    this.#stopRun = undefined;
    stop?.();
  }

  destroy() {
    this.#drop();
    this.#step.editor.destroy();
  }
}
