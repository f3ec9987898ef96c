// node web/build/package-types.js FOLDER: finishes the declarations that the compiler wrote into it. FOLDER lies among the sources.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withComments } from './comments.js';
import { withMembers } from './members.js';
import { withUndefined } from './optional-types.js';
import { withReExports } from './re-exports.js';

/** What a script declares, such as a Worker's, is global to whoever imports it. @param {string} text */
const asModule = (text) =>
  /^(import|export)\b/m.test(text) ? text : `${text}export {};\n`;

const [, , folder] = process.argv;
const sources = dirname(folder);
for (const name of await readdir(folder, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const path = join(folder, name);
  const source = await readFile(join(sources, name.replace(/\.d\.ts$/, '.js')), 'utf8');
  const text = withMembers(withComments(await readFile(path, 'utf8'), source));
  await writeFile(path, asModule(withUndefined(withReExports(text))));
}
