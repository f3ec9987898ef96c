// node web/build/package-types.js FOLDER: finishes the declarations that the compiler wrote into it. FOLDER lies among the sources.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withComments } from './comments.js';
import { withoutInternal } from './internal.js';
import { withUndefined } from './optional-types.js';
import { withReExports } from './re-exports.js';

const [, , folder] = process.argv;
const sources = dirname(folder);
for (const name of await readdir(folder, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const path = join(folder, name);
  const source = await readFile(join(sources, name.replace(/\.d\.ts$/, '.js')), 'utf8');
  const text = withoutInternal(withComments(await readFile(path, 'utf8'), source));
  await writeFile(path, withUndefined(withReExports(text)));
}
