// npm test: runs every tests/**/*.test.js under node --test. Node 20 has no globs and later versions
// take no folders, hence the list made here. Arguments choose by path: npm test -- page random.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const wanted = args.filter((arg) => !arg.startsWith('-'));

const files = readdirSync(HERE, { recursive: true })
  .map((name) => join('tests', String(name)))
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .filter((name) => !name.includes('node_modules'))
  .sort();

if (files.length === 0) {
  // A run without tests is no success.
  console.error(wanted.length ? `No test file matches ${wanted.join(' ')}.` : 'No test files.');
  process.exitCode = 1;
} else {
  const result = spawnSync(process.execPath, ['--test', ...options, ...files], {
    cwd: join(HERE, '..'),
    stdio: 'inherit',
  });
  process.exitCode = result.status ?? 1;
}
