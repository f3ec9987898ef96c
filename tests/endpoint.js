// Two ends of a MessageChannel, the one with an object that the other calls, for tests of what a page and a Worker say.
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Endpoint } from '../web/headwise/worker/endpoint.js';

/** @type {MessagePort[]} */
const ports = [];
after(() => ports.forEach((port) => port.close()));

/**
 * @param {object} root what the far end serves
 */
export function connect(root) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  /** What the near end sent. @type {any[]} */
  const sent = [];
  const near = new Endpoint((message, transfers) => {
    port1.postMessage(message, transfers);
    sent.push(message);
  });
  const far = new Endpoint((message, transfers) => port2.postMessage(message, transfers), root);
  port1.onmessage = ({ data }) => near.hear(data);
  port2.onmessage = ({ data }) => far.hear(data);
  /** @type {(name: string, ...args: unknown[]) => any} */
  const call = (name, ...args) => near.send(0, [name], 'call', args);
  return { near, call, sent };
}

/** Long enough for all that is under way here. */
export const settled = () => setTimeout(20);

/** @param {AsyncIterable<unknown>} values */
export async function listOf(values) {
  const list = [];
  for await (const value of values) list.push(value);
  return list;
}

/** Yields numbers, and tells of its end. @param {string[]} ends */
export function* counting(ends) {
  try {
    for (let i = 0; i < 3; i++) yield i;
    return 'all';
  } finally {
    ends.push('ended');
  }
}
