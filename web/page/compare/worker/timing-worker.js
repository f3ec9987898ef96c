/**
 * Times both modules on the same weights, and says what their traces hold. In a Worker of its own: it may be ended at
 * any time, and what is drawn meanwhile waits for nothing.
 *
 * @import { Timing, Work } from '../../types.js'
 */

import { load } from '../../../headwise/index.js';
import { serve } from '../../../headwise/worker/serve.js';
import { takeTurns } from '../../shared/measure.js';

/** For each of the two. */
const SECONDS = 0.15;
const SEED = 123;

/** @type {ReturnType<typeof load> | undefined} */
let loading;

function engine() {
  loading ??= load({ threads: 1 }).catch((error) => {
    loading = undefined; // so that another try is possible
    throw error;
  });
  return loading;
}

/**
 * @template T
 * @param {Work} work
 * @param {(both: ReturnType<typeof make>) => T | Promise<T>} body
 */
async function withBoth(work, body) {
  const both = make(await engine(), work);
  try {
    return await body(both);
  } finally {
    both.wrapper.dispose();
    both.fused.dispose();
  }
}

/** @param {Awaited<ReturnType<typeof load>>} hw @param {Work} work */
function make(hw, { tokens, dIn, dOut, heads, causal }) {
  hw.manualSeed(SEED);
  const x = hw.randn([tokens, dIn]);
  const options = { dIn, dOut, contextLength: tokens, numHeads: heads, isCausal: causal };
  const wrapper = new hw.MultiHeadAttentionWrapper(options);
  return { x, wrapper, fused: hw.MultiHeadAttention.fromWrapper(wrapper) };
}

/** @param {Work} work @returns {Promise<Timing>} */
const time = (work) =>
  withBoth(work, async ({ x, wrapper, fused }) => {
    const ways = [() => wrapper.forward(x), () => fused.forward(x)];
    const { runs } = await takeTurns(undefined, ways, SECONDS);
    return { wrapper: runs[0], fused: runs[1] };
  });

/** Bytes of each one's trace. @param {Work} work */
const held = (work) =>
  withBoth(work, ({ x, wrapper, fused }) => {
    const bytes = [wrapper, fused].map((module) => {
      const { trace } = module.forward(x, { trace: true });
      const { byteLength } = trace;
      trace.dispose();
      return byteLength;
    });
    return { wrapper: bytes[0], fused: bytes[1] };
  });

const room = { time, held };
/** @typedef {typeof room} TimingWorker */
serve(room);
