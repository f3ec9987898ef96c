// The processes that tests start. Each has a name and a time limit; the error for one that exceeds its limit says both.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** In seconds, what a child may take. */
const LIMIT = 120;

/** Of its output, how many characters an error shows. */
const SHOWN = 4000;

/**
 * Node waits at its exit for compilations in the background, and these may wait for the main thread to collect garbage:
 * neither goes on (nodejs/node#54918). With this flag V8 compiles in the main thread.
 */
export const NODE_FLAGS = ['--no-concurrent-recompilation'];

/** @typedef {{ seconds?: number, isShown?: boolean, cwd?: string, env?: NodeJS.ProcessEnv,
 *   shell?: boolean }} ChildOptions */
/** @typedef {{ status: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string }} Ended */

/**
 * @param {string} name what an error calls it
 * @param {string} command
 * @param {readonly string[]} args
 * @param {ChildOptions} [options] seconds: its limit; isShown: its output goes to this process's, and is not returned
 * @returns {Promise<Ended>} status: null if a signal has ended it
 */
export async function run(name, command, args, options = {}) {
  const { seconds = LIMIT, isShown = false, ...rest } = options;
  const out = isShown ? 'inherit' : 'pipe';
  const child = spawn(command, args, { ...rest, stdio: ['ignore', out, out] });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end(child);
  }, seconds * 1000);
  const closed = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal }));
  });
  try {
    const [{ status, signal }, stdout, stderr] = await Promise.all([
      closed,
      readAll(child.stdout),
      readAll(child.stderr),
    ]);
    if (isLate)
      throw new Error(`${name} did not end within ${seconds} s\n${tail(stdout + stderr)}`);
    return { status, signal, stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @param {ChildOptions} [options]
 */
export const runNode = (name, args, options) =>
  run(name, process.execPath, [...NODE_FLAGS, ...args], options);

/**
 * Runs a module in a Node of its own. It calls `report(value)` once, which prints the value and ends the process.
 *
 * @param {string} name
 * @param {string} script
 * @param {ChildOptions & { flags?: readonly string[] }} [options]
 * @returns {Promise<any>} the value, as JSON has it
 */
export async function evaluate(name, script, { flags = [], ...options } = {}) {
  const code = `const report = (value) =>
    process.stdout.write(JSON.stringify(value), () => process.kill(process.pid, 'SIGKILL'));
    ${script}`;
  const args = [...flags, '--input-type=module', '-e', code];
  const { stdout, stderr } = await runNode(name, args, options);
  if (!stdout) throw new Error(`${name} reported nothing\n${tail(stderr)}`);
  return JSON.parse(stdout);
}

/** @param {import('node:stream').Readable | null} stream */
const readAll = async (stream) => {
  if (!stream) return '';
  /** @type {Buffer[]} */
  const chunks = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch {
    // Closed early: what came is all.
  }
  return Buffer.concat(chunks).toString();
};

/** @param {string} output */
const tail = (output) => output.slice(-SHOWN);

/** Ends a child and all that it has started. @param {import('node:child_process').ChildProcess} child */
function end(child) {
  for (const pid of familyOf(Number(child.pid)))
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  // A process that was started and is not known may hold the other ends.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** @param {number} pid @returns {number[]} it and, on Linux, all that it has started */
function familyOf(pid) {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
  } catch {
    return [pid];
  }
}
