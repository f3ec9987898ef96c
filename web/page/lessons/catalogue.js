/**
 * All lessons, in the order of their files' names, with their exercises.
 *
 * @import { Exercise } from './parse-exercise.js'
 * @import { Lesson } from './parse.js'
 *
 * @typedef {object} Entry
 * @property {string} id
 * @property {number} number from 1
 * @property {Lesson} lesson
 * @property {Exercise} exercise
 */

import { parseExercise } from './parse-exercise.js';
import { parseLesson } from './parse.js';

/** @type {Record<string, string>} */
const sources = import.meta.glob('./files/*.js', { query: '?raw', import: 'default', eager: true });
/** @type {Record<string, string>} */
const tasks = import.meta.glob('./exercises/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** @type {readonly Entry[]} */
export const lessons = Object.entries(sources)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([path, source], i) => {
    const id = path.replace(/^.*\/\d+-|\.js$/g, '');
    const exercise = parseExercise(tasks[`./exercises/${id}.md`]);
    return { id, number: i + 1, lesson: parseLesson(source), exercise };
  });

/** What the lessons lead through, and the first lesson of each part. */
export const PARTS = [
  { title: 'One head', first: 'by-hand' },
  { title: 'Several heads', first: 'wrapper' },
  { title: 'The block around them', first: 'feed-forward' },
  { title: 'The whole way', first: 'sentence' },
  { title: 'Training', first: 'train-a-head' },
  { title: 'Understanding', first: 'which-head' },
];

/** @param {string} id @param {string} [to] the id of an element */
export const address = (id, to) =>
  `#lessons?${new URLSearchParams({ lesson: id, ...(to && { to }) })}`;
