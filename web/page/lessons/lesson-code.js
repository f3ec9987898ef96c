/**
 * The code of one lesson as the visitor has it: the lesson's own, changed here, or brought by a link.
 *
 * @import { Kept } from './keep.js'
 * @import { Lesson } from './parse.js'
 */

import { keep, keptOf } from './keep.js';

/** Code by the step's title. @typedef {Record<string, string>} Code */

/** @param {Code} code @param {(title: string) => boolean} isWanted */
const pick = (code, isWanted) =>
  Object.fromEntries(Object.entries(code).filter(([title]) => isWanted(title)));

/** What is kept and is the visitor's own, not of a link. @param {Kept} kept */
const ownIn = ({ code, unrun }) => pick(code, (title) => !unrun.includes(title));

export class LessonCode {
  #id;
  #lesson;
  /** What the address brings. @type {Code | undefined} */ #brought;
  /** Only what differs from the lesson. @type {Code} */ #changes;
  /** Steps whose code a link has brought, until it runs: it is never kept as the visitor's own. @type {Set<string>} */
  #unrun;
  /** Steps whose kept code is from here: of all others, what other tabs keep is kept. @type {Set<string>} */
  #written = new Set();

  /**
   * @param {string} id
   * @param {Lesson} lesson
   * @param {Code} [brought] by the address
   */
  constructor(id, lesson, brought) {
    const kept = keptOf(id);
    this.#id = id;
    this.#lesson = lesson;
    this.#brought = brought;
    this.#changes = brought ?? kept.code;
    this.#unrun = new Set(brought ? Object.keys(brought) : kept.unrun);
  }

  /** Whether the address brings code that is not the visitor's own. */
  get isBrought() {
    return this.#brought !== undefined;
  }

  /** Only what differs from the lesson. */
  get changes() {
    return this.#changes;
  }

  /** Of all steps. @returns {string[]} */
  get steps() {
    return this.#lesson.steps.map(({ title, code }) => this.#changes[title] ?? code);
  }

  /** Code that a link has brought and that has not run. @returns {Code} */
  get waiting() {
    return pick(this.#changes, (title) => this.#unrun.has(title));
  }

  /** The visitor's own code in whose place a link's stands. @returns {Code} */
  get replaced() {
    const kept = keptOf(this.#id);
    const all = { ...(this.isBrought && ownIn(kept)), ...kept.replaced };
    const isOther = (/** @type {string} */ title) =>
      this.#lesson.steps.some(
        (step) => step.title === title && all[title] !== (this.#changes[title] ?? step.code),
      );
    return pick(all, isOther);
  }

  /** @param {readonly string[]} now code of all steps @param {number} step that was changed */
  change(now, step) {
    const titles = [...Object.keys(this.#brought ?? {}), this.#lesson.steps[step].title];
    const fresh = titles.filter((title) => !this.#written.has(title));
    fresh.forEach((title) => this.#written.add(title));
    this.#changes = this.#changesOf(now);
    const isOurs = (/** @type {string} */ title) => this.#written.has(title);
    const before = keptOf(this.#id);
    const ours = pick(this.#changes, isOurs);
    keep(this.#id, {
      code: { ...pick(before.code, (title) => !isOurs(title)), ...ours },
      unrun: [
        ...before.unrun.filter((title) => !isOurs(title)),
        ...Object.keys(ours).filter((title) => this.#unrun.has(title)),
      ],
      replaced: {
        ...(this.isBrought && pick(ownIn(before), (title) => fresh.includes(title))),
        ...before.replaced,
      },
    });
  }

  /** A run begins. @param {readonly string[]} now code of all steps */
  run(now) {
    const before = keptOf(this.#id);
    const ran = this.#changesOf(now);
    // Another tab may keep other code that has not run.
    const left = before.unrun.filter(
      (title) => !this.#unrun.has(title) || before.code[title] !== ran[title],
    );
    this.#unrun.clear();
    if (left.length < before.unrun.length) keep(this.#id, { unrun: left });
  }

  /** Keeps the visitor's own code again, in place of a link's. */
  bringBack() {
    const { code, unrun } = keptOf(this.#id);
    const own = this.replaced;
    keep(this.#id, {
      code: { ...code, ...own },
      unrun: unrun.filter((title) => !(title in own)),
      replaced: {},
    });
  }

  forgetReplaced() {
    keep(this.#id, { replaced: {} });
  }

  /** @param {readonly string[]} code of all steps @returns {Code} */
  #changesOf(code) {
    return Object.fromEntries(
      this.#lesson.steps
        .map((step, i) => [step.title, code[i], step.code])
        .filter(([, now, before]) => now !== before),
    );
  }
}
