// Command lines of scripts: how they are read, and how what is wrong is told.
import { parseArgs } from 'node:util';

/** A wrong option or argument: it is told with the script's usage. */
export class UsageError extends Error {}

/**
 * As parseArgs of Node.
 *
 * @template {import('node:util').ParseArgsConfig} T
 * @param {T} config
 * @returns {ReturnType<typeof parseArgs<T>>}
 * @throws {UsageError}
 */
export function parse(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @template {string} T @param {string} name in letters of any case @param {readonly T[]} known */
const find = (name, known) =>
  known.find((other) => other.toLowerCase() === name.trim().toLowerCase());

/**
 * @template {string} T
 * @param {string} option
 * @param {string} given
 * @param {readonly T[]} known
 * @returns {T[]} as known
 */
export function choose(option, given, known) {
  return given.split(',').map((name) => {
    const found = find(name, known);
    if (found === undefined)
      throw new UsageError(`--${option} is ${name}; expected some of ${known.join(', ')}`);
    return found;
  });
}

/** @template {string} T @param {string} option @param {string} given @param {readonly T[]} known */
export function chooseOne(option, given, known) {
  const found = find(given, known);
  if (found === undefined)
    throw new UsageError(`--${option} is ${given}; expected one of ${known.join(', ')}`);
  return found;
}

/**
 * @param {string} option
 * @param {string} given
 * @param {(value: number) => boolean} fits
 * @param {string} expected
 */
export function number(option, given, fits, expected) {
  const value = Number(given);
  if (given.trim() === '' || !fits(value))
    throw new UsageError(`--${option} is ${given}; expected ${expected}`);
  return value;
}

/** @param {number} value */
export const isSeed = (value) => Number.isSafeInteger(value) && value >= 0;

/**
 * Runs a script. A wrong command line, a file that cannot be read or written, and what else its user can mend, are told in a line;
 * other errors with their stack.
 *
 * @param {(args: string[]) => Promise<void>} main
 * @param {string} usage
 * @param {(error: unknown) => boolean} [isUsers] whether it is the user's
 */
export async function runScript(main, usage, isUsers = () => false) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    const { message, syscall } = /** @type {NodeJS.ErrnoException} */ (error);
    const isUsage = error instanceof UsageError;
    if (!isUsage && syscall === undefined && !isUsers(error)) throw error;
    console.error(isUsage ? `${message}\n${usage}` : message);
    process.exitCode = 2;
  }
}
