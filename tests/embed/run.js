// npm run test:embed: packs the package, embeds the tarball with every bundler, and runs what they make in Chromium, with
// a strict policy, with and without cross-origin isolation; and under every version of Node, whose machine code is looked
// at too.
//   npm run test:embed -- vite node    only these
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrowserPool } from '../browsers/pool.js';
import * as child from '../child.js';
import { inParallel } from '../files.js';
import { HERE } from './builders.js';
import { BUILD, PARTS, run } from './parts.js';

/** In seconds, what a part may take. */
const LIMIT = 900;

/** The bundlers, if they are not those of the lock file, and the package as npm packs it. */
async function install() {
  const lock = await readFile(join(HERE, 'package-lock.json'), 'utf8');
  const mark = join(HERE, 'node_modules', '.headwise-lock');
  if ((await readFile(mark, 'utf8').catch(() => '')) !== lock) {
    console.log('Installing the bundlers into tests/embed/node_modules (npm ci) …');
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], HERE);
    await writeFile(mark, lock);
  }
  await rm(BUILD, { recursive: true, force: true });
  await mkdir(BUILD);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', BUILD]),
  );
  await run('tar', ['-xzf', join(BUILD, filename), '-C', BUILD]);
  const place = join(HERE, 'node_modules', 'headwise');
  await rm(place, { recursive: true, force: true });
  await cp(join(BUILD, 'package'), place, { recursive: true });
  console.log(`${filename}: ${size} bytes, ${entryCount} files of ${unpackedSize} bytes\n`);
}

const pool = new BrowserPool();

/** @param {import('./parts.js').Part} part @returns {Promise<boolean>} whether it passed */
async function runPart({ name, visit }) {
  const shared = visit ? await pool.take('chromium') : undefined;
  const args = [join(HERE, 'run-part.js'), name];
  const env = { ...process.env, HEADWISE_BROWSER_AT: shared?.address };
  const options = { seconds: LIMIT, isShown: true, env };
  try {
    const { status } = await child.run(name, process.execPath, args, options);
    return status === 0;
  } catch (error) {
    console.error(String(error));
    return false;
  } finally {
    if (shared) pool.giveBack(shared);
  }
}

const wanted = process.argv.slice(2);
const groups = [...new Set(PARTS.map(({ group }) => group))];
const unknown = wanted.filter((name) => !groups.includes(name));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: unknown; expected some of ${groups.join(', ')}`);
  process.exit(2);
}
const parts = PARTS.filter(({ group }) => wanted.length === 0 || wanted.includes(group));
await install();
const passed = await inParallel(parts, runPart).finally(() => pool.close());
console.log(`\n${passed.filter(Boolean).length} of ${parts.length} parts passed`);
process.exitCode = passed.every(Boolean) ? 0 : 1;
