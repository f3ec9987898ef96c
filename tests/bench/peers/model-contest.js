/**
 * Whole models of random weights through Headwise and wllama (llama.cpp as WebAssembly), in Chromium: the same weights for
 * all, each as the types that it has. What each thinks likely after a prompt is compared with Headwise's float32 first; then
 * all take turns.
 */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser, ISOLATION, serve } from '../../browser.js';
import { CHARACTERS } from '../models/byte-tokens.js';
import { shapes } from '../models/shapes.js';
import { ggufTypes, writeGgufModel } from '../models/to-gguf.js';
import { writeModel } from '../models/write.js';
import { UsageError } from '../../../web/build/command-line.js';
import { ModelInChromium } from './model-in-chromium.js';

/**
 * @import { Guess } from './contestants/model-contestant.js'
 * @import { Clock } from './model-in-chromium.js'
 */

/**
 * @typedef {object} Entrant
 * @property {string} name
 * @property {string} module in contestants/
 * @property {string} type of the weights
 * @property {number} bound how far its guesses may be off
 * @property {string} [rival] type of Headwise's with as many bits or more, which it is compared with
 */

/**
 * @typedef {Pick<Entrant, 'name' | 'type' | 'rival'> & { error?: number, memoryBytes?: number, promptMs?: number,
 *   decodeMs?: number, problem?: string }} ModelOutcome error: of the guesses' logits, relative to the largest; decodeMs: of one
 *   token
 */

/** @typedef {{ threads: number, seconds: number, clock: Clock }} ContestOptions seconds: for each entrant */
/** @typedef {{ model: string, threads: number, outcomes: ModelOutcome[] }} ModelContest */

export const MODELS = ['GPT-2-124M', 'SmolLM2-135M'];

/** The first is what the others' guesses are compared with. @type {readonly Entrant[]} */
const ENTRANTS = [
  { name: 'Headwise', module: 'headwise-model', type: 'float32', bound: 0 },
  { name: 'Headwise', module: 'headwise-model', type: 'bfloat16', bound: 1e-4 },
  { name: 'Headwise', module: 'headwise-model', type: 'int8', bound: 0.05 },
  { name: 'wllama', module: 'wllama', type: 'f16', bound: 0.02, rival: 'bfloat16' },
  { name: 'wllama', module: 'wllama', type: 'q8_0', bound: 0.05, rival: 'int8' },
  { name: 'wllama', module: 'wllama', type: 'q4_0', bound: 0.3, rival: 'int8' },
];

export const PROMPT = 128;
/** Tokens of one turn. */
const DECODED = 32;
const FEWEST_TURNS = 3;
const GUESSES = 20;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Of the model that is measured; a run that was interrupted leaves no more than the next one replaces. */
const FILES = 'build/bench-models/';
const FOLDER = join(ROOT, FILES);

/** Differs from all others in its first token: wllama keeps what it has read. @param {number} turn */
export const promptOf = (turn) =>
  Array.from({ length: PROMPT }, (_, i) =>
    i === 0 ? turn % CHARACTERS : (Math.imul(i + turn * PROMPT, 0x9e3779b1) >>> 0) % CHARACTERS,
  );

/**
 * How far guesses are off, relative to the largest logit; that of an average token counts as 0.
 * @param {readonly Guess[]} guesses
 * @param {readonly Guess[]} right of all tokens, the likeliest first
 */
export function errorOf(guesses, right) {
  const byId = new Map(right.map(({ id, logProbability }) => [id, logProbability]));
  const mean = right.reduce((sum, { logProbability }) => sum + logProbability, 0) / right.length;
  const off = guesses.map((guess) => Math.abs(guess.logProbability - (byId.get(guess.id) ?? NaN)));
  return Math.max(...off) / (right[0].logProbability - mean);
}

/** @typedef {{ outcome: ModelOutcome, page?: ModelInChromium }} Entry page: undefined for those that are out */

/**
 * Ends an entry's part when something fails.
 * @param {Entry} entry
 * @param {(page: ModelInChromium) => Promise<void>} use
 */
async function attempt(entry, use) {
  if (!entry.page) return;
  try {
    await use(entry.page);
  } catch (error) {
    entry.outcome.problem = String(error).slice(0, 300);
    await entry.page.close();
    delete entry.page;
  }
}

/**
 * Loads the model and checks what it guesses.
 * @param {Entrant} entrant
 * @param {ModelInChromium} page
 * @param {import('./contestants/model-contestant.js').ModelFile} file
 * @param {Guess[]} right is filled by the first
 * @returns {Promise<Entry>}
 */
async function enter({ name, type, rival, module, bound }, page, file, right) {
  /** @type {Entry} */
  const entry = { outcome: { name, type, rival }, page };
  await attempt(entry, async () => {
    await page.ask('start', module, file);
    const count = right.length ? GUESSES : Number.MAX_SAFE_INTEGER;
    const guesses = await page.ask('guess', promptOf(0), count);
    if (!right.length) right.push(...guesses);
    const error = errorOf(guesses, right);
    entry.outcome.error = error;
    if (guesses.length < GUESSES || !(error <= bound))
      throw new Error(`wrong: its logits are off by ${error}; expected at most ${bound}`);
  });
  return entry;
}

/**
 * A prompt and what follows it.
 * @param {Entry} entry
 * @param {Clock} clock
 * @param {number} turn from 1
 */
const takeTurn = (entry, clock, turn) =>
  attempt(entry, async (page) => {
    const { promptMs = Infinity, decodeMs = Infinity } = entry.outcome;
    const prompt = await page.time(clock, 'read', promptOf(turn));
    const decode = (await page.time(clock, 'decode', DECODED)) / DECODED;
    entry.outcome.promptMs = Math.min(promptMs, prompt);
    entry.outcome.decodeMs = Math.min(decodeMs, decode);
  });

/**
 * @param {string} executable Chromium's
 * @param {ContestOptions} options
 * @returns {Promise<ModelOutcome[]>}
 */
async function contestIn(executable, { threads, seconds, clock }) {
  const site = await serve(ROOT, { headersOf: () => ISOLATION });
  const address = `${site.url}${FILES}`;
  /** @type {Entry[]} */
  const entries = [];
  try {
    /** @type {Guess[]} */
    const right = [];
    for (const entrant of ENTRANTS) {
      const html = `${site.url}tests/bench/peers/model-page.html`;
      const page = await ModelInChromium.open(executable, html);
      const file = { folder: address, type: entrant.type, threads };
      entries.push(await enter(entrant, page, file, right));
    }
    const end = performance.now() + 1000 * seconds * ENTRANTS.length;
    const isGoing = (/** @type {number} */ turn) => turn <= FEWEST_TURNS || performance.now() < end;
    for (let turn = 1; turn < CHARACTERS && isGoing(turn); turn++)
      for (const entry of entries) await takeTurn(entry, clock, turn);
    for (const entry of entries)
      await attempt(entry, async (page) => {
        entry.outcome.memoryBytes = await page.memoryBytes();
      });
    return entries.map(({ outcome }) => outcome);
  } finally {
    await Promise.all(entries.map(({ page }) => page?.close()));
    site.close();
  }
}

/**
 * @param {string} model of MODELS
 * @param {readonly number[]} threads
 * @param {Omit<ContestOptions, 'threads'>} options
 * @returns {AsyncGenerator<ModelContest, void, void>} one for each number of threads
 */
export async function* contestModels(model, threads, options) {
  const executable = findBrowser();
  if (!executable)
    throw new UsageError('Chromium is missing: install it, or name it in CHROMIUM_PATH');
  try {
    // No more than GPT-2's: caches are as long.
    const positions = model === 'GPT-2-124M' ? {} : { max_position_embeddings: 1024 };
    await writeModel(FOLDER, { ...shapes[model], ...positions });
    for (const type of ggufTypes) await writeGgufModel(FOLDER, type);
    for (const count of threads) {
      const outcomes = await contestIn(executable, { ...options, threads: count });
      yield { model, threads: count, outcomes };
    }
  } finally {
    await rm(FOLDER, { recursive: true });
  }
}
