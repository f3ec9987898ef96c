/** A code editor: CodeMirror with JavaScript's colours, as little of it as this page needs. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { el } from '../shared/dom.js';

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

/** How far from what is seen code becomes an editor, in pixels. */
const NEAR = '800px';

/**
 * Code that can be edited. Until it comes near the window it is plain text of the same height, for an editor knows its
 * height only when it is seen.
 *
 * @param {object} options
 * @param {HTMLElement} options.place
 * @param {string} options.code
 * @param {string} options.label what is edited, for those who do not see it
 * @param {(code: string) => void} options.onChange
 * @param {() => void} options.onRun Ctrl+Enter or ⌘+Enter
 */
export function createEditor({ place, code, label, onChange, onRun }) {
  const text = el('pre');
  let written = '';
  const write = (/** @type {string} */ next) => {
    written = next;
    const lines = next.split('\n');
    text.replaceChildren(
      ...lines.map((line) => el('span', { style: indentOf(line) }, `${line}\n`)),
    );
  };
  write(code);
  place.append(text);
  /** @type {EditorView | undefined} */
  let view;
  let line = 0;
  const open = () => {
    view = makeView(written, label, onChange, onRun);
    view.dispatch({ effects: markLine.of(line) });
    text.replaceWith(view.dom);
  };
  const watch = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      open();
    },
    { rootMargin: NEAR },
  );
  watch.observe(place);
  return {
    /** @param {string} next */
    set(next) {
      if (view) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      } else {
        write(next);
        onChange(next);
      }
    },
    /** @param {number} next the line that an error came from, from 1; 0: none */
    mark(next) {
      line = next;
      view?.dispatch({ effects: markLine.of(line) });
    },
    destroy() {
      watch.disconnect();
      view?.destroy();
    },
  };
}

/**
 * @param {string} code
 * @param {string} label
 * @param {(code: string) => void} onChange
 * @param {() => void} onRun
 */
function makeView(code, label, onChange, onRun) {
  const run = () => {
    onRun();
    return true;
  };
  return new EditorView({
    state: EditorState.create({
      doc: code,
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
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}
