/**
 * What a step's code imports, as JavaScript's own grammar has it: words in comments and texts are none.
 *
 * @typedef {object} Import
 * @property {string} name of the module
 * @property {number} from where the name begins in the code, with its quotes
 * @property {number} to its end
 *
 * @typedef {object} StepCode
 * @property {string} code
 * @property {Import[]} imports
 * @property {string} body the code with constants in place of its import declarations: a function can have it
 */

import { javascriptLanguage } from '@codemirror/lang-javascript';

/** @import { SyntaxNode } from '@lezer/common' */

/** Whether a text names a module. @param {SyntaxNode} text */
const isModule = ({ parent, prevSibling }) =>
  parent?.name === 'ImportDeclaration' ||
  parent?.name === 'DynamicImport' ||
  (parent?.name === 'ExportDeclaration' && prevSibling?.name === 'from');

/** @param {string} code @returns {StepCode} */
export function readStep(code) {
  /** @type {Import[]} */
  const imports = [];
  let body = '';
  let copied = 0;
  /** @type {string[]} */
  let names = [];
  javascriptLanguage.parser.parse(code).iterate({
    enter({ name, from, to, node }) {
      if (name === 'String' && isModule(node)) {
        imports.push({ name: code.slice(from + 1, to - 1), from, to });
      }
      if (name === 'ImportDeclaration') names = [];
      if (name === 'VariableDefinition') names.push(code.slice(from, to));
    },
    leave({ name, from, to }) {
      if (name !== 'ImportDeclaration') return;
      body += `${code.slice(copied, from)}const [${names.join(', ')}] = [];`;
      copied = to;
    },
  });
  return { code, imports, body: body + code.slice(copied) };
}
