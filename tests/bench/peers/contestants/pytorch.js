/**
 * PyTorch, native, in a process of Python: a step of training. It is there where --pytorch names a Python that has it.
 *
 * @import { Prepared, Started, Way } from './contestant.js'
 * @import { TrainTask } from '../train-task.js'
 */

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { lossAndSlope, TRAINING } from '../train-task.js';

const SCRIPT = fileURLToPath(new URL('pytorch.py', import.meta.url));
/** No answer takes longer. */
const LONGEST_MS = 120_000;

/** A process that answers a line with a line. */
class Conversation {
  #child;
  #lines;
  #complaints = '';

  /** @param {string} command @param {readonly string[]} args */
  constructor(command, args) {
    this.#child = spawn(command, args, { stdio: 'pipe' });
    this.#child.stderr.on('data', (text) => (this.#complaints += text));
    // Its end is told by the missing answer.
    this.#child.on('error', (error) => (this.#complaints += error.message));
    this.#child.stdin.on('error', () => {});
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** @param {string} text @returns {Promise<string>} */
  async ask(text) {
    const late = setTimeout(() => this.end(), LONGEST_MS);
    try {
      this.#child.stdin.write(`${text}\n`);
      const { value } = await this.#lines.next();
      if (value === undefined) throw new Error(`Python ended: ${this.#complaints.slice(-300)}`);
      return value;
    } finally {
      clearTimeout(late);
    }
  }

  end() {
    this.#child.kill('SIGKILL');
  }
}

/** @param {Float32Array} data */
const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

/**
 * @param {Buffer} bytes floats, one array after another
 * @param {TrainTask} task
 */
function arraysOf(bytes, { state }) {
  let at = bytes.byteOffset;
  const arrays = Object.entries(state).map(([name, { data }]) => {
    const array = new Float32Array(bytes.buffer.slice(at, at + data.byteLength));
    at += data.byteLength;
    return /** @type {const} */ ([name, array]);
  });
  return Object.fromEntries(arrays);
}

/**
 * @param {TrainTask} task
 * @param {number} rows of a micro-batch
 * @param {{ threads: number, python: string }} options
 * @returns {Promise<Prepared>}
 */
async function prepare(task, rows, { threads, python }) {
  const { state, direction: _direction, ...rest } = task;
  const folder = await mkdtemp(join(tmpdir(), 'headwise-pytorch-'));
  const file = join(folder, 'weights');
  const torch = new Conversation(python, [SCRIPT]);
  const dispose = async () => {
    torch.end();
    await rm(folder, { recursive: true, force: true });
  };
  const shapes = Object.fromEntries(
    Object.entries(state).map(([name, { shape }]) => [name, shape]),
  );
  const told = { ...rest, microBatch: rows, shapes, threads, file, training: TRAINING };
  try {
    await writeFile(file, Buffer.concat(Object.values(state).map(({ data }) => bytesOf(data))));
    await torch.ask(JSON.stringify(told));
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    async first() {
      const loss = Number(await torch.ask('first'));
      const gradients = arraysOf(await readFile(file), task);
      await rm(folder, { recursive: true });
      return lossAndSlope(task, loss, (name) => gradients[name]);
    },
    run: async () => Float32Array.of(Number(await torch.ask('run'))),
    dispose,
  };
}

/** @param {TrainTask} task @param {{ threads: number, python: string }} options @returns {Way[]} */
const waysOf = (task, options) =>
  Object.entries({ 'whole batch': task.batch, 'micro-batches': task.microBatch }).map(
    ([name, rows]) => ({ name, prepare: () => prepare(task, rows, options) }),
  );

/**
 * @param {{ threads: number, python?: string }} options
 * @returns {Promise<Started>}
 */
export async function start({ threads, python = 'python3' }) {
  return { ways: (task) => (task.kind === 'train' ? waysOf(task, { threads, python }) : []) };
}
