/**
 * The dialog in which what is seen is saved: made as soon as it is chosen, so that its size is known before.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { Format } from './choices.js'
 */

import { byId } from '../../shared/dom.js';
import { formatBytes, formatCount } from '../../shared/format.js';
import { headAt } from '../../shared/head-names.js';
import { batch, derived, effect, signal, untracked } from '../../shared/signals.js';
import { drawn, field, html, nothing, taking } from '../../shared/template.js';
import { OPENED, pageModel } from '../models.js';
import { newest } from '../newest.js';
import { palette } from '../palette.js';
import { FORMATS, makeExport, REPORT, WHATS } from './choices.js';

/** @typedef {{ words: string, isError?: boolean, address?: string, name?: string, isPicture?: boolean }} Made */

/** What can be exported. @param {Explorer} room */
function seenIn(room) {
  const { session, shown, order, own, state, measure, values, about, effects, patching } = room;
  const { run } = session;
  if (!run) return undefined;
  const predicted = room.losses.answer.peek();
  const { model } = state.peek();
  const source = pageModel(model)?.title ?? (model === OPENED ? own.peek()?.name : model) ?? '';
  const names = order.peek().map((i) => headAt(i, run.heads));
  return {
    ...{ state: shown.peek(), run, session, source, order: names },
    ...{ measure: measure.peek(), values: values.peek() },
    ...{ about: about.peek(), effects: effects.peek(), address: location.href },
    losses: predicted?.run === run ? predicted.found?.losses : undefined,
    patching: { shares: patching.shares.peek(), pair: patching.pair.peek() },
  };
}

/** A report is of a prediction of the next token. @param {Explorer} room */
const whatsOf = ({ predicts }) =>
  WHATS.filter(([what]) => what !== REPORT || predicts.value === 'next');

/** @param {string} what @returns {Format[]} */
const formatsOf = (what) => (WHATS.find(([value]) => value === what) ?? WHATS[0])[2];

/** Numbers take no title or size. It depends on the choice alone: fields stay while a file is made. @param {Format} format */
const isNumbers = (format) => format === 'npy' || format === 'json';

/** A page takes a title, and no size. @param {Format} format */
const hasSize = (format) => format === 'svg' || format === 'png';

/** What is chosen, and the file that is made of it. @param {Explorer} room */
function createMaking(room) {
  const isOpen = signal(false);
  const what = signal(WHATS[0][0]);
  const format = signal(formatsOf(what.value)[0]);
  const wish = signal({ title: '', caption: '', width: 0, font: 0 });
  const file = signal(/** @type {Made} */ ({ words: '' }));
  /** What the file depends on; false: none is wanted. */
  const wanted = derived(
    () =>
      isOpen.value && {
        ...{ view: what.value, as: format.value, how: wish.value },
        ...{ state: room.shown.value, run: room.run.value, isBusy: room.isBusy.value },
      },
  );
  const make = newest(
    /** @param {typeof wanted.value} now */
    async (now) => {
      const isWanted = () => now === wanted.peek();
      URL.revokeObjectURL(file.value.address ?? '');
      file.value = { words: now && now.run ? 'Being made …' : '' };
      if (!now || now.isBusy) return;
      // The text may be read once more, as without a head that was muted just now.
      await room.whenRead();
      const seen = isWanted() && seenIn(room);
      if (!seen) return;
      const { view, as, how } = now;
      const { blob, name, isPicture } = await makeExport(view, as, seen, palette(), how);
      if (!isWanted()) return;
      const words = `${name}: ${formatBytes(blob.size)}`;
      file.value = { words, address: URL.createObjectURL(blob), name, isPicture };
    },
    (error) => {
      file.value = { words: /** @type {Error} */ (error).message, isError: true };
    },
  );
  effect(() => {
    const now = wanted.value;
    untracked(() => make(now));
  });
  return { isOpen, what, format, wish, file };
}

/** A picture's title, caption and sizes, as the visitor wants them. @param {ReturnType<typeof createMaking>} making */
function wishFields({ format, wish }) {
  /** What is wrong with a wish, in words: the file is of the last one that was right. */
  const wrong = signal({ title: '', caption: '', width: '', font: '' });
  /** @param {'title' | 'caption' | 'width' | 'font'} name @param {string} label @param {[number, number]} [bounds] of a number */
  const wanted = (name, label, bounds) => html`<label for="export-wish-${name}"
    ?hidden=${drawn(() => bounds !== undefined && !hasSize(format.value))}>${label}
    <input id="export-wish-${name}" type=${bounds ? 'number' : 'text'} min=${bounds?.[0] ?? nothing}
      max=${bounds?.[1] ?? nothing} placeholder=${'automatic'}
      aria-invalid=${drawn(() => (wrong.value[name] ? 'true' : nothing))}
      @change=${taking((input) => {
        const isRight = input.checkValidity();
        const [least, most] = [input.min, input.max].map((bound) => formatCount(Number(bound)));
        const words = isRight ? '' : `${label}: a whole number, ${least} to ${most}.`;
        wrong.value = { ...wrong.value, [name]: words };
        if (!isRight) return;
        wish.value = { ...wish.value, [name]: bounds ? Number(input.value) : input.value.trim() };
      })} /></label>`;
  const refused = () =>
    hasSize(format.value) ? Object.values(wrong.value).filter(Boolean).join(' ') : '';
  return html`<div class="export-wishes">
      ${wanted('title', 'Title')} ${wanted('caption', 'Caption')}
      ${wanted('width', 'Width in pixels', [200, 4000])}
      ${wanted('font', 'Size of the labels in pixels', [5, 40])}
    </div>
    <p class="message error" id="export-refused" role="status"
      .textContent=${drawn(refused)}></p>`;
}

/** @param {Explorer} room */
export function exportDialog(room) {
  const making = createMaking(room);
  const { isOpen, what, format, file } = making;
  const dialog = () => byId('explore-export-dialog', HTMLDialogElement);
  const wishes = wishFields(making);
  const choose = (/** @type {string} */ value) =>
    batch(() => ([what.value, format.value] = [value, formatsOf(value)[0]]));
  const parts = () => {
    const { address, name, isPicture, words, isError } = file.value;
    const formats = formatsOf(what.value).map((value) => [value, FORMATS[value]]);
    return html`<div class="row">
        ${field('What', 'export-what', whatsOf(room), what.value, choose)}
        ${field('As', 'export-format', formats, format.value, (value) => (format.value = value))}
      </div>
      <div ?hidden=${isNumbers(format.value)}>${wishes}</div>
      <img class="export-preview" alt="Preview" ?hidden=${!isPicture}
        src=${(isPicture && address) || nothing} />
      <p class="message ${isError ? 'error' : ''}" id="export-told" role="status" .textContent=${words}></p>
      <p class="note">
        Pictures of long texts are pooled, with a note. Numbers are exact. The file is made in this tab.
      </p>
      <div class="row">
        <a class="button" id="export-save" href=${address ?? nothing} download=${name ?? nothing}
          role=${address ? nothing : 'link'} aria-disabled=${address ? nothing : 'true'}>Save</a>
        <button type="button" class="quiet" @click=${() => dialog().close()}>Close</button>
      </div>`;
  };
  return {
    show() {
      const offered = whatsOf(room).map(([name]) => name);
      // What was chosen last time may be none of them.
      if (room.isWhy.peek()) choose(REPORT);
      else if (!offered.includes(what.peek())) choose(offered[0]);
      dialog().showModal();
      isOpen.value = true;
    },

    element: html`<dialog id="explore-export-dialog" class="explore-files"
      aria-labelledby="export-title" @close=${() => (isOpen.value = false)}>
      <h2 id="export-title">Export</h2>
      ${drawn(parts)}
    </dialog>`,
  };
}
