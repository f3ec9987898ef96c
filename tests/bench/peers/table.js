// The outcomes of the peers' benchmark as lines of tables.
import { header, line, ms, withDoubt } from '../table.js';

/**
 * @import { Contest, Outcome } from './contest.js'
 * @import { ModelContest, ModelOutcome } from './model-contest.js'
 */

const CELL = 18;
const PEERS = ['LiteRT.js', 'onnxruntime-web', 'tfjs-wasm', 'jax-js', 'plain JS', 'PyTorch'];
/** @type {import('../table.js').Column[]} */
const CONTEST_COLUMNS = [
  { title: 'shape', width: 5, left: true },
  { title: 'threads', width: 7 },
  { title: 'Headwise', width: 9 },
  ...PEERS.map((title) => ({ title, width: CELL })),
  { title: 'Headwise of ceiling', width: 19 },
];

export const contestHeader = () => header(CONTEST_COLUMNS);

/**
 * @param {Outcome} outcome
 * @param {number | undefined} own ms of Headwise
 */
function cell({ minimum, refused, notes }, own) {
  if (refused !== undefined) return 'not run';
  if (minimum === undefined)
    return notes.some((note) => note.includes('wrong')) ? 'wrong' : 'failed';
  const time = ms(minimum) + (notes.length ? '*' : '');
  return own === undefined ? time : `${time} (${(minimum / own).toFixed(2)}×)`;
}

/**
 * One line, and below it why something was not timed.
 * @param {{ shape: string, threads: number }} what
 * @param {Contest} contest
 */
export function contestLines({ shape, threads }, { outcomes, ceiling, flops }) {
  const [own] = outcomes;
  const limit = ceiling * threads;
  const percent = (100 * flops) / (own.minimum ?? NaN) / 1e6 / limit;
  const share = own.minimum === undefined ? '–' : `${percent.toFixed(1)} % of ${limit.toFixed(0)}`;
  const peers = PEERS.map((name) => outcomes.find((outcome) => outcome.name === name));
  const ratios = peers.map((outcome) => (outcome ? cell(outcome, own.minimum) : ''));
  const cells = [cell(own, undefined), ...ratios];
  const notes = outcomes.flatMap(({ name, refused, notes: failures }) =>
    [...(refused === undefined ? [] : [refused]), ...failures].map(
      (note) => `        ${name}: ${note.replaceAll(/\s+/g, ' ')}`,
    ),
  );
  const text = line(CONTEST_COLUMNS, [shape, String(threads), ...cells, share]);
  return [withDoubt(text, percent), ...notes].join('\n');
}

/** @type {import('../table.js').Column[]} */
const START_COLUMNS = [
  { title: 'start-up, 1 thread', width: 18, left: true },
  { title: 'page bytes, gzip', width: 16 },
  { title: 'ready ms', width: 9 },
  { title: 'first answer ms', width: 15 },
];

export const startHeader = () => header(START_COLUMNS);

/** @param {{ name: string, ready: number, answer: number, bytes?: number }} start */
export const startLine = ({ name, ready, answer, bytes }) =>
  line(START_COLUMNS, [
    name,
    bytes === undefined ? '–' : `${(bytes / 1000).toFixed(1)} kB`,
    ms(ready),
    ms(answer),
  ]);

/** @type {import('../table.js').Column[]} */
const MODEL_COLUMNS = [
  { title: 'model', width: 12, left: true },
  { title: 'threads', width: 7 },
  { title: 'runtime', width: 8, left: true },
  { title: 'weights', width: 8, left: true },
  { title: 'prompt tokens/s', width: 15 },
  { title: 'Headwise', width: 15 },
  { title: 'decode tokens/s', width: 15 },
  { title: 'Headwise', width: 15 },
  { title: 'memory MB', width: 9 },
  { title: 'error', width: 7 },
];

export const modelHeader = () => header(MODEL_COLUMNS);

/**
 * How many times as fast Headwise is, with the weights that it is compared with.
 * @param {number} time
 * @param {number | undefined} own
 * @param {string | undefined} rival
 */
const against = (time, own, rival) =>
  own === undefined ? '' : `${rival} ${(time / own).toFixed(2)}×`;

/**
 * A line for each runtime and type of weights, or why there is none.
 * @param {ModelContest} contest
 * @param {number} tokens of the prompt
 */
export function modelLines({ model, threads, outcomes }, tokens) {
  const lineOf = (/** @type {ModelOutcome} */ outcome) => {
    const { name, type, rival, promptMs, decodeMs, problem } = outcome;
    const what = [model, String(threads), name, type];
    if (problem !== undefined || promptMs === undefined || decodeMs === undefined)
      return `${line(MODEL_COLUMNS.slice(0, 4), what)}  FAILED: ${problem?.replaceAll(/\s+/g, ' ')}`;
    const own = outcomes.find((each) => each.name === 'Headwise' && each.type === rival);
    const { memoryBytes = NaN, error = NaN } = outcome;
    return line(MODEL_COLUMNS, [
      ...[
        ...what,
        ((1000 * tokens) / promptMs).toFixed(1),
        against(promptMs, own?.promptMs, rival),
      ],
      ...[(1000 / decodeMs).toFixed(1), against(decodeMs, own?.decodeMs, rival)],
      ...[Number.isNaN(memoryBytes) ? '–' : (memoryBytes / 1e6).toFixed(0), error.toExponential(0)],
    ]);
  };
  return outcomes.map(lineOf).join('\n');
}
