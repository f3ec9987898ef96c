// Memory that is filled to its last page with blocks whose places and values are known.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { load } from 'headwise';
import { Engine } from '../web/headwise/engine/engine.js';
import { checkEngine } from '../web/headwise/engine/given-engine.js';
import { Headwise } from '../web/headwise/engine/headwise.js';
import { createModule } from '../web/headwise/modules/module.js';
import { Crew } from '../web/headwise/engine/threads.js';
import { data, isHeadwiseError } from './helpers.js';
import { checkFused } from './seeds.js';
import { withMaximum } from './wasm-maximum.js';

/** @typedef {import('./helpers.js').Engine} Hw */
/** @typedef {{ pointer: number, start: number, end: number, value: number }} Block */

const PAGE = 65536;

/** The last page of 4 GiB is never used. */
export const MOST_PAGES = 65535;

/** The modules' own first pages (CMakeLists.txt: INITIAL_MEMORY). */
const FIRST_PAGES = 16;

/** @param {string} name */
const moduleBytes = (name) =>
  readFile(new URL(`../web/headwise/wasm/${name}.wasm`, import.meta.url));

/**
 * An engine whose memory ends after so many pages.
 * @param {number} threads
 * @param {number} pages
 * @returns {Promise<Hw>}
 */
export async function engineOfPages(threads, pages) {
  if (threads === 1) {
    const bytes = withMaximum(new Uint8Array(await moduleBytes('headwise-simd128')), pages);
    return load({ wasm: bytes });
  }
  const module = await WebAssembly.compile(await moduleBytes('headwise-simd128-threads'));
  const limits = { initial: FIRST_PAGES, maximum: pages, shared: true };
  const memory = new WebAssembly.Memory(limits);
  const engine = await Engine.start(module, memory);
  const crew = await Crew.start(threads);
  await crew.join(module, memory);
  assert.equal(crew.threads, threads, crew.reason);
  engine.startTeam(crew);
  return new Headwise(engine, threads, '');
}

/** Fails unless the error is ERR_MEMORY. @param {() => void} call @returns {boolean} whether it was refused */
export function isRefused(call) {
  try {
    call();
    return false;
  } catch (error) {
    return isHeadwiseError(error, 'ERR_MEMORY', []);
  }
}

/** Where the struct of src/modules/layer_norm.c has the address of its weight, in bytes. */
const WEIGHT_FIELD = 80;

/** @param {Engine} engine @param {number} pointer a new layer norm @returns {number} the address of its weight */
function weightOf(engine, pointer) {
  const address = engine.words[(pointer + WEIGHT_FIELD) / 4];
  assert.equal(engine.floats[address / 4], 1, 'the struct of a layer norm has another layout');
  return address;
}

/** The memory of one engine, and the blocks in it: layer norms, whose weights lie in memory as they are. */
export class FilledMemory {
  /** @type {Block[]} */
  blocks = [];
  #values = 0;

  /** @param {Hw} hw @param {number} pages that its memory has at most */
  constructor(hw, pages) {
    this.hw = hw;
    this.engine = checkEngine(hw);
    this.pages = Math.min(pages, MOST_PAGES);
  }

  get isFull() {
    return this.hw.memoryBytes === this.pages * PAGE;
  }

  /** That the blocks hold. */
  get bytes() {
    return this.blocks.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  /** @param {number} bytes @returns {boolean} whether there was room */
  add(bytes) {
    const { engine } = this;
    const dim = Math.max(1, Math.floor(bytes / 8));
    let pointer = 0;
    const config = { dim, eps: 1e-5 };
    const make = () => {
      pointer = createModule(engine, { kind: 'layerNorm', config, what: 'a block' });
    };
    if (isRefused(make)) return false;
    const start = weightOf(engine, pointer);
    const block = { pointer, start, end: start + dim * 8, value: ++this.#values };
    assert.ok(block.end <= this.hw.memoryBytes, `a block at ${start} leaves memory`);
    this.blocks.push(block);
    engine.floats.fill(block.value, start / 4, block.end / 4);
    return true;
  }

  /** @param {Block} block @param {boolean} isWhole or only its ends and a number on each page */
  #check({ start, end, value }, isWhole) {
    const { floats } = this.engine;
    const last = end / 4 - 1;
    let isKept = floats[last] === value;
    for (let i = start / 4; i < last; i += isWhole ? 1 : 1024) isKept &&= floats[i] === value;
    assert.ok(isKept, `a weight of ${end - start} bytes at ${start} has changed`);
  }

  /** Every block keeps its values and a place of its own. */
  check(isWhole = false) {
    for (const block of this.blocks) this.#check(block, isWhole);
    const places = this.blocks
      .flatMap(({ pointer, start, end }) => [
        [start, end],
        [pointer, pointer + 16],
      ])
      .sort(([a], [b]) => a - b);
    places.forEach(([start], i) =>
      assert.ok(i === 0 || places[i - 1][1] <= start, `two blocks overlap at ${start}`),
    );
  }

  /** @param {(index: number) => boolean} chooses */
  remove(chooses) {
    this.blocks = this.blocks.filter(({ pointer }, i) => {
      if (chooses(i)) this.engine.call.module_destroy(pointer);
      return !chooses(i);
    });
  }

  /**
   * Sizes one after another until none of them has room; then ever smaller ones, until nothing has.
   * @param {number[]} shares of memory
   */
  fill(shares) {
    const sizes = shares.map((share) => Math.floor(share * this.pages * PAGE));
    let refused = 0;
    for (let i = 0; refused < sizes.length; i++)
      refused = this.add(sizes[i % sizes.length]) ? 0 : refused + 1;
    for (let bytes = this.pages * PAGE; bytes >= 8; bytes = Math.floor(bytes / 2))
      while (this.add(bytes));
    assert.ok(this.isFull, `${this.hw.memoryBytes / PAGE} pages of ${this.pages}`);
  }
}

const attending = { dIn: 40, dOut: 64, contextLength: 300, numHeads: 4 };

/** Calls of all kinds, that need from some kB to a MB each. @type {((hw: Hw) => Float32Array[])[]} */
const calls = [
  (hw) => [hw.softmax(data(1, [100, 300])).data],
  (hw) => [hw.matmul(data(2, [200, 90]), data(3, [90, 120])).data],
  (hw) => {
    const mha = new hw.MultiHeadAttention(attending);
    try {
      const { output, trace } = mha.forward(data(4, [2, 300, 40]), { trace: true });
      assert.ok(trace);
      try {
        return [output.data, trace.map({ head: 1, size: 20 }).data];
      } finally {
        trace.dispose();
      }
    } finally {
      mha.dispose();
    }
  },
];

/** What the calls give where there is room. @param {Hw} hw @returns {Float32Array[][]} */
export const results = (hw) =>
  calls.map((call) => {
    hw.manualSeed(3);
    return call(hw);
  });

/** Each call is refused or right. @param {Hw} hw @param {Float32Array[][]} expected @returns {number} refused ones */
export function refusals(hw, expected) {
  return calls.filter((call, i) =>
    isRefused(() => {
      hw.manualSeed(3);
      const actual = call(hw);
      actual.forEach((values, j) =>
        assert.ok(bytesOf(values).equals(bytesOf(expected[i][j])), 'other numbers'),
      );
    }),
  ).length;
}

/** @param {Float32Array} values */
const bytesOf = (values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

/** Every call is right. @param {Hw} hw @param {Float32Array[][]} expected */
export function worksOn(hw, expected) {
  assert.equal(refusals(hw, expected), 0);
  checkFused(hw);
}
