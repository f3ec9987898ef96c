import { directionOf } from '../../shared/direction.js';

/** @typedef {{ words: string, x: number, y: number, width: number }} Placed a token */

/** Tokens of a line that are read from the right, one after another, stand from the right. @param {Placed[]} placed */
export function turned(placed) {
  /** @type {Placed[][]} */
  const runs = [];
  for (const one of placed) {
    const before = runs.at(-1)?.at(-1);
    const isRun =
      before?.y === one.y && [before, one].every(({ words }) => directionOf(words) === 'rtl');
    if (isRun) runs.at(-1)?.push(one);
    else runs.push([one]);
  }
  return runs.flatMap((run) => {
    const [start, last] = [run[0].x, run[run.length - 1]];
    return run.map((one) => ({ ...one, x: start + last.x + last.width - one.x - one.width }));
  });
}
