/**
 * The Explore room: a trained model's heads, layer by layer.
 *
 * @import { Store } from '../state.js'
 * @import { Asked } from './asked.js'
 */

import { byId } from '../shared/dom.js';
import { effect } from '../shared/signals.js';
import { drawn, html, render, select } from '../shared/template.js';
import { continuation } from './continue.js';
import { controls } from './controls.js';
import { costWords } from './costs.js';
import { Explorer } from './explorer.js';
import { exportDialog } from './export/panel.js';
import { headGrid } from './grid.js';
import { help, listenToKeys } from './keyboard.js';
import { largeMaps } from './large-maps.js';
import { linesView, shareChoice } from './lines.js';
import { nextTokens } from './next-token.js';
import { connectOpen, openedLine } from './open/panel.js';
import { pinCards } from './pins.js';
import { connectReading } from './reading.js';
import { SCORES, scoreList } from './score-list.js';
import { tableView } from './table-view.js';
import { tellingHeads } from './telling-heads.js';
import { modelChoice, textEditor } from './text-controls.js';
import { textView, tintNote } from './text-view.js';

const SORTS = [['place', 'layer'], ...SCORES.map(([score, name]) => [score, name.toLowerCase()])];

const lead = html`<div class="lead">
  <h1>Look inside a trained model, head by head.</h1>
  <p>
    A small language model reads the text in this page, and every weight of every head is there to
    be looked at, pinned, compared and muted. Attention is not by itself an explanation of what a
    model does (<a href="https://aclanthology.org/N19-1357/">Jain &amp; Wallace 2019</a>,
    <a href="https://aclanthology.org/D19-1002/">Wiegreffe &amp; Pinter 2019</a>): mute a head to
    see whether it matters.
  </p>
</div>`;

const explanation = html`<details class="explain" id="explore-how">
  <summary>How to read this</summary>
  <p>
    Each row is a query, the token that looks; each column is a key, a token that is looked at. A
    cell is the weight that the query gives the key, and the weights of a row sum to 1. Hatched
    cells are masked: they belong to later tokens, which the query cannot see.
  </p>
  <p>
    One such map is a head. Every layer has several, and each looks in its own way. Choose a row to
    pin its query: what it reads from is then listed.
  </p>
</details>`;

/** @param {Explorer} room @param {Record<'open' | 'save' | 'help', () => void>} show opens a dialog */
function textSection(room, show) {
  const { message, run } = room;
  const { button, editor } = textEditor(room);
  const needsRun = drawn(() => !run.value);
  /** @param {string} id @param {unknown} words @param {() => void} act */
  const tool = (id, words, act) =>
    html`<button type="button" id=${id} @click=${act} ?hidden=${needsRun}
      class=${drawn(() => (run.value ? 'quiet' : 'quiet awaited'))}>${words}</button>`;
  return html`<section aria-labelledby="explore-text-title">
    <div class="section-head">
      <h2 id="explore-text-title">The text</h2>
      <div class="explore-tools">
        ${modelChoice(room)}
        <button type="button" class="quiet" id="explore-open" @click=${show.open}>Open files…</button>
        ${tool('explore-export', 'Export…', show.save)} ${button}
        ${tool('explore-help', html`Keys <kbd>?</kbd>`, show.help)}
      </div>
    </div>
    ${editor} ${textView(room)}
    <div class="explore-under" ?hidden=${needsRun}>
      <p class="note" id="explore-text-note">${tintNote(room)}</p>
      ${continuation(room)}
    </div>
    ${openedLine(room)}
    <p id="explore-message" role="status"
      class=${drawn(() => (message.value.isError ? 'message error' : 'message'))}
      .textContent=${drawn(() => message.value.words)}></p>
  </section>`;
}

/** @param {Explorer} room */
function headsSection(room) {
  const { shown, hasModel } = room;
  return html`<section aria-labelledby="explore-heads-title" id="explore-heads"
    class=${drawn(() => (shown.value.other ? 'comparing' : ''))}
    ?hidden=${drawn(() => !room.run.value)}>
    <div class="section-head">
      <h2 id="explore-heads-title">Layers and heads</h2>
      <p class="note" id="explore-cost" role="status">${drawn(() => costWords(room))}</p>
    </div>
    ${controls(room)}
    <div class="explore-main">
      <div class="explore-side">
        <div class="part-head">
          <h3 id="explore-grid-title">All heads</h3>
          <div class="field inline">
            <label for="explore-sort">Sort by</label>
            ${drawn(() =>
              select('explore-sort', SORTS, shown.value.sort, (sort) => room.set({ sort })),
            )}
          </div>
        </div>
        ${headGrid(room)}
        <div id="explore-scores">${scoreList(room)}</div>
        ${tellingHeads(room)}
      </div>
      <div class="explore-center">${explanation} ${largeMaps(room)}</div>
      <div class="explore-panel">
        <div id="explore-pins">${pinCards(room)}</div>
        <div id="explore-next" ?hidden=${drawn(() => !hasModel.value)}>${nextTokens(room)}</div>
      </div>
    </div>
  </section>`;
}

/** @param {Explorer} room @param {() => void} showHelp */
function keysOf({ session, focus, choices, hasModel }, showHelp) {
  const pin = (/** @type {'query' | 'key'} */ side) => () => {
    const token = focus.place[side];
    if (token >= 0) choices.pin({ side, token });
  };
  const keys = {
    '[': () => choices.turnHead(-1),
    ']': () => choices.turnHead(1),
    '{': () => choices.turnLayer(-1),
    '}': () => choices.turnLayer(1),
    p: pin('query'),
    k: pin('key'),
    x: choices.unpin,
    m: () => hasModel.peek() && choices.mute(),
    '?': showHelp,
  };
  return () => (session.run ? keys : { '?': showHelp });
}

/** @param {Store} store */
export function openExplore(store) {
  const element = byId('explore-room', HTMLElement);
  const room = new Explorer(store);
  const open = connectOpen(element, room);
  const saving = exportDialog(room);
  const needsRun = drawn(() => !room.run.value);
  const showHelp = () => byId('explore-help-dialog', HTMLDialogElement).showModal();
  render(
    html`${lead} ${textSection(room, { open: open.show, save: saving.show, help: showHelp })}
      ${headsSection(room)}
      <section aria-labelledby="explore-lines-title" ?hidden=${needsRun}>
        <div class="section-head">
          <h2 id="explore-lines-title">Token to token</h2>
          <div class="field inline">${shareChoice(room)}</div>
        </div>
        ${linesView(room)}
      </section>
      <section aria-labelledby="explore-table-title" ?hidden=${needsRun}>${tableView(room)}</section>
      ${open.element} ${saving.element} ${help}`,
    element,
  );
  listenToKeys(element, keysOf(room, showHelp));

  const isBusy = connectReading(room);
  effect(() => {
    if (isBusy.value) element.setAttribute('aria-busy', 'true');
    else element.removeAttribute('aria-busy');
  });
  /** @param {'run' | 'scored'} name @param {Asked<any>} asked when it is answered about a run, this run's number is told */
  const tell = (name, { ended }) =>
    effect(() => {
      if (ended.value && ended.value === room.run.value)
        element.dataset[name] = String(ended.value.run);
    });
  tell('run', room.thumbs);
  tell('scored', room.scores);
}
