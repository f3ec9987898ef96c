/**
 * The Train room's Worker: one run. It computes with the SIMD128 module wherever it runs, whose results are the same to
 * the bit on every machine, so that a link shows the same run.
 *
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Saved } from '../trainer.js'
 * @import { Settings } from '../settings.js'
 * @import { Learnt } from '../tasks/task.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { PageError } from '../../shared/errors.js';
import { Checkpoints } from '../checkpoints.js';
import { folderName, modelFiles } from '../files.js';
import { isMeasuredAt } from '../scores.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../tasks/tasks.js';
import { LEAST_TEXT } from '../tasks/text.js';
import { Trainer } from '../trainer.js';
import { tooShort } from '../words.js';

/**
 * @typedef {object} Running
 * @property {Trainer} trainer
 * @property {() => Trainer} another of the same settings
 * @property {Checkpoints} checkpoints
 */

/** @type {Running | undefined} */
let running;

async function austen() {
  const answer = await fetch(AUSTEN);
  const type = answer.headers.get('content-type') ?? '';
  if (!answer.ok || type.startsWith('text/html'))
    throw new PageError('ERR_LOAD', `The text could not be fetched (${answer.status} ${type}).`);
  return answer.text();
}

/** @param {Settings} settings */
async function taskOf({ task, text }) {
  if (task === 'austen') return textTask(await austen(), PROMPT);
  if (task !== 'own') return drawnTasks[task];
  const own = textTask(text, [...text].slice(0, PROMPT.length).join(''));
  const learnt = /** @type {Learnt} */ (own.learnt);
  if (learnt.count < LEAST_TEXT) throw new PageError('ERR_TEXT', tooShort(learnt));
  return own;
}

/**
 * Begins a run.
 *
 * @param {Settings} settings
 * @param {Saved} [saved] what it goes on from
 */
async function start(settings, saved) {
  const [hw, task] = await Promise.all([load({ simd: 'simd128' }), taskOf(settings)]);
  const another = () => new Trainer(hw, task, settings);
  const [trainer, checkpoints] = [another(), new Checkpoints()];
  if (saved) trainer.restore(saved);
  checkpoints.add(trainer);
  running = { trainer, another, checkpoints };
  const { ids, targets } = trainer.example;
  const { muted } = trainer;
  const parameters = trainer.model.parameterCount();
  const { characters, prompt, learnt } = task;
  const first = trainer.snapshot(true);
  const what = { characters: [...characters], ids, targets, prompt, learnt };
  return { ...what, parameters, muted, first };
}

function run() {
  if (running) return running;
  throw new PageError('ERR_LOAD', 'No run has begun.');
}

/** Does steps: what is seen at the last one, and at each at which accuracy is measured, with the smoothed losses up to it. @param {number} steps */
function advance(steps) {
  const { trainer, checkpoints } = run();
  const seen = [];
  /** @type {number[]} */
  let losses = [];
  for (let left = steps; left > 0; left--) {
    trainer.train();
    losses.push(/** @type {number} */ (trainer.loss));
    checkpoints.add(trainer);
    if (left > 1 && !isMeasuredAt(trainer.step)) continue;
    seen.push({ losses, snapshot: trainer.snapshot() });
    losses = [];
  }
  return seen;
}

/** @param {HeadName} head @param {boolean} isMuted */
function mute(head, isMuted) {
  const { trainer, checkpoints } = run();
  checkpoints.note({ step: trainer.step, head, isMuted });
  trainer.mute(head, isMuted);
  return trainer.snapshot(true);
}

/** How many steps to one that is looked back at are still to do, now and then. @typedef {(left: number) => void} Told */

/** What the run was at a step, or what it is now. @template T @param {number | undefined} step @param {Told | undefined} told @param {(trainer: Trainer) => T} act */
function at(step, told, act) {
  const { trainer, another, checkpoints } = run();
  if (step === undefined || step === trainer.step) return act(trainer);
  const past = another();
  try {
    checkpoints.replay(past, step, told);
    return act(past);
  } finally {
    past.dispose();
  }
}

/** @param {number | undefined} step @param {Told} [told] */
const save = (step, told) => at(step, told, (trainer) => trainer.save());

/** @param {number | undefined} step @param {Settings} settings of the run @param {Told} [told] */
const files = (step, settings, told) =>
  at(step, told, (trainer) => ({
    folder: folderName(settings, trainer),
    files: modelFiles(trainer, settings),
  }));

const room = { start, advance, mute, save, files };
/** @typedef {typeof room} TrainWorker */
serve(room);
