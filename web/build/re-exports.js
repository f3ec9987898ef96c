// Types of other files are handed on as they are. `export type X = import('./x.js').X`, which JSDoc's imports of types become, makes
// an alias, and TypeScript does not find a type through it: no project with `declaration` could export what is of such a type.
import ts from 'typescript';
import { applyEdits, parse } from './edits.js';

/** @typedef {import('./edits.js').Edit} Edit */

/** Whether a type takes the parameters of its alias in their order. @param {ts.TypeAliasDeclaration} alias */
function passesOn({ type, typeParameters = ts.factory.createNodeArray() }) {
  const given = ts.isImportTypeNode(type) ? (type.typeArguments ?? []) : [];
  return (
    given.length === typeParameters.length &&
    given.every((argument, i) => argument.getText() === typeParameters[i].name.text)
  );
}

/** @param {ts.Node} node @returns {Edit[]} */
function editsOf(node) {
  if (!ts.isTypeAliasDeclaration(node) || !ts.isImportTypeNode(node.type)) return [];
  const { qualifier, argument } = node.type;
  if (!passesOn(node) || !qualifier || !ts.isIdentifier(qualifier)) return [];
  const [alias, name] = [node.name.text, qualifier.text];
  const taken = name === alias ? name : `${name} as ${alias}`;
  // Imported and exported, since other types of the file may use it.
  const text = `import type { ${taken} } from ${argument.getText()};\nexport type { ${alias} };`;
  return [{ start: node.getStart(), end: node.end, text }];
}

/** @param {string} text of a .d.ts file */
export function withReExports(text) {
  const file = parse(text);
  return applyEdits(text, file.statements.flatMap(editsOf));
}
