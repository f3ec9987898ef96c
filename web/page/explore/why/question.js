/**
 * The question: why this token, and not another one.
 *
 * @import { HeadName } from '../../shared/head-names.js'
 * @import { Explorer } from '../explorer.js'
 */

import { byId } from '../../shared/dom.js';
import { shortName } from '../../shared/head-names.js';
import { isNarrow } from '../../shared/narrow.js';
import { drawn, html, select } from '../../shared/template.js';
import { tokenName } from '../bars.js';

/** What the view tells, and what it does not. */
const methods = html`<ul class="explore-read" id="explore-read">
  <li>
    <b>Attribution</b> measures what a head writes for this token. The parts of the model add up to
    the token’s logit, its score before the softmax.
  </li>
  <li>
    <b>Ablation</b> measures what is lost without the head. This includes how later layers use its
    output, and how they compensate for its loss.
  </li>
  <li>
    <b>Patching</b> shows which part restores the prediction in another text. The three can disagree.
    Choose a head to see what it attends to, and why.
  </li>
</ul>`;

/** In the place of what is said of maps. */
export const sentences = () =>
  isNarrow.value
    ? html`<details class="explain" id="explore-methods">
        <summary>What attribution, ablation and patching measure</summary>
        ${methods}
      </details>`
    : methods;

/** What stands for no other token. */
const NONE = '';

/** Heads that are muted in all that the view tells. @param {readonly HeadName[]} muted */
const without = (muted) =>
  muted.length > 0
    ? html`<span id="explore-why-muted">, without ${muted.map(shortName).join(', ')}</span>`
    : '';

/** @param {Explorer} room */
export const question = (room) =>
  drawn(() => {
    const { run, predictions = [], at = 0, target } = room.next.answer.value ?? {};
    const against = room.against.value;
    const tokens = predictions.map(({ token }) => [String(token.id), token.text, 'no']);
    const others = tokens.filter(([id]) => id !== String(target));
    const leave = () => {
      room.choices.why(false);
      byId('explore-why', HTMLButtonElement).focus({ preventScroll: true });
    };
    const take = (/** @type {string} */ value) => (value === NONE ? null : Number(value));
    return html`<div class="why-question">
      <h2 id="explore-heads-title">Why this token?</h2>
      <div class="field inline">
        <label for="explore-target">Target</label>
        ${select('explore-target', tokens, String(target), (value) => room.set({ target: take(value), against: take(value) === against ? null : against }))}
      </div>
      <div class="field inline">
        <label for="explore-against">against</label>
        ${select(
          'explore-against',
          [[NONE, 'no other'], ...others],
          String(against ?? NONE),
          (value) => room.set({ against: take(value) }),
        )}
      </div>
      <p>${run ? html`after ${tokenName(run.tokens[at], at)}` : ''}${without(run?.muted ?? [])}</p>
      <button type="button" class="quiet" id="explore-maps-back" @click=${leave}>Back to the maps</button>
    </div>`;
  });
