/**
 * The Lessons room: the list of lessons, and the one that the address names.
 *
 * @import { Lesson } from './parse.js'
 * @import { Store } from '../state.js'
 */

import { byId, el } from '../shared/dom.js';
import { DOCUMENTS } from './documents.js';
import { LessonView } from './lesson-view.js';
import { parseLesson } from './parse.js';

/** @type {Record<string, string>} */
const sources = import.meta.glob('./files/*.js', { query: '?raw', import: 'default', eager: true });

/** @type {{ id: string, lesson: Lesson }[]} in the order of their files' names */
const lessons = Object.entries(sources)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([path, source]) => ({
    id: path.replace(/^.*\/\d+-|\.js$/g, ''),
    lesson: parseLesson(source),
  }));

/** @param {string} id */
const address = (id) => `#lessons?${new URLSearchParams({ lesson: id })}`;

const lead = () =>
  el(
    'div',
    { class: 'lead' },
    el('h1', {}, 'Build attention up, one step at a time.'),
    el(
      'p',
      {},
      'Each step is a few lines of JavaScript that run here, in your browser, beside what they give. ',
      'Change them and run them again. Where a document prints a result, its numbers stand next to these.',
    ),
  );

const documents = () =>
  el(
    'details',
    { class: 'documents' },
    el('summary', {}, 'The documents'),
    el(
      'ul',
      {},
      ...DOCUMENTS.map(([number, title]) => el('li', {}, el('b', {}, number), ` ${title}`)),
    ),
    el(
      'p',
      { class: 'note' },
      'Under “Document” stands what a document prints; under “Expected” what follows from it without being printed there.',
    ),
  );

class LessonsRoom {
  #room = byId('lessons-room', HTMLElement);
  #links = lessons.map(({ id, lesson }) => el('a', { href: address(id) }, lesson.title));
  #place = el('div');
  /** Code as edited, for as long as the page is open. @type {Map<string, string[]>} */
  #edited = new Map();
  /** @type {LessonView | undefined} */ #view;
  #shown = '';

  constructor() {
    const list = el('ol', {}, ...this.#links.map((link) => el('li', {}, link)));
    const contents = el('nav', { class: 'lesson-list', 'aria-label': 'Lessons' }, list);
    this.#room.append(lead(), contents, this.#place, documents());
  }

  /** @param {import('../state.js').State} state */
  show(state) {
    if (state.room !== 'lessons') {
      this.#view?.stop();
      return;
    }
    const named = lessons.findIndex(({ id }) => id === state.lesson);
    const at = Math.max(0, named);
    if (lessons[at].id !== this.#shown) this.#open(at);
    else if (this.#view?.element.dataset.state === 'stopped') this.#view.run();
  }

  /** @param {number} at */
  #open(at) {
    const { id, lesson } = lessons[at];
    this.#shown = id;
    this.#links.forEach((link, i) => {
      if (i === at) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    });
    const code = this.#edited.get(id) ?? lesson.steps.map((step) => step.code);
    this.#edited.set(id, code);
    const isFollowed = this.#place.contains(document.activeElement);
    this.#view?.destroy();
    const heading = el('h2', { tabindex: -1 }, lesson.title);
    this.#view = new LessonView(lesson, code, heading);
    this.#place.replaceChildren(this.#view.element);
    const next = lessons[at + 1];
    if (next) {
      const link = el('a', { href: address(next.id) }, `Next: ${next.lesson.title}`);
      this.#place.append(el('p', { class: 'next' }, link));
    }
    if (isFollowed) {
      // From the link at the end to the beginning of the next.
      heading.scrollIntoView();
      heading.focus({ preventScroll: true });
    }
    this.#room.dataset.lesson = id;
    this.#view.run();
  }
}

/** @param {Store} store */
export function openLessons(store) {
  const room = new LessonsRoom();
  store.subscribe((state) => room.show(state));
  room.show(store.get());
}
