/**
 * The model writes on: tokens after the text, one after another, until their number is reached or it is stopped.
 *
 * @import { Token } from '../types.js'
 * @import { Explorer } from './explorer.js'
 */

import { byId } from '../shared/dom.js';
import { formatCount, formatRate, plural } from '../shared/format.js';
import { menu } from '../shared/menu.js';
import { derived, effect, signal } from '../shared/signals.js';
import { drawn, html, select, taking } from '../shared/template.js';
import { fitsNumber, NUMBERS } from './address.js';
import { untilChanged } from './told.js';

/** @type {['count' | 'temperature' | 'topK' | 'seed', string, number][]} name, label, step */
const FIELDS = [
  ['count', 'Tokens', 1],
  ['temperature', 'Temperature', 0.05],
  ['topK', 'Top k (0: all)', 1],
  ['seed', 'Seed', 1],
];

const DECODINGS = [
  ['greedy', 'the likeliest token'],
  ['sample', 'a token drawn at random'],
];

/**
 * Takes a number, or puts the one before back into its field.
 *
 * @param {Explorer} room
 * @param {typeof FIELDS[number]} field
 * @param {HTMLInputElement} input
 * @param {(words: string) => void} tell why it was not taken
 */
function takeNumber(room, [name, label], input, tell) {
  const value = input.valueAsNumber;
  if (fitsNumber(name, value)) {
    room.set({ [name]: value });
    return;
  }
  const [least, most, isWhole] = NUMBERS[name];
  const before = room.state.peek()[name];
  input.value = String(before);
  const range = `${isWhole ? 'a whole number' : 'a number'} from ${least} to ${formatCount(most)}`;
  tell(`“${label}” must be ${range}; it is still ${before}.`);
}

/** How tokens are chosen. @param {Explorer} room */
function how(room) {
  // Why a number was not taken: said in the menu, which covers what is below it.
  const { words, tell } = untilChanged(room);
  const fields = () => {
    const state = room.state.value;
    const decoding = select('explore-decoding', DECODINGS, state.decoding, (value) =>
      room.set({ decoding: value }),
    );
    return html`<label for="explore-decoding">Each time${decoding}</label>
      ${FIELDS.map((field) => {
        const [name, label, step] = field;
        const [min, max] = NUMBERS[name];
        return html`<label for="explore-${name}"
          ?hidden=${name !== 'count' && state.decoding === 'greedy'}>${label}<input
            id="explore-${name}" type="number" min=${min} max=${max} step=${step}
            .value=${String(state[name])}
            @change=${taking((input) => takeNumber(room, field, input, tell))} /></label>`;
      })}`;
  };
  return html`<p>How the model continues the text</p>
    <div class="continue-how">${drawn(fields)}</div>
    <p class="note" id="explore-refusal" role="status">${drawn(() => words.value)}</p>`;
}

/** The writing of tokens. @param {Explorer} room */
function createWriting(room) {
  const { session, state, draft, run } = room;
  /** What is under way. */
  const work = signal(/** @type {AbortController | undefined} */ (undefined));
  const status = signal('');
  const about = derived(() => ({ model: state.value.model, text: state.value.text }));
  effect(() => {
    if (!about.value) return;
    work.peek()?.abort();
    status.value = '';
  });
  // Back, too, takes away what was written.
  effect(() => {
    if (state.value.added.length === 0 && !work.peek()) status.value = '';
  });

  const write = async () => {
    const mine = new AbortController();
    work.value = mine;
    const [before, start] = [state.peek(), performance.now()];
    /** @type {(Token & { id: number })[]} */
    let tokens = [];
    try {
      // What was typed just now comes first; while another model is opened, or if it cannot be read, nothing is written.
      const isRead = await room.whenRead();
      const isReady = isRead && !mine.signal.aborted && !room.isBusy.peek();
      const from = run.peek();
      for await (const token of isReady ? session.write(before) : []) {
        if (mine.signal.aborted) break;
        tokens = [...tokens, token];
        draft.value = { run: from, tokens };
        const rate = (1000 * tokens.length) / (performance.now() - start);
        status.value = `${plural(tokens.length, 'token')}, ${formatRate(rate)} per second`;
      }
    } catch (error) {
      if (!mine.signal.aborted) room.fail(error);
    }
    if (work.peek() === mine) work.value = undefined;
    const { model, text, added } = state.peek();
    const isSame = model === before.model && text === before.text && added === before.added;
    // What was written until it was stopped is kept.
    if (isSame && tokens.length > 0) room.set({ added: [...added, ...tokens.map(({ id }) => id)] });
  };
  return { work, status, write };
}

/** The button that lets the model write, and how far it is. @param {Explorer} room */
export function continuation(room) {
  const { work, status, write } = createWriting(room);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    // Enter in a field takes what it says, and no more.
    if (document.activeElement?.closest('.continue-how')) return;
    const current = work.peek();
    if (current) current.abort();
    else write();
  };
  const takeBack = () => {
    work.peek()?.abort();
    status.value = '';
    room.set({ added: [] });
    // The button goes; what it took back can be written again.
    byId('explore-write', HTMLElement).focus();
  };
  // An address may bring ids that the model does not have.
  const isUnwritten = () => room.state.value.added.length === 0 || !room.run.value?.written;
  const classes = () => (room.run.value ? 'explore-continue' : 'explore-continue awaited');
  // A closed menu cannot show what the browser would complain about.
  const form = html`<form id="explore-continue" class=${drawn(classes)} autocomplete="off" novalidate
    ?hidden=${drawn(() => room.predicts.value !== 'next' || !room.run.value)} @submit=${submit}>
    <button type="submit" id="explore-write">${drawn(() => (work.value ? 'Stop' : 'Continue'))}</button>
    <button type="button" class="quiet" id="explore-take-back" @click=${takeBack}
      ?hidden=${drawn(isUnwritten)}>Remove what it wrote</button>
    ${menu('explore-continue-how', 'Options', how(room))}
  </form>`;
  // Read aloud when the last token is there, not at each.
  const told = html`<span id="explore-written" role="status"
    aria-busy=${drawn(() => String(work.value !== undefined))}>${drawn(() => status.value)}</span>`;
  return { form, told };
}
