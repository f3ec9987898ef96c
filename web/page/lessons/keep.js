/**
 * What stays in this browser from visit to visit: changed code, and how far the visitor has come.
 *
 * @typedef {object} Kept of a lesson
 * @property {Record<string, string>} code as changed, by the step's title
 * @property {string | undefined} exercise its code as changed
 * @property {string[]} seen titles of steps
 * @property {boolean} solved its exercise
 */

const KEY = 'headwise.lessons';

/** @type {Record<string, Kept> | undefined} */
let all;

/** @returns {Record<string, Kept>} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof kept === 'object' && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

/** @param {string} id @returns {Kept} */
export function keptOf(id) {
  all ??= read();
  const { code = {}, exercise, seen = [], solved = false } = all[id] ?? {};
  return { code, exercise, seen, solved };
}

/** @param {string} id @param {Partial<Kept>} part */
export function keep(id, part) {
  const kept = { ...keptOf(id), ...part };
  all = { ...all, [id]: kept };
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser that stores nothing keeps it until the page is closed.
  }
}

/** Whether anything is kept. */
export function hasKept() {
  all ??= read();
  return Object.keys(all).length > 0;
}

export function forgetAll() {
  all = {};
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}
