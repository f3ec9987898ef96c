// The contests in a browser: what page.html runs for in-chromium.js.
import { contest, startUp } from './contest.js';

/** @param {string} simd */
async function fetchCeiling(simd) {
  const path = `../../../web/page/bench/wasm/ceiling-${simd}.wasm`;
  return (await fetch(new URL(path, import.meta.url))).arrayBuffer();
}

/** @param {Parameters<typeof contest>[0]} options */
export const run = (options) => contest(options, fetchCeiling);

export { startUp };
