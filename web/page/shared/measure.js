/** One sample lasts at least this long: browsers' clocks tick in 5 or 100 µs. */
const SAMPLE_MS = 5;
/** What ran before takes caches and predictions; a call that is longer hardly feels it. */
const FELT_MS = 50;
const FEWEST_TURNS = 3;
/** Of the yardstick before each sample: the ceiling is what it reaches undisturbed. */
const YARDSTICK_SAMPLES = 3;
const MAX_CALLS = 2 ** 20;

/**
 * @typedef {object} Samples
 * @property {number} minimum ms of one call
 * @property {number} median
 * @property {number} turns
 */

/** What is called: how often in a sample, and the ms that a call took last. @typedef {{ run: () => unknown, calls: number, last: number }} Subject */
/** @typedef {Subject & { spent: number, times: number[] }} Contestant */

/** @typedef {() => number} Clock ms */
/** @type {Clock} */
const wall = () => performance.now();

/**
 * @param {() => unknown} run what it returns is awaited if it is a promise
 * @param {number} calls
 */
async function repeat(run, calls) {
  for (let i = 0; i < calls; i++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
}

/**
 * Calls as often as a sample needs to last, and remembers how often: what is compiled meanwhile gets faster.
 * @param {Subject} subject
 * @param {Clock} [clock]
 * @returns {Promise<number>} ms of one call
 */
async function sample(subject, clock = wall) {
  for (;;) {
    const { run, calls } = subject;
    if (subject.last < FELT_MS) await repeat(run, 1);
    const start = clock();
    await repeat(run, calls);
    const spent = clock() - start;
    subject.last = spent / calls;
    if (spent >= SAMPLE_MS || calls >= MAX_CALLS) return subject.last;
    subject.calls *= 2;
  }
}

/**
 * A function, run until it takes a sample's time.
 * @param {() => unknown} run
 * @param {Clock} [clock]
 */
async function warm(run, clock) {
  const subject = { run, calls: 1, last: Infinity };
  await sample(subject, clock);
  return subject;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {() => unknown} run
 * @param {number} seconds
 * @returns {Promise<number>} the fewest ms of one call
 */
export async function fastestOf(run, seconds) {
  const subject = await warm(run);
  const end = performance.now() + 1000 * seconds;
  let fastest = Infinity;
  do fastest = Math.min(fastest, await sample(subject));
  while (performance.now() < end);
  return fastest;
}

/** @param {readonly number[]} times */
const summary = (times) => ({
  minimum: Math.min(...times),
  median: median(times),
  turns: times.length,
});

/**
 * Times several functions in one run by turns, so that a slow moment of the machine hits all, and the yardstick, if there
 * is one, before each of them. A function stops when its turns have taken its seconds, but not before its third turn unless that would take ten
 * times as long.
 *
 * @param {(() => unknown) | undefined} yardstick
 * @param {readonly (() => unknown)[]} runs
 * @param {number} seconds for each of runs
 * @param {Clock} [clock] default: the time that passes
 * @returns {Promise<{ yardstick: number, runs: Samples[] }>} yardstick: the fewest ms of one call, or Infinity
 */
export async function takeTurns(yardstick, runs, seconds, clock) {
  const measure = yardstick && (await warm(yardstick, clock));
  let fastest = Infinity;
  /** @type {Contestant[]} */
  const contestants = [];
  for (const run of runs) contestants.push({ ...(await warm(run, clock)), spent: 0, times: [] });
  const unfinished = () =>
    contestants.filter(({ times, spent }) => {
      const limit = times.length < FEWEST_TURNS ? 10_000 * seconds : 1000 * seconds;
      return times.length === 0 || spent < limit;
    });
  for (let next = unfinished(); next.length > 0; next = unfinished()) {
    for (const contestant of next) {
      const start = performance.now();
      for (let i = 0; measure && i < YARDSTICK_SAMPLES; i++)
        fastest = Math.min(fastest, await sample(measure, clock));
      contestant.times.push(await sample(contestant, clock));
      contestant.spent += performance.now() - start;
    }
  }
  return { yardstick: fastest, runs: contestants.map(({ times }) => summary(times)) };
}
