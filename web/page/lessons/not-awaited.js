/**
 * What fails because an await is missing fails elsewhere, in other words: `hw.matmul is not a function`.
 *
 * @import { StepCode } from './imports.js'
 */

/**
 * The hint that a variable of a line that failed is a Promise, or no words.
 *
 * @param {StepCode[]} steps
 * @param {{ step: number, line?: number | undefined }} place of what failed
 * @param {(name: string) => boolean} isAsync whether a function of this name gives a Promise
 */
export function notAwaited(steps, { step, line }, isAsync) {
  if (line === undefined || !steps[step]) return '';
  const used = new Set(steps[step].code.split('\n')[line - 1]?.match(/[\w$]+/g));
  const all = steps.map(({ code }) => code).join('\n');
  // It may be waited for later.
  const isLeft = (/** @type {string} */ name) =>
    !all.includes(`await ${name}`) && !all.includes(`${name}.then`) && !all.includes('Promise.');
  for (const [at, { calls }] of steps.slice(0, step + 1).entries()) {
    for (const { names, of, line: where } of calls) {
      const name = names.find((one) => used.has(one) && isLeft(one));
      if (name === undefined || !isAsync(of) || (at === step && where === line)) continue;
      const place = at === step ? `line ${where}` : `line ${where} of step ${at + 1}`;
      return names.length > 1
        ? `. Without await, “${of}” gives a Promise, which has no “${name}”: see ${place}`
        : `. “${name}” is a Promise, for ${place} has no await before “${of}”`;
    }
  }
  return '';
}
