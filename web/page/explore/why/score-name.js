/**
 * What the parts add up to, in words.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { html } from '../../shared/template.js';
import { quoted } from '../bars.js';

/** The logit, or the difference, in words. @param {Explorer} room @param {{ target: number }} attribution */
export function scoreName({ next, against }, { target }) {
  const { predictions = [] } = next.answer.value ?? {};
  const textOf = (/** @type {number | null} */ id) =>
    predictions.find(({ token }) => token.id === id)?.token.text ?? '…';
  const [what, other] = [textOf(target), textOf(against.value)];
  return against.value === null
    ? html`logit of ${quoted(what)}`
    : html`logit of ${quoted(what)} − ${quoted(other)}`;
}
