// A further thread of an engine. It imports nothing, so it stays a single file wherever it is copied.
//   { module, memory }  → instantiates; answers '' or, in words, why it cannot
//   { thread, stack }   works and sleeps inside the module, deaf to messages, until the engine stops its team

/**
 * @typedef {object} Port
 * @property {((event: { data: any }) => void) | null} onmessage
 * @property {(message: string) => void} postMessage
 */

/** @param {Port} port */
function serve(port) {
  /** @type {any} */
  let engine;

  /** @param {number} thread @param {number} stack */
  function work(thread, stack) {
    engine.__stack_pointer.value = stack;
    try {
      engine.team_work(thread);
    } catch (error) {
      engine.team_fail();
      throw error;
    }
  }

  port.onmessage = ({ data: { module, memory, thread, stack } }) => {
    if (module === undefined) {
      work(thread, stack);
      return;
    }
    try {
      engine = new WebAssembly.Instance(module, { env: { memory } }).exports;
      port.postMessage('');
    } catch (error) {
      port.postMessage(/** @type {Error} */ (error).message);
    }
  };
}

if (typeof globalThis.postMessage === 'function') {
  serve(/** @type {any} */ (globalThis));
} else {
  import(/* @vite-ignore */ /* webpackIgnore: true */ ['node', 'worker_threads'].join(':')).then(
    ({ parentPort }) => serve(parentPort),
  );
}
