// The package's declarations for TypeDoc, which needs TypeScript's old API.
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { withComments } from '../build/comments.js';
import { withReExports } from '../build/re-exports.js';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc6');

/** A class's constructor that takes the engine first, with its comment. */
const CONSTRUCTOR =
  /\/\*\*(?:(?!\*\/)[^])*@internal(?:(?!\*\/)[^])*\*\/\s*constructor\(engine: (?:import\("[^"]*"\)\.)?Engine(?:, )?((?:options\??: \w+Options|parameters: [^;]*)?)\);/g;

/**
 * Constructors as they are called: an engine's classes (`hw.Linear`) hand the engine over themselves.
 * @param {string} text of a .d.ts file
 */
const withConstructors = (text) =>
  text.replace(CONSTRUCTOR, (_, parameters) => {
    const options = parameters.startsWith('options')
      ? '\n     * @param options what it is made with'
      : '';
    const throws = '@throws {HeadwiseError} ERR_VALUE, ERR_SHAPE, ERR_MEMORY, ERR_DISPOSED';
    return `/**
     * Classes hang on an engine: \`new hw.\` and the name of the class.${options}
     * ${throws}
     */
    constructor(${parameters});`;
  });

/** A type that another file exports, as withReExports writes it. */
const TAKEN = /^import type \{ (\w+) \} from "([^"]*)";\nexport type \{ \1 \};/gm;

/**
 * Classes are handed on as classes, so that their pages have constructors.
 * @param {string} text of a .d.ts file
 * @param {(file: string, name: string) => boolean} isClass
 */
const withClasses = (text, isClass) =>
  text.replace(TAKEN, (whole, name, file) =>
    isClass(file, name)
      ? whole.replace(/export type .*/, `export { ${name} } from "${file}";`)
      : whole,
  );

/** What an entry of the package says of itself, which tsc leaves out. */
const MODULE = /^\/\*\*(?:(?!\*\/)[^])*@module[^]*?\*\/\n/;

/** The older tsc gives setters of types results, which it refuses to read. @param {string} text */
const withoutResults = (text) => text.replace(/^(\s*set \w+\(.*\)): any;$/gm, '$1;');

/**
 * Unlike those that the package ships, made by the newer tsc, they have the descriptions of `@typedef`s in their places. Of members
 * that a type writes out they are told as those are.
 * @param {string} root the repository
 * @param {string} out
 */
export async function writeTypes(root, out) {
  await rm(out, { recursive: true, force: true });
  // npm run types checks; the older TypeScript takes a recursive @typedef for an error.
  // Constructors that are internal are shown as they are called.
  const own = ['--noCheck', '--stripInternal', 'false', '--outDir', out];
  const args = ['-p', 'tsconfig.package.json', ...own];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tsc6: ${stdout}`);
  /** @type {Map<string, string>} by their paths */
  const texts = new Map();
  for (const name of await readdir(out, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = join(out, name);
    const source = join(root, 'web', 'headwise', name.replace(/\.d\.ts$/, '.js'));
    const told = await readFile(source, 'utf8');
    const [about = ''] = MODULE.exec(told) ?? [];
    const text = withComments(withoutResults(await readFile(file, 'utf8')), told);
    texts.set(file, about + withConstructors(withReExports(text)));
  }
  for (const [file, text] of texts) {
    const isClass = (/** @type {string} */ from, /** @type {string} */ name) => {
      const there = texts.get(join(dirname(file), from.replace(/\.js$/, '.d.ts')));
      return new RegExp(`^export class ${name}\\b`, 'm').test(there ?? '');
    };
    await writeFile(file, withClasses(text, isClass));
  }
}
