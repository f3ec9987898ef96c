/** Jane Austen's six novels (public domain), from Debian's r-cran-janeaustenr, read without R. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lazyLoad } from './r-data.js';

const PACKAGE = 'r-cran-janeaustenr';
const CACHE = fileURLToPath(new URL('.cache/', import.meta.url));
const DATA = join(CACHE, 'usr/lib/R/site-library/janeaustenr/data/Rdata');

/** The end of each novel is kept from training, to tell how well the model does on text that it has not seen. */
const HELD_OUT = 0.05;

/** The package's files, by Debian's own tools: 1.6 MB. */
function download() {
  mkdirSync(CACHE, { recursive: true });
  execFileSync('apt-get', ['download', PACKAGE], { cwd: CACHE, stdio: 'inherit' });
  const [file] = readdirSync(CACHE).filter((name) => name.startsWith(`${PACKAGE}_`));
  execFileSync('dpkg-deb', ['-x', file, CACHE], { cwd: CACHE, stdio: 'inherit' });
}

/** A paragraph a line; no marks of emphasis, no runs of spaces. @param {readonly string[]} lines */
export function clean(lines) {
  const text = lines
    .map((line) => line.trim())
    .join('\n')
    .replaceAll('--', '—')
    .replaceAll('_', '');
  const paragraphs = text.split(/\n{2,}/).map((part) => part.replace(/\s+/g, ' ').trim());
  return paragraphs
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('');
}

/** @returns {string[]} the novels, in alphabetical order of their titles */
export function novels() {
  if (!existsSync(`${DATA}.rdb`)) download();
  const found = lazyLoad(readFileSync(`${DATA}.rdx`), readFileSync(`${DATA}.rdb`));
  return Object.keys(found)
    .sort()
    .map((name) => clean(found[name]));
}

/**
 * The parts to train on and the parts held out, cut at paragraphs.
 *
 * @param {readonly string[]} texts
 * @returns {{ train: string, heldOut: string }}
 */
export function split(texts) {
  const parts = texts.map((text) => {
    const cut = text.indexOf('\n', Math.round(text.length * (1 - HELD_OUT))) + 1;
    return [text.slice(0, cut), text.slice(cut)];
  });
  return {
    train: parts.map(([train]) => train).join(''),
    heldOut: parts.map(([, heldOut]) => heldOut).join(''),
  };
}
