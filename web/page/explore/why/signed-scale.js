/**
 * What the colours mean of heads that are for or against a prediction.
 *
 * @import { Signed } from '../address.js'
 */

import { html } from '../../shared/template.js';
import { isAblation } from '../address.js';

/** @typedef {{ what: string, other?: string, where: string }} About a prediction, in words */

/** @param {string} ablation @returns {(about: About) => string} */
function effectOf(ablation) {
  return ({ what, other, where }) => {
    const score = other
      ? `the logit of “${what}” minus that of “${other}”`
      : `the log-probability of “${what}”`;
    return `How ${ablation} changes ${score} ${where}. Purple: the head helps. Orange: it hinders.`;
  };
}

/** @type {Record<Signed, (about: About) => string>} */
const WORDS = {
  attribution: ({ what, other, where }) => {
    const score = other
      ? `the logit of “${what}” minus that of “${other}”`
      : `the logit of “${what}”`;
    return `What the head itself writes to ${score} ${where}. Purple: for it. Orange: against it.`;
  },
  patching: ({ what, other, where }) => {
    const score = other ? `“${what}” against “${other}”` : `“${what}”`;
    return `The share of ${score} ${where} that the head’s output brings back in the other text. Purple: towards it. Orange: away from it.`;
  },
  effect: effectOf('muting the head'),
  'mean-effect': effectOf('the head’s mean over the text, in the place of what it gives,'),
  'resample-effect': effectOf(
    'what the head gives where the text’s tokens are shuffled, in the place of what it gives,',
  ),
};

/** @param {string} measure of Signed @param {string} end of the scale @param {About} about */
export const signedScale = (measure, end, about) =>
  html`<span class="legend-scale"><span>−${end}</span><span class="measure-bar ${isAblation(measure) ? 'effect' : measure}"></span>
    <span>+${end}</span></span> ${WORDS[/** @type {Signed} */ (measure)](about)}`;
