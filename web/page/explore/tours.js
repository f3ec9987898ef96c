/**
 * Tours: steps that set the view, and say one sentence each. A step has an address: `#explore?tour=induction.2`.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { ExploreState } from './address.js'
 *
 * @typedef {{ name: string, step: number }} TourStep step: from 0
 * @typedef {object} Tour
 * @property {string} title
 * @property {{ words: string, set: Partial<ExploreState> }[]} steps
 */

/** The heads of the induction model that find what came next the last time. @type {HeadName[]} */
const INDUCTION = [0, 1, 2, 5, 6, 7].map((head) => ({ layer: 1, head }));

/** @type {Partial<ExploreState>} */
const START = { model: 'induction', text: null, pins: [{ side: 'query', token: 13 }] };

/** @type {Record<string, Tour>} */
export const TOURS = {
  induction: {
    title: 'How a model repeats what it has read',
    steps: [
      {
        words:
          'This head looks back one token: in every row but the first the bright cell is just left of the diagonal.',
        set: { ...START, layer: 0, head: 4 },
      },
      {
        words:
          'This head builds on it: the pinned “T” looks at the “7” that followed “T” the last time, so the model predicts “7” again.',
        set: { ...START, layer: 1, head: 2 },
      },
      {
        words:
          'Now the six heads that do this are muted, and the prediction falls apart: these heads did the work.',
        set: { ...START, layer: 1, head: 2, muted: INDUCTION },
      },
    ],
  },
};

/** What a step sets. @param {TourStep} step @returns {Partial<ExploreState>} */
export const stepOf = ({ name, step }) => TOURS[name].steps[step].set;
