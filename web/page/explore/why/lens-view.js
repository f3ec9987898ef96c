/**
 * The logit lens: what the model would predict at each token, after each layer.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { RunSummary } from '../session.js'
 * @import { LensCell } from '../worker/lens.js'
 */

import { formatCount } from '../../shared/format.js';
import { computed, derived, signal } from '../../shared/signals.js';
import { steadily } from '../../shared/steady.js';
import { drawn, html, made } from '../../shared/template.js';
import { Asked } from '../asked.js';
import { bar, quoted, tokenName, tokenText } from '../bars.js';
import { leavingTo } from '../leaving-to.js';
import { percent } from '../next-token.js';
import { followArrows } from './follow-arrows.js';
import { reveal } from './reveal.js';

/** Tokens side by side. */
const MOST = 24;

/** Multiplications up to which it is computed without being asked for. */
const CHEAP = 4e9;

/** What a row is after. @param {number} row */
const nameOf = (row) => (row === 0 ? 'embedding' : `after L${row - 1}`);

/** The tokens that are shown: as many as fit, with the one that is asked about. @param {number} n @param {number} at */
export function windowOf(n, at) {
  const from = Math.max(0, Math.min(at - Math.floor((2 * MOST) / 3), n - MOST));
  return { from, to: Math.min(n, from + MOST) };
}

/** @param {Explorer} room */
function createLens(room) {
  /** Opened or closed by the visitor. @type {import('../../shared/signals.js').Signal<boolean | undefined>} */
  const wish = signal(undefined);
  /** The cell whose list is shown, of the run and the token that were asked about. @type {import('../../shared/signals.js').Signal<{ row: number, at: number, of?: [RunSummary, number] }>} */
  const chosen = signal({ row: 0, at: 0 });
  const isOpen = computed(() => {
    const { numLayers = 0, vocabSize = 0, dModel = 0 } = room.model.value?.config ?? {};
    return wish.value ?? (numLayers + 1) * MOST * vocabSize * dModel < CHEAP;
  });
  /** Counts what was asked: an earlier lens ends when another one is wanted, or none. */
  let asked = 0;
  const where = derived(() => {
    const { run, about } = room.attribution.value ?? {};
    if (!run || !about || !room.attribution.value) return undefined;
    return { ...windowOf(run.n, about.at), target: room.attribution.value.target };
  });
  /** @type {Asked<import('../worker/lens.js').Lens & { where: object | undefined }>} */
  const lens = new Asked(room, () => {
    const mine = ++asked;
    const now = where.value;
    if (!room.isWhy.value || !isOpen.value || !now) return undefined;
    return async (tell) => {
      /** @type {import('../worker/lens.js').Lens} */
      let latest = { from: now.from, rows: [], done: 0 };
      for await (const part of room.session.lens(now)) {
        latest = part;
        await tell({ ...part, where: now });
        if (mine !== asked) break;
      }
      return { ...latest, where: now };
    };
  });
  const answer = computed(() => {
    const found = lens.answer.value;
    return found?.run === room.run.value && found?.where === where.value ? found : undefined;
  });
  return { wish, chosen, isOpen, answer };
}

/** The list of a cell. @param {RunSummary} run @param {LensCell} cell @param {{ row: number, at: number }} where @param {string} target */
function list({ tokens }, { top, rank, share }, { row, at }, target) {
  const most = top[0].share;
  return html`<h4>${row === 0 ? 'Embedding' : `After L${row - 1}`}, at ${tokenName(tokens[at], at)}</h4>
    <table class="bars next-tokens" aria-label="The likeliest tokens there">
      <tbody>
        ${top.map(
          (one) =>
            html`<tr>
              <th scope="row">${tokenText(one.token.text)}</th>
              <td class="bar-cell">${bar(one.share, most)}</td>
              <td translate="no">${percent(one.share)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="note">${quoted(target)} has rank ${formatCount(rank)} and probability ${percent(share)}.</p>`;
}

/**
 * @typedef {object} Reading
 * @property {RunSummary} run
 * @property {number} at the token whose prediction is asked about
 * @property {string} target what is predicted there
 * @property {{ row: number, at: number }} shown the cell that is listed
 * @property {(row: number, at: number) => void} choose lists another
 */

/** @param {Reading} reading @param {LensCell} cell @param {number} row @param {number} token */
function cellView({ run, at, target, shown, choose }, { top: [first], rank }, row, token) {
  const isChosen = shown.row === row && shown.at === token;
  const place = `${nameOf(row)}, at ${run.tokens[token].text} ${token + 1}`;
  const title = `${place}: ${first.token.text} ${percent(first.share)}; “${target}” has rank ${formatCount(rank)}`;
  return html`<td class=${token === at ? 'asked' : ''}><button type="button" title=${title}
    tabindex=${isChosen ? 0 : -1} aria-pressed=${isChosen}
    style="--share: ${(100 * first.share).toFixed(0)}%"
    class=${rank === 1 ? 'is-target' : ''}
    @click=${() => choose(row, token)}>${tokenText(first.token.text)}${
      token === at ? html`<span class="rank" translate="no">#${formatCount(rank)}</span>` : ''
    }</button></td>`;
}

/** @param {Reading} reading @param {LensCell[][]} rows of layers @param {number} from the first token that is read */
function table(reading, rows, from) {
  const { run, at } = reading;
  const tokens = run.tokens.slice(from, from + rows[0].length);
  return html`<table class="lens-table" data-columns=${tokens.length} @keydown=${followArrows}>
    <caption class="visually-hidden">The likeliest next token at each token, after each layer</caption>
    <thead>
      <tr><td></td>${tokens.map(
        ({ text }, i) =>
          html`<th scope="col" class=${from + i === at ? 'asked' : ''}>${tokenText(text)}</th>`,
      )}</tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells, row) =>
          html`<tr><th scope="row">${nameOf(row)}</th>${cells.map((one, i) => cellView(reading, one, row, from + i))}</tr>`,
      )}
    </tbody>
  </table>`;
}

/** @param {string} target */
const legend = (target) => html`<p class="note lens-note">
  <span class="legend-scale"><span>0</span><span class="measure-bar pale"></span><span>1</span></span>
  Each cell shows the likeliest token; its colour is that token’s probability. #: the rank of ${quoted(target)}. Thin frame: it ranks first. Thick frame: the cell that is listed.
</p>`;

/** @param {Explorer} room @param {ReturnType<typeof createLens>} lens @returns {unknown} undefined: the layers are not read yet */
function opened(room, { chosen, answer }) {
  const now = answer.value;
  if (!now?.rows.length) return undefined;
  const { run, rows, from } = now;
  const at = room.about.value.at;
  const { predictions = [], target: id } = room.next.answer.value ?? {};
  const target = predictions.find(({ token }) => token.id === id)?.token.text ?? '…';
  const [ofRun, ofToken] = chosen.value.of ?? [];
  const isNow = ofRun === run && ofToken === at && chosen.value.row < rows.length;
  const shown = isNow ? chosen.value : { row: rows.length - 1, at };
  const choose = (/** @type {number} */ row, /** @type {number} */ token) =>
    (chosen.value = { row, at: token, of: [run, at] });
  const own = rows[shown.row]?.[shown.at - from];
  return html`<div class="lens" ${leavingTo('explore-lens-summary')}>
      <div class="lens-scroll" ${made(reveal, 'thead .asked', run, at)}>
        ${table({ run, at, target, shown, choose }, rows, from)}
      </div>
      <div class="lens-list">${own ? list(run, own, shown, target) : ''}</div>
    </div>
    ${legend(target)}`;
}

/** @param {ReturnType<typeof createLens>} lens */
const reading = ({ answer }) =>
  html`<p class="note">Reading the layers … <progress max="1" .value=${drawn(() => answer.value?.done ?? 0)} aria-label="Layers read so far"></progress></p>`;

/** @param {Explorer} room */
export function lensView(room) {
  const lens = createLens(room);
  const { wish, isOpen } = lens;
  return html`<details id="explore-lens" ?open=${drawn(() => isOpen.value)}
    @toggle=${(/** @type {ToggleEvent} */ { currentTarget }) => {
      const { open } = /** @type {HTMLDetailsElement} */ (currentTarget);
      if (open !== isOpen.peek()) wish.value = open;
    }}>
    <summary id="explore-lens-summary"><h3 id="explore-lens-title">Logit lens: what the model would predict after each layer</h3></summary>
    ${steadily(() => (isOpen.value ? opened(room, lens) : ''), reading(lens))}
  </details>`;
}
