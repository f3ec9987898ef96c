// What the pages of tests/page/threads.test.js run: the same input on engines of one, two and three threads. The functions
// reach pages as their text, so they use nothing from around them.

/**
 * @typedef {object} Outcome
 * @property {{ threads: number, threadsReason: string }[]} infos for one, two and three threads
 * @property {boolean} same whether all gave the same bits
 */

/**
 * @param {string} address of the package
 * @returns {Promise<Outcome>}
 */
export async function compute(address) {
  const { load } = await import(address);
  const infos = [];
  /** @type {string[]} */
  const outputs = [];
  for (const threads of [1, 2, 3]) {
    const hw = await load({ threads });
    hw.manualSeed(1);
    const linear = new hw.Linear({ inFeatures: 30, outFeatures: 50 });
    const { output } = linear.forward(hw.randn([800, 30]));
    infos.push({ ...hw.info });
    outputs.push(output.toNested().flat().join());
    hw.dispose();
  }
  return { infos, same: outputs.every((output) => output === outputs[0]) };
}

/**
 * The same in a Worker.
 *
 * @param {string} address
 * @param {string} self the address of this file
 * @returns {Promise<Outcome>}
 */
export function computeInWorker(address, self) {
  const source = `
    import { compute } from ${JSON.stringify(self)};
    postMessage(await compute(${JSON.stringify(address)}));`;
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}
