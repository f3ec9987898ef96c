/**
 * Where the story of a task goes on.
 *
 * @import { TaskName } from './settings.js'
 * @import { Training } from './training.js'
 *
 * @typedef {[kind: string, words: string, href: string]} Way
 */

import { drawn, html } from '../shared/template.js';

/** @param {string} id @param {string} words @returns {Way} */
const lesson = (id, words) => ['Lesson:', words, `#lessons?lesson=${id}`];

/** @param {string} model @param {string} words @returns {Way} */
const explore = (model, words) => ['Explore', words, `#explore?model=${model}`];

/** @param {TaskName} task @param {string} words @returns {Way} */
const next = (task, words) => [
  'Train',
  words,
  task === 'induction' ? '#train' : `#train?task=${task}`,
];

const FIRST = lesson('train-a-head', 'the gradients of a head by hand');

/** @type {Readonly<Record<TaskName, Way[]>>} */
const WAYS = {
  induction: [
    lesson('induction-heads', 'what induction heads do'),
    explore('induction', 'a model that was trained longer'),
  ],
  reversal: [
    lesson('by-hand', 'attention by hand, in five steps'),
    next('sorting', 'on sorting, where no place is fixed'),
  ],
  sorting: [
    lesson('wrapper', 'several heads, one after another'),
    next('addition', 'on addition, which reads two digits'),
  ],
  addition: [
    lesson('feed-forward', 'the feed-forward network'),
    next('induction', 'on letters that repeat, in two layers'),
  ],
  austen: [
    lesson('sentence', 'from a sentence to maps'),
    explore('austen', 'a larger model of Austen’s prose'),
  ],
  own: [
    lesson('sentence', 'from a sentence to maps'),
    explore('austen', 'a larger model, of Austen’s prose'),
  ],
};

/** @param {Training} room */
export const ways = (room) =>
  html`<nav class="ways" aria-label="Where the story goes on">${drawn(() =>
    [FIRST, ...WAYS[room.settings.value.task]].map(
      // In one text with the words: a space alone between elements is not read, and joins two words.
      ([kind, words, href]) => html`<a href=${href}><b>${kind}</b>${` ${words}`}</a>`,
    ),
  )}</nav>`;
