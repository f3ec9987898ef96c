/**
 * What the parts add up to, in words.
 *
 * @import { Explorer } from '../explorer.js'
 */

/** The logit, or the difference, in words. @param {Explorer} room @param {{ target: number }} attribution */
export function scoreName({ next, shown }, { target }) {
  const { predictions = [] } = next.answer.value ?? {};
  const textOf = (/** @type {number | null} */ id) =>
    predictions.find(({ token }) => token.id === id)?.token.text ?? '…';
  const { against } = shown.value;
  const [what, other] = [textOf(target), textOf(against)];
  return against === null ? `logit of “${what}”` : `logit of “${what}” − “${other}”`;
}
