/**
 * A training run.
 *
 * @import { Headwise, Tensor } from 'headwise'
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Progress } from './checkpoint.js'
 * @import { Data, Task } from './task.js'
 */
import { BETAS, takeStep } from '../../train/step.js';
import { resume, saveCheckpoint } from './checkpoint.js';
import { groupsOf, newModel, rateOf } from './model.js';
import { Random } from './random.js';

/**
 * @typedef {object} RunOptions
 * @property {string} folder of the checkpoint
 * @property {number} seed
 * @property {number} steps of the whole run
 * @property {number} stop the step to end at; below steps: the checkpoint is all that is left
 * @property {boolean} isResumed from the checkpoint
 * @property {(line: string) => void} tell
 */

/** Seconds between two lines, and between two checkpoints. */
const TELL_EVERY = 30;
const SAVE_EVERY = 60;

/** @param {Record<string, number>} values */
const written = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
    .join(', ');

/** A run that cannot go on. */
export class RunError extends Error {}

/** What dropout leaves out is not measured. @template T @param {Gpt2} model @param {(model: Gpt2) => T} measure @returns {T} */
function evaluated(model, measure) {
  const value = measure(model.eval());
  model.train();
  return value;
}

/** The model as it was when it was judged best. */
class Best {
  /** @type {Record<string, Tensor>} */
  #state = {};

  stateDict() {
    return this.#state;
  }

  /** @param {Record<string, Tensor>} state */
  loadStateDict(state) {
    this.#state = state;
  }
}

/** A model, its optimizer, and how far they are. */
class Training {
  #hw;
  #data;
  #task;
  #params;
  best = new Best();

  /** @param {Headwise} hw @param {Task} task @param {Data} data @param {RunOptions} options */
  constructor(hw, task, data, { seed, steps }) {
    this.#hw = hw;
    this.#data = data;
    this.#task = task;
    this.model = newModel(hw, task, seed);
    const groups = groupsOf(this.model, task);
    this.#params = groups.flatMap(({ params }) => params);
    const learning = new Set(this.#params.map(({ name }) => name));
    for (const parameter of this.model.parameters()) {
      parameter.requiresGrad = learning.has(parameter.name);
    }
    this.optimizer = new hw.AdamW(groups, { lr: task.peak, betas: BETAS });
    /** @type {Progress} */
    this.progress = {
      ...{ task: task.name, seed, steps, step: 0, tokens: 0, loss: null, seconds: 0 },
      best: null,
    };
  }

  /** @param {string} folder */
  async resume(folder) {
    const { task, seed, steps } = this.progress;
    const found = await resume(folder, this);
    for (const [name, value] of Object.entries({ task, seed, steps })) {
      const was = found[/** @type {'task'} */ (name)];
      if (was !== value)
        throw new RunError(`The checkpoint’s ${name} is ${was}, this run’s ${value}.`);
    }
    this.progress = found;
  }

  /** On rows of its own, with a dropout of its own: forward, backward, clipping, AdamW. */
  step() {
    const { progress, model, optimizer } = this;
    const { seed, step, steps } = progress;
    const random = new Random(seed, step);
    const { batch, progressAt = (share) => share } = this.#data;
    const done = progressAt(step / steps);
    const rows = batch(random, done);
    const run = { hw: this.#hw, model, optimizer, params: this.#params };
    this.#hw.manualSeed(random.below(2 ** 32));
    const value = takeStep(run, rows, rateOf(step, done, this.#task.peak));
    if (!Number.isFinite(value)) throw new RunError(`The loss of step ${step} is ${value}.`);
    progress.loss = progress.loss === null ? value : 0.98 * progress.loss + 0.02 * value;
    progress.step++;
    progress.tokens += rows.length * rows[0].ids.length;
    this.#judge();
  }

  #judge() {
    const { progress, model } = this;
    const { judge } = this.#data;
    const { step, steps, best } = progress;
    const { judgedEvery = 0 } = this.#task;
    if (judge === undefined || (step % judgedEvery !== 0 && step < steps)) return;
    const loss = evaluated(model, judge);
    if (best === null || loss < best.loss) {
      progress.best = { step, loss };
      this.best.loadStateDict(model.stateDict());
    }
  }

  /** The model becomes the best again. */
  end() {
    if (this.progress.best !== null) this.model.loadStateDict(this.best.stateDict());
  }
}

/**
 * Trains a task's model, from its first weights or from a checkpoint. The same seed gives the same bits, whether the run
 * was interrupted or not, and for every number of threads; on SIMD128 also on every machine with the same version
 * of Node.
 *
 * @param {Headwise} hw
 * @param {Task} task
 * @param {Data} data
 * @param {RunOptions} options
 * @returns {Promise<{ model: Gpt2, progress: Progress }>}
 */
export async function train(hw, task, data, options) {
  const { folder, stop, isResumed, tell } = options;
  const training = new Training(hw, task, data, options);
  if (isResumed) await training.resume(folder);
  const { model, progress } = training;
  const before = progress.seconds;
  const began = process.cpuUsage();
  const now = () => performance.now() / 1000;
  let [told, saved] = [now(), now()];
  const keepTime = () => {
    const { user, system } = process.cpuUsage(began);
    progress.seconds = before + (user + system) / 1e6;
  };
  while (progress.step < stop) {
    training.step();
    if (now() - told > TELL_EVERY) {
      keepTime();
      tell(
        lineOf(
          progress,
          evaluated(model, (one) => data.evaluate(one, false)),
        ),
      );
      told = now();
    }
    if (now() - saved > SAVE_EVERY) {
      await saveCheckpoint(folder, training, progress);
      saved = now();
    }
  }
  keepTime();
  await saveCheckpoint(folder, training, progress);
  if (progress.step === progress.steps) training.end();
  return { model, progress };
}

/** @param {Progress} progress @param {Record<string, number>} measured */
const lineOf = ({ step, steps, loss, tokens, seconds }, measured) =>
  `step ${step} of ${steps}: loss ${loss?.toFixed(3)}, ${written(measured)}; ` +
  `${tokens} tokens in ${(seconds / 60).toFixed(1)} processor minutes`;
