// Formats the C sources with clang-format; --check only says which files differ.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PINNED = '14';
const check = process.argv.includes('--check');

const files = ['include', 'src', 'tests/native', 'tests/fuzz', 'tests/embed/c', 'web/build', 'web/page/bench']
  .filter((dir) => existsSync(join(ROOT, dir)))
  .flatMap((dir) =>
    readdirSync(join(ROOT, dir), { recursive: true }).map((name) => join(dir, String(name))),
  )
  .filter((name) => /\.[ch]$/.test(name))
  .sort();

const probe = spawnSync('clang-format', ['--version'], { encoding: 'utf8' });
const version = /version (\d+)/.exec(probe.stdout ?? '')?.[1];
if (version !== PINNED) {
  // Other versions lay out the same code differently: their verdict would be wrong either way.
  const found = version ? `this is clang-format ${version}` : 'clang-format is not here';
  console.error(`C formatting was not ${check ? 'checked' : 'done'}: ${found}, CI has ${PINNED}.`);
  process.exitCode = process.env.CI || !check ? 1 : 0;
} else if (files.length) {
  const how = check ? ['--dry-run', '-Werror'] : ['-i'];
  const result = spawnSync('clang-format', [...how, ...files], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = result.status ?? 1;
}
