// Optional properties of declarations take undefined too, as they do at run time. Otherwise a project with
// exactOptionalPropertyTypes cannot pass on a signal that may be undefined. The JSDoc stays short.
import ts from 'typescript';
import { applyEdits, parse } from './edits.js';

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

/**
 * What `Required<T>` would be if it took undefined away too. It is written out, since an app's declarations could not name a type
 * of the package's own. T is one object type, no union.
 * @param {string} type
 */
const whole = (type) => `{ [Key in keyof ${type}]-?: Exclude<${type}[Key], undefined> }`;

/** @param {ts.Node} node @returns {node is ts.TypeReferenceNode} */
const isRequired = (node) =>
  ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Required';

/** @param {ts.Node} node @returns {Edit[]} of it and all that is in it */
function editsOf(node) {
  if (isRequired(node)) {
    const [given] = node.typeArguments ?? [];
    return [{ start: node.getStart(), end: node.end, text: whole(edited(given)) }];
  }
  /** @type {Edit[]} */
  const edits = [];
  node.forEachChild((child) => void edits.push(...editsOf(child)));
  const isMember =
    ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isMappedTypeNode(node);
  if (isMember && node.questionToken && node.type) edits.push(...orUndefined(node.type));
  return edits;
}

/** @param {ts.Node} node @returns {string} its text with its edits */
function edited(node) {
  const from = node.getStart();
  const edits = editsOf(node).map((edit) => ({
    ...edit,
    start: edit.start - from,
    end: edit.end - from,
  }));
  return applyEdits(node.getText(), edits);
}

/** @param {string} text of a .d.ts file */
export const withUndefined = (text) => applyEdits(text, editsOf(parse(text)));
