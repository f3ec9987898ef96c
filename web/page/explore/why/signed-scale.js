/**
 * What the colours mean of heads that are for or against a prediction.
 *
 * @import { Signed } from '../address.js'
 */

import { html } from '../../shared/template.js';

/** @type {Record<Signed, (about: { what: string, other?: string, where: string }) => string>} */
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
  effect: ({ what, other, where }) => {
    const score = other
      ? `the logit of “${what}” minus that of “${other}”`
      : `the log-probability of “${what}”`;
    return `How muting the head changes ${score} ${where}. Purple: the head helps. Orange: it hinders.`;
  },
};

/** @param {string} measure of Signed @param {string} end of the scale @param {{ what: string, other?: string, where: string }} about */
export const signedScale = (measure, end, about) =>
  html`<span class="legend-scale"><span>−${end}</span><span class="measure-bar ${measure}"></span>
    <span>+${end}</span></span> ${WORDS[/** @type {Signed} */ (measure)](about)}`;
