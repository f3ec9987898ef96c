import { startThread } from '../addresses.js';
import { whyNoWorker } from './hints.js';

/** Threads that an engine can have. */
const mostThreads = 32;

/** How long a worker may take to say that it is ready. */
const mostMsUntilReady = 5000;

/** @param {{ message?: string }} failure */
const whyOf = (failure) => whyNoWorker(failure, import.meta.url, 'worker-thread.js');

/**
 * @param {any} worker
 * @returns {Promise<string>} '' when it is ready; else why it is not
 */
function answerOf(worker) {
  return new Promise((resolve) => {
    /** @param {ErrorEvent} event or, in Node, an Error */
    const failed = (event) => {
      event.preventDefault?.();
      resolve(whyOf(event));
    };
    if (typeof worker.on === 'function') {
      worker.on('message', resolve);
      worker.on('error', failed);
      worker.on('exit', () => resolve('it ended'));
    } else {
      worker.onmessage = (/** @type {MessageEvent} */ { data }) => resolve(data);
      worker.onerror = failed;
    }
  });
}

/** The workers of an engine: its threads but the first. */
export class Crew {
  /** @type {any[]} */
  #workers = [];
  /** @type {Promise<string>[]} */
  #answers = [];

  /** How often a call looks at a thread in which nothing goes on, in 2^20 looks: about a ms each. */
  mebilooks = 2 ** 13;

  /** Why there are fewer than were asked for; '' if there are not. */
  reason = '';

  /**
   * Starts workers, which takes a while that `join` waits for.
   * @param {number} threads of the engine, its first included
   */
  static async start(threads) {
    const crew = new Crew();
    const count = Math.min(threads, mostThreads) - 1;
    if (threads > mostThreads) {
      crew.reason = `${threads} threads were asked for; an engine has at most ${mostThreads}`;
    }
    try {
      while (crew.#workers.length < count) {
        const worker = await startThread();
        crew.#workers.push(worker);
        crew.#answers.push(answerOf(worker));
      }
    } catch (error) {
      crew.reason = `a Worker could not be started: ${whyOf(/** @type {Error} */ (error))}`;
    }
    return crew;
  }

  /** Threads of the engine. */
  get threads() {
    return this.#workers.length + 1;
  }

  /**
   * Lets the workers instantiate the module; those that are not ready in time are ended.
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} memory
   */
  async join(module, memory) {
    /** @type {any} */
    let timer;
    const late = new Promise((/** @type {(text: string) => void} */ resolve) => {
      timer = setTimeout(
        () => resolve(`it was not ready in ${mostMsUntilReady / 1000} s`),
        mostMsUntilReady,
      );
    });
    const problems = await Promise.all(
      this.#workers.map((worker, i) => {
        try {
          worker.postMessage({ module, memory });
        } catch (error) {
          return /** @type {Error} */ (error).message;
        }
        return Promise.race([this.#answers[i], late]);
      }),
    );
    clearTimeout(timer);
    const problem = problems.find(Boolean);
    if (problem !== undefined) {
      this.reason = `a Worker could not be started: ${problem}`;
    }
    this.#workers = this.#workers.filter((worker, i) => {
      if (problems[i] === '') {
        // Node: asleep, it does not keep the process alive.
        worker.unref?.();
        return true;
      }
      worker.terminate();
      return false;
    });
  }

  /**
   * Sends the workers to their team.
   * @param {(thread: number) => number} stackOf the top of a thread's stack
   */
  begin(stackOf) {
    this.#workers.forEach((worker, i) =>
      worker.postMessage({ thread: i + 1, stack: stackOf(i + 1) }),
    );
  }

  end() {
    this.#workers.splice(0).forEach((worker) => worker.terminate());
  }
}
