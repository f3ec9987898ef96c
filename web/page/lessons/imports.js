/**
 * What a step's code imports and declares, and where it breaks off, as JavaScript's own grammar has it: words in
 * comments and texts are no imports.
 *
 * @typedef {object} Import
 * @property {string} name of the module
 * @property {number} from where the name begins in the code, with its quotes
 * @property {number} to its end
 * @property {number} line of it, from 1
 * @property {{ name: string, line: number }[]} wanted what is taken from it by name
 *
 * @typedef {object} StepCode
 * @property {string} code
 * @property {Import[]} imports
 * @property {number} broken the line, from 1, where it is no JavaScript any more; 0: it is
 * @property {Record<string, number>} declared the last line that declares each name
 * @property {{ names: string[], of: string, line: number }[]} calls variables that take what a function gives, not awaited
 */

import { javascriptLanguage } from '@codemirror/lang-javascript';

/** @import { SyntaxNode } from '@lezer/common' */

/** Whether a text names a module. @param {SyntaxNode} text */
const isModule = ({ parent, prevSibling }) =>
  parent?.name === 'ImportDeclaration' ||
  parent?.name === 'DynamicImport' ||
  (parent?.name === 'ExportDeclaration' && prevSibling?.name === 'from');

/**
 * What a declaration takes from a module by name: of `a as b` the first, `default` for a name outside braces.
 *
 * @param {SyntaxNode} declaration
 */
function wantedIn(declaration) {
  const group = declaration.getChild('ImportGroup') ?? declaration.getChild('ExportGroup');
  const inside = group?.getChildren('VariableName').concat(group.getChildren('VariableDefinition'));
  const outside = declaration.getChildren('VariableDefinition');
  const isFirst = (/** @type {SyntaxNode} */ { prevSibling }) => prevSibling?.name !== 'as';
  return {
    byName: (inside ?? []).filter(isFirst),
    byDefault: outside.filter(isFirst).concat(group?.getChildren('default').filter(isFirst) ?? []),
  };
}

/**
 * Whether a module refuses a number that the grammar takes: one with a zero in front, and one that stands alone in an
 * object, as in `{ length: 1,768 }`.
 *
 * @param {SyntaxNode} node
 * @param {string} text of it
 */
function isOddNumber({ name, parent, prevSibling, nextSibling }, text) {
  if (name !== 'Number') return false;
  return /^0[\d_]/.test(text) || (parent?.name === 'Property' && !prevSibling && !nextSibling);
}

/**
 * Whether JavaScript refuses what its grammar takes: a return or an await that stands where there is none, a constant
 * without a value.
 *
 * @param {SyntaxNode} node
 */
function isRefused({ name, parent, nextSibling }) {
  if (name === 'VariableDefinition') {
    const isConstant = parent?.name === 'VariableDeclaration' && parent.getChild('const') !== null;
    return isConstant && nextSibling?.name !== 'Equals';
  }
  let around = parent;
  while (around && !around.getChild('ParamList')) around = around.parent;
  if (name === 'return') return !around;
  // Beside functions a module may wait.
  return name === 'await' && around !== null && !around.getChild('async');
}

/** The function whose result a declaration takes as it is. @param {SyntaxNode} node */
const calleeIn = ({ name, parent, prevSibling, firstChild }) =>
  name === 'CallExpression' &&
  parent?.name === 'VariableDeclaration' &&
  prevSibling?.name === 'Equals' &&
  firstChild?.name === 'VariableName' &&
  firstChild;

/** @param {string} code @returns {StepCode} */
export function readStep(code) {
  /** @type {Import[]} */
  const imports = [];
  /** @type {StepCode['calls']} */
  const calls = [];
  let broken = 0;
  /** @type {Record<string, number>} */
  const declared = {};
  const lineAt = (/** @type {number} */ at) => code.slice(0, at).trimEnd().split('\n').length;
  javascriptLanguage.parser.parse(code).iterate({
    enter({ name, from, to, node, type }) {
      // Of what is missing the line is that before it.
      if (broken === 0 && type.isError) broken = lineAt(Math.max(to > from ? from + 1 : from, 1));
      const isOdd = isRefused(node) || isOddNumber(node, code.slice(from, to));
      if (broken === 0 && isOdd) broken = lineAt(to);
      const callee = calleeIn(node);
      if (callee) {
        const taking = node.prevSibling?.prevSibling;
        const names = code.slice(taking?.from, taking?.to).match(/[\w$]+/g) ?? [];
        calls.push({ names, of: code.slice(callee.from, callee.to), line: lineAt(callee.to) });
      }
      if (name === 'VariableDefinition') declared[code.slice(from, to)] = lineAt(to);
      if (name === 'String' && isModule(node)) {
        const { byName, byDefault } = wantedIn(/** @type {SyntaxNode} */ (node.parent));
        const wanted = [
          ...byName.map((one) => ({ name: code.slice(one.from, one.to), line: lineAt(one.to) })),
          ...byDefault.map((one) => ({ name: 'default', line: lineAt(one.to) })),
        ];
        imports.push({ name: code.slice(from + 1, to - 1), from, to, line: lineAt(to), wanted });
      }
    },
  });
  return { code, imports, broken, declared, calls };
}
