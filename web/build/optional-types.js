// node web/build/optional-types.js FOLDER: in its declarations optional properties take undefined too, as they do at run time.
// Otherwise a project with exactOptionalPropertyTypes cannot pass on a signal that may be undefined. The JSDoc stays short.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

/** What takes the place of a part of the text. @typedef {{ start: number, end: number, text: string }} Edit */

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

/** Required leaves undefined in a type that says it. @param {ts.TypeReferenceNode} node @returns {Edit[]} */
function required(node) {
  const of = node.typeArguments?.[0].getText();
  const text = `{ [Key in keyof ${of}]-?: Exclude<${of}[Key], undefined> }`;
  return [{ start: node.getStart(), end: node.end, text }];
}

/** @param {ts.Node} node @returns {Edit[]} */
function editsOf(node) {
  const isMember = ts.isPropertySignature(node) || ts.isMappedTypeNode(node);
  if (isMember && node.questionToken && node.type) return orUndefined(node.type);
  const isRequired = ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Required';
  return isRequired ? required(node) : [];
}

/** @param {string} text of a .d.ts file */
function withUndefined(text) {
  const file = ts.createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {Edit[]} */
  const edits = [];
  /** @param {ts.Node} node */
  function visit(node) {
    edits.push(...editsOf(node));
    node.forEachChild(visit);
  }
  visit(file);
  edits.sort((a, b) => b.start - a.start);
  return edits.reduce(
    (all, edit) => all.slice(0, edit.start) + edit.text + all.slice(edit.end),
    text,
  );
}

const [folder] = process.argv.slice(2);
for (const name of await readdir(folder, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const path = join(folder, name);
  await writeFile(path, withUndefined(await readFile(path, 'utf8')));
}
