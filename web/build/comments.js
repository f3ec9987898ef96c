// The comments of overloads, which the compiler leaves out of declarations: editors would say nothing of `tensor` and `loadModel`.
import ts from 'typescript';
import { applyEdits } from './edits.js';

/** @typedef {import('./edits.js').Edit} Edit */
/** @typedef {ts.FunctionDeclaration | ts.ConstructorDeclaration | ts.MethodDeclaration} Callable */

/** @param {ts.Node} node @returns {node is Callable} */
const isCallable = (node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isMethodDeclaration(node);

/** A function's name; of a member with its class's. @param {Callable} node */
function nameOf(node) {
  const name = node.name?.getText() ?? 'constructor';
  return ts.isClassLike(node.parent) ? `${node.parent.name?.text}.${name}` : name;
}

/**
 * @param {ts.SourceFile} file
 * @param {(name: string, node: Callable) => void} found
 */
function eachCallable(file, found) {
  /** @param {ts.Node} node */
  function visit(node) {
    if (isCallable(node)) found(nameOf(node), node);
    else node.forEachChild(visit);
  }
  visit(file);
}

/** All of them: the compiler's own function gives the last. @param {any} node @returns {readonly ts.JSDoc[]} */
const commentsOf = (node) => node.jsDoc ?? [];

/** @param {string} comment of a source @param {string} indent */
const indented = (comment, indent) =>
  comment
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '* @overload')
    .map((line, i) => (i === 0 ? line : `${indent} ${line}`))
    .join('\n');

/**
 * @param {string} declarations a .d.ts file
 * @param {string} source the file that they are of
 */
export function withComments(declarations, source) {
  /** @type {Map<string, string[]>} */
  const comments = new Map();
  const { Latest } = ts.ScriptTarget;
  eachCallable(ts.createSourceFile('source.js', source, Latest, true), (name, node) => {
    const own = commentsOf(node).filter(({ tags }) => tags?.some(ts.isJSDocOverloadTag));
    if (own.length > 0) comments.set(name, own.map((comment) => comment.getText()));
  });
  /** @type {Edit[]} */
  const edits = [];
  const file = ts.createSourceFile('types.d.ts', declarations, Latest, true);
  eachCallable(file, (name, node) => {
    const comment = comments.get(name)?.shift();
    if (comment === undefined) return;
    const start = node.getStart();
    const indent = ' '.repeat(file.getLineAndCharacterOfPosition(start).character);
    edits.push({ start, end: start, text: `${indented(comment, indent)}\n${indent}` });
  });
  return applyEdits(declarations, edits);
}
