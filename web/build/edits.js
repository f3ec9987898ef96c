import ts from 'typescript';

/** What takes the place of a part of a text. @typedef {{ start: number, end: number, text: string }} Edit */

/** @param {string} text @param {readonly Edit[]} edits */
export const applyEdits = (text, edits) =>
  [...edits]
    // From the end on; of those that begin at one place, what stands before it last.
    .sort((a, b) => b.start - a.start || b.end - a.end)
    .reduce((all, { start, end, text: to }) => all.slice(0, start) + to + all.slice(end), text);

/** @param {string} text @param {string} [name] says what language it is in */
export const parse = (text, name = 'types.d.ts') =>
  ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
