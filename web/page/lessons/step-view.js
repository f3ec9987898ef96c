/**
 * Code that can be edited and run, beside what it gave: a step of a lesson, or its exercise.
 *
 * @import { Document } from './documents.js'
 */

import { el } from '../shared/dom.js';
import { addressOf, citations } from './documents.js';
import { createEditor } from './editor.js';
import { coveredHeight } from './sight.js';

/**
 * Text in which `code` is marked.
 *
 * @param {string} text
 */
export function prose(text) {
  const parts = text.split('`');
  return el(
    'p',
    {},
    ...parts.map((part, i) => (i % 2 ? el('code', { translate: 'no' }, part) : part)),
  );
}

/** That a run has not waited for a timer. @param {number} line that sets it */
export function lateNote(line) {
  const note = prose(
    `Line ${line}: The run ended before this timer did. To wait for it, write ` +
      '`await new Promise((resolve) => setTimeout(resolve, 500));`',
  );
  note.className = 'note';
  return note;
}

/** Where a step comes from, with a link to the document. @param {string} from */
function sourceNote(from) {
  const note = el('p', { class: 'note source' });
  for (const { document, place } of citations(from)) {
    if (note.hasChildNodes()) note.append('; ');
    const link = el(
      'a',
      { href: `#lessons?to=${addressOf(document)}`, title: document.title },
      document.short,
    );
    note.append(link, place ? `, ${place}` : '');
  }
  return note;
}

const KEYS = /Mac|iP(hone|ad)/.test(globalThis.navigator?.platform ?? '')
  ? '⌘ Enter'
  : 'Ctrl Enter';

/**
 * @param {object} options
 * @param {string} options.id
 * @param {Node | string} options.title
 * @param {string} options.from
 * @param {readonly string[]} options.text
 * @param {string} options.label of the code
 * @param {string} options.code as it is now
 * @param {string} options.original
 * @param {string} [options.runWord]
 * @param {(code: string) => void} options.onChange
 * @param {() => void} options.onRun
 * @param {() => void} [options.onReset] otherwise it runs then too
 */
export function createStep(options) {
  const {
    id,
    title,
    from,
    text,
    label,
    code,
    original,
    runWord = 'Run',
    onChange,
    onRun,
    onReset = onRun,
  } = options;
  const place = el('div', { class: 'editor', translate: 'no' });
  const results = el('div', { class: 'results' });
  const run = el('button', { type: 'button', class: 'quiet' }, runWord);
  const reset = el(
    'button',
    { type: 'button', class: 'quiet', hidden: code === original },
    'Reset',
  );
  for (const button of [run, reset]) button.setAttribute('aria-describedby', id);
  const editor = createEditor({
    place,
    code,
    label,
    onChange(next) {
      reset.hidden = next === original;
      onChange(next);
    },
    onRun,
  });
  run.addEventListener('click', onRun);
  reset.addEventListener('click', () => {
    editor.set(original);
    run.focus();
    onReset();
  });
  const row = el(
    'div',
    { class: 'row' },
    run,
    el('kbd', { class: 'note', translate: 'no' }, KEYS),
    reset,
  );
  const section = el(
    'section',
    { class: 'step', 'aria-labelledby': id },
    el('div', { class: 'step-head' }, el('h2', { id, tabindex: -1 }, title), sourceNote(from)),
    el('div', { class: 'step-code' }, ...text.map(prose), place, row),
    results,
  );
  return { section, results, row, run, reset, editor };
}

/** Scrolls up to what a run gave, if that is out of sight: on a narrow screen it comes before the code. @param {Element} given */
export function bringIntoSight(given) {
  const { bottom } = given.getBoundingClientRect();
  if (bottom < coveredHeight()) given.scrollIntoView({ block: 'nearest' });
}

/** @typedef {ReturnType<typeof createStep>} StepElements */
