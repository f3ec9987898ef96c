// npm run bench:sweep: how long every head of a model of a published shape takes to ablate, in Node, and how many whole forwards
// that is.
import { pathToFileURL } from 'node:url';
import { HeadwiseError, load } from 'headwise';
import { ablation } from 'headwise/understanding';
import { chooseOne, number, parse, runScript } from '../../web/build/command-line.js';
import { isCount } from './options.js';
import { shapes } from './models/shapes.js';

/** @typedef {Awaited<ReturnType<typeof load>>} Engine */

/**
 * @param {Engine} hw
 * @param {object} config Hugging Face's
 * @param {number} tokens
 * @returns {Promise<{ heads: number, seconds: number, forwards: number, longest: number }>} forwards: how many whole ones take as long;
 *   longest: between two reports, in seconds
 */
export async function measureSweep(hw, config, tokens) {
  const model = new hw.Decoder(config).eval();
  const ids = Array.from({ length: tokens }, (_, i) => (i * 7919) % model.config.vocabSize);
  const now = () => performance.now() / 1000;
  const timeForward = () => {
    const start = now();
    model.forward(ids, { residuals: true });
    return now() - start;
  };
  timeForward();
  const whole = [timeForward(), timeForward()];
  const start = now();
  let [last, longest] = [start, 0];
  const onProgress = () => {
    longest = Math.max(longest, now() - last);
    last = now();
  };
  const { effects } = await ablation(model, ids, { target: 1, against: 2, onProgress });
  const seconds = now() - start;
  whole.push(timeForward(), timeForward());
  model.dispose();
  return {
    ...{ heads: effects.data.length, seconds, longest },
    forwards: (seconds * whole.length) / whole.reduce((sum, each) => sum + each),
  };
}

const USAGE = `usage: npm run bench:sweep -- [--shape GPT-2-124M] [--tokens 100] [--threads 2]
--shape: one of ${Object.keys(shapes).join(', ')}`;

/** @param {readonly string[]} args */
async function main(args) {
  const { values } = parse({
    args: [...args],
    options: {
      shape: { type: 'string', default: 'GPT-2-124M' },
      tokens: { type: 'string', default: '100' },
      threads: { type: 'string', default: '2' },
    },
  });
  const shape = chooseOne('shape', values.shape, Object.keys(shapes));
  const tokens = number('tokens', values.tokens, isCount, 'an integer of at least 1');
  const threadCount = number('threads', values.threads, isCount, 'an integer of at least 1');
  const hw = await load({ threads: threadCount });
  const found = await measureSweep(hw, shapes[shape], tokens);
  const { threads, simd } = hw.info;
  hw.dispose();
  const [seconds, longest] = [found.seconds, found.longest].map((each) => each.toFixed(2));
  console.log(
    `${shape}, ${tokens} tokens, ${threads} threads, ${simd}: ${found.heads} heads in ${seconds} s, ` +
      `the time of ${found.forwards.toFixed(1)} whole forwards; at most ${longest} s between two reports`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runScript(main, USAGE, (error) => error instanceof HeadwiseError);
}
