// node web/reference/build.js FOLDER: writes the API reference there, of the package from its JSDoc and of the C library
// from its header, by TypeDoc.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { writeDocuments } from './c-documents.js';
import { writeTypes } from './types.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = join(ROOT, 'web', 'reference');
/** What is made on the way; introduction.md knows it. */
const WORK = join(ROOT, 'build', 'reference');

const [out] = process.argv.slice(2);
if (out === undefined) throw new Error('node web/reference/build.js FOLDER');
const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
// Those that end in .js are for bundlers to put beside the bundle, not to be called.
const entries = Object.keys(exports).filter((name) => exports[name].types && !/\.js$/.test(name));
const types = join(WORK, 'types');
await writeTypes(ROOT, types);
const header = await readFile(join(ROOT, 'include', 'headwise.h'), 'utf8');
const typedoc = await Application.bootstrapWithPlugins({
  options: join(HERE, 'typedoc.json'),
  tsconfig: join(HERE, 'tsconfig.json'),
  entryPoints: entries.map((name) => join(types, basename(exports[name].types))),
  projectDocuments: [await writeDocuments(header, join(WORK, 'c'))],
  readme: join(HERE, 'introduction.md'),
  customCss: join(HERE, 'style.css'),
  out: resolve(out),
});
/** What typedoc.json writes in place of the page's address: a relative one is another in every folder. */
const PAGE = 'https://headwise.invalid/';

/** Leads back to the page, beside whose index.html the reference's folder lies. @param {string} folder */
async function linkToPage(folder) {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.html')) continue;
    const file = join(folder, name);
    const page = relative(dirname(file), join(folder, '..', 'index.html')).replaceAll('\\', '/');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(PAGE, page));
  }
}

const project = await typedoc.convert();
if (project !== undefined) {
  typedoc.validate(project);
  await typedoc.generateOutputs(project);
  await linkToPage(resolve(out));
}
// What is not documented, and links that lead nowhere.
if (typedoc.logger.hasErrors() || typedoc.logger.hasWarnings()) process.exitCode = 1;
