// The package's declarations for TypeDoc, which needs TypeScript's old API.
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc6');

/** `export type A = import("./b.js").C;`, with or without `<T>`, as JSDoc's imports of types become. */
const ALIAS = /^export type (\w+)(?:<.*>)? = import\("([^"]*)"\)\.(\w+)(?:<[\w, ]+>)?;$/gm;

/**
 * Aliases of what another file has become the thing itself, so that its members are shown and links lead to one place.
 * @param {string} text of a .d.ts file
 */
export const unalias = (text) =>
  text.replace(ALIAS, (_, alias, file, name) => {
    const same = name === alias ? name : `${name} as ${alias}`;
    return `import type { ${same} } from "${file}";\nexport type { ${alias} };`;
  });

/** What an entry of the package says of itself, which tsc leaves out. */
const MODULE = /^\/\*\*(?:(?!\*\/)[^])*@module[^]*?\*\/\n/;

/**
 * Unlike those that the package ships, made by the newer tsc, they keep the descriptions of `@typedef`s.
 * @param {string} root the repository
 * @param {string} out
 */
export async function writeTypes(root, out) {
  await rm(out, { recursive: true, force: true });
  // npm run types checks; the older TypeScript takes a recursive @typedef for an error.
  const args = ['-p', 'tsconfig.package.json', '--noCheck', '--outDir', out];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tsc6: ${stdout}`);
  for (const name of await readdir(out, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = join(out, name);
    const source = join(root, 'web', 'headwise', name.replace(/\.d\.ts$/, '.js'));
    const [about = ''] = MODULE.exec(await readFile(source, 'utf8')) ?? [];
    await writeFile(file, about + unalias(await readFile(file, 'utf8')));
  }
}
