/** A code editor: CodeMirror with JavaScript's colours, as little of it as this page needs. */

import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap } from '@codemirror/view';
import { classHighlighter, highlightCode } from '@lezer/highlight';
import { el } from '../shared/dom.js';
import { coveredHeight } from './sight.js';

/** Marks a line, counted from 1; 0: none. */
const markLine = /** @type {import('@codemirror/state').StateEffectType<number>} */ (
  StateEffect.define()
);

const failedLine = Decoration.line({ class: 'failed-line' });

/** The marked line, until the code changes. */
const mark = StateField.define({
  create: () => Decoration.none,
  update(before, transaction) {
    const effect = transaction.effects.find((one) => one.is(markLine));
    const { doc } = transaction.state;
    if (!effect) return transaction.docChanged ? Decoration.none : before;
    const known = effect.value >= 1 && effect.value <= doc.lines;
    return known
      ? Decoration.set([failedLine.range(doc.line(effect.value).from)])
      : Decoration.none;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Beside its first line, where a line goes on that does not fit: the style sheet needs to know its indent. */
const indentOf = (/** @type {string} */ line) => `--indent: ${line.search(/\S|$/)}`;

const indents = EditorView.decorations.compute(['doc'], ({ doc }) =>
  Decoration.set(
    Array.from({ length: doc.lines }, (_, i) => {
      const { from, text } = doc.line(i + 1);
      return Decoration.line({ attributes: { style: indentOf(text) } }).range(from);
    }),
  ),
);

/**
 * Lines of code in colour, each an element.
 *
 * @param {string} code
 * @param {number} marked the line that an error came from, from 1
 */
function linesOf(code, marked) {
  const texts = code.split('\n');
  const lines = texts.map((text, i) => {
    const line = el('span', { style: indentOf(text) });
    if (i + 1 === marked) line.className = 'failed-line';
    return line;
  });
  let at = 0;
  highlightCode(
    code,
    javascriptLanguage.parser.parse(code),
    classHighlighter,
    (text, classes) => lines[at].append(classes ? el('span', { class: classes }, text) : text),
    () => lines[at++].append('\n'),
  );
  return lines;
}

/**
 * Code that can be edited. Until somebody goes into it, it is text in colour: all of it can be found and printed, which
 * an editor does not promise.
 *
 * @param {object} options
 * @param {HTMLElement} options.place
 * @param {string} options.code
 * @param {string} options.label what is edited, for those who do not see it
 * @param {(code: string) => void} options.onChange
 * @param {() => void} options.onRun Ctrl+Enter or ⌘+Enter
 */
export function createEditor({ place, code, label, onChange, onRun }) {
  const role = { role: 'textbox', 'aria-multiline': 'true', 'aria-readonly': 'true' };
  const text = el('pre', { tabindex: 0, 'aria-label': label, ...role });
  let written = code;
  /** What stood there before, until there is an editor whose history has it. @type {string[]} */
  const earlier = [];
  let line = 0;
  /** @type {EditorView | undefined} */
  let view;
  const write = () => text.replaceChildren(...linesOf(written, line));
  const open = () => {
    if (view) return view;
    view = makeView([...earlier, written], label, onChange, onRun);
    view.dispatch({ effects: markLine.of(line) });
    text.replaceWith(view.dom);
    view.focus();
    return view;
  };
  listenToText(text, open);
  write();
  place.append(text);
  return {
    /** @param {string} next */
    set(next) {
      if (view) {
        view.dispatch(replacing(view.state, next));
      } else {
        earlier.push(written);
        written = next;
        write();
        onChange(next);
      }
    },
    /** @param {number} next the line that an error came from, from 1; 0: none */
    mark(next) {
      if (next === line) return;
      line = next;
      if (view) view.dispatch({ effects: markLine.of(line) });
      else write();
    },
    destroy() {
      view?.destroy();
    },
  };
}

/**
 * A click puts the cursor into the code, the Tab key leads there; a drag selects text as anywhere.
 *
 * @param {HTMLElement} text
 * @param {() => EditorView} open
 */
function listenToText(text, open) {
  let isPressed = false;
  text.addEventListener('pointerdown', () => {
    isPressed = true;
    addEventListener('pointerup', () => (isPressed = false), { once: true });
  });
  text.addEventListener('focus', () => {
    if (!isPressed) open();
  });
  text.addEventListener('click', ({ clientX: x, clientY: y }) => {
    if (!getSelection()?.isCollapsed) return;
    const view = open();
    const anchor = view.posAtCoords({ x, y });
    if (anchor !== null) view.dispatch({ selection: { anchor } });
  });
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      open();
    }
  });
}

/** Puts a text in place of all, which is undone alone. @param {EditorState} state @param {string} text */
const replacing = (state, text) => ({
  changes: { from: 0, to: state.doc.length, insert: text },
  annotations: isolateHistory.of('full'),
});

/**
 * @param {string[]} texts the last is the code, and undo leads back to the others
 * @param {string} label
 * @param {(code: string) => void} onChange
 * @param {() => void} onRun
 */
function makeView([first, ...others], label, onChange, onRun) {
  const run = () => {
    onRun();
    return true;
  };
  const start = EditorState.create({
    doc: first,
    extensions: [
      // Tab is left to the page: it leads out of the editor.
      keymap.of([{ key: 'Mod-Enter', run }, ...defaultKeymap, ...historyKeymap]),
      history(),
      javascriptLanguage,
      syntaxHighlighting(classHighlighter),
      bracketMatching(),
      indentOnInput(),
      mark,
      indents,
      EditorView.lineWrapping,
      EditorView.scrollMargins.of(() => ({ top: coveredHeight() })),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  const state = others.reduce((now, text) => now.update(replacing(now, text)).state, start);
  return new EditorView({ state });
}
