// Comments that the compiler leaves out of declarations, or leaves where no editor finds them: those of overloads, such as `tensor`
// and `loadModel`, and the descriptions of @typedefs.
import ts from 'typescript';
import { applyEdits, parse } from './edits.js';

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
 * A comment before a node, indented as it is.
 * @param {ts.Node} node
 * @param {(indent: string) => string} comment
 * @returns {Edit}
 */
function before(node, comment) {
  const start = node.getStart();
  const { character } = node.getSourceFile().getLineAndCharacterOfPosition(start);
  const indent = ' '.repeat(character);
  return { start, end: start, text: `${comment(indent)}\n${indent}` };
}

/**
 * The comments of overloads, each before its own.
 * @param {ts.SourceFile} declarations
 * @param {ts.SourceFile} source
 * @returns {Edit[]}
 */
function ofOverloads(declarations, source) {
  /** @type {Map<string, string[]>} */
  const comments = new Map();
  eachCallable(source, (name, node) => {
    const own = commentsOf(node).filter(({ tags }) => tags?.some(ts.isJSDocOverloadTag));
    if (own.length > 0) comments.set(name, own.map((comment) => comment.getText()));
  });
  /** @type {Edit[]} */
  const edits = [];
  eachCallable(declarations, (name, node) => {
    const comment = comments.get(name)?.shift();
    if (comment === undefined) return;
    edits.push(before(node, (indent) => indented(comment, indent)));
  });
  return edits;
}

/** The comments that hold @typedefs, of all statements and after the last. @param {ts.SourceFile} file */
const typedefComments = (file) =>
  [...file.statements, file.endOfFileToken]
    .flatMap(commentsOf)
    .filter(({ tags }) => tags?.some(ts.isJSDocTypedefTag));

/** @param {ts.JSDoc['comment']} comment */
const textOf = (comment) => ts.getTextOfJSDocComment(comment) ?? '';

/** @typedef {{ description: string, members: Map<string, string> }} Said what a source says of a type */

/**
 * What a source says of its @typedefs, by their names. The compiler reads no @property beside a type that is written out.
 * @param {ts.SourceFile} source
 */
function saidOfTypes(source) {
  /** @type {Map<string, Said>} */
  const said = new Map();
  for (const comment of typedefComments(source)) {
    const members = new Map();
    for (const tag of comment.tags ?? []) {
      const [, member, text] = /^(\w+)\s+([^]*)$/.exec(textOf(tag.comment)) ?? [];
      if (tag.tagName.text === 'property' && member) members.set(member, text);
    }
    for (const tag of comment.tags ?? [])
      if (ts.isJSDocTypedefTag(tag))
        said.set(`${tag.name?.getText()}`, { description: textOf(comment.comment), members });
  }
  return said;
}

/** @param {string} text @param {string} indent */
function commentOf(text, indent) {
  const lines = text.split('\n');
  return lines.length === 1
    ? `/** ${text} */`
    : `/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */`;
}

/** On the members that a type writes out. @param {ts.Node} node @param {Map<string, string>} members @returns {Edit[]} */
function ofMembers(node, members) {
  /** @type {Edit[]} */
  const edits = [];
  node.forEachChild((child) => void edits.push(...ofMembers(child, members)));
  const isMember =
    ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isGetAccessor(node);
  const text = isMember && members.get(node.name.getText());
  return text ? [...edits, before(node, (indent) => commentOf(text, indent))] : edits;
}

/** In place of the comments that the compiler leaves by themselves. @param {ts.SourceFile} declarations @returns {Edit[]} */
const takenAway = (declarations) =>
  typedefComments(declarations).map(({ pos, end }) => {
    const isLine = declarations.text[end] === '\n';
    return { start: pos, end: isLine ? end + 1 : end, text: '' };
  });

/**
 * The descriptions of @typedefs before their types.
 * @param {ts.SourceFile} declarations
 * @param {ts.SourceFile} source
 * @returns {Edit[]}
 */
function ofTypedefs(declarations, source) {
  const said = saidOfTypes(source);
  return declarations.statements.filter(ts.isTypeAliasDeclaration).flatMap((type) => {
    const { description, members } = said.get(type.name.text) ?? {};
    // The older compiler, whose declarations the reference reads, has put it there.
    const isThere = commentsOf(type).some(({ comment }) => textOf(comment) === description);
    const own =
      description && !isThere ? [before(type, (indent) => commentOf(description, indent))] : [];
    return members ? [...own, ...ofMembers(type.type, members)] : own;
  });
}

/**
 * @param {string} declarations a .d.ts file
 * @param {string} source the file that they are of
 */
export function withComments(declarations, source) {
  const [to, from] = [parse(declarations), parse(source, 'source.js')];
  return applyEdits(declarations, [
    ...ofOverloads(to, from),
    ...takenAway(to),
    ...ofTypedefs(to, from),
  ]);
}
