/**
 * Shapes and results in words.
 *
 * @import { Result } from './bench.js'
 * @import { Shape } from './work.js'
 */

import { withStop } from '../shared/errors.js';
import { formatCount, formatTime, plural } from '../shared/format.js';

const MASKS = {
  causal: 'causal',
  causalBoolMask: 'causal by a bool mask',
  causalFloatMask: 'causal by a float mask',
  randomBoolMask: 'half masked at random',
  window: 'a causal window',
};

/** No line ends within a size. */
const TIMES = '\u00a0×\u00a0';

/** @param {Shape} shape */
export function describe(shape) {
  switch (shape.kind) {
    case 'multiHeadAttention': {
      const { batch, tokens, dIn, heads } = shape;
      const many = batch > 1 ? `${batch}${TIMES}` : '';
      return `multi-head attention, ${many}${plural(tokens, 'token')}, ${dIn} wide, ${plural(heads, 'head')}`;
    }
    case 'attention': {
      const { tokens, heads, headDim, visible, window } = shape;
      const width = window === undefined ? '' : ` of ${formatCount(window)}`;
      return `attention alone, ${MASKS[visible]}${width}, ${plural(tokens, 'token')}, ${heads} heads of ${headDim}`;
    }
    case 'linear':
      return `linear layer, ${formatCount(shape.rows)}${TIMES}${shape.inFeatures} by ${formatCount(shape.outFeatures)}`;
    case 'decode':
      return `one more token after ${formatCount(shape.past)}, ${shape.dIn} wide`;
    case 'train': {
      const { layers, width, batch, tokens, checkpointing } = shape;
      const how = checkpointing ? ', with gradient checkpointing' : '';
      return `training step, ${plural(layers, 'layer')}, ${width} wide, ${batch}${TIMES}${plural(tokens, 'token')}${how}`;
    }
    case 'maps':
      return `maps of ${shape.heads} heads, ${formatCount(shape.tokens)} tokens, ${shape.size} cells a side`;
  }
}

/** How many results a shape has on one number of threads of one module. @param {Shape} shape */
export const waysOf = ({ kind }) => (kind === 'multiHeadAttention' ? 2 : 1);

/**
 * What is left of a run, from the time that its results took.
 *
 * @param {number} done
 * @param {number} total
 * @param {number} spent ms
 */
export function leftOf(done, total, spent) {
  if (done === 0) return `0 of ${total}`;
  if (done >= total) return `${done} of ${total}`;
  const seconds = Math.ceil(((spent / done) * (total - done)) / 1000);
  const left =
    seconds > 90 ? plural(Math.round(seconds / 60), 'minute') : plural(seconds, 'second');
  return `${done} of ${total}, about ${left} left`;
}

/** @param {readonly Result[]} results */
const timed = (results) =>
  results.flatMap(({ timing, ...rest }) => (timing ? [{ ...rest, ...timing }] : []));

/**
 * What is said of a run that came to its end.
 *
 * @param {readonly Result[]} results
 * @param {readonly string[]} missing modules that do not run here
 */
export function endOf(results, missing) {
  const count = timed(results).length;
  const which = count < results.length ? 'Each result that has a time' : 'Each result';
  const words = count ? `${which} was compared with float64 first.` : 'Nothing was measured.';
  const lacks = missing.map((simd) => ` This browser cannot run the ${simd} module.`);
  return `Done. ${words}${lacks.join('')}`;
}

/**
 * What is said of a run that was stopped.
 *
 * @param {string} why
 * @param {number} count its results
 * @param {number} seen results that are shown
 */
export function stopOf(why, count, seen) {
  if (count > 0) return `${why}: ${plural(count, 'result')}.`;
  return `${why} before the first result.${seen > 0 ? ' These are the results of the run before.' : ''}`;
}

/** What is said of a run that an error ended. @param {Error & { code?: unknown }} error */
export function failureOf({ message, code }) {
  const what =
    code === 'ERR_LOAD' ? 'The engine could not be loaded' : 'The benchmark could not run';
  return withStop(`${what}${message && `: ${message}`}`);
}

/** One thread's, and the module's that is fastest here. @param {readonly Result[]} results */
export function ceilingOf(results) {
  const rates = timed(results).filter(({ unit }) => unit === 'GFLOP/s');
  return rates.length
    ? Math.max(...rates.map(({ ceiling, threads }) => ceiling / threads))
    : undefined;
}

/** From the least to the most. @param {readonly string[]} numbers */
function rangeOf(numbers) {
  const sorted = numbers.toSorted((a, b) => Number(a) - Number(b));
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  return low === high ? low : `${low} to ${high}`;
}

/** Shapes that a verdict leaves out, and why. @type {Record<string, string>} */
const UNCOUNTED = {
  S0: 'it is too small to count',
  D1: 'reading memory is its limit',
};

/**
 * What a run comes to, in a sentence or two.
 *
 * @param {readonly Result[]} results
 * @returns {string}
 */
export function verdictOf(results) {
  const measured = timed(results);
  const all = measured.filter(({ shape }) => UNCOUNTED[shape] === undefined);
  const single = all.filter(({ threads }) => threads === 1);
  const problems = results.filter(({ problem }) => problem !== undefined).length;
  const wrong = problems ? ` ${plural(problems, 'result')} failed.` : '';
  if (single.length === 0) return `Too little was measured for a verdict.${wrong}`;
  const range = rangeOf(single.map(({ percent }) => percent.toFixed(0)));
  const without = Object.entries(UNCOUNTED)
    .filter(([name]) => measured.some(({ shape }) => shape === name))
    .map(([name, why]) => ` ${name} is left out: ${why}.`);
  const sentence = `On one thread Headwise reaches ${range} % of what this machine can do in WebAssembly.`;
  const speedups = all.flatMap(({ speedup }) => (speedup === undefined ? [] : [speedup]));
  const threads = Math.max(...all.map((each) => each.threads));
  const faster = speedups.length
    ? ` On ${threads} threads it is ${rangeOf(speedups.map((speedup) => speedup.toFixed(1)))} times as fast.`
    : '';
  const attention = single.find(({ shape, name }) => shape === 'S2' && name === 'fused');
  const example = attention
    ? ` Multi-head attention over 1,024 tokens (S2) takes ${formatTime(attention.minimum)}.`
    : '';
  return sentence + faster + example + without.join('') + wrong;
}
