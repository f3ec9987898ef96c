/**
 * The bar above a lesson: back to the list, a mark for each step that fills when the step has been read, the lessons
 * before and after.
 *
 * @import { Entry } from './catalogue.js'
 */

import { html, nothing, render } from '../shared/template.js';
import { el } from '../shared/dom.js';
import { address, lessons } from './catalogue.js';
import { keep, keptOf } from './keep.js';
import { goToSection } from './sight.js';

/**
 * @param {Entry} entry
 * @param {HTMLElement[]} sections of the steps and of the exercise, which is last
 */
export function createBar(entry, sections) {
  const { id, number, lesson, exercise } = entry;
  const element = el('nav', { class: 'lesson-bar', 'aria-label': 'This lesson' });
  const before = lessons[number - 2];
  const after = lessons[number];

  /** @param {number} i */
  const mark = (i) => {
    const isExercise = i === lesson.steps.length;
    const { seen, solved } = keptOf(id);
    const isDone = isExercise ? solved : seen.includes(lesson.steps[i].title);
    const title = isExercise ? `Exercise: ${exercise.title}` : `${i + 1} ${lesson.steps[i].title}`;
    const go = (/** @type {Event} */ event) => goToSection(event, sections[i]);
    const to = isExercise ? 'exercise' : `step-${i + 1}`;
    const words = `${title}${isDone ? (isExercise ? ' (solved)' : ' (read)') : ''}`;
    return html`<li>
      <a
        href=${address(id, to)}
        class="${isDone ? 'done' : ''} ${isExercise ? 'task' : ''}"
        title=${words}
        @click=${go}
      ></a>
    </li>`;
  };
  const neighbour = (/** @type {Entry | undefined} */ one, /** @type {string} */ sign) =>
    one
      ? html`<a
          class="neighbour"
          href=${address(one.id)}
          title=${one.lesson.title}
          aria-label="Lesson ${one.number}: ${one.lesson.title}"
          >${sign}</a
        >`
      : nothing;
  const update = () =>
    render(
      html`<a class="all" href="#lessons">All lessons</a>
        <ol class="marks">
          ${sections.map((_, i) => mark(i))}
        </ol>
        <span class="neighbours">${neighbour(before, '←')} ${neighbour(after, '→')}</span>`,
      element,
    );
  update();

  return { element, update, destroy: watchRead(entry, sections, update) };
}

/**
 * Keeps which steps have been read: those whose end has been seen.
 *
 * @param {Entry} entry
 * @param {readonly HTMLElement[]} sections of the steps and of the exercise
 * @param {() => void} tell called when one more is read
 * @returns {() => void} what ends it
 */
function watchRead({ id, lesson }, sections, tell) {
  const watch = new IntersectionObserver((found) => {
    for (const { target, isIntersecting } of found) {
      const i = sections.findIndex((section) => section.contains(target));
      const { seen } = keptOf(id);
      const title = lesson.steps[i]?.title;
      if (!isIntersecting || title === undefined || seen.includes(title)) continue;
      keep(id, { seen: [...seen, title] });
      tell();
    }
  });
  for (const section of sections) {
    const end = section.querySelector('.row');
    if (end) watch.observe(end);
  }
  return () => watch.disconnect();
}
