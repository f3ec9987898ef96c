// What moves while something is done, frame by frame.
import assert from 'node:assert/strict';

/** @import { Page } from 'puppeteer-core' */

/**
 * An element at each frame while something is done: none of a frame in which it is not there.
 *
 * @param {Page} page
 * @param {string} id
 * @param {() => Promise<unknown>} act
 * @returns {Promise<{ top: number, height: number, sort?: string }[]>} in pixels of the whole page
 */
export async function framesDuring(page, id, act) {
  await page.evaluate((/** @type {string} */ wanted) => {
    const frames = /** @type {object[]} */ ([]);
    const look = () => {
      const element = document.getElementById(wanted);
      if (element) {
        const { top, height } = element.getBoundingClientRect();
        frames.push({ top: top + scrollY, height, sort: element.dataset.sort });
      }
      requestAnimationFrame(look);
    };
    look();
    Object.assign(globalThis, { seenFrames: frames });
  }, id);
  await act();
  return page.evaluate(async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    return Reflect.get(globalThis, 'seenFrames');
  });
}

/** Whether nothing was above where it was at first and is at last. @param {{ top: number }[]} frames */
export function neverRose(frames) {
  const tops = frames.map(({ top }) => Math.round(top));
  assert.ok(tops.length > 3);
  assert.ok(Math.min(...tops) >= Math.min(tops[0], tops[tops.length - 1]) - 1, tops.join());
}
