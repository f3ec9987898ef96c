// Optional properties of declarations take undefined too, as they do at run time. Otherwise a project with
// exactOptionalPropertyTypes cannot pass on a signal that may be undefined. The JSDoc stays short.
import ts from 'typescript';
import { applyEdits } from './edits.js';

/** @typedef {import('./edits.js').Edit} Edit */

/** Types that a union needs in parentheses. @param {ts.Node} type */
const isOpen = (type) =>
  ts.isFunctionTypeNode(type) || ts.isConstructorTypeNode(type) || ts.isConditionalTypeNode(type);

/** @param {ts.TypeNode} type of an optional property @returns {Edit[]} */
function orUndefined(type) {
  const [start, end] = [type.getStart(), type.end];
  const [before, after] = isOpen(type) ? ['(', ')'] : ['', ''];
  return [
    { start: end, end, text: `${after} | undefined` },
    { start, end: start, text: before },
  ];
}

/** In the place of Required, which leaves undefined in a type that says it. */
const WHOLE = 'type Whole<T> = { [Key in keyof T]-?: Exclude<T[Key], undefined> };';

/** @param {ts.Node} node @returns {Edit[]} */
function editsOf(node) {
  const isMember =
    ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isMappedTypeNode(node);
  if (isMember && node.questionToken && node.type) return orUndefined(node.type);
  const isRequired = ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Required';
  return isRequired
    ? [{ start: node.typeName.getStart(), end: node.typeName.end, text: 'Whole' }]
    : [];
}

/** @param {string} text of a .d.ts file */
export function withUndefined(text) {
  const file = ts.createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {Edit[]} */
  const edits = [];
  /** @param {ts.Node} node */
  function visit(node) {
    edits.push(...editsOf(node));
    node.forEachChild(visit);
  }
  visit(file);
  const edited = applyEdits(text, edits);
  return edits.some((edit) => edit.text === 'Whole') ? `${edited}${WHOLE}\n` : edited;
}
