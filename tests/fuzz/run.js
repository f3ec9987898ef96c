// npm run fuzz: what nobody thought of, for as long as asked. Half of the time the property tests of the JavaScript API,
// each round from another seed; half the C API's libFuzzer targets, as many at a time as there are cores.
//   --minutes 10   in all; default 1
//   --only c | js  one half, for all of the time
// What is found is printed with how to run it again; it becomes a test.
import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as child from '../child.js';
import { inParallel } from '../files.js';
import { chooseOne, number, parse, runScript } from '../../web/build/command-line.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD = join(ROOT, 'build', 'native-fuzz');

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, seconds?: number }} [options] seconds: the limit
 */
async function run(program, args, { env, seconds = 600 } = {}) {
  const options = { cwd: ROOT, env, seconds, isShown: true };
  const { status } = await child.run(basename(program), program, args, options);
  if (status !== 0) process.exit(1);
}

/** @param {number} minutes */
async function fuzzC(minutes) {
  await run('cmake', ['--preset', 'native-fuzz', '-G', 'Ninja']);
  await run('cmake', ['--build', '--preset', 'native-fuzz']);
  const targets = readdirSync(join(ROOT, 'tests', 'fuzz'))
    .filter((name) => name.startsWith('fuzz_') && name.endsWith('.c'))
    .map((name) => name.slice(0, -2));
  const seconds = Math.max(1, Math.round((minutes * 60 * availableParallelism()) / targets.length));
  const found = await inParallel(targets, (target) => fuzzTarget(target, seconds));
  if (found.includes(true)) process.exit(1);
}

/** @param {string} target @param {number} seconds @returns {Promise<boolean>} whether it found something */
async function fuzzTarget(target, seconds) {
  // What was interesting is kept, so that the next run goes on from there.
  const corpus = join(BUILD, 'corpus', target);
  mkdirSync(corpus, { recursive: true });
  const options = ['-max_len=256', '-timeout=60', '-print_final_stats=1', '-verbosity=0'];
  const times = [`-max_total_time=${seconds}`];
  const artifacts = `-artifact_prefix=${join(BUILD, `${target}-`)}`;
  const args = [...options, ...times, artifacts, corpus];
  const limit = { cwd: ROOT, seconds: seconds + 120 };
  const { status, stdout, stderr } = await child.run(target, join(BUILD, target), args, limit);
  console.log(`\n${target}: ${seconds} s\n${stdout}${stderr}`);
  return status !== 0;
}

/** @param {number} minutes */
async function fuzzJavaScript(minutes) {
  const end = Date.now() + minutes * 60_000;
  for (let round = 1; Date.now() < end; round++) {
    console.log(`\nproperties, round ${round}`);
    const env = { ...process.env, HEADWISE_FUZZ_RUNS: '2000' };
    await run(process.execPath, ['tests/run.js', 'properties'], { env, seconds: 1200 });
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  const { values } = parse({
    args: [...args],
    options: { minutes: { type: 'string', default: '1' }, only: { type: 'string' } },
  });
  const minutes = number('minutes', values.minutes, (value) => value > 0, 'a number of minutes');
  const only = values.only === undefined ? undefined : chooseOne('only', values.only, ['c', 'js']);
  const share = only === undefined ? minutes / 2 : minutes;
  if (only !== 'js') await fuzzC(share);
  if (only !== 'c') await fuzzJavaScript(share);
}

await runScript(main, 'usage: npm run fuzz -- [--minutes 10] [--only c|js]');
