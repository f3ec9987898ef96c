/**
 * The sum of a logit as bars, from the embedding to the whole.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { Part, Stacked } from './sum.js'
 */

import { formatNumber } from '../../shared/format.js';
import { isSameHead, shortName } from '../../shared/head-names.js';
import { derived, signal } from '../../shared/signals.js';
import { drawn, html, nothing, taking } from '../../shared/template.js';
import { exact, partBar, placeIn, signed } from './bars.js';
import { followArrows } from './follow-arrows.js';
import { scoreName } from './score-name.js';
import { largestFirst, partsOf, rangeOf, stacked, sumOf } from './sum.js';
import { summingBar } from './summing.js';

/** Parts that are shown one by one when the largest are first. */
const MOST = 24;

/** More rows than that are scrolled. */
const IN_SIGHT = 20;

/** How far a sum of float32 numbers may be from the logit and count as the same. */
const CLOSE = 1e-4;

/** @param {Part} part */
export function nameOf({ kind, layer = 0, head = 0, count = 0 }) {
  switch (kind) {
    case 'embedding':
      return 'Embedding';
    case 'layer':
      return `L${layer} heads`;
    case 'head':
      return shortName({ layer, head });
    case 'mlp':
      return `L${layer} feed-forward`;
    case 'biases':
      return 'Biases';
    case 'rest':
      return `${count} smaller`;
  }
}

/** What a part is, in words. @param {Part} part */
function wordsOf({ kind, layer = 0, head = 0, count = 0, parts = [] }) {
  switch (kind) {
    case 'embedding':
      return 'The token itself and its place';
    case 'layer':
      return `The ${parts.length} heads of layer ${layer} together`;
    case 'head':
      return `Layer ${layer}, head ${head}`;
    case 'mlp':
      return `The feed-forward of layer ${layer}`;
    case 'biases':
      return 'Biases of the output projections and of the last norm';
    case 'rest':
      return `${count} smaller parts together`;
  }
}

/** @param {Explorer} room */
export function sumView(room) {
  const { attribution, shown, choices } = room;
  /** Layers whose heads are shown one by one. @type {import('../../shared/signals.js').Signal<readonly number[]>} */
  const open = signal([]);
  /** The part that is pointed at, and of which sum. @type {import('../../shared/signals.js').Signal<{ part?: Stacked, of?: object }>} */
  const pointed = signal({});
  const leave = () => (pointed.value = {});
  const isSorted = derived(() => shown.value.parts === 'size');

  /** @param {Part[]} parts @returns {(Stacked & { isWithin?: boolean })[]} */
  const rowsOf = (parts) =>
    stacked(isSorted.value ? largestFirst(parts, MOST) : parts).flatMap((part) => {
      const isOpen = part.kind === 'layer' && open.value.includes(part.layer ?? 0);
      const within = isOpen ? stacked(part.parts ?? [], part.start) : [];
      return [part, ...within.map((one) => ({ ...one, isWithin: true }))];
    });

  /** @param {Stacked} part */
  const act = ({ kind, layer = 0, head = 0 }) => {
    if (kind === 'head') choices.choose({ layer, head });
    if (kind !== 'layer') return;
    const others = open.peek().filter((one) => one !== layer);
    open.value = others.length < open.peek().length ? others : [...others, layer];
  };

  /** @param {Stacked & { isWithin?: boolean }} part @param {number} i @param {(value: number) => number} place */
  const row = (part, i, place) => {
    const { kind, layer = 0, head = 0, value, isWithin } = part;
    const isOpen = open.value.includes(layer);
    const isChosen = kind === 'head' && isSameHead({ layer, head }, shown.value);
    const has = kind === 'layer' && shown.value.layer === layer && !isOpen;
    const point = () => (pointed.value = { part, of: attribution.peek() });
    const button = html`<button type="button" class="sum-part" tabindex=${i === 0 ? 0 : -1}
      aria-expanded=${kind === 'layer' ? String(isOpen) : nothing}
      aria-pressed=${kind === 'head' ? String(isChosen) : nothing}
      title=${wordsOf(part)} @click=${() => act(part)} @focus=${point}>${nameOf(part)}</button>`;
    const classes = [isWithin && 'within', isChosen && 'chosen', has && 'has-chosen'];
    return html`<tr class=${classes.filter(Boolean).join(' ')} @pointerenter=${point}>
      <th scope="row">${button}</th>
      <td class="sum-cell">${partBar(part, place)}</td>
      <td title=${exact(value)}>${signed(value)}</td>
    </tr>`;
  };

  /** Embedding, layers, biases and sum: what is below stays where it is when they come. */
  const rowsToCome = () => {
    const { layers = 0 } = room.run.value ?? {};
    return 3 + layers * (room.model.value?.config?.dFf === 0 ? 1 : 2);
  };

  const chart = () => {
    const answer = attribution.value;
    if (!answer)
      return html`<div style="min-height: ${1.5 * rowsToCome()}rem">${summingBar(room)}</div>`;
    const parts = partsOf(answer);
    const rows = rowsOf(parts);
    const place = placeIn(rangeOf(rows));
    const { total } = answer;
    const whole = { kind: /** @type {const} */ ('rest'), value: total, start: 0, end: total };
    return html`<div class=${rows.length > IN_SIGHT ? 'sum-scroll is-long' : 'sum-scroll'}>
      <table class="sum" style="--zero: ${place(0)}%; --total: ${place(total)}%" @keydown=${followArrows}
        @pointerleave=${leave} @focusout=${leave}>
        <caption class="visually-hidden">The parts of the ${scoreName(room, answer)}, in logits</caption>
        <thead class="visually-hidden">
          <tr><th scope="col">part</th><td></td><th scope="col">logits</th></tr>
        </thead>
        <tbody>${rows.map((part, i) => row(part, i, place))}</tbody>
        <tfoot>
          <tr>
            <th scope="row">Sum</th>
            <td class="sum-cell">${partBar(whole, place, 'whole')}</td>
            <td title=${exact(total)}>${signed(total)}</td>
          </tr>
        </tfoot>
      </table>
    </div>`;
  };

  /** Says that the sum closes, or what is pointed at. */
  const told = () => {
    const answer = attribution.value;
    if (!answer) return '';
    const { part, of } = pointed.value;
    if (part && of === answer) {
      return html`${wordsOf(part)}: <b>${exact(part.value)}</b>, and ${formatNumber(part.end)} up to here.`;
    }
    const parts = partsOf(answer);
    const sum = sumOf(parts.map(({ value }) => value));
    const { length } = rowsOf(parts);
    const more = length > IN_SIGHT ? ` There are ${length} rows: scroll to see all.` : '';
    const { total } = answer;
    const isClosed = Math.abs(sum - total) <= CLOSE * Math.max(1, Math.abs(total));
    const name = scoreName(room, answer);
    return isClosed
      ? html`It adds up to <b>${formatNumber(total)}</b>, the ${name} itself.${more}`
      : html`It adds up to ${formatNumber(sum)}; the ${name} is ${formatNumber(total)}.${more}`;
  };

  const title = () =>
    attribution.value ? `The ${scoreName(room, attribution.value)}, part by part` : 'Part by part';

  return html`<div class="part-head">
      <h3 id="explore-sum-title">${drawn(title)}</h3>
      ${drawn(
        () =>
          html`<label class="check"
            ><input type="checkbox" id="explore-parts" .checked=${isSorted.value}
              @change=${taking(({ checked }) => room.set({ parts: checked ? 'size' : 'order' }))} />Largest
            first</label>`,
      )}
    </div>
    <div id="explore-sum">${drawn(chart)}</div>
    <p class="note sum-told" id="explore-sum-told">${drawn(told)}</p>`;
}
