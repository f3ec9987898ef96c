/**
 * The Explore room: a trained model's heads, layer by layer.
 *
 * @import { Store } from '../state.js'
 * @import { Asked } from './asked.js'
 */

import { aloud } from '../shared/aloud.js';
import { byId, el, turnFocusTo } from '../shared/dom.js';
import { LOST, LOST_TEXT } from '../shared/kept-texts.js';
import { menu } from '../shared/menu.js';
import { isNarrow } from '../shared/narrow.js';
import { plural } from '../shared/format.js';
import { computed, effect } from '../shared/signals.js';
import { steady } from '../shared/steady.js';
import { drawn, html, made, render } from '../shared/template.js';
import { EXPLORE_DEFAULTS as DEFAULTS } from './address.js';
import { continuation } from './continue.js';
import { copyLink } from './copy-link.js';
import { Explorer } from './explorer.js';
import { exportDialog } from './export/panel.js';
import { headGrid } from './grid.js';
import { help, listenToKeys } from './keyboard.js';
import { largeMaps } from './large-maps.js';
import { details, lead } from './lead.js';
import { linesView, overlayChoice, shareChoice } from './lines.js';
import { gridBar, measureControls } from './measures.js';
import { isNowhere } from './model-files.js';
import { MODELS, OPENED } from './models.js';
import { nextTokens } from './next-token.js';
import { connectOpen, openedLine } from './open/panel.js';
import { focusToken, pinCards } from './pins.js';
import { connectKeptTexts } from './kept-texts.js';
import { connectReading } from './reading.js';
import { tableView } from './table-view.js';
import { takeHandedOver } from './take-handed-over.js';
import { tellingHeads } from './telling-heads.js';
import { modelChoice, textChoice, textEditor } from './text-controls.js';
import { isLossToCome, textView, tintChoice, tintNote } from './text-view.js';
import { lensView } from './why/lens-view.js';
import { waitingBar } from './waiting.js';
import { whyView } from './why/view.js';

/** Whether the address is of files that this page no longer has. @param {Explorer} room */
const isLost = ({ state, own, message }) =>
  state.value.model === OPENED && !own.value && message.value.isError;

/** Whether it is of a model that this page never had. @param {Explorer} room */
const isUnknown = ({ state, message }) => isNowhere(state.value.model) && message.value.isError;

/** What is said of long texts that the address names and this browser does not have. @param {Explorer} room */
function lostWords({ state }) {
  const { value: now } = state;
  if (now.kept !== null) return LOST_TEXT;
  return now.keptOther === null ? '' : `${LOST} It was the text to compare with this one.`;
}

/** Is read aloud when a model is open, and not again for each text that it reads. @param {Explorer} room */
const openedAloud = ({ state, run, own, isBusy, isSettled }) =>
  aloud('explore-told', () => {
    // What is busy is not read aloud everywhere. What could not be opened or read leaves the run before.
    if (isBusy.value || !isSettled.value || !run.value) return undefined;
    const { layers, heads } = run.value;
    const { model } = state.value;
    const name = (model === OPENED && own.value?.name) || MODELS[model]?.title || 'The model';
    return `${name} is open: ${plural(layers, 'layer')} × ${plural(heads, 'head')}.`;
  });

/** @param {Explorer} room @param {Record<'open' | 'save' | 'help', () => void>} show opens a dialog */
function textSection(room, show) {
  const { message, run } = room;
  const { button, editor } = textEditor(room);
  const { form, told } = continuation(room);
  const needsRun = drawn(() => !run.value);
  const tryAgain = () => {
    room.reopen();
    turnFocusTo(byId('explore-model', HTMLElement));
  };
  const openFirst = () => {
    room.choices.open(DEFAULTS.model);
    turnFocusTo(byId('explore-model', HTMLElement));
  };
  /** @param {string} id @param {unknown} words @param {() => void} act @param {boolean} [isAlways] */
  const tool = (id, words, act, isAlways) =>
    html`<button type="button" id=${id} @click=${act} class="quiet" data-opens
      ?hidden=${isAlways ? false : needsRun}>${words}</button>`;
  return html`<section aria-labelledby="explore-text-title" class="explore-text-section">
    <div class="section-head">
      <h2 id="explore-text-title" class="visually-hidden">The text</h2>
      <div class="explore-tools">
        ${modelChoice(room)} ${textChoice(room)} ${button} ${form}
      </div>
      ${menu(
        'explore-files',
        'Files, link, keys',
        html`<div class="menu-tools">
          ${tool('explore-open', 'Open files…', show.open, true)}
          ${tool('explore-export', 'Export…', show.save)} ${copyLink(room)}
          ${tool('explore-help', html`Keys <kbd translate="no">?</kbd>`, show.help)}
        </div>`,
      )}
    </div>
    ${editor} ${textView(room)}
    ${drawn(
      () =>
        html`<div class="note explore-under" ?hidden=${needsRun} ${made(steady, room.run.value !== undefined && !isLossToCome(room))}>
          ${tintChoice(room)} ${tintNote(room)} ${told}
        </div>`,
    )}
    ${openedLine(room)}
    <p class="note" id="explore-kept" ?hidden=${drawn(() => !lostWords(room))}>
      ${drawn(() => lostWords(room))}
    </p>
    ${waitingBar(room)}
    <p id="explore-message" role="status"
      class=${drawn(() => (message.value.isError ? 'message error' : 'message'))}
      .textContent=${drawn(() => message.value.words)}></p>
    ${openedAloud(room)}
    <button type="button" id="explore-again" ?hidden=${drawn(() => !message.value.canReopen)}
      @click=${tryAgain}>Try again</button>
    <button type="button" id="explore-open-first"
      ?hidden=${drawn(() => !isLost(room) && !isUnknown(room))} @click=${openFirst}>Open Austen</button>
    <p class="note" id="explore-to-train" ?hidden=${drawn(() => !isLost(room))}><a href="#train" data-room="train">Go to Train</a></p>
  </section>`;
}

const chosenHead = () =>
  /** @type {HTMLElement | null} */ (document.querySelector('#explore-grid [tabindex="0"]'));

/** All heads. @param {Explorer} room */
function allHeads(room) {
  const isAll = () => room.shown.value.show === 'all';
  const toggle = () => {
    room.set({ show: isAll() ? 'one' : 'all' });
    byId('explore-heads', HTMLElement).scrollIntoView({ block: isAll() ? 'start' : 'nearest' });
    chosenHead()?.scrollIntoView({ inline: 'center', block: 'nearest' });
    // Its place has changed.
    byId('explore-all', HTMLElement).focus({ preventScroll: true });
  };
  const unmute = () => {
    room.choices.unmuteAll();
    // The button goes; the head that is shown is in the grid.
    chosenHead()?.focus({ preventScroll: true });
  };
  return html`<div class="part-head">
      <h3 id="explore-grid-title">${drawn(() => {
        const { layers = 0, heads = 0 } = room.run.value ?? {};
        return `${plural(layers, 'layer')} × ${plural(heads, 'head')}`;
      })}</h3>
      ${gridBar(room)}
      <button type="button" class="quiet" id="explore-unmute"
        ?hidden=${drawn(() => room.shown.value.muted.length === 0)}
        @click=${unmute}>Unmute all</button>
      <button type="button" class="quiet" id="explore-all" aria-pressed=${drawn(() => isAll())}
        @click=${toggle}>Large</button>
    </div>
    ${headGrid(room)}`;
}

/** An element that keeps what it shows wherever it stands. @param {string} name of its class @param {unknown} content */
function kept(name, content) {
  const element = el('div', { class: name });
  render(content, element);
  return element;
}

/** What the room has in each of its modes. @typedef {Record<'map' | 'all' | 'measures' | 'telling' | 'next' | 'lens', HTMLElement>} Parts */

/** All heads, what they are measured by, and those to begin with. @param {Parts} parts */
const besideMap = ({ all, measures, telling }) =>
  html`<div class="explore-side">${all} ${measures} ${telling}</div>`;

/** Whether a map stands beside another one. @param {import('./address.js').ExploreState} state */
const isCompared = ({ other, before }) => other !== null || before;

/** What stands in the order in which it is seen. @param {Explorer} room @param {Parts} parts @param {unknown} panel */
function arranged({ shown }, parts, panel) {
  const { map, all, measures, telling } = parts;
  const isAllFirst = computed(() => shown.value.show === 'all' && !isCompared(shown.value));
  return drawn(() => {
    if (isNarrow.value) return html`${all} ${map} ${measures} ${panel} ${telling}`;
    return isAllFirst.value
      ? html`${besideMap(parts)} ${map} ${panel}`
      : html`${map} ${besideMap(parts)} ${panel}`;
  });
}

/** @param {Explorer} room @param {Parts} parts */
function mapsView(room, parts) {
  const clear = () => {
    const last = room.pins.peek().at(-1);
    room.choices.unpinAll();
    focusToken(last?.token);
  };
  const panel = html`<div class="explore-panel">
      <div ?hidden=${drawn(() => room.pins.value.length < 2)}>
        <button type="button" class="quiet" id="explore-unpin"
          @click=${clear}>Clear pins</button>
      </div>
      <div id="explore-pins">${pinCards(room)}</div>
      ${parts.next}
    </div>`;
  return html`
  <h2 id="explore-heads-title" class="visually-hidden">Layers and heads</h2>
  <div class="explore-main">${arranged(room, parts, panel)}</div>`;
}

/** @param {Explorer} room */
function headsSection(room) {
  const { shown, isBusy, isWhy } = room;
  const parts = {
    map: kept('explore-center', largeMaps(room)),
    all: kept('explore-all-heads', allHeads(room)),
    measures: kept('explore-measures', measureControls(room)),
    telling: kept('explore-worth', tellingHeads(room)),
    next: kept('explore-next', nextTokens(room)),
    lens: kept('why-lens', lensView(room)),
  };
  const classes = () => {
    return [
      isCompared(shown.value) && 'comparing',
      `show-${shown.value.show}`,
      isBusy.value && 'outdated',
      isWhy.value && 'why',
    ];
  };
  return html`<section aria-labelledby="explore-heads-title" id="explore-heads"
    class=${drawn(() => classes().filter(Boolean).join(' '))}
    ?hidden=${drawn(() => !room.run.value)}>
    ${drawn(() => (isWhy.value ? whyView(room, parts, besideMap(parts)) : mapsView(room, parts)))}
  </section>`;
}

/** @param {Explorer} room @param {() => void} showHelp */
function keysOf({ session, place, choices, hasModel }, showHelp) {
  const pin = (/** @type {'query' | 'key'} */ side) => () => {
    const token = place.peek()[side];
    if (token >= 0) choices.pin({ side, token }, true);
  };
  const keys = {
    '[': () => choices.turnHead(-1),
    ']': () => choices.turnHead(1),
    '{': () => choices.turnLayer(-1),
    '}': () => choices.turnLayer(1),
    p: pin('query'),
    k: pin('key'),
    x: choices.unpinAll,
    c: choices.compare,
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
    html`${lead(room)} ${textSection(room, { open: open.show, save: saving.show, help: showHelp })}
      ${headsSection(room)}
      <section aria-labelledby="explore-lines-title"
        ?hidden=${drawn(() => !room.run.value || room.isWhy.value)}>
        <div class="section-head">
          <h2 id="explore-lines-title">Token to token</h2>
          <div class="field inline">${shareChoice(room)}</div>
        </div>
        ${overlayChoice(room)} ${linesView(room)}
      </section>
      <section aria-labelledby="explore-table-title" ?hidden=${needsRun}>${tableView(room)}</section>
      ${details(room)} ${open.element} ${saving.element} ${help}`,
    element,
  );
  listenToKeys(element, keysOf(room, showHelp));

  connectKeptTexts(room);
  connectReading(room);
  takeHandedOver(room, open.open);
  effect(() => {
    if (room.isBusy.value) element.setAttribute('aria-busy', 'true');
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
