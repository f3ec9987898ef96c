// A Worker that stands for another one, and can end it while the thread that started them waits for it.
//   { script }  starts it
//   { end: ms } ends it so much later
// Everything else is passed on, either way.
const node =
  typeof globalThis.postMessage === 'function'
    ? undefined
    : await import(['node', 'worker_threads'].join(':'));

/** @param {string} script @returns {any} */
const start = (script) =>
  node ? new node.Worker(new URL(script)) : new globalThis.Worker(script, { type: 'module' });

/** @param {any} port @param {(data: any) => void} hear */
const listen = (port, hear) =>
  node
    ? port.on('message', hear)
    : port.addEventListener('message', (/** @type {MessageEvent} */ { data }) => hear(data));

const starter = node ? node.parentPort : globalThis;
/** @type {any} */
let worker;

listen(starter, (data) => {
  if (data.script !== undefined) {
    worker = start(data.script);
    listen(worker, (answer) => starter.postMessage(answer));
  } else if (data.end !== undefined) {
    setTimeout(() => worker.terminate(), data.end);
  } else {
    worker.postMessage(data);
  }
});

export {};
