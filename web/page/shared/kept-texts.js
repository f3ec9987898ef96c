/**
 * Texts that are too long for an address: kept in this browser, under a name that the address has.
 */

import { isLinkable, keyOf } from './linkable.js';
import { signal } from './signals.js';

/** Of what was typed here. */
const OWN = 'headwise-text-';
/** Of what an address brought. */
const BROUGHT = 'headwise-brought-text-';

/** Names of texts that addresses brought since the page was opened. @type {Set<string>} */
const brought = new Set();

/** Notes that an address brought a text: whoever made it pushes nothing out that was typed here. @param {string | null} text */
export function noteBrought(text) {
  if (!isLinkable(text)) brought.add(keyOf(/** @type {string} */ (text)));
}

/** Whether this browser keeps such texts: it does until it refuses. */
const keeps = signal(true);

/** That a text is too long for the address, and whether it is there after a reload. */
export const tooLong = () =>
  keeps.value
    ? 'too long for the address: this browser keeps it'
    : 'too long for the address, and this browser does not keep it';

/** Said after the length of a text: something only of one that the address does not take along. @param {string | null} text */
export const linkWords = (text) =>
  isLinkable(text) ? '' : `; ${tooLong()}, others will see the sample text`;
/** Where no such text is found. */
export const LOST = 'This link refers to a long text that is not stored in this browser.';
/** Where it is the text that is read. */
export const LOST_TEXT = `${LOST} The sample text is shown instead.`;

/** So many are kept, the newest. */
const MOST = { [OWN]: 100, [BROUGHT]: 10 };

/** Of all that are kept together, in characters: what else the page keeps needs room too. */
const MOST_LENGTH = 2 ** 20;

/** In ms: a text that continues another one sooner is the same, typed on. */
const TYPING = 5000;

/** What was typed that this tab was the first to keep, last, in whichever room. */
let latest = { name: '', text: '', time: 0 };

/** Whether one of two texts is the other with a piece more, wherever that stands. @param {string} a @param {string} b */
function continues(a, b) {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  return long.endsWith(short.slice(start));
}

/** Names of the texts that are kept, the oldest first. @param {string} prefix OWN or BROUGHT */
function oldestFirst(prefix) {
  const ageOf = (/** @type {string} */ name) =>
    Number.parseInt(localStorage.getItem(name) ?? '0', 10);
  const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  return names.sort((a, b) => ageOf(a) - ageOf(b));
}

/** What is not kept any more: the oldest, of too many or too long ones; the newest stays. @param {keyof typeof MOST} prefix */
function beyond(prefix) {
  let length = 0;
  return oldestFirst(prefix)
    .reverse()
    .filter((name, i) => {
      length += localStorage.getItem(name)?.length ?? 0;
      return i >= MOST[prefix] || (i > 0 && length > MOST_LENGTH);
    });
}

/**
 * Stores a text in place of another one, and of the oldest if there is no room, first of those that addresses brought; all of
 * them stay if that is not enough. What an address brought takes no room of what was typed.
 *
 * @param {string} name
 * @param {string} value
 * @param {string | undefined} other its name
 */
function store(name, value, other) {
  /** @type {[name: string, value: string][]} */
  const removed = [];
  const remove = (/** @type {string} */ one) => {
    removed.push([one, localStorage.getItem(one) ?? '']);
    localStorage.removeItem(one);
  };
  if (other !== undefined) remove(other);
  const own = name.startsWith(OWN) ? oldestFirst(OWN) : [];
  const oldest = [...oldestFirst(BROUGHT), ...own].filter((one) => one !== name);
  for (;;) {
    try {
      localStorage.setItem(name, value);
      return;
    } catch (error) {
      const next = oldest.shift();
      if (next === undefined) {
        for (const [one, before] of removed) localStorage.setItem(one, before);
        throw error;
      }
      remove(next);
    }
  }
}

/** Whether a text counts as brought: unless it was typed first. @param {string} key */
const isBrought = (key) =>
  localStorage.getItem(`${OWN}${key}`) === null &&
  (brought.has(key) || localStorage.getItem(`${BROUGHT}${key}`) !== null);

/** Keeps a text, if the browser does. @param {string} text @param {boolean} mayGoOn whether it may be one that was kept, typed on */
export function keepText(text, mayGoOn = true) {
  const key = keyOf(text);
  if (`${OWN}${key}` === latest.name) {
    keeps.value = true;
    return;
  }
  try {
    const prefix = isBrought(key) ? BROUGHT : OWN;
    const name = `${prefix}${key}`;
    const isTyped = prefix === OWN;
    const isSoon = isTyped && mayGoOn && Date.now() - latest.time < TYPING;
    const isTypedOn = isSoon && continues(text, latest.text);
    // What was there before may be of an address that somebody has: it stays.
    const isNew = isTyped && localStorage.getItem(name) === null;
    const before = isTypedOn && latest.name !== '' ? latest.name : undefined;
    store(name, `${Date.now()} ${text}`, before);
    if (mayGoOn) latest = { name: isNew ? name : '', text, time: Date.now() };
    for (const old of beyond(prefix)) localStorage.removeItem(old);
    keeps.value = true;
  } catch {
    keeps.value = false;
  }
}

/** @param {string} key @returns {string | undefined} undefined: this browser has none */
export function keptText(key) {
  try {
    const kept = localStorage.getItem(`${OWN}${key}`) ?? localStorage.getItem(`${BROUGHT}${key}`);
    return kept?.slice(kept.indexOf(' ') + 1);
  } catch {
    return undefined;
  }
}
