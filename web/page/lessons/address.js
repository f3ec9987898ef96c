/**
 * Which lesson is open, and its address: `#lessons?lesson=fused`.
 *
 * @typedef {object} LessonsState
 * @property {string} lesson '': the list of them
 * @property {string} lessonStep the element of it to go to; '': none
 * @property {string} lessonCode changed code that the address brings, packed; '': none
 */

/** @type {Readonly<LessonsState>} */
export const LESSONS_DEFAULTS = Object.freeze({ lesson: '', lessonStep: '', lessonCode: '' });

/** @param {URLSearchParams} params @returns {LessonsState} */
export const parseLessons = (params) => ({
  lesson: params.get('lesson') ?? '',
  lessonStep: params.get('to') ?? '',
  lessonCode: params.get('code') ?? '',
});

/** @param {LessonsState} state */
export const formatLessons = ({ lesson, lessonCode: code }) =>
  new URLSearchParams(lesson && { lesson, ...(code && { code }) });
