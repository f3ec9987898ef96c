/** npm run train: makes the models that come with the page. */
import { mkdir, rm } from 'node:fs/promises';
import { HeadwiseError, load } from 'headwise';
import { runScript } from '../../../build/command-line.js';
import { checkpointIn } from './checkpoint.js';
import { readOptions, USAGE } from './options.js';
import { RunError, train } from './trainer.js';
import { saveModel } from './write-model.js';

/** @param {readonly string[]} args */
async function main(args) {
  const { task, shipped, out: folder = shipped, threads, simd, ...options } = readOptions(args);
  const hw = await load({ threads, simd });
  try {
    const data = task.data();
    await mkdir(folder, { recursive: true });
    const run = { ...options, folder, tell: console.log };
    const { model, progress } = await train(hw, task, data, run);
    if (progress.step < progress.steps) {
      console.log(`Step ${progress.step} of ${progress.steps}: --resume goes on.`);
      return;
    }
    const facts = await saveModel(hw, { data, model, progress, folder, shipped });
    await rm(checkpointIn(folder));
    console.log(facts);
  } finally {
    hw.dispose();
  }
}

await runScript(
  main,
  USAGE,
  (error) => error instanceof HeadwiseError || error instanceof RunError,
);
