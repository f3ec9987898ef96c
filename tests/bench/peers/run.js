// npm run bench:peers: the same work through Headwise and its peers, in one run, by turns.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { run } from '../../child.js';
import {
  choose,
  chooseOne,
  number,
  parse,
  runScript,
  UsageError,
} from '../../../web/build/command-line.js';
import { isCount, readShapes } from '../options.js';
import { bundle } from './bundle.js';
import { CONTESTANTS, FILES, TRAINERS } from './contest.js';
import { contestModels, MODELS, PROMPT } from './model-contest.js';
import { published } from './published.js';
import {
  contestHeader,
  contestLines,
  modelHeader,
  modelLines,
  startHeader,
  startLine,
} from './table.js';

/**
 * @import { Shape } from '../../../web/page/bench/work.js'
 * @import { Contest } from './contest.js'
 * @import { ModelContest } from './model-contest.js'
 * @import { Clock } from './model-in-chromium.js'
 */
/** @typedef {import('./in-chromium.js').Chromium | import('./in-node.js').InNode} Place */
/** @typedef {{ shape: string, threads: number } & Partial<Contest> & { problem?: string }} Row */

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Those of shapes.json that peers can do; only some of them train. */
const SHAPES = ['S0', 'S1', 'S2', 'S3', 'C1', 'C2', 'G1', 'G2', 'D1', 'T1', 'T2', 'T3'];

const USAGE =
  'usage: npm run bench:peers [-- [--shape S2,C1] [--threads 1,2] [--seconds 1] [--clock wall] [--node [--python python3]]\n' +
  '                               [--json] [--write]]\n' +
  `  --shape    some of ${[...SHAPES, ...MODELS].join(', ')}; default: all\n` +
  '  --seconds  for each contestant and shape\n' +
  "  --clock    cpu: whole models in their processes' time, for a machine that is busy; of one thread\n" +
  '  --node     in this Node instead of Chromium; without whole models\n' +
  '  --python   a Python that has PyTorch: it trains too, native\n' +
  '  --write    keeps the ratios of all but whole models in web/page/bench/peers.json, for the page and README';

/** @param {readonly string[]} args */
function readOptions(args) {
  const options = /** @type {const} */ ({
    shape: { type: 'string' },
    threads: { type: 'string', default: '1,2' },
    seconds: { type: 'string', default: '1' },
    clock: { type: 'string', default: 'wall' },
    node: { type: 'boolean', default: false },
    python: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  });
  const { values } = parse({ args: [...args], options });
  const { node, json, python } = values;
  if (python !== undefined && !node) throw new UsageError('--python needs --node');
  const known = node ? SHAPES : [...SHAPES, ...MODELS];
  const chosen = values.shape === undefined ? known : choose('shape', values.shape, known);
  const names = chosen.filter((name) => SHAPES.includes(name));
  if (values.write && names.length === 0) throw new UsageError('--write keeps none of --shape');
  const threads = values.threads
    .split(',')
    .map((count) => number('threads', count, isCount, 'integers of at least 1'));
  const clock = /** @type {Clock} */ (chooseOne('clock', values.clock, ['wall', 'cpu']));
  if (clock === 'cpu' && threads.some((count) => count > 1))
    throw new UsageError('--clock is cpu; expected --threads 1 beside it');
  return {
    ...{ names, models: chosen.filter((name) => MODELS.includes(name)), threads, clock },
    seconds: number('seconds', values.seconds, (value) => value > 0, 'a number of seconds'),
    ...{ node, json, python, write: values.write },
  };
}

/** The peers are no dependencies of the project: they come when first asked for. */
async function install() {
  const { dependencies } = JSON.parse(await readFile(`${HERE}package.json`, 'utf8'));
  const isThere = (/** @type {string} */ name) => existsSync(`${HERE}node_modules/${name}`);
  if (Object.keys(dependencies).every(isThere)) return;
  console.error('Installing the peers into tests/bench/peers/node_modules (npm ci, once) …');
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { cwd: HERE, seconds: 600, shell: process.platform === 'win32' };
  const { status, stderr } = await run('npm ci', command, ['ci', '--ignore-scripts'], options);
  if (status !== 0) throw new Error(`npm ci failed in ${HERE}: ${stderr}`);
}

/**
 * @param {Place} place
 * @param {Record<string, Shape>} shapes
 * @param {ReturnType<typeof readOptions>} options
 * @param {(text: string) => void} say
 */
async function runContests(place, shapes, { threads, seconds, python }, say) {
  /** @type {Row[]} */
  const rows = [];
  say(contestHeader());
  for (const count of threads) {
    for (const [name, shape] of Object.entries(shapes)) {
      const what = { shape: name, threads: count };
      try {
        const result = await place.contest({ shape, threads: count, seconds, python });
        rows.push({ ...what, ...result });
        say(contestLines(what, result));
      } catch (error) {
        rows.push({ ...what, problem: String(error) });
        say(`${name} on ${count} threads FAILED: ${error}`);
      }
    }
  }
  return rows;
}

/**
 * @param {Place} place
 * @param {Record<string, Shape>} shapes
 * @param {(text: string) => void} say
 */
async function runStarts(place, { S0, T1 }, say) {
  const rows = [];
  say(`\n${startHeader()}`);
  for (const file of new Set([...FILES, ...TRAINERS])) {
    if (file === 'plain') continue;
    const name = CONTESTANTS[file];
    try {
      const shape = FILES.includes(file) ? S0 : T1;
      const start = { name, ...(await place.startUp(file, shape)) };
      rows.push(start);
      say(startLine(start));
    } catch (error) {
      rows.push({ name, problem: String(error) });
      say(`${name} did not start: ${error}`);
    }
  }
  return rows;
}

/**
 * @param {ReturnType<typeof readOptions>} options
 * @param {(text: string) => void} say
 */
async function runModels({ models, threads, seconds, clock }, say) {
  /** @type {ModelContest[]} */
  const contests = [];
  if (models.length === 0) return contests;
  say(
    `\nprompts of ${PROMPT} tokens, one token after another, ${clock} time; × as fast is Headwise with its weights named; ` +
      `memory over an empty page; error of logits relative to the largest\n\n${modelHeader()}`,
  );
  for (const model of models)
    for await (const contest of contestModels(model, threads, { seconds, clock })) {
      contests.push(contest);
      say(modelLines(contest, PROMPT));
    }
  return contests;
}

/**
 * @param {Row[]} contests
 * @param {Awaited<ReturnType<typeof runStarts>>} starts
 * @param {ReturnType<typeof readOptions>} options
 */
async function write(contests, starts, { threads, node }) {
  const manifest = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(manifest, 'utf8'));
  const { dependencies } = JSON.parse(
    await readFile(new URL('package.json', import.meta.url), 'utf8'),
  );
  const all = cpus();
  const about = {
    ...{ date: new Date().toISOString().slice(0, 10), version, threads: threads[0] },
    ...{ machine: `${all.length} × ${all[0].model}`, browser: node ? 'Node' : 'Chromium' },
  };
  const data = published(contests, starts, about, dependencies);
  const file = new URL('../../../web/page/bench/peers.json', import.meta.url);
  const style = await resolveConfig(file);
  await writeFile(file, await format(JSON.stringify(data), { ...style, parser: 'json' }));
}

/**
 * @param {ReturnType<typeof readOptions>} options
 * @param {(text: string) => void} say
 */
async function runShapes(options, say) {
  await bundle();
  const all = await readShapes();
  const shapes = Object.fromEntries(options.names.map((name) => [name, all[name]]));
  const place = options.node
    ? new (await import('./in-node.js')).InNode()
    : await (await import('./in-chromium.js')).Chromium.start();
  try {
    const runtime = await place.runtime();
    say(`${runtime}; fewest ms of one call, JavaScript arrays in and out; × times Headwise's\n`);
    const contests = await runContests(place, shapes, options, say);
    const starts = await runStarts(place, all, say);
    if (options.write) await write(contests, starts, options);
    return { runtime, contests, starts };
  } finally {
    await place.close();
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  const options = readOptions(args);
  await install();
  const say = (/** @type {string} */ text) => void (options.json || console.log(text));
  const { contests = [], ...rest } = options.names.length ? await runShapes(options, say) : {};
  const models = await runModels(options, say);
  if (options.json) console.log(JSON.stringify({ ...rest, contests, models }, null, 2));
  // A peer that fails is a finding; Headwise must not.
  const failed = contests.some(({ outcomes }) => {
    const own = outcomes?.[0];
    return !own || (own.minimum === undefined && own.refused === undefined);
  });
  const ofModels = models.flatMap(({ outcomes }) => outcomes);
  const isOwn = (/** @type {{ name: string }} */ { name }) => name === 'Headwise';
  if (failed || ofModels.some((outcome) => isOwn(outcome) && outcome.problem !== undefined))
    process.exitCode = 1;
}

await runScript(main, USAGE);
