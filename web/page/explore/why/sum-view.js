/**
 * The sum of a logit as bars, from the embedding to the whole.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { Row } from './sum-rows.js'
 * @import { Part } from './sum.js'
 */

import { formatNumber } from '../../shared/format.js';
import { isSameHead } from '../../shared/head-names.js';
import { placeOf, steadily, steady } from '../../shared/steady.js';
import { drawn, html, made, nothing, taking } from '../../shared/template.js';
import { leavingTo } from '../leaving-to.js';
import { exact, partBar, placeIn, signed } from './bars.js';
import { followArrows, keepStop } from './follow-arrows.js';
import { nameOf, wordsOf } from './part-names.js';
import { scoreName } from './score-name.js';
import { SumRows } from './sum-rows.js';
import { partsOf, rangeOf, sumOf } from './sum.js';
import { summingBar } from './summing.js';

/** More rows than that are scrolled. */
const IN_SIGHT = 20;

/** How far a sum of float32 numbers may be from the logit and count as the same. */
const CLOSE = 1e-4;

/** @param {Explorer} room @param {SumRows} rows @param {Row} part @param {number} i @param {(value: number) => number} place */
function rowView({ shown }, rows, part, i, place) {
  const { kind, layer = 0, head = 0, value, isWithin } = part;
  const isOpen = rows.isOpen(part);
  const isChosen = kind === 'head' && isSameHead({ layer, head }, shown.value);
  const has = kind === 'layer' && shown.value.layer === layer && !isOpen;
  const point = () => rows.point(part);
  const button = html`<button type="button" class="sum-part" tabindex=${i === 0 ? 0 : -1}
    aria-expanded=${kind === 'layer' ? String(isOpen) : nothing}
    aria-pressed=${kind === 'head' ? String(isChosen) : nothing}
    title=${wordsOf(part)} @click=${() => rows.act(part)} @focus=${point}>${nameOf(part)}</button>`;
  const classes = [isWithin && 'within', isChosen && 'chosen', has && 'has-chosen'];
  return html`<tr class=${classes.filter(Boolean).join(' ')} @pointerenter=${point}>
    <th scope="row">${button}</th>
    <td class="sum-cell">${partBar(part, place)}</td>
    <td translate="no" title=${exact(value)}>${signed(value)}</td>
  </tr>`;
}

/** A place for embedding, layers, biases and sum. @param {Explorer} room */
const toCome = (room) =>
  drawn(() => {
    const { layers = 0 } = room.run.value ?? {};
    const { dModel = 0, dFf = 0 } = room.model.value?.config ?? {};
    // A feed-forward as narrow as that is there for its form alone, and adds 0.
    const rows = 3 + layers * (dFf < dModel ? 1 : 2);
    return placeOf(`${1.5 * rows}rem`, summingBar(room));
  });

/** @param {Explorer} room @param {SumRows} rows */
function sumTable(room, rows) {
  const answer = room.attribution.value;
  if (!answer) return undefined;
  const list = rows.of(partsOf(answer));
  const place = placeIn(rangeOf(list));
  const { total } = answer;
  const whole = { start: 0, end: total };
  return html`<div class=${list.length > IN_SIGHT ? 'sum-scroll is-long' : 'sum-scroll'} ${leavingTo('explore-sum-title')}>
    <table class="sum" style="--zero: ${place(0)}%; --total: ${place(total)}%" @keydown=${followArrows}
      @pointerleave=${rows.leave} @focusout=${rows.leave} ${made(keepStop, list)}>
      <caption class="visually-hidden">The parts of the ${scoreName(room, answer)}, in logits</caption>
      <thead class="visually-hidden">
        <tr><th scope="col">part</th><td></td><th scope="col">logits</th></tr>
      </thead>
      <tbody>${list.map((part, i) => rowView(room, rows, part, i, place))}</tbody>
      <tfoot>
        <tr>
          <th scope="row">Sum</th>
          <td class="sum-cell">${partBar(whole, place, 'whole')}</td>
          <td translate="no" title=${exact(total)}>${signed(total)}</td>
        </tr>
      </tfoot>
    </table>
  </div>`;
}

/** Says that the sum closes, or what is pointed at. @param {Explorer} room @param {SumRows} rows */
function told(room, rows) {
  const answer = room.attribution.value;
  if (!answer) return '';
  const { pointed } = rows;
  if (pointed) {
    return html`${wordsOf(pointed)}: <b>${exact(pointed.value)}</b>, and ${formatNumber(pointed.end)} up to here.`;
  }
  const parts = partsOf(answer);
  const sum = sumOf(parts.map(({ value }) => value));
  const { length } = rows.of(parts);
  const more = length > IN_SIGHT ? ` There are ${length} rows: scroll to see all.` : '';
  const { total } = answer;
  const isClosed = Math.abs(sum - total) <= CLOSE * Math.max(1, Math.abs(total));
  const name = scoreName(room, answer);
  return isClosed
    ? html`It adds up to <b>${formatNumber(total)}</b>, the ${name} itself.${more}`
    : html`It adds up to ${formatNumber(sum)}; the ${name} is ${formatNumber(total)}.${more}`;
}

/** @param {Explorer} room */
export function sumView(room) {
  const rows = new SumRows(room);
  const head = () => {
    const { value } = room.attribution;
    return html`<div class="part-head" ${made(steady, value !== undefined)}>
      <h3 id="explore-sum-title" tabindex="-1">${value ? html`The ${scoreName(room, value)}, part by part` : 'Part by part'}</h3>
      <label class="check"
        ><input type="checkbox" id="explore-parts" .checked=${rows.isSorted.value}
          @change=${taking(({ checked }) => room.set({ parts: checked ? 'size' : 'order' }))} />Largest
        first</label>
    </div>`;
  };
  const foot = () =>
    html`<p class="note sum-told" id="explore-sum-told"
      ${made(steady, room.attribution.value !== undefined)}>${told(room, rows)}</p>`;
  return html`${drawn(head)}
    <div id="explore-sum">${steadily(() => sumTable(room, rows), toCome(room))}</div>
    ${drawn(foot)}`;
}
