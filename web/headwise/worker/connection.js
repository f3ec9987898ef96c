import { Endpoint } from './endpoint.js';

/** Connections that wait for an answer. This set keeps them alive. @type {Set<Connection>} */
const waiting = new Set();

/** Ends a Worker when its connection is unreachable, even without `dispose`. */
const workers = new FinalizationRegistry((/** @type {any} */ worker) => worker.terminate());

/** A Worker, and calls to what it serves (./serve.js). */
export class Connection extends Endpoint {
  #worker;
  #failed;

  /**
   * @param {any} worker of the browser or of Node
   * @param {(failure: { message?: string }) => Error} failed what all who wait are told if it fails
   */
  constructor(worker, failed) {
    super((message, transfers) => worker.postMessage(message, transfers));
    this.#worker = worker;
    this.#failed = failed;
    // The Worker must not hold what its end depends on.
    const self = new WeakRef(this);
    const hear = (/** @type {any} */ data) => self.deref()?.hear(data);
    const hearUnread = () => self.deref()?.hearUnread();
    const fail = (/** @type {{ message?: string }} */ failure) => self.deref()?.fail(failure);
    if (typeof worker.on === 'function') {
      worker.on('message', hear);
      worker.on('messageerror', hearUnread);
      worker.on('error', fail);
      worker.on('exit', () => fail({ message: 'it ended' }));
      worker.unref();
    } else {
      worker.addEventListener('message', (/** @type {MessageEvent} */ { data }) => hear(data));
      worker.addEventListener('error', (/** @type {ErrorEvent} */ event) => {
        event.preventDefault();
        fail(event);
      });
      worker.addEventListener('messageerror', hearUnread);
    }
    workers.register(this, worker, this);
  }

  /**
   * @internal
   * @param {{ message?: string }} failure
   */
  fail(failure) {
    if (!this.hasEnded) this.end(this.#failed(failure));
  }

  /**
   * Ends the Worker.
   * @override
   * @param {unknown} reason what all who wait, and all later calls, are told
   */
  end(reason) {
    if (this.hasEnded) return;
    super.end(reason);
    workers.unregister(this);
    this.#worker.terminate();
    waiting.delete(this);
  }

  /**
   * @override
   * @protected
   * @param {boolean} isWaiting
   */
  waits(isWaiting) {
    if (isWaiting) {
      waiting.add(this);
      this.#worker.ref?.();
    } else {
      waiting.delete(this);
      // Node: idle, it does not keep the process alive.
      this.#worker.unref?.();
    }
  }
}
