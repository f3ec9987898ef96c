/** A code editor: CodeMirror with JavaScript's colours, as little of it as this page needs. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';

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

/**
 * @param {object} options
 * @param {HTMLElement} options.parent
 * @param {string} options.code
 * @param {string} options.label what is edited, for those who do not see it
 * @param {(code: string) => void} options.onChange
 * @param {() => void} options.onRun Ctrl+Enter or ⌘+Enter
 */
export function createEditor({ parent, code, label, onChange, onRun }) {
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    parent,
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
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    /** @param {string} text */
    set(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    /** @param {number} line that an error came from, from 1; 0: none */
    mark: (line) => view.dispatch({ effects: markLine.of(line) }),
    destroy: () => view.destroy(),
  };
}
