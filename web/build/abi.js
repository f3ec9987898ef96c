// The binary interface between the engine and JavaScript, read off the C headers and the compiler: names of structs, of their
// fields and of enumerators from the headers, offsets from web/build/abi.c, functions from src/exports/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { layoutOf } from '../headwise/engine/layout.js';

/** @typedef {import('../headwise/engine/layout.js').Layout} Layout */

const HEADERS = ['include/headwise.h', 'src/exports/exports.h'];

/** Structs that JavaScript fills or reads, besides the configs of modules. */
const STRUCTS = [
  ...['hw_mask', 'hw_input', 'hw_forward_options', 'hw_parameter_info', 'hw_attention_arguments'],
  ...['hw_adamw_config', 'hw_sgd_config', 'hw_cross_entropy_call'],
  ...['hw_attention_gradient_arguments', 'hw_loss_input', 'hw_rotary_config', 'hw_layer_config'],
  ...['hw_option_gradients', 'hw_head_output', 'hw_attribution', 'hw_qk_attribution', 'hw_model_config'],
];

const ENUMS = [
  ...['hw_status', 'hw_mask_kind', 'hw_weights_kind', 'hw_gelu_approximation', 'hw_causality'],
  ...['hw_moment', 'hw_binary_operation', 'hw_activation', 'hw_names', 'hw_norm_place'],
  'hw_matrix_type',
];

/** The modules that JavaScript can create: of HW_MODULE_LINEAR the config is hw_linear_config. */
const MODULES = 'hw_module_kind';

/** @param {string} text of C */
const withoutComments = (text) => text.replace(/\/\*[^]*?\*\//g, '');

/** @param {string} root */
const headersOf = (root) =>
  withoutComments(HEADERS.map((path) => readFileSync(join(root, path), 'utf8')).join('\n'));

/**
 * @param {string} headers
 * @param {'struct' | 'enum'} kind
 * @param {string} name
 */
function bodyOf(headers, kind, name) {
  const found = new RegExp(`typedef ${kind} ${name} \\{([^}]*)\\} ${name};`).exec(headers);
  if (!found) throw new Error(`${name} is not in ${HEADERS.join(', ')}`);
  return found[1];
}

/**
 * @param {string} headers
 * @param {string} struct
 * @returns {string[]} its fields; those of a config inside as outer.inner
 */
function fieldsOf(headers, struct) {
  return bodyOf(headers, 'struct', struct)
    .split(';')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const found = /^(?:const )?(\w+)([\s*]+)(\w+)(?:\[\w+\])?$/.exec(line);
      if (found === null) throw new Error(`${struct}: ${line} is no field that can be read`);
      return found;
    })
    .flatMap(([, type, pointer, field]) =>
      !pointer.includes('*') && type.endsWith('_config')
        ? fieldsOf(headers, type).map((inner) => `${field}.${inner}`)
        : [field],
    );
}

/** @param {string} headers @param {string} name of an enum @returns {string[]} */
const valuesOf = (headers, name) =>
  [...bodyOf(headers, 'enum', name).matchAll(/\bHW_\w+/g)].map(([value]) => value);

/** @param {string} headers @returns {{ value: string, config: string }[]} */
const modulesOf = (headers) =>
  valuesOf(headers, MODULES)
    .filter((value) => value !== 'HW_MODULE_KINDS')
    .map((value) => ({ value, config: `${value.toLowerCase().replace('module_', '')}_config` }));

/** @param {string} root the repository's */
export function abiRows(root) {
  const headers = headersOf(root);
  const modules = modulesOf(headers);
  const fields = [...STRUCTS, ...modules.map(({ config }) => config)].flatMap((struct) =>
    fieldsOf(headers, struct).map((field) => `FIELD(${struct}, ${field})`),
  );
  const values = [...ENUMS, MODULES].flatMap((name) =>
    valuesOf(headers, name).map((value) => `VALUE(${name}, ${value})`),
  );
  return `${[...fields, ...values].join('\n')}\n`;
}

/** @param {string} name hw_linear_config @returns {string} linearConfig */
const camelCase = (name) =>
  name.replace(/^hw_/, '').replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/**
 * @typedef {object} Row
 * @property {string} type
 * @property {string} name
 * @property {number} offset
 * @property {number} bytes
 * @property {string} kind
 */

/** @param {Uint8Array<ArrayBuffer>} module abi.c, compiled @returns {Row[]} */
function readRows(module) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
  const { abi_rows, abi_row_count, memory } = /** @type {any} */ (exports);
  const words = new Uint32Array(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  const text = (/** @type {number} */ at) =>
    String.fromCharCode(...bytes.subarray(at, bytes.indexOf(0, at)));
  return Array.from({ length: abi_row_count() }, (_, i) => {
    const [type, name, offset, size, kind] = words.subarray(abi_rows() / 4 + i * 5);
    const letter = String.fromCharCode(kind);
    return { type: text(type), name: text(name), offset, bytes: size, kind: letter };
  });
}

/** What a layout's text says of a field that is no word, by abi.c's letter for its type. @type {Record<string, string>} */
const SUFFIXES = { b: ':b', f: ':f', d: ':d' };

/**
 * @param {Row[]} rows
 * @param {string} headers
 * @param {string} struct
 * @returns {string} its layout, as a call of layoutOf
 */
function layoutCall(rows, headers, struct) {
  const all = rows.filter((row) => row.type === struct).sort((a, b) => a.offset - b.offset);
  const [, type, name] = /^\s*(\w+_config) (\w+);/.exec(bodyOf(headers, 'struct', struct)) ?? [];
  const inner = rows.filter((row) => row.type === type);
  let end = inner[0]?.bytes ?? 0;
  const texts = all.slice(inner.length).map(({ name: field, offset, kind }) => {
    const size = { b: 1, d: 8 }[kind] ?? 4;
    const place = Math.ceil(end / size) * size === offset ? '' : `@${offset}`;
    end = offset + size;
    return `${camelCase(field)}${SUFFIXES[kind] ?? ''}${place}`;
  });
  const begins = type ? `, '${name}', ${camelCase(type)}` : '';
  return `layoutOf('${texts.join(' ')}'${begins})`;
}

/** @param {Row[]} rows of a struct @param {Layout} layout what JavaScript makes of its text */
function checkLayout(rows, { bytes, fields }) {
  for (const { type, name, offset, bytes: size } of rows) {
    const key = name.split('.').map(camelCase).join('.');
    const found = fields.find(({ keys }) => keys.join('.') === key);
    if (found?.at !== offset || bytes !== size)
      throw new Error(`${type}.${name} is laid out at ${found?.at}; expected ${offset}`);
  }
}

/**
 * @param {Row[]} rows
 * @param {string} headers
 * @returns {string[]} lines that declare all layouts
 */
function layoutsOf(rows, headers) {
  const structs = [...STRUCTS, ...modulesOf(headers).map(({ config }) => config)];
  /** @type {Record<string, Layout>} */
  const layouts = {};
  return structs.map((struct) => {
    const own = rows.filter((row) => row.type === struct);
    const call = layoutCall(rows, headers, struct);
    const [, text, , name, inner] = /'([^']*)'(, '(\w+)', (\w+))?/.exec(call) ?? [];
    layouts[camelCase(struct)] = layoutOf(text, name, layouts[inner]);
    checkLayout(own, layouts[camelCase(struct)]);
    const names = own.map(({ name: field }) => `'${field.split('.').map(camelCase).join('.')}'`);
    const type = `import('./layout.js').Layout<${names.join(' | ')}>`;
    return `/** ${struct} @type {${type}} */\nexport const ${camelCase(struct)} = /* @__PURE__ */ ${call};`;
  });
}

/** @param {Row[]} rows @param {string} headers */
function modulesTable(rows, headers) {
  const lines = modulesOf(headers).map(({ value, config }) => {
    const kind = rows.find(({ name }) => name === value)?.offset;
    const name = camelCase(config.replace(/_config$/, ''));
    return `  ${name}: { kind: ${kind}, config: ${name}Config },`;
  });
  const note = `/** ${MODULES}: each module's number and the layout of its config. */`;
  return [note, 'export const modules = {', ...lines, '};'];
}

/** @param {Row[]} rows */
function enumsOf(rows) {
  return ENUMS.map((name) => {
    const prefix = /** @param {string} a @param {string} b */ (a, b) => {
      let length = 0;
      while (a[length] !== undefined && a[length] === b[length]) length++;
      return a.slice(0, a.slice(0, length).lastIndexOf('_') + 1);
    };
    const values = rows.filter((row) => row.type === name);
    const common = values.map((row) => row.name).reduce(prefix);
    const list = values.map(
      (row) => `${camelCase(row.name.slice(common.length).toLowerCase())}: ${row.offset}`,
    );
    return `/** ${name} */\nexport const ${camelCase(name)} = { ${list.join(', ')} };`;
  });
}

/** @param {string} type of C */
const typeOf = (type) =>
  type === 'void' ? 'void' : /\bbool$/.test(type) && !type.includes('*') ? 'boolean' : 'number';

/** @param {string} root */
function functionsOf(root) {
  const folder = join(root, 'src', 'exports');
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.c'))
    .sort()
    .map((name) => withoutComments(readFileSync(join(folder, name), 'utf8')));
  const found = [...sources.join('\n').matchAll(/HW_EXPORT\(([^,]+),\s*(\w+),\s*\(([^)]*)\)\)/g)];
  return found.map(([, result, name, parameters]) => {
    const list = parameters
      .split(',')
      .map((parameter) => /^\s*(.*?)(\w+)\s*$/.exec(parameter) ?? ['', '', ''])
      .filter(([, , parameter]) => parameter !== 'void')
      .map(([, type, parameter]) => `${parameter}: ${typeOf(type.trim())}`);
    return ` * @property {(${list.join(', ')}) => ${typeOf(result.trim())}} ${name}`;
  });
}

/**
 * @param {string} root the repository's
 * @param {Uint8Array<ArrayBuffer>} module abi.c, compiled
 * @returns {string} web/headwise/engine/abi.js
 */
export function abiSource(root, module) {
  const rows = readRows(module);
  return [
    '// Written by npm run build.',
    "import { layoutOf } from './layout.js';",
    ['/**', ' * The functions of src/exports/.', ' * @typedef {object} Exports', ...functionsOf(root), ' */'].join('\n'),
    ...layoutsOf(rows, headersOf(root)),
    ...enumsOf(rows),
    ...modulesTable(rows, headersOf(root)),
    '',
  ].join('\n');
}
