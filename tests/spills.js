// The hot loops of a module in V8's optimised x64 machine code, and what each of them moves through the stack.
// The modules carry no names, so a kernel is told by its work: an innermost loop with vector multiply-adds, of floats or of
// integers.
//
//   node tests/spills.js [module.wasm …]    prints a line per loop, and fails if one keeps vectors on the stack; without
//                                           arguments both built modules
import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode } from './child.js';

/**
 * @typedef {object} Instruction
 * @property {number} offset from the function's start
 * @property {string} text
 * @property {string} name without the v of the AVX form
 * @property {string[]} operands
 * @property {number} target offset of the instruction that a jump leads to, else -1
 */

/**
 * @typedef {object} Block
 * @property {Instruction[]} instructions
 * @property {number[]} successors indices of blocks
 */

/**
 * @typedef {object} Loop
 * @property {number} function its index in the module
 * @property {number} offset of the loop's header in the function's code
 * @property {number} instructions of one iteration, as the compiler unrolled it
 * @property {number} multiplyAdds fused, dots of bytes, or pairs of a product and a sum, of floats or of integers
 * @property {number} loads vectors read from memory
 * @property {number} broadcasts floats read into all lanes
 * @property {number} stores vectors written to memory
 * @property {number} constants vector constants made anew in every iteration
 * @property {number} copies from one vector register to another
 * @property {number} stackMoves vector registers written to or read from the stack: spills
 * @property {number} pointerMoves other registers written to or read from the stack
 * @property {Instruction[]} code
 */

/** A tile of the engine has at least so many multiply-adds. */
const KERNEL = 8;

const RELAXED_FLAG = '--experimental-wasm-relaxed-simd';

export const modules = ['simd128', 'relaxed'].map((name) =>
  fileURLToPath(new URL(`../web/headwise/wasm/headwise-${name}.wasm`, import.meta.url)),
);

/**
 * The innermost loops with enough multiply-adds, in the code of V8's optimising compiler.
 * @param {string} module path of a wasm module
 * @param {number} [least] multiply-adds in one iteration of a loop that counts as a kernel
 * @returns {Promise<Loop[]>}
 */
export async function hotLoops(module, least = KERNEL) {
  return [...functions(await machineCode(module))]
    .flatMap(([index, instructions]) =>
      innermostLoops(blocksOf(instructions)).map((code) => measure(index, code)),
    )
    .filter((loop) => loop.multiplyAdds >= least && !putsDotsTogether(loop))
    .sort((a, b) => a.function - b.function || a.offset - b.offset);
}

/**
 * Dots of bytes, put together from products of pairs: they are not fast, and the engine then multiplies int8 by pairs of
 * 16 bits instead.
 * @param {Loop} loop
 */
const putsDotsTogether = ({ code }) => code.some(({ name }) => name === 'pmaddubsw');

/** @param {string} module */
async function machineCode(module) {
  // Without the baseline compiler and without waiting for a first call, everything is optimised at once.
  const flags = ['--print-wasm-code', '--no-liftoff', '--no-wasm-lazy-compilation'];
  // Node 20 has relaxed SIMD behind a flag that later versions do not know.
  if (process.execArgv.includes(RELAXED_FLAG) || !WebAssembly.validate(readFileSync(module)))
    flags.push(RELAXED_FLAG);
  // One thread, so that functions are printed one after another.
  flags.push('--single-threaded');
  const compile = 'new WebAssembly.Module(require("node:fs").readFileSync(process.argv[1]))';
  const result = await runNode(basename(module), [...flags, '-e', compile, module]);
  if (result.status !== 0) throw new Error(`${basename(module)}: ${result.stderr}`);
  return result.stdout;
}

/**
 * @param {string} listing
 * @returns {Map<number, Instruction[]>} by function index
 */
function functions(listing) {
  const found = new Map();
  for (const part of listing.split('--- WebAssembly code ---').slice(1)) {
    const index = /^index: (\d+)$/m.exec(part);
    if (!index || !/^compiler: Turbo/m.test(part)) continue;
    found.set(Number(index[1]), instructionsOf(part));
  }
  return found;
}

/**
 * Lines such as `0x7f05c0  1c0  c5f858c1   vaddps xmm0,xmm0,xmm1`.
 * @param {string} part
 */
function instructionsOf(part) {
  /** @type {Instruction[]} */
  const instructions = [];
  // Padding before a loop is left out; who jumps there comes to the loop.
  /** @type {Map<number, number>} */
  const afterPadding = new Map();
  /** @type {number[]} */
  let padding = [];
  for (const [, offsetText, text] of part.matchAll(
    /^0x[0-9a-f]+ +([0-9a-f]+) +[0-9a-f]+ +(?:REX\.W )?(\S.*)$/gm,
  )) {
    const offset = parseInt(offsetText, 16);
    const space = text.indexOf(' ');
    const name = (space < 0 ? text : text.slice(0, space)).replace(/^v/, '');
    if (name === 'nop') {
      padding.push(offset);
      continue;
    }
    for (const skipped of padding) afterPadding.set(skipped, offset);
    padding = [];
    const operands = space < 0 ? [] : text.slice(space + 1).split(/,(?![^[]*\])/);
    const target = name.startsWith('j') ? jumpTarget(text) : -1;
    instructions.push({ offset, text, name, operands, target });
  }
  return instructions.map((instruction) => ({
    ...instruction,
    target: afterPadding.get(instruction.target) ?? instruction.target,
  }));
}

/** @param {Instruction} instruction */
const isJump = ({ name }) => name.startsWith('j');

/** @param {Instruction} instruction */
const endsFlow = ({ name }) => /^(jmp|ret|retl|ud2|int3)$/.test(name);

/** @param {string} text */
function jumpTarget(text) {
  const target = /<\+0x([0-9a-f]+)>/.exec(text);
  return target ? parseInt(target[1], 16) : -1;
}

/**
 * @param {Instruction[]} instructions
 * @returns {Block[]}
 */
function blocksOf(instructions) {
  const starts = new Set(instructions.map(({ target }) => target));
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Map<number, number>} */
  const blockAt = new Map();
  instructions.forEach((instruction, i) => {
    const before = instructions[i - 1];
    if (!before || starts.has(instruction.offset) || isJump(before) || endsFlow(before)) {
      blockAt.set(instruction.offset, blocks.length);
      blocks.push({ instructions: [], successors: [] });
    }
    blocks[blocks.length - 1].instructions.push(instruction);
  });
  blocks.forEach((block, i) => {
    const last = block.instructions[block.instructions.length - 1];
    if (!endsFlow(last) && i + 1 < blocks.length) block.successors.push(i + 1);
    if (last.target < 0) return;
    const next = blockAt.get(last.target);
    if (next === undefined) throw new Error(`No instruction at the target of ${last.text}`);
    block.successors.push(next);
  });
  return blocks;
}

/**
 * The code of each innermost loop, without blocks that call: those are the stack guard and others that wait
 * beside the loop.
 * @param {Block[]} blocks
 * @returns {Instruction[][]}
 */
function innermostLoops(blocks) {
  const predecessors = blocks.map(() => /** @type {number[]} */ ([]));
  blocks.forEach((block, i) => block.successors.forEach((next) => predecessors[next].push(i)));
  // Where nothing leads is the entry, or the target of a jump table.
  const entries = blocks.flatMap((_, i) => (i === 0 || predecessors[i].length === 0 ? [i] : []));

  /** @type {Map<number, Set<number>>} */
  const loops = new Map();
  blocks.forEach((_, header) => {
    const withoutHeader = reachable(entries, header, (i) => blocks[i].successors);
    // Back edges come from blocks that can be reached through the header only.
    const latches = predecessors[header].filter((i) => !withoutHeader.has(i));
    if (latches.length === 0) return;
    const body = reachable(latches, header, (i) => predecessors[i]);
    loops.set(header, body.add(header));
  });
  return [...loops]
    .filter(([header, body]) => ![...body].some((i) => i !== header && loops.has(i)))
    .map(([, body]) =>
      [...body]
        .sort((a, b) => a - b)
        .map((i) => blocks[i].instructions)
        .filter((code) => !code.some(({ name }) => name === 'call'))
        .flat(),
    );
}

/**
 * @param {number[]} from
 * @param {number} barrier a block that is not entered
 * @param {(i: number) => number[]} next
 */
function reachable(from, barrier, next) {
  const seen = new Set(from.filter((i) => i !== barrier));
  for (const i of seen) for (const j of next(i)) if (j !== barrier) seen.add(j);
  return seen;
}

/**
 * @param {number} index
 * @param {Instruction[]} code
 * @returns {Loop}
 */
function measure(index, code) {
  /** @param {(instruction: Instruction) => boolean} is */
  const count = (is) => code.filter(is).length;
  /** @param {RegExp} pattern */
  const named = (pattern) => count(({ name }) => pattern.test(name));
  const memory = (/** @type {Instruction} */ i) => /\[(?!r[sb]p\b)/.test(i.text);
  const stack = (/** @type {Instruction} */ i) => /\[r[sb]p\b/.test(i.text);
  const vector = (/** @type {Instruction} */ i) => /\bxmm\d/.test(i.text);
  return {
    function: index,
    offset: code.length > 0 ? code[0].offset : 0,
    instructions: code.length,
    multiplyAdds:
      named(/^fn?madd\d+ps$|^pdpbusd$/) +
      Math.min(named(/^mulps$/), named(/^addps$/)) +
      Math.min(named(/^pmaddwd$/), named(/^paddd$/)),
    loads: count((i) => memory(i) && vector(i) && !isBroadcast(i) && !isStore(i)),
    broadcasts: count((i) => memory(i) && isBroadcast(i)),
    stores: count((i) => memory(i) && vector(i) && isStore(i)),
    constants: count(({ name, operands }) => name === 'movq' && /^xmm/.test(operands[0])),
    copies: count((i) => /^mov/.test(i.name) && i.operands.every((o) => /^xmm\d+$/.test(o))),
    stackMoves: count((i) => stack(i) && vector(i)),
    pointerMoves: count((i) => stack(i) && !vector(i)),
    code,
  };
}

/** @param {Instruction} instruction */
const isBroadcast = ({ name }) => /^broadcast|^movddup/.test(name);

/** @param {Instruction} instruction */
const isStore = ({ operands }) => /\[/.test(operands[0] ?? '');

/** @param {string[]} paths */
async function print(paths) {
  for (const path of paths) {
    console.log(`${basename(path)}, node ${process.version}, V8 ${process.versions.v8}`);
    const loops = await hotLoops(path);
    console.table(loops.map(({ code: _, ...numbers }) => numbers));
    if (loops.some(({ stackMoves }) => stackMoves > 0)) process.exitCode = 1;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2);
  await print(paths.length > 0 ? paths : modules);
}
