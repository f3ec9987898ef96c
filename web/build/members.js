// Members that a constructor assigns, as their comments say: the compiler leaves what is @internal, and declares what is @readonly
// as if it could be set.
import ts from 'typescript';
import { applyEdits, parse } from './edits.js';

/** @typedef {import('./edits.js').Edit} Edit */

/** @param {ts.ClassElement} member @returns {Edit[]} */
function editsOf(member) {
  const tags = ts.getJSDocTags(member).map(({ tagName }) => tagName.text);
  if (tags.includes('internal')) return [{ start: member.pos, end: member.end, text: '' }];
  const isFixed = tags.includes('readonly') && ts.isPropertyDeclaration(member);
  const start = member.getStart();
  return isFixed && !member.modifiers ? [{ start, end: start, text: 'readonly ' }] : [];
}

/** @param {string} text of a .d.ts file */
export function withMembers(text) {
  const file = parse(text);
  const classes = file.statements.filter(ts.isClassDeclaration);
  return applyEdits(
    text,
    classes.flatMap(({ members }) => members.flatMap(editsOf)),
  );
}
