/**
 * The Lessons room: the list of lessons, and the one that the address names.
 *
 * @import { Lesson } from './parse.js'
 * @import { Store } from '../state.js'
 */

import { byId, el } from '../dom.js';
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

/** @param {Store} store */
export function openLessons(store) {
  const room = byId('lessons-room', HTMLElement);
  const links = lessons.map(({ id, lesson }) => el('a', { href: address(id) }, lesson.title));
  const list = el('ol', {}, ...links.map((link) => el('li', {}, link)));
  const place = el('div');
  const documents = DOCUMENTS.map(([number, title]) =>
    el('li', {}, el('b', {}, number), ` ${title}`),
  );
  room.append(
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
    ),
    el('nav', { class: 'lesson-list', 'aria-label': 'Lessons' }, list),
    place,
    el(
      'details',
      { class: 'documents' },
      el('summary', {}, 'The documents'),
      el('ul', {}, ...documents),
      el(
        'p',
        { class: 'note' },
        'Under “Document” stands what a document prints; under “Expected” what follows from it without being printed there.',
      ),
    ),
  );

  /** Code as edited, for as long as the page is open. @type {Map<string, string[]>} */
  const edited = new Map();
  /** @type {LessonView | undefined} */
  let view;
  let shown = '';

  const show = () => {
    const state = store.get();
    if (state.room !== 'lessons') {
      view?.stop();
      return;
    }
    const at = Math.max(
      0,
      lessons.findIndex(({ id }) => id === state.lesson),
    );
    const { id, lesson } = lessons[at];
    if (id === shown) {
      if (view?.element.dataset.state === 'stopped') view.run();
      return;
    }
    shown = id;
    links.forEach((link, i) => {
      if (i === at) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    });
    const code = edited.get(id) ?? lesson.steps.map((step) => step.code);
    edited.set(id, code);
    const isFollowed = place.contains(document.activeElement);
    view?.destroy();
    const heading = el('h2', { tabindex: -1 }, lesson.title);
    view = new LessonView(lesson, code, heading);
    const next = lessons[at + 1];
    place.replaceChildren(view.element);
    if (next) {
      const link = el('a', { href: address(next.id) }, `Next: ${next.lesson.title}`);
      place.append(el('p', { class: 'next' }, link));
    }
    if (isFollowed) {
      // From the link at the end to the beginning of the next.
      heading.scrollIntoView();
      heading.focus({ preventScroll: true });
    }
    room.dataset.lesson = id;
    view.run();
  };
  store.subscribe(show);
  show();
}
