/**
 * The Train room's Worker: one run. It computes with the SIMD128 module wherever it runs, whose results are the same to
 * the bit on every machine, so that a link shows the same run.
 *
 * @import { HeadName, Saved } from '../trainer.js'
 * @import { Settings } from '../settings.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { PageError } from '../../shared/errors.js';
import { modelFiles } from '../files.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../tasks/tasks.js';
import { LEAST_TEXT } from '../tasks/text.js';
import { Trainer } from '../trainer.js';

/** @type {Trainer | undefined} */
let trainer;

async function austen() {
  const answer = await fetch(AUSTEN);
  if (!answer.ok)
    throw new PageError('ERR_LOAD', `The text could not be fetched (${answer.status}).`);
  return answer.text();
}

/** @param {Settings} settings */
async function taskOf({ task, text }) {
  if (task === 'austen') return textTask(await austen(), PROMPT);
  if (task !== 'own') return drawnTasks[task];
  if ([...text].length < LEAST_TEXT) {
    const words = `Paste a text of at least ${LEAST_TEXT} characters below, and training begins.`;
    throw new PageError('ERR_TEXT', words);
  }
  return textTask(text, [...text].slice(0, PROMPT.length).join(''));
}

/**
 * Begins a run.
 *
 * @param {Settings} settings
 * @param {Saved} [saved] what it goes on from
 */
async function start(settings, saved) {
  const [hw, task] = await Promise.all([load({ simd: 'simd128' }), taskOf(settings)]);
  trainer = new Trainer(hw, task, settings);
  if (saved) trainer.restore(saved);
  const { ids, targets } = trainer.example;
  const parameters = trainer.model.parameterCount();
  const { characters, prompt } = task;
  return {
    characters: [...characters],
    ids,
    targets,
    prompt,
    parameters,
    first: trainer.snapshot(),
  };
}

function running() {
  if (trainer) return trainer;
  throw new PageError('ERR_LOAD', 'No run has begun.');
}

/** @param {number} steps */
function advance(steps) {
  const losses = Float32Array.from({ length: steps }, () => running().train());
  return { losses, snapshot: running().snapshot() };
}

/** @param {HeadName} head @param {boolean} isMuted */
function mute(head, isMuted) {
  running().mute(head, isMuted);
  return running().snapshot();
}

const save = () => running().save();

/** @param {Settings} settings of the run */
const files = (settings) => modelFiles(running(), settings);

const room = { start, advance, mute, save, files };
/** @typedef {typeof room} TrainWorker */
serve(room);
