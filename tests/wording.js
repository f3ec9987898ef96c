// How errors are worded, in one place: tests/wording/ has every message of the tables of bad calls. Other tests check codes,
// names and values only. After a change of wording, or with a new bad call, `HEADWISE_WORDING=write npm test -- bad-calls`
// (or formats, config) writes the messages anew.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isHeadwiseError } from './helpers.js';

/** What a runtime says in its own words. */
const foreign = /(could not be read|does not compile here|cannot be parsed) \(.*?\)(?=[;,]|$)/s;

/**
 * Fails unless the error has the code, and its message names the argument, then what came, then what was expected.
 * @param {unknown} error
 * @param {string} code
 * @param {string} name
 * @param {string} [came]
 * @returns {string} the message
 */
export function checkMessage(error, code, name, came = '') {
  isHeadwiseError(error, code, [name, came]);
  const { message } = /** @type {Error} */ (error);
  const end = message.indexOf(name) + name.length;
  assert.ok(message.includes(came, end), `${came} does not come after ${name}: ${message}`);
  if (code === 'ERR_SHAPE' || code === 'ERR_VALUE') {
    assert.ok(message.startsWith(name), `${name} does not come first: ${message}`);
    assert.match(message, /([;,] expected|missing:|unexpected:) \S/, 'what was expected');
  }
  return message;
}

/** The messages of one table of bad calls, as they are thrown. */
export class Wording {
  /** @type {Map<string, string>} */ #messages = new Map();
  #url;

  /** @param {string} name of the file in tests/wording/ */
  constructor(name) {
    this.#url = new URL(`wording/${name}.txt`, import.meta.url);
  }

  /**
   * @param {string} title of the bad call
   * @param {string} message
   * @param {string} [from] which of several ways to make it; a way with the message of another is not listed
   */
  add(title, message, from) {
    const plain = message.replace(foreign, '$1 (…)');
    if (from !== undefined && this.#messages.get(title) === plain) return true;
    const name = this.#messages.has(title) && from !== undefined ? `${title}, ${from}` : title;
    assert.ok(!this.#messages.has(name), `two bad calls are titled ${name}`);
    this.#messages.set(name, plain);
    return true;
  }

  /** Fails unless the file has these messages and no others, in this order. */
  async check() {
    const lines = [...this.#messages].map(([title, message]) => `${title}: ${message}\n`);
    if (globalThis.process?.env.HEADWISE_WORDING === 'write') {
      const { writeFileSync } = await import('node:fs');
      writeFileSync(this.#url, lines.join(''));
    }
    const written = readFileSync(this.#url, 'utf8').split(/(?<=\n)/);
    const same = `${this.#url.pathname} (HEADWISE_WORDING=write npm test -- writes it anew)`;
    assert.deepEqual(lines, written, same);
  }
}
