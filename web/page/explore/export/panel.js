/**
 * The dialog in which what is seen is saved: made as soon as it is chosen, so that its size is known before.
 *
 * @import { Explorer } from '../explorer.js'
 * @import { Format } from './choices.js'
 */

import { byId } from '../../dom.js';
import { formatBytes } from '../../format.js';
import { batch, effect, signal, untracked } from '../../signals.js';
import { drawn, html, nothing, select } from '../../template.js';
import { pageModel } from '../models.js';
import { newest } from '../newest.js';
import { palette } from '../palette.js';
import { FORMATS, makeExport, WHATS } from './choices.js';

/** @typedef {{ words: string, isError?: boolean, address?: string, name?: string, isPicture?: boolean }} Made */

/** What can be exported. @param {Explorer} room */
function seenIn({ session, shown, order, own, state }) {
  const { run } = session;
  if (!run) return undefined;
  const names = order
    .peek()
    .map((i) => ({ layer: Math.floor(i / run.heads), head: i % run.heads }));
  const source = pageModel(state.peek().model)?.title ?? own.peek()?.name ?? '';
  return { state: shown.peek(), run, session, source, order: names };
}

/** @param {string} what @returns {Format[]} */
const formatsOf = (what) => (WHATS.find(([value]) => value === what) ?? WHATS[0])[2];

/** @param {Explorer} room */
export function exportDialog(room) {
  const isOpen = signal(false);
  const what = signal(WHATS[0][0]);
  const format = signal(formatsOf(what.value)[0]);
  const made = signal(/** @type {Made} */ ({ words: '' }));
  const dialog = () => byId('explore-export-dialog', HTMLDialogElement);

  const make = newest(
    /** @param {boolean} isWanted @param {string} view @param {Format} as */
    async (isWanted, view, as) => {
      URL.revokeObjectURL(made.value.address ?? '');
      const seen = isWanted && seenIn(room);
      made.value = { words: seen ? 'Being made …' : made.value.words };
      if (!seen) return;
      const { blob, name, isPicture } = await makeExport(view, as, seen, palette());
      if (!isOpen.value) return;
      const words = `${name}: ${formatBytes(blob.size)}`;
      made.value = { words, address: URL.createObjectURL(blob), name, isPicture };
    },
    (error) => {
      made.value = { words: /** @type {Error} */ (error).message, isError: true };
    },
  );
  effect(() => {
    const [isWanted, view, as] = [isOpen.value, what.value, format.value];
    untracked(() => make(isWanted, view, as));
  });

  const choices = () => {
    const chooseWhat = (/** @type {string} */ value) =>
      batch(() => ([what.value, format.value] = [value, formatsOf(value)[0]]));
    const formats = formatsOf(what.value).map((value) => [value, FORMATS[value]]);
    const chooseFormat = (/** @type {any} */ value) => (format.value = value);
    return html`<div class="row">
      <div class="field">
        <label for="export-what">What</label>
        ${select('export-what', WHATS, what.value, chooseWhat)}
      </div>
      <div class="field">
        <label for="export-format">As</label>
        ${select('export-format', formats, format.value, chooseFormat)}
      </div>
    </div>`;
  };
  const preview = () => {
    const { words, isError, address, isPicture } = made.value;
    return html`<img
        class="export-preview"
        alt="Preview"
        ?hidden=${!isPicture}
        src=${(isPicture && address) || nothing}
      />
      <p class="message ${isError ? 'error' : ''}" role="status" .textContent=${words}></p>`;
  };
  const save = () => {
    const { address, name } = made.value;
    return html`<a
      class="button"
      id="export-save"
      href=${address ?? nothing}
      download=${name ?? nothing}
      >Save</a
    >`;
  };

  return {
    show() {
      dialog().showModal();
      isOpen.value = true;
    },

    element: html`<dialog
      id="explore-export-dialog"
      class="explore-files"
      aria-labelledby="export-title"
      @close=${() => (isOpen.value = false)}
    >
      <h2 id="export-title">Export</h2>
      ${drawn(choices)} ${drawn(preview)}
      <p class="note">
        Pictures of long texts are pooled, and say so; numbers are exact. All is made in this tab.
      </p>
      <div class="row">
        ${drawn(save)}
        <button type="button" class="quiet" @click=${() => dialog().close()}>Close</button>
      </div>
    </dialog>`,
  };
}
