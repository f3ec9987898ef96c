// JavaScript that npm run build writes: what the package ships so that no embedder has to download it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interpolateViridis } from 'd3-scale-chromatic';
import { abiSource } from './abi.js';

const NOTE = '// Written by npm run build.\n';
const INLINED = join('web', 'headwise', 'wasm', 'headwise-simd128.wasm');

/** Colours of the scale. */
const STEPS = 256;

/** d3-scale-chromatic's viridis, six hexadecimal digits for each colour. */
function viridis() {
  const colours = Array.from({ length: STEPS }, (_, i) =>
    interpolateViridis((i + 0.5) / STEPS).slice(1),
  );
  const lines = Array.from({ length: STEPS / 16 }, (_, line) =>
    colours.slice(16 * line, 16 * (line + 1)).join(''),
  );
  return (
    `${NOTE}\n/** Viridis: 256 colours of six hexadecimal digits, from the smallest value to the largest. @type {string} */\n` +
    `export const viridis =\n  ${lines.map((line) => `'${line}'`).join(' +\n  ')};\n`
  );
}

/** @param {string} root the folder below which the modules are */
function inlinedModule(root) {
  const text = readFileSync(join(root, INLINED)).toString('base64');
  return `${NOTE}\n/** headwise-simd128.wasm in base64. @type {string} */\nexport const base64 =\n  '${text}';\n`;
}

/**
 * @param {string} _root
 * @param {string} build folder in which abi.c was compiled
 */
const abi = (_root, build) =>
  abiSource(fileURLToPath(new URL('../..', import.meta.url)), readFileSync(join(build, 'abi.wasm')));

/** What is written, by path relative to the repository's root. */
const FILES = {
  [join('web', 'headwise', 'engine', 'abi.js')]: abi,
  [join('web', 'headwise', 'inline', 'headwise-simd128.js')]: inlinedModule,
  [join('web', 'headwise', 'view', 'viridis.js')]: viridis,
};

/**
 * @param {string} root with freshly built modules, and written to
 * @param {string} build folder of CMake's
 */
export function writeGenerated(root, build) {
  for (const [path, content] of Object.entries(FILES)) {
    writeFileSync(join(root, path), content(root, build));
  }
}

/**
 * @param {string} committed root of the repository
 * @param {string} built root of freshly built modules
 * @param {string} build folder of CMake's
 * @returns {{ count: number, differing: string[] }} differing: paths whose content is not what would be written
 */
export function checkGenerated(committed, built, build) {
  const paths = Object.keys(FILES);
  const differing = paths.filter((path) => {
    try {
      return readFileSync(join(committed, path), 'utf8') !== FILES[path](built, build);
    } catch {
      return true;
    }
  });
  return { count: paths.length, differing };
}
