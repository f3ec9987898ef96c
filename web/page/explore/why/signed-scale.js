/**
 * What the colours mean of heads that are for or against a prediction: one scale for all that has a sign.
 *
 * @import { Signed } from '../address.js'
 */

import { html } from '../../shared/template.js';
import { quoted } from '../bars.js';

/** @typedef {{ what: string, other?: string, where: unknown }} About a prediction, in words */

/** What takes the place of a head's output. */
export const INSTEAD = {
  zero: 'without the head',
  mean: 'when the head’s output is replaced by its mean over the text so far',
  resample: 'when the head’s output is replaced by its output on the shuffled text',
};

/** @param {string} instead @returns {(about: About) => unknown} */
function lossOf(instead) {
  return ({ what, other, where }) => {
    const score = other
      ? html`the logit of ${quoted(what)} minus that of ${quoted(other)}`
      : html`the log-probability of ${quoted(what)}`;
    return html`The drop in ${score} ${where} ${instead}. Orange: the head helps. Purple: it hinders.`;
  };
}

/** @type {Record<Signed, (about: About) => unknown>} */
const WORDS = {
  attribution: ({ what, other, where }) => {
    const score = other
      ? html`the logit of ${quoted(what)} minus that of ${quoted(other)}`
      : html`the logit of ${quoted(what)}`;
    return html`The head’s direct contribution to ${score} ${where}. Orange: for it. Purple: against it.`;
  },
  patching: ({ what, other, where }) => {
    const score = other ? html`${quoted(what)} against ${quoted(other)}` : quoted(what);
    return html`The share of ${score} ${where} that the head’s output restores in the other text. Orange: towards it. Purple: away from it.`;
  },
  effect: lossOf(INSTEAD.zero),
  'mean-effect': lossOf(INSTEAD.mean),
  'resample-effect': lossOf(INSTEAD.resample),
};

/** The colours of a scale with a sign. @param {string} end of the scale @param {boolean} [isPale] as behind numbers */
export const signedBar = (end, isPale = false) =>
  html`<span class="legend-scale"><span>−${end}</span><span class="signed-bar ${isPale ? 'pale' : ''}"></span>
    <span>+${end}</span></span>`;

/** @param {string} measure of Signed @param {string} end of the scale; 0: all are 0 @param {About} about */
export const signedScale = (measure, end, about) =>
  html`${end === '0' ? '0 for every head.' : signedBar(end)} ${WORDS[/** @type {Signed} */ (measure)](about)}`;
