import 'headwise/view';
import { continueThere, draw, entries } from './compute.js';

function ownWorker() {
  const worker = new Worker(new URL('./own-worker.js', import.meta.url), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message || 'the Worker failed'));
  });
}

/** For the test, which calls these when it has seen that nothing happens before. */
Object.assign(globalThis, {
  site: {
    ...entries,
    ownWorker,
    continueThere,
    async view() {
      const map = /** @type {any} */ (document.querySelector('attention-map'));
      await draw(map);
      const { data } = map.canvas.getContext('2d').getImageData(2, 2, 1, 1);
      return [...data];
    },
  },
});
