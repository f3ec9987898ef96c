/**
 * What a contestant is: a module with a function `start`.
 *
 * @typedef {import('../task.js').Task} Task
 *
 * @typedef {object} Prepared
 * @property {() => Float32Array | Promise<Float32Array>} run JavaScript arrays in, a JavaScript array out; weights and cache
 *   stay where they are
 * @property {() => Float32Array | Promise<Float32Array>} [first] what is compared with the right result; default: run
 * @property {() => void | Promise<void>} dispose
 *
 * @typedef {object} Way one way to do a task; where there are several they are tried in order until one is right
 * @property {string} name
 * @property {() => Prepared | Promise<Prepared>} prepare
 *
 * @typedef {object} Started
 * @property {(task: Task) => Way[]} ways none: it cannot do the task
 *
 * @typedef {object} Contestant
 * @property {(options: { threads: number, python?: string }) => Promise<Started>} start loads what it needs, and only then;
 *   python: the Python that has PyTorch
 */
export {};
