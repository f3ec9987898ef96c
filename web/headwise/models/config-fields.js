import { checkBelow, choicesOf, isInteger } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray, entriesOf, isObject } from '../checks/foreign.js';
import { isRecord, parseObject } from '../formats/json.js';

/** Of a size: beyond, no memory holds it. */
const sizes = 2 ** 32;

/** Whether it asks for nothing. @param {unknown} value @param {string} name */
const isOff = (value, name) => (isObject(value) ? entriesOf(value, name).length === 0 : !value);

/** The fields of one config, each checked where it is asked for. */
export class Fields {
  #values;
  #name;
  #where;
  #asked = new Set();

  /**
   * @param {Record<string, unknown>} values
   * @param {string} name the file's
   * @param {string} [where] the field that holds them, with a dot
   */
  constructor(values, name, where = '') {
    // Read once: reading may run the caller's code.
    this.#values = Object.fromEntries(entriesOf(values, name));
    this.#name = name;
    this.#where = where;
  }

  /**
   * @param {string | object} json a file's text, or what it says
   * @param {string} name the file's
   * @returns {Fields}
   * @throws {HeadwiseError} ERR_FORMAT: no JSON, or no object
   */
  static parse(json, name) {
    /** @type {(problem: string, cause?: unknown) => Error} */
    const error = (problem, cause) =>
      new HeadwiseError('ERR_FORMAT', `${name}: ${problem}`, { cause });
    const values = typeof json === 'string' ? parseObject(json, error) : json;
    if (!isRecord(values)) {
      throw misfit(values, name, 'an object', 'ERR_FORMAT');
    }
    return new Fields(values, name);
  }

  /** @param {string} field @param {string} expected @param {unknown} [value] of the field */
  error(field, expected, value = this.#values[field]) {
    const found = value === undefined ? 'is missing' : `is ${describe(value)}`;
    const problem = `${this.#where}${field} ${found}; expected ${expected}`;
    return new HeadwiseError('ERR_FORMAT', `${this.#name}: ${problem}`);
  }

  /**
   * A field's value.
   * @param {string} field
   * @param {unknown} [otherwise] if it is missing
   * @returns {unknown} null if the field is
   */
  own(field, otherwise) {
    this.#asked.add(field);
    return this.#values[field] === undefined ? otherwise : this.#values[field];
  }

  /**
   * A field's value; what is null is missing.
   * @param {string} field
   * @param {unknown} [otherwise]
   */
  get(field, otherwise) {
    return this.own(field) ?? otherwise;
  }

  /** The first of a field's names that the config has, else the first. @param {string} names with spaces between */
  spelling(names) {
    const all = names.split(' ');
    all.forEach((name) => this.#asked.add(name));
    return all.find((name) => (this.#values[name] ?? null) !== null) ?? all[0];
  }

  /**
   * @param {string} field
   * @param {number} [otherwise]
   * @param {number} [most]
   * @param {number} [least]
   * @returns {number}
   */
  size(field, otherwise, most = sizes - 1, least = 1) {
    const value = this.get(field, otherwise);
    if (!isInteger(value) || value < least || value > most) {
      throw this.error(
        field,
        `an integer from ${least} to ${most === sizes - 1 ? '2^32 - 1' : most}`,
      );
    }
    return value;
  }

  /** @param {string} field @param {number} otherwise if it is missing @returns {number} 0: null, or 0 */
  sizeOrNone(field, otherwise) {
    const value = this.own(field, otherwise || null);
    return value === null || value === 0 ? 0 : this.size(field, otherwise);
  }

  /** @param {string} field @param {boolean} otherwise @returns {boolean} */
  boolean(field, otherwise) {
    const value = this.get(field, otherwise);
    if (typeof value !== 'boolean') {
      throw this.error(field, 'true or false');
    }
    return value;
  }

  /**
   * @param {string} field
   * @param {number | undefined} otherwise
   * @param {number} [above] which it must be above
   * @returns {number} with which the engine computes in float32
   */
  number(field, otherwise, above = 1e-30) {
    const value = this.get(field, otherwise);
    if (typeof value !== 'number' || !(value > above && value < 1e30)) {
      throw this.error(field, `a number above ${above}, below 1e30`);
    }
    return value;
  }

  /** @param {string} field @param {number} otherwise @returns {number} what is added to variances */
  eps(field, otherwise) {
    const name = `${this.#name}: ${this.#where}${field}`;
    return checkBelow(this.get(field, otherwise), name, undefined, 'ERR_FORMAT');
  }

  /**
   * @template T
   * @param {string} field
   * @param {Readonly<Record<string, T>>} choices
   * @param {string} otherwise
   * @returns {T}
   */
  choice(field, choices, otherwise) {
    const value = this.get(field, otherwise);
    if (typeof value !== 'string' || !Object.hasOwn(choices, value)) {
      throw this.error(field, choicesOf(Object.keys(choices)));
    }
    return choices[value];
  }

  /**
   * @param {string} field
   * @param {number} length at least
   * @param {readonly unknown[]} values which an entry may have
   * @returns {any[] | undefined} undefined: it is missing or null
   */
  list(field, length, values) {
    const value = this.get(field);
    if (value === undefined) {
      return undefined;
    }
    const list = copyArray(value, sizes);
    if (list === undefined || list.length < length) {
      throw this.error(field, `a list of ${length}, one for each layer`);
    }
    const bad = list.findIndex((entry) => !values.includes(entry));
    if (bad >= 0) {
      throw this.error(`${field}[${bad}]`, choicesOf(values), list[bad]);
    }
    return list.slice(0, length);
  }

  /** The fields of an object in this one. @param {string} field @returns {Fields | undefined} undefined: none, or it is empty */
  inner(field) {
    const value = this.get(field);
    if (value !== undefined && !isRecord(value)) {
      throw this.error(field, 'an object');
    }
    if (value === undefined) {
      return undefined;
    }
    const fields = new Fields(value, this.#name, `${this.#where}${field}.`);
    return fields.names().length > 0 ? fields : undefined;
  }

  /** Fields of nothing, in the same file. */
  none() {
    return new Fields({}, this.#name);
  }

  names() {
    return Object.keys(this.#values);
  }

  /**
   * Throws if a field that was not read turns a feature on.
   * @param {(name: string) => boolean} matters
   */
  refuseOthers(matters) {
    for (const [field, value] of Object.entries(this.#values)) {
      if (!this.#asked.has(field) && matters(field) && !isOff(value, field)) {
        throw this.error(field, 'it to be left out: it is not implemented for this model_type');
      }
    }
  }
}
