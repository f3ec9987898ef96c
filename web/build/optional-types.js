// node web/build/optional-types.js FOLDER: in its declarations optional properties take undefined too, as they do at run time.
// Otherwise a project with exactOptionalPropertyTypes cannot pass on a signal that may be undefined. The JSDoc stays short.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  // From the end on; of those that begin at one place, what stands before it last.
  edits.sort((a, b) => b.start - a.start || b.end - a.end);
  const edited = edits.reduce(
    (all, edit) => all.slice(0, edit.start) + edit.text + all.slice(edit.end),
    text,
  );
  return edits.some((edit) => edit.text === 'Whole') ? `${edited}${WHOLE}\n` : edited;
}

/** @param {string} folder of declarations */
async function rewrite(folder) {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(folder, name);
    await writeFile(path, withUndefined(await readFile(path, 'utf8')));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await rewrite(process.argv[2]);
