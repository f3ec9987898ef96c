// npm run fuzz: what nobody thought of, for as long as asked. Half of the time the property tests of the JavaScript API,
// each round from another seed; half the C API's libFuzzer targets, one after another.
//   --minutes 10   in all; default 1
//   --only c | js  one half, for all of the time
// What is found is printed with how to run it again; it becomes a test.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD = join(ROOT, 'build', 'native-fuzz');

/**
 * @param {string} program
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, env, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}

/** @param {number} minutes */
function fuzzC(minutes) {
  run('cmake', ['--preset', 'native-fuzz', '-G', 'Ninja']);
  run('cmake', ['--build', '--preset', 'native-fuzz']);
  const targets = readdirSync(join(ROOT, 'tests', 'fuzz'))
    .filter((name) => name.startsWith('fuzz_') && name.endsWith('.c'))
    .map((name) => name.slice(0, -2));
  for (const target of targets) {
    // What was interesting is kept, so that the next run goes on from there.
    const corpus = join(BUILD, 'corpus', target);
    mkdirSync(corpus, { recursive: true });
    const seconds = Math.max(1, Math.round((minutes * 60) / targets.length));
    console.log(`\n${target}: ${seconds} s`);
    const options = ['-max_len=256', '-timeout=60', '-print_final_stats=1', '-verbosity=0'];
    run(join(BUILD, target), [
      ...options,
      `-max_total_time=${seconds}`,
      `-artifact_prefix=${join(BUILD, `${target}-`)}`,
      corpus,
    ]);
  }
}

/** @param {number} minutes */
function fuzzJavaScript(minutes) {
  const end = Date.now() + minutes * 60_000;
  for (let round = 1; Date.now() < end; round++) {
    console.log(`\nproperties, round ${round}`);
    const env = { ...process.env, HEADWISE_FUZZ_RUNS: '2000' };
    run(process.execPath, ['tests/run.js', 'properties', '--test-reporter=dot'], env);
  }
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, only: { type: 'string' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0) || ![undefined, 'c', 'js'].includes(values.only)) {
  console.error('usage: npm run fuzz -- [--minutes 10] [--only c|js]');
  process.exit(1);
}
const share = values.only === undefined ? minutes / 2 : minutes;
if (values.only !== 'js') fuzzC(share);
if (values.only !== 'c') fuzzJavaScript(share);
