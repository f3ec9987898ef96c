// npm run heads: what each head of a GPT-2 checkpoint does, as the Explore room counts it.
import { HeadwiseError } from 'headwise';
import { shortName } from '../../web/page/shared/head-names.js';
import { runScript } from '../../web/build/command-line.js';
import { readOptions, USAGE } from './options.js';
import { scoreCheckpoint } from './score.js';

/** @typedef {import('./score.js').HeadScore} HeadScore */

const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`;

/** @type {[string, (score: HeadScore) => string][]} */
const COLUMNS = [
  ['head', shortName],
  ['previous', ({ previous }) => percent(previous)],
  ['induction', ({ induction }) => percent(induction)],
  ['entropy', ({ entropy }) => `${entropy.toFixed(2)} bits`],
  ['first', ({ first }) => percent(first)],
  ['distance', ({ distance }) => `${distance.toFixed(1)} tokens`],
];

/** @param {readonly string[]} args */
async function main(args) {
  const { json, ...options } = await readOptions(args);
  const scores = await scoreCheckpoint(options);
  const { folder, seed } = options;
  if (json) {
    console.log(JSON.stringify({ model: folder, seed, ...scores }, null, 1));
    return;
  }
  const { ids, repeated, heads } = scores;
  console.log(
    `${folder}: previous, entropy, first and distance over ${ids.length} tokens; induction over ` +
      `${repeated.length} × ${repeated[0].length / 2} random tokens, each repeated once (seed ${seed})\n`,
  );
  const rows = [
    COLUMNS.map(([name]) => name),
    ...heads.map((score) => COLUMNS.map(([, write]) => write(score))),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  for (const row of rows) console.log(row.map((cell, i) => cell.padStart(widths[i])).join('  '));
}

/** A model that cannot be read. @param {unknown} error */
const isUsers = (error) =>
  error instanceof HeadwiseError ||
  /** @type {NodeJS.ErrnoException} */ (error).code === 'ERR_FORMAT';

await runScript(main, USAGE, isUsers);
