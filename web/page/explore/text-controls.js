/**
 * Which model reads which text.
 *
 * @import { Explorer } from './explorer.js'
 */

import { directed } from '../shared/direction.js';
import { byId } from '../shared/dom.js';
import { formatCount } from '../shared/format.js';
import { computed, effect, signal } from '../shared/signals.js';
import { drawn, html, made, select } from '../shared/template.js';
import { linkWords } from '../shared/kept-texts.js';
import { isHosted, isNowhere } from './model-files.js';
import { MODELS, OPENED, pageModel, TEXTS } from './models.js';

/** How long a pause in typing is. */
const TYPING_MS = 300;

/** @param {Explorer} room */
export function modelChoice({ state, own, choices }) {
  return drawn(() => {
    const models = Object.entries(MODELS).map(([value, { title }]) => [value, title]);
    const opened = own.value?.name ?? 'files that were opened';
    const hasOpened = own.value !== undefined || state.value.model === OPENED;
    const { model } = state.value;
    const hosted = isHosted(model) ? [[model, model, 'no']] : [];
    const unknown = isNowhere(model) ? [[model, 'Choose a model']] : [];
    const mine = hasOpened ? [[OPENED, opened, own.value && 'no']] : [];
    const all = [...unknown, ...models, ...hosted, ...mine];
    return html`<div class="field inline">
      <label for="explore-model">Model</label>
      ${select('explore-model', all, state.value.model, choices.open)}
    </div>`;
  });
}

/** Texts to begin with. @param {Explorer} room */
export function textChoice({ state, model, choices, hasModel, ownText }) {
  const isIds = computed(() => model.value?.sample !== undefined);
  const others = computed(() =>
    isIds.value ? [] : (pageModel(state.value.model)?.texts ?? TEXTS),
  );
  /** What the visitor wrote stays at hand. */
  const mine = computed(() =>
    isIds.value || others.value.some(([, words]) => words === ownText.value) ? null : ownText.value,
  );
  return drawn(() => {
    const { text } = state.value;
    const texts = [['', 'The sample'], ...others.value.map(([title], i) => [String(i), title])];
    const at = others.value.findIndex(([, words]) => words === text);
    const chosen = text === null ? '' : at >= 0 ? String(at) : 'own';
    const hasOwn = chosen === 'own' || mine.value !== null;
    const all = hasOwn ? [...texts, ['own', 'Your own text']] : texts;
    const wordsOf = (/** @type {string} */ value) =>
      value === '' ? null : value === 'own' ? mine.value : others.value[Number(value)][1];
    const choose = (/** @type {string} */ value) =>
      value !== chosen && choices.read(wordsOf(value));
    return html`<div class="field inline" ?hidden=${!hasModel.value}>
      <label for="explore-texts">Text</label>
      ${select('explore-texts', all, chosen, choose)}
    </div>`;
  });
}

/** How much of the text the model reads, and whether the address has it. @param {Explorer} room */
function countWords({ run, model, state, message, isBusy }) {
  const most = model.value?.config?.contextLength;
  if (!run.value || most === undefined || message.value.isError || isBusy.value) return '';
  return `${formatCount(run.value.n)} of at most ${formatCount(most)} tokens${linkWords(state.value.text)}`;
}

/** The button that opens the editor, and the editor. @param {Explorer} room */
export function textEditor(room) {
  const { text, sample, choices, hasModel, model, run, message, ownText } = room;
  const isOpen = signal(false);
  effect(() => {
    // There is nothing else to do than to type.
    const isUnread = hasModel.value && !run.value && message.value.isError;
    if (text.value.trim() === '' || isUnread) isOpen.value = true;
  });
  const input = () => byId('explore-input', HTMLTextAreaElement);
  const toggle = () => {
    isOpen.value = !isOpen.value;
    if (isOpen.value) input().focus();
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const take = () => {
    clearTimeout(typing);
    const written = input().value;
    if (written.trim() !== '' && model.peek()?.sample === undefined) ownText.value = written;
    if (written !== text.peek()) choices.read(written);
  };
  const typed = () => {
    clearTimeout(typing);
    typing = setTimeout(take, TYPING_MS);
  };
  const takeSample = () => {
    clearTimeout(typing);
    input().value = sample.peek();
    directed(input());
    choices.read(null);
  };
  const button = drawn(
    () =>
      html`<button type="button" class=${run.value ? 'quiet' : 'quiet awaited'} id="explore-edit"
        aria-expanded=${isOpen.value} aria-controls="explore-editor" ?hidden=${!hasModel.value}
        @click=${toggle}>Edit the text</button>`,
  );
  const editor = drawn(
    () =>
      html`<div id="explore-editor" class="field" ?hidden=${!isOpen.value || !hasModel.value}>
        <label for="explore-input">
          ${model.value?.sample === undefined ? 'Your text' : 'Token ids, with spaces between'}
        </label>
        <textarea id="explore-input" rows="4" spellcheck="false" .value=${text.value}
          ${made(directed, text.value)}
          @input=${typed} @change=${take}></textarea>
        <div class="row">
          <p class="note" id="explore-room-left">${countWords(room)}</p>
          <button type="button" class="quiet" id="explore-sample" @click=${takeSample}>
            Back to the sample
          </button>
        </div>
      </div>`,
  );
  return { button, editor };
}
