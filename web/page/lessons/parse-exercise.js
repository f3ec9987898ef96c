/**
 * An exercise is a Markdown file in exercises/, named as its lesson:
 *
 *     # What it is called
 *     From 002, exercise 3.2
 *
 *     The task, in paragraphs with `code` in them.
 *
 *     ## Start, ## Hint, ## Solution, ## Check
 *
 * Start, Solution and Check hold a block of JavaScript each, Hint a paragraph. The check runs after the visitor's code and
 * knows its variables; each of its calls of `check` tells whether one thing is right. What it imports is CHECK_IMPORTS.
 *
 * @typedef {object} Exercise
 * @property {string} title
 * @property {string} from where in the documents
 * @property {string[]} text paragraphs
 * @property {string} start code
 * @property {string} hint
 * @property {string} solution code
 * @property {string} check code
 */

/** A check has its own: the visitor's code may import less, or use its names. */
const CHECK_IMPORTS = `const { load, tensor } = await import('headwise');
const { check, largestDifference, tensorFrom } = await import('../tools.js');`;

/** @param {string} text */
const codeOf = (text) => /```js\n([\s\S]*?)\n```/.exec(text)?.[1];

/**
 * @param {string} source
 * @returns {Exercise}
 * @throws {Error} if a part is missing
 */
export function parseExercise(source) {
  const [head, ...parts] = source.split(/^## /m);
  const [, title, from, words] = /^# (.+)\nFrom (.+)\n([\s\S]*)$/.exec(head) ?? [];
  const of = (/** @type {string} */ name) =>
    parts.find((part) => part.startsWith(`${name}\n`))?.slice(name.length) ?? '';
  const [start, solution, check] = ['Start', 'Solution', 'Check'].map((name) => codeOf(of(name)));
  const hint = of('Hint').trim().replaceAll('\n', ' ');
  if (!title || !hint || start === undefined || solution === undefined || check === undefined) {
    throw new Error('an exercise has a title, From, Start, Hint, Solution and Check');
  }
  const text = words.trim().split(/\n\s*\n/);
  return {
    title,
    from,
    text: text.map((one) => one.replaceAll('\n', ' ')),
    start,
    hint,
    solution,
    check: `{\n${CHECK_IMPORTS}\n${check}\n}`,
  };
}
