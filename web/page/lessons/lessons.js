/**
 * The Lessons room: the list of lessons, or the one that the address names.
 *
 * @import { Entry } from './catalogue.js'
 * @import { State, Store } from '../state.js'
 */

import { parseHash } from '../address.js';
import { byId, el, focusHeading } from '../shared/dom.js';
import { formatList } from '../shared/format.js';
import { scrollAndHold } from '../shared/hold.js';
import { address, lessons } from './catalogue.js';
import { showContents } from './contents.js';
import { ExerciseView } from './exercise-view.js';
import { keep, keptOf } from './keep.js';
import { createBar } from './lesson-bar.js';
import { LessonCode } from './lesson-code.js';
import { LessonView } from './lesson-view.js';
import { packCode, unpackCode } from './share.js';
import { focusTarget, goToSection, tabFromSight } from './sight.js';
import { prose } from './step-view.js';

const SHARE = 'Copy a link with my changes';
const UNREAD = 'The changes in the link could not be read: the link may be incomplete.';

/**
 * Somebody else's code that an address brings.
 *
 * @param {Entry} entry
 * @param {string} packed
 * @returns {Promise<{ code?: Record<string, string>, isUnread?: boolean }>}
 */
async function broughtBy({ id }, packed) {
  const code = await unpackCode(packed);
  if (!code) return { isUnread: true };
  const isOwn = JSON.stringify(code) === JSON.stringify(keptOf(id).code);
  return isOwn ? {} : { code };
}

const list = new Intl.ListFormat('en');

/**
 * That code which came with the address has not run, with links to the steps that it changes.
 *
 * @param {Entry} entry
 * @param {Record<string, string>} brought
 * @param {HTMLElement[]} sections of the steps
 * @param {string} who brings it
 */
function unrunWords({ id, lesson }, brought, sections, who) {
  const changed = [...lesson.steps.keys()].filter((i) => {
    const { title, code } = lesson.steps[i];
    return (brought[title] ?? code) !== code;
  });
  const links = list.formatToParts(changed.map(String)).map(({ type, value }) => {
    if (type === 'literal') return value;
    const link = el(
      'a',
      { href: address(id, `step-${Number(value) + 1}`) },
      `${Number(value) + 1}`,
    );
    link.addEventListener('click', (event) => goToSection(event, sections[Number(value)]));
    return link;
  });
  const steps = changed.length === 1 ? 'step ' : 'steps ';
  // A link of another version, whose steps had other names.
  if (links.length === 0) return [`${who} no changed code for these steps: press Run.`];
  return [
    `${who} changed code in `,
    steps,
    ...links,
    '. It has not run yet: read it, then press Run.',
  ];
}

class LessonsRoom {
  /** @type {Store} */ #store;
  #room = byId('lessons-room', HTMLElement);
  #place = el('div');
  /** That the address names no lesson. @type {HTMLElement | undefined} */ #message;
  /** @type {LessonView | undefined} */ #view;
  /** @type {ExerciseView | undefined} */ #exercise;
  /** @type {ReturnType<typeof createBar> | undefined} */ #bar;
  #shown = '';
  /** The lesson to which the link leads that was clicked last. @type {string | undefined} */ #followed;
  /** Code that the address brings, as it stands there. */
  #packed = '';
  /** What leaving the room has stopped. @type {Set<LessonView | ExerciseView>} */ #paused =
    new Set();

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    this.#room.append(this.#place);
    this.#place.addEventListener('click', (event) => this.#follow(event));
    // Another tab has gone on with a lesson, or deleted what was kept.
    addEventListener('storage', () => {
      const [page] = this.#place.children;
      if (this.#room.dataset.lesson === '') showContents(/** @type {HTMLElement} */ (page));
    });
  }

  /** Not told by the focus: Safari gives a link none when it is clicked. @param {MouseEvent} event */
  #follow(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const { room, lesson } = parseHash(link?.hash ?? '');
    this.#followed = room === 'lessons' ? lesson : undefined;
  }

  /** @param {State} state */
  async show(state) {
    if (state.room !== 'lessons') {
      this.#message?.remove();
      for (const one of [this.#view, this.#exercise]) if (one?.stop()) this.#paused.add(one);
      return;
    }
    const { lesson: id, lessonStep: to, lessonCode: packed } = state;
    const entry = lessons.find((one) => one.id === id);
    if (id !== '' && !entry) {
      this.#store.set({ lesson: '', lessonStep: '', lessonCode: '' });
      const words = `There is no lesson “${id}”. Choose one from the list.`;
      this.#message?.remove();
      this.#message = el('p', { class: 'message error', role: 'alert' }, words);
      this.#place.before(this.#message);
      return;
    }
    const isNew = packed !== this.#packed;
    const brought = entry && packed && isNew ? await broughtBy(entry, packed) : {};
    const now = this.#store.get();
    // The visitor may have gone on meanwhile.
    if (now.room !== 'lessons' || now.lesson !== id || now.lessonCode !== packed) return;
    this.#packed = packed;
    const isOther = (entry?.id ?? '') !== this.#shown || this.#room.dataset.lesson === undefined;
    if (isOther || brought.code) this.#open(entry, brought.code);
    else for (const one of this.#paused) one.run();
    this.#paused.clear();
    if (brought.isUnread) this.#view?.warn(UNREAD);
    document.title = `${entry ? `${entry.lesson.title} – ` : ''}Lessons – Headwise`;
    // What was asked for once is no part of what is shown.
    const target = to && document.getElementById(to);
    if (target) {
      const scroll = () => {
        target.scrollIntoView();
        return target.isConnected;
      };
      scroll();
      scrollAndHold(this.#room, scroll);
      focusTarget(target);
    }
    if (to) this.#store.set({ lessonStep: '' });
  }

  /**
   * @param {Entry | undefined} entry undefined: the list of lessons
   * @param {Record<string, string>} [brought] code that came with the address
   */
  #open(entry, brought) {
    // The room itself has it where it was entered before there was a heading.
    const hadFocus = this.#room.contains(document.activeElement);
    this.#message?.remove();
    this.#view?.destroy();
    this.#exercise?.destroy();
    this.#bar?.destroy();
    this.#view = this.#exercise = this.#bar = undefined;
    this.#shown = entry?.id ?? '';
    const isFollowed = this.#followed === this.#shown;
    this.#followed = undefined;
    this.#room.dataset.lesson = this.#shown;
    const page = el('div');
    this.#place.replaceChildren(page);
    if (entry) this.#openLesson(entry, page, brought);
    else showContents(page);
    // From the link at the end to the beginning of the next. Back and Forward lead to where one was.
    if (isFollowed) scrollTo(0, 0);
    if (!isFollowed && !hadFocus) return;
    focusHeading(page);
    tabFromSight(page);
  }

  /**
   * @param {Entry} entry
   * @param {HTMLElement} page
   * @param {Record<string, string> | undefined} brought
   */
  #openLesson(entry, page, brought) {
    const { id, lesson, exercise } = entry;
    const code = new LessonCode(id, lesson, brought);
    const { waiting } = code;
    const share = el('button', { type: 'button', class: 'quiet', hidden: true }, SHARE);
    share.addEventListener('click', () => this.#copyLink(entry, code.changes, share));
    const view = new LessonView(lesson, {
      code: code.steps,
      head: [
        el(
          'div',
          { class: 'lesson-top' },
          el('p', { class: 'number-of' }, `Lesson ${entry.number} of ${lessons.length}`),
          el('p', { class: 'share-link' }, share),
        ),
        el('h1', {}, lesson.title),
        ...lesson.text.map(prose),
      ],
      notes: this.#waysBack(entry, code),
      onChange: (now, step) => {
        code.change(now, step);
        share.hidden = Object.keys(code.changes).length === 0;
        share.textContent = SHARE;
        this.#store.set({ lessonCode: '' });
      },
      onRun: (now) => code.run(now),
    });
    share.hidden = !view.isChanged;
    const task = new ExerciseView(exercise, {
      code: keptOf(id).exercise,
      onChange: (now) => keep(id, { exercise: now === exercise.start ? undefined : now }),
      onSolved: () => {
        keep(id, { solved: true });
        this.#bar?.update();
      },
    });
    view.element.append(task.element);
    const bar = createBar(entry, [...view.sections, task.element]);
    page.append(bar.element, view.element, nextLink(entry));
    [this.#view, this.#exercise, this.#bar] = [view, task, bar];
    if (Object.keys(waiting).length > 0) {
      const who = brought ? 'The link brings' : 'A link brought';
      view.wait(...unrunWords(entry, waiting, view.sections, who));
    } else view.run();
  }

  /**
   * What the visitor can do where a link's code stands in place of their own.
   *
   * @param {Entry} entry
   * @param {LessonCode} code
   * @returns {HTMLElement[]}
   */
  #waysBack(entry, code) {
    const { steps } = entry.lesson;
    const { replaced } = code;
    const places = [...steps.keys()].filter((i) => steps[i].title in replaced);
    if (places.length === 0) return [];
    const which = formatList(places.map((i) => String(i + 1)));
    const words = `Your own code of ${places.length === 1 ? 'step' : 'steps'} ${which} is kept. `;
    const back = el('button', { type: 'button', class: 'quiet' }, 'Bring it back');
    const line = el('p', { class: 'note own-code' }, words, back);
    back.addEventListener('click', () => {
      code.bringBack();
      this.#packed = '';
      this.#store.set({ lessonCode: '' });
      this.#open(entry);
    });
    if (code.isBrought) return [line];
    const forget = el('button', { type: 'button', class: 'quiet' }, 'Forget it');
    forget.addEventListener('click', () => {
      code.forgetReplaced();
      line.remove();
      focusHeading(this.#place);
    });
    line.append(' ', forget);
    return [line];
  }

  /** @param {Entry} entry @param {Record<string, string>} changes @param {HTMLButtonElement} button */
  async #copyLink({ id }, changes, button) {
    this.#packed = await packCode(changes);
    this.#store.set({ lesson: id, lessonCode: this.#packed });
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = 'Copied; it is in the address bar too';
    } catch {
      button.textContent = 'The address bar has the link now';
    }
  }
}

/** @param {Entry} entry */
function nextLink({ number }) {
  const next = lessons[number];
  const link = next
    ? el('a', { href: address(next.id) }, `Next: ${next.lesson.title}`)
    : el('a', { href: '#lessons' }, 'All lessons');
  return el('p', { class: 'next' }, link);
}

/** @param {Store} store */
export function openLessons(store) {
  const room = new LessonsRoom(store);
  store.subscribe((state) => room.show(state));
  return room.show(store.get());
}
