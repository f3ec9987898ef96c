// Drops what is @internal from declarations where the compiler's stripInternal leaves it: properties that a constructor assigns.
import ts from 'typescript';
import { applyEdits } from './edits.js';

/** @typedef {import('./edits.js').Edit} Edit */

/** @param {ts.ClassElement} member */
const isInternal = (member) =>
  ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal');

/** @param {string} text of a .d.ts file */
export function withoutInternal(text) {
  const file = ts.createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {Edit[]} */
  const edits = [];
  for (const node of file.statements.filter(ts.isClassDeclaration))
    for (const member of node.members.filter(isInternal))
      edits.push({ start: member.pos, end: member.end, text: '' });
  return applyEdits(text, edits);
}
