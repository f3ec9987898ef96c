/**
 * What heads are measured by: scores of their weights, and what muting each does to the prediction.
 *
 * @import { ExploreState } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 */

import { isAblation, SIGNED } from './address.js';
import { quoted } from './bars.js';
import { byId } from '../shared/dom.js';
import { steady } from '../shared/steady.js';
import { drawn, field, html, leaving, made, taking } from '../shared/template.js';
import { formatCount, formatFixed } from '../shared/format.js';
import { digitsFor } from './why/bars.js';
import { signedScale } from './why/signed-scale.js';
import { SCORES, whyNone } from './score-list.js';
import { headsBar, isSkipped } from './waiting.js';

/** @type {[ExploreState['by'], string][]} */
const MEASURES = [
  ['none', 'nothing'],
  ['attribution', 'attribution (direct)'],
  ['effect', 'ablation (zero)'],
  ['mean-effect', 'ablation (mean)'],
  ['resample-effect', 'ablation (shuffled text)'],
  ['patching', 'patching (recovered share)'],
  ...SCORES.map(
    ([score, name]) => /** @type {[ExploreState['by'], string]} */ ([score, name.toLowerCase()]),
  ),
];

/** What is less is written as 0, and has no colour. */
const LEAST = 5e-7;

/** Where no value is as large, two decimals tell too little. */
const FINE = 0.05;

/** Whether all values are so small that they have more decimals. @param {number} most the largest value of all heads */
export const areFine = (most) => most > 0 && most < FINE;

/** The end of the scale; 0: all are 0. @param {ArrayLike<number>} values */
export function largestValue(values) {
  const most = Array.from(values).reduce((max, value) => Math.max(max, Math.abs(value) || 0), 0);
  return most < LEAST ? 0 : most;
}

/**
 * @param {string} measure
 * @param {number} value
 * @param {number} most the largest value of all heads
 * @param {number} [room] decimals at most
 */
export function writeValue(measure, value, most, room = Infinity) {
  const few = Math.abs(value) >= 9.95 ? 1 : 2;
  const digits = areFine(most) ? Math.min(room, digitsFor(most)) : few;
  const words = formatFixed(value, digits);
  if (!SIGNED.some((name) => name === measure)) return words;
  if (Number(words) === 0) return '0';
  return value < 0 ? words : `+${words}`;
}

/** The prediction that is asked about, in words. @param {Explorer} room */
function asked({ next, against, predicts }) {
  const { run, at = 0, target, predictions } = next.answer.value ?? {};
  const textOf = (/** @type {number | null | undefined} */ id) =>
    predictions?.find(({ token }) => token.id === id)?.token.text;
  const [what, other] = [textOf(target), textOf(against.value)];
  if (!run || what === undefined) return undefined;
  const { text = '', isMask } = run.tokens[at] ?? {};
  const place = predicts.value === 'masked' ? 'in the place of' : 'after';
  const isHidden = predicts.value === 'masked' && !isMask;
  return { where: html`${place} ${quoted(text)}${isHidden ? ', masked,' : ''}`, what, other };
}

/** What the colours of the heads mean. @param {Explorer} room */
function legend(room) {
  const { measure, values } = room;
  if (!values.value) return '';
  const most = room.largest.value;
  const end = writeValue(measure.value, most, most);
  if (!room.isSigned.value) {
    const [score, name, what] = SCORES.find(([one]) => one === measure.value) ?? SCORES[0];
    if (values.value.every(Number.isNaN)) return `${name}: ${whyNone(score)}.`;
    return html`<span class="measure-bar"></span> ${name}, 0 to ${end}: ${what}.`;
  }
  const about = asked(room);
  return signedScale(measure.value, end.replace('+', ''), {
    ...{ what: about?.what ?? '', other: about?.other, where: about?.where ?? '' },
  });
}

/** Whether there is a token to ask about: there is none where logits are NaN. @param {Explorer} room */
const canAsk = ({ predicts, next }) =>
  predicts.value !== 'nothing' && next.answer.value?.target !== null;

/** @param {Explorer} room @param {string} measure */
const isOffered = (room, measure) =>
  measure === 'none'
    ? !room.isWhy.value
    : room.hasMeasure(measure) && (canAsk(room) || !SIGNED.some((name) => name === measure));

/** @param {Explorer} room */
function isAblating(room) {
  const { measure, effects, effectsHaveFailed } = room;
  const { effects: all, done } = effects.value ?? {};
  const isOver = effectsHaveFailed.value || (all && done === all.length);
  return isAblation(measure.value) && canAsk(room) && !isOver;
}

/** How many heads have been ablated. @param {Explorer} room */
function ablationBar({ choices, effects }) {
  const { effects: all, done = 0 } = effects.value ?? {};
  const count = all?.length ?? 1;
  // The button goes; beside it is one that stays.
  const leave = () => byId('explore-all', HTMLElement).focus({ preventScroll: true });
  const cancel = () => {
    choices.measure('none');
    leave();
  };
  return html`<span class="measuring" id="explore-ablating" ${leaving(leave)}>
    <progress max="1" .value=${done / count} aria-label="Heads ablated so far"></progress>
    <span class="note">${formatCount(done)} of ${all ? formatCount(count) : '…'}</span>
    <button type="button" class="quiet" @click=${cancel}>Cancel</button>
  </span>`;
}

/** How far what is asked of all heads is: beside the grid's name, as the grid may be higher than the window. There is room for one bar. @param {Explorer} room */
export const gridBar = (room) =>
  drawn(() => (isAblating(room) ? ablationBar(room) : headsBar(room)));

/** @param {Explorer} room */
export function measureControls(room) {
  const { choices, measure, shown, by, values } = room;
  /** Chooses a measure by a button that goes: the focus goes to the menu. @param {ExploreState['by']} name */
  const take = (name) => {
    choices.measure(name);
    byId('explore-by', HTMLSelectElement).focus();
  };
  return html`<div class="measure-controls" id="explore-measure">
      ${drawn(
        () =>
          html`<button type="button" id="explore-effects" ?hidden=${!canAsk(room) || room.isSigned.value}
            @click=${() => {
              take('effect');
              // On a phone the heads are above their measures.
              byId('explore-grid', HTMLElement).scrollIntoView({ block: 'nearest' });
            }}>Which heads matter for ${quoted(asked(room)?.what ?? '…')}?</button>`,
      )}
      ${drawn(() =>
        field(
          'Colour the heads by',
          'explore-by',
          MEASURES.filter(([name]) => isOffered(room, name)),
          measure.value,
          choices.measure,
        ),
      )}
      ${drawn(
        () =>
          html`<label class="check"><input type="checkbox" id="explore-sort" ?disabled=${measure.value === 'none'}
            .checked=${shown.value.sort !== 'place'}
            @change=${taking(({ checked }) => choices.sort(checked))} />Sort</label>`,
      )}
    </div>
    ${drawn(() =>
      isSkipped(room)
        ? html`<p class="note" id="explore-skipped">Some small maps and scores were not computed.</p>`
        : '',
    )}
    ${drawn(() => {
      const isThere = measure.value === 'none' || values.value !== undefined;
      return html`<p class="note measure-legend" id="explore-measure-legend" data-by=${by.value}
        ${made(steady, isThere)}>${legend(room)}</p>`;
    })}`;
}
