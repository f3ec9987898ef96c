/**
 * What stays in this browser from visit to visit: changed code, and how far the visitor has come.
 *
 * @typedef {object} Kept of a lesson
 * @property {Record<string, string>} code as changed, by the step's title
 * @property {string[]} unrun titles of steps whose code a link has brought: it has not run, and does not before the visitor says so
 * @property {Record<string, string>} replaced the visitor's own code in whose place a link's was edited, by the step's title
 * @property {string | undefined} exercise its code as changed
 * @property {string[]} seen titles of steps
 * @property {boolean} solved its exercise
 */

const KEY = 'headwise.lessons';

/** What could not be stored: kept until the page is closed. @type {Record<string, Kept>} */
let unstored = {};

/** All that is kept, read anew: another tab may have changed it. @returns {Record<string, Kept>} */
function read() {
  try {
    return { ...JSON.parse(localStorage.getItem(KEY) ?? '{}'), ...unstored };
  } catch {
    return unstored;
  }
}

/** @param {unknown} value @returns {string[]} its texts, if it is a list */
const textsOf = (value) =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** @param {unknown} value @returns {Record<string, string>} its entries that are texts */
const codeOf = (value) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, code]) => typeof code === 'string'));

/** What another version or another script has stored may be anything. @param {string} id @returns {Kept} */
export function keptOf(id) {
  const { code, unrun, replaced, exercise, seen, solved } = read()[id] ?? {};
  return {
    code: codeOf(code),
    unrun: textsOf(unrun),
    replaced: codeOf(replaced),
    exercise: typeof exercise === 'string' ? exercise : undefined,
    seen: textsOf(seen),
    solved: solved === true,
  };
}

/** @param {string} id @param {Partial<Kept>} part */
export function keep(id, part) {
  const kept = { ...keptOf(id), ...part };
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...read(), [id]: kept }));
    unstored = {};
  } catch {
    unstored = { ...unstored, [id]: kept };
  }
}

/** Whether anything is kept. */
export const hasKept = () => Object.keys(read()).length > 0;

/** Whether all of it stays when the page is closed. */
export const isStored = () => Object.keys(unstored).length === 0;

export function forgetAll() {
  unstored = {};
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}
