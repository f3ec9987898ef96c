/**
 * What the model answers in the example, or writes.
 *
 * @import { Run } from './run.js'
 * @import { Training } from './training.js'
 */

import { formatCount } from '../shared/format.js';
import { steadily } from '../shared/steady.js';
import { html } from '../shared/template.js';
import { labelOf } from '../shared/tokenize.js';
import { IGNORED } from './tasks/task.js';

/** @param {string} prompt @param {string} written @param {number} step */
const text = (prompt, written, step) => html`<p class="note">
    After ${formatCount(step)} steps the model continues ${prompt.trim() ? `“${prompt.trim()}”` : 'the text’s first characters'} like this:
  </p>
  <p class="train-written" translate="no"><span>${prompt}</span>${written}</p>`;

/** The example's tokens, below each the one that the model says next, where that is asked. @param {Training} room @param {Run} run */
export const answers = (room, run) =>
  steadily(() => {
    const [seen, about] = [room.seenOf(run), run.about.value];
    if (!seen || !about) return undefined;
    const { ids, targets, characters, prompt } = about;
    if (prompt) return text(prompt, seen.written, seen.step);
    const isRight = targets.map((target, i) => target === seen.says[i]);
    const asked = targets.filter((target) => target !== IGNORED).length;
    const right = isRight.filter(Boolean).length;
    const cell = (/** @type {number} */ id, /** @type {number} */ i) => {
      const said = characters[seen.says[i]];
      const of = isRight[i] ? 'right' : 'wrong';
      const spoken = isRight[i] ? '' : `, wrong: ${characters[targets[i]]} follows`;
      return html`<li><span class="token">${labelOf(characters[id])}</span>${
        targets[i] === IGNORED
          ? html`<span class="train-said"></span>`
          : html`<span class="train-said ${of}"><span class="visually-hidden">says </span>${labelOf(said)}<span
              class="visually-hidden">${spoken}</span></span>`
      }</li>`;
    };
    // Of two runs it stands above the map that names its tokens.
    const example = room.seenRuns.value.length > 1 ? 'An example' : 'The example above';
    return html`<p class="note">${example}, with the model’s prediction below each token:
        <b class="train-count" translate="no">${right} of ${asked}</b> right.</p>
      <ol class="train-answers" translate="no">${ids.map(cell)}</ol>`;
  });
