/**
 * Two texts side by side, and what of the one brings its prediction back in the other.
 *
 * @import { Explorer } from '../../explorer.js'
 * @import { Token } from '../../../types.js'
 * @import { Shares } from './share-table.js'
 */

import { directed } from '../../../shared/direction.js';
import { byId } from '../../../shared/dom.js';
import { formatCount } from '../../../shared/format.js';
import { isSameHead, longName, shortName } from '../../../shared/head-names.js';
import { showWeightLegend } from '../../../shared/legend.js';
import { computed, signal } from '../../../shared/signals.js';
import { steadily } from '../../../shared/steady.js';
import { drawn, html, leaving, made, nothing } from '../../../shared/template.js';
import { quoted, tokenText } from '../../bars.js';
import { leavingTo } from '../../leaving-to.js';
import { signed } from '../bars.js';
import { reveal } from '../reveal.js';
import { signedBar } from '../signed-scale.js';
import { exampleOf } from './examples.js';
import { differenceInWords } from './pair.js';
import { endOf, shareTable, wordsAt } from './share-table.js';

/** Scores this near are as good as the same, in logits or nats. */
const CLOSE = 0.1;

/** Maps of longer texts have cells too small to be seen. */
const MOST_MAP = 512;

/** @param {Explorer} room */
function form(room) {
  const words = signal('');
  const input = () => byId('explore-corrupted', HTMLTextAreaElement);
  /** @param {string | null} text */
  const set = (text) => {
    words.value = '';
    room.patching.draft = undefined;
    room.choices.setOther(text);
  };
  const take = (/** @type {Event} */ event) => {
    event.preventDefault();
    set(input().value);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    // Enter that ends a composition, as of Japanese, belongs to the text.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) take(event);
  };
  const close = () => {
    set(null);
    byId('explore-patch', HTMLElement).focus();
  };
  const example = async () => {
    const { text, other, target, against } = exampleOf(room.state.peek().model);
    try {
      const tokens = await Promise.all([target, against].map((one) => room.session.tokenOf(one)));
      words.value = '';
      room.patching.draft = undefined;
      const [first, second] = tokens.map(({ token }) => token.id);
      room.choices.compareTexts({ text, corrupted: other, target: first, against: second });
    } catch (error) {
      words.value = /** @type {Error} */ (error).message;
    }
  };
  return drawn(() => {
    const other = room.patching.text.value;
    const written = other ?? room.text.value;
    const { draft } = room.patching;
    const isTypedOn = draft?.of === written;
    const typed = () => (room.patching.draft = { of: written, text: input().value });
    return html`<form class="patching-form" @submit=${take}>
      <label for="explore-corrupted">The other text: change a word or two of yours</label>
      <textarea id="explore-corrupted" rows="2" spellcheck="false"
        .value=${isTypedOn ? draft.text : written} @input=${typed} @keydown=${keys}
        ${made(directed, written)}></textarea>
      <div class="row">
        <button type="submit" id="explore-patch">Compare the texts</button>
        <button type="button" class="quiet" id="explore-example" @click=${example}>Show an example</button>
        <button type="button" class="quiet" id="explore-unpatch" ?hidden=${other === null}
          @click=${close}>Close</button>
        <span class="note" role="status">${drawn(() => words.value)}</span>
      </div>
    </form>`;
  });
}

/** Both texts, a column for each token. @param {Explorer} room */
function texts({ patching, about }) {
  const pair = patching.pair.value;
  if (!pair) return '';
  const { clean, other, differing, problem } = pair;
  const isAligned = clean.length === other.length;
  const { at } = about.value;
  const cell = (/** @type {Token} */ { text }, /** @type {number} */ i) => {
    const isOther = isAligned ? differing.includes(i) : clean[i]?.id !== other[i]?.id;
    const classes = [isOther && 'differs', i === at && 'asked'].filter(Boolean).join(' ');
    return html`<td class=${classes}>${tokenText(text)}${isOther ? html`<span class="visually-hidden"> differs</span>` : ''}</td>`;
  };
  return html`<div class="share-scroll" tabindex="0" role="group" aria-label="Both texts, token by token"
      ${made(reveal, '.differs', pair)}>
      <table class="pair-tokens">
        <tbody>
          <tr><th scope="row">Your text</th>${clean.map(cell)}</tr>
          <tr><th scope="row">Other text</th>${other.map(cell)}</tr>
        </tbody>
      </table>
    </div>
    ${problem ? html`<p class="message error" role="alert" id="explore-pair-problem">${problem}</p>` : html`<p class="note" id="explore-pair-told">${differenceInWords(pair)}</p>`}`;
}

/** What is measured, in words. @param {Explorer} room @param {{ target: number }} shares */
function measured({ next, against }, { target }) {
  const { predictions = [] } = next.answer.value ?? {};
  const textOf = (/** @type {number | null} */ id) =>
    predictions.find(({ token }) => token.id === id)?.token.text ?? '…';
  const what = quoted(textOf(target));
  return against.value === null
    ? html`log-probability of ${what}`
    : html`logit of ${what} − ${quoted(textOf(against.value))}`;
}

/** How sure each text is, and how far the sweep has come. @param {Explorer} room */
function scores(room) {
  const shares = room.patching.shares.value;
  if (!shares) return nothing;
  const { clean, other, done, count } = shares;
  const { cancelled, question } = room.patching;
  const isCancelled = cancelled.value === question.value;
  const isKnown = clean !== undefined && other !== undefined;
  const cancel = () => {
    room.patching.cancel();
    // The button goes; here is the way on.
    byId('explore-patching-go-on', HTMLElement).focus();
  };
  const told =
    isKnown &&
    html`The ${measured(room, shares)}: <b>${signed(clean)}</b> in your text, <b>${signed(other)}</b> in the
          other.`;
  const leave = () => byId('explore-patch', HTMLElement).focus({ preventScroll: true });
  const progress = html`<p class="patching-progress" ${leaving(leave)}>
    <progress max="1" .value=${done / count} aria-label="Patched so far"></progress>
    <span class="note">${formatCount(done)} of ${formatCount(count)} patches</span>
    <button type="button" class="quiet" id="explore-patching-cancel" @click=${cancel}>
      Cancel
    </button>
  </p>`;
  const isClose = isKnown && Math.abs(clean - other) < CLOSE;
  return html`<p id="explore-pair-scores">${told || ''}</p>
    ${isClose ? html`<p class="note">Both texts have nearly the same score, so shares of the difference mean little. Change another word, or choose another token to compare with.</p>` : ''}
    ${done < count && !isCancelled ? progress : nothing}`;
}

/** @param {Explorer} room */
const resumed = ({ patching }) =>
  html`<button type="button" id="explore-patching-go-on" ?hidden=${patching.cancelled.value !== patching.question.value || patching.question.value.others === null}
    @click=${() => {
      patching.goOn();
      byId('explore-patch', HTMLElement).focus();
    }}>Patch all heads and tokens</button>`;

/** The shares of heads, and of layers at tokens. @param {Explorer} room @returns {Shares[]} none: they are not known */
function sharesOf({ patching, shown, run, choices }) {
  const { shares, pair } = { shares: patching.shares.value, pair: patching.pair.value };
  if (!shares || !pair || !run.value) return [];
  const { layers, heads } = run.value;
  const end = endOf(shares.heads, shares.places);
  const columns = Array.from({ length: shares.n }, (_, i) => {
    const [text, other] = [pair.clean[i].text, pair.other[i].text];
    return pair.differing.includes(i)
      ? html`${tokenText(text)}${tokenText(other, 'other')}`
      : tokenText(text);
  });
  return [
    {
      ...{ layers, end, about: shares.question, values: shares.heads },
      caption: 'Recovered share of each head',
      columns: Array.from({ length: heads }, (_, head) => `H${head}`),
      isChosen: (layer, head) => isSameHead({ layer, head }, shown.value),
      nameOf: (layer, head) => shortName({ layer, head }),
      choose: (layer, head) => choices.choose({ layer, head }),
    },
    {
      ...{ layers, end, about: shares.question, columns, values: shares.places },
      caption: 'Recovered share of each layer and token',
      isChosen: () => false,
      nameOf: (layer, i) => `before layer ${layer}, “${pair.clean[i].text}” (${i + 1})`,
    },
  ];
}

const HEADINGS = [
  ['Heads', 'Each head’s output, at all tokens. A click shows its map in both texts.'],
  [
    'Tokens',
    'The residual stream before each layer, at one token. It shows where the model holds the relevant information.',
  ],
];

/** Both tables, and what the cell says that is pointed at. @param {Explorer} room */
function tables(room) {
  const all = computed(() => sharesOf(room));
  /** @typedef {{ table: number, layer: number, column: number, question: object }} Pointed */
  const pointed = signal(/** @type {Pointed | undefined} */ (undefined));
  const told = () => {
    if (all.value.length === 0) return '';
    const { value: cell } = pointed;
    return cell?.question === room.patching.question.value
      ? wordsAt(all.value[cell.table], cell.layer, cell.column)
      : 'Point at a cell, tap it or go to it with the arrow keys, for its exact share.';
  };
  const table = (/** @type {Shares} */ shares, /** @type {number} */ i) => {
    const [words, about] = HEADINGS[i];
    const question = room.patching.question.peek();
    return html`<div><h4>${words}</h4><p class="note">${about}</p>
      ${shareTable(shares, (place) => (pointed.value = place && { ...place, table: i, question }))}</div>`;
  };
  const both = () => {
    const [first] = all.value;
    if (!first) return nothing;
    return html`<div class="patching-tables" ${leavingTo('explore-patching-title')}>${all.value.map(table)}</div>
      <p class="note share-legend">${signedBar(first.end.toFixed(2).replace(/\.00$/, ''), true)}
        Recovered share. 0: nothing is restored. 1: your text’s prediction is fully restored. Orange: towards it. Purple: away from it.</p>`;
  };
  return html`${drawn(both)}<p class="note share-told" id="explore-share-told">${drawn(told)}</p>`;
}

/** @param {import('../../../../headwise/view.js').AttentionMap} map @param {Float32Array} weights @param {readonly Token[]} tokens @param {string} name */
function paint(map, weights, tokens, name) {
  const n = tokens.length;
  const shape = [n, n];
  map.show({
    weights: { shape, data: weights },
    tokens: tokens.map(({ text }) => text),
    causal: true,
    max: 1,
    name,
  });
}

/** The chosen head's map in both texts. @param {Explorer} room @returns {unknown} undefined: it is to come */
function maps({ patching, run, shown }) {
  const [answer, pair] = [patching.maps.value, patching.pair.value];
  if (!pair || pair.problem || pair.clean.length > MOST_MAP) return '';
  const isNow = answer && answer.run === run.value && isSameHead(answer, shown.value);
  if (!isNow) return undefined;
  const name = longName(shown.value);
  const map = (
    /** @type {string} */ text,
    /** @type {Float32Array} */ weights,
    /** @type {Token[]} */ tokens,
  ) =>
    html`<figure><figcaption>${name}, ${text}</figcaption>
      <attention-map compact ${made(paint, weights, tokens, `${name}, ${text}`)}></attention-map></figure>`;
  return html`<div class="pair-maps" id="explore-pair-maps">
      ${map('your text', answer.clean, pair.clean)} ${map('the other text', answer.other, pair.other)}
    </div>
    <div ${made(showWeightLegend)}></div>`;
}

/** @param {Explorer} room */
export function patchingView(room) {
  return html`<section class="why-patching" aria-labelledby="explore-patching-title">
    <h3 id="explore-patching-title" tabindex="-1">Patching: which part restores the prediction?</h3>
    <p class="note">
      Take another text, for which the model predicts something else. Copy one part of the run on
      your text into the run on the other. If your prediction is restored, it depends on that part.
    </p>
    ${form(room)}
    ${drawn(() => texts(room))} ${drawn(() => scores(room))} ${drawn(() => resumed(room))}
    ${tables(room)} ${steadily(() => maps(room))}
  </section>`;
}
