/**
 * The dialog that says what can be opened, takes files, and shows how far they are read.
 *
 * @import { Found } from '../../shared/dropped.js'
 *
 * @typedef {(fraction: number) => void} OnProgress
 */

import { byId } from '../../shared/dom.js';
import { listedFiles } from '../../shared/dropped.js';
import { signal } from '../../shared/signals.js';
import { drawn, html, taking } from '../../shared/template.js';

const OPENABLE = [
  [
    'A model',
    html`a decoder (GPT-2, Pythia, Llama, Mistral, Qwen, Gemma 3, SmolLM3) or an encoder (BERT, RoBERTa,
      DistilBERT) in Hugging Face’s format: the folder, a .zip of it, or its config.json, model.safetensors and tokenizer.json. GPT-2’s own three files are at
      <a href="https://huggingface.co/openai-community/gpt2/tree/main">openai-community/gpt2</a>.
      Without a tokenizer, its text is token ids.`,
  ],
  [
    'Attention weights',
    '.npy or .safetensors, [layers, heads, n, n], [heads, n, n] or [n, n]; from Python: np.save("attn.npy", torch.stack(out.attentions)[:, 0])',
  ],
  [
    'Queries and keys',
    '[layers, heads, n, d]: q.npy and k.npy, or one .safetensors with q and k in the names of its tensors',
  ],
  ['The tokens', 'with tensors: a .txt with one token per line, or a .json with an array of them'],
];

const dialog = () => byId('explore-open-dialog', HTMLDialogElement);

/** @param {string} words */
const told = (words, isError = false) => ({ words, isError });

/** @param {unknown} error @param {boolean} isCancelled */
const whyNot = (error, isCancelled) =>
  isCancelled
    ? told('Cancelled. What was open before stays open.')
    : told(/** @type {Error} */ (error).message, true);

/** The reading of files, of which the dialog tells. @param {() => void} gaveUp called when nothing of it was opened */
function createWork(gaveUp) {
  const message = signal(told(''));
  /** @type {import('../../shared/signals.js').Signal<number | undefined>} */
  const progress = signal(undefined);
  /** @type {AbortController | undefined} */
  let work;
  const show = () => {
    if (dialog().open) return;
    message.value = told('');
    dialog().showModal();
  };
  /** What can be done has the focus. @param {string} selector @param {typeof progress.value} [now] */
  const turnTo = (selector, now) => {
    progress.value = now;
    const part = /** @type {HTMLElement} */ (dialog().querySelector(selector));
    part.focus();
    if (part instanceof HTMLInputElement) part.select();
    dialog().querySelector('.message')?.scrollIntoView({ block: 'nearest' });
  };
  return {
    message,
    progress,
    show,
    cancel: () => work?.abort(),

    /**
     * Reads files while the dialog shows how far it is; closes it when they are open.
     *
     * @template T
     * @param {(how: { signal: AbortSignal, onProgress: OnProgress }) => Promise<T>} read
     * @param {string} [begun] what it began with, and begins with again where it failed
     * @returns {Promise<T | undefined>} undefined: it was cancelled, or failed, and the dialog says why
     */
    async read(read, begun = '#explore-choose button') {
      work?.abort();
      const mine = new AbortController();
      work = mine;
      show();
      message.value = told('');
      turnTo('.open-working button', 0);
      const isMine = () => work === mine;
      const onProgress = (/** @type {number} */ fraction) => {
        if (isMine()) progress.value = fraction;
      };
      /** @type {T | undefined} */
      let result;
      try {
        result = await read({ signal: mine.signal, onProgress });
        if (isMine()) dialog().close();
      } catch (error) {
        if (isMine()) message.value = whyNot(error, mine.signal.aborted);
      }
      if (!isMine()) return undefined;
      work = undefined;
      turnTo(begun);
      if (result === undefined) gaveUp();
      return result;
    },
  };
}

/**
 * @param {(found: Found[]) => void} open
 * @param {(name: string) => void} openNamed a model on the web
 * @param {() => void} gaveUp called when what was to be opened could not be, or was cancelled
 */
export function createOpenDialog(open, openNamed, gaveUp) {
  const { message, progress, show, cancel, read } = createWork(gaveUp);
  const chosen = taking((field) => {
    const found = listedFiles(/** @type {FileList} */ (field.files));
    field.value = ''; // the same file may be chosen again
    if (found.length > 0) open(found);
  });
  const choose = taking((button) => /** @type {HTMLElement} */ (button.nextElementSibling).click());
  const named = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    openNamed(String(new FormData(form).get('name')).trim());
  };
  const parts = () => {
    const { words, isError } = message.value;
    const isReading = progress.value !== undefined;
    const fraction = progress.value ?? 0;
    return html`<div class="open-working" ?hidden=${!isReading}>
        <progress max="1" aria-label="Read so far" .value=${fraction}></progress>
        <span class="note">Loading … ${Math.round(100 * fraction)} %</span>
        <button type="button" class="quiet" @click=${cancel}>Cancel</button>
      </div>
      <div class="row" id="explore-choose" ?hidden=${isReading}>
        <button type="button" autofocus @click=${choose}>Choose files…</button>
        <input type="file" multiple hidden aria-label="Files to open" @change=${chosen} />
        <button type="button" @click=${choose}>Choose a folder…</button>
        <input type="file" webkitdirectory hidden aria-label="Folder to open" @change=${chosen} />
        <button type="button" class="quiet" @click=${() => dialog().close()}>Close</button>
      </div>
      <p class="message ${isError ? 'error' : ''}" role="status" .textContent=${words}></p>`;
  };
  const element = html`<dialog id="explore-open-dialog" class="explore-files"
    aria-labelledby="explore-open-title" @close=${cancel}>
    <h2 id="explore-open-title">Open your own</h2>
    <p>Choose files, or drop them anywhere in this room.</p>
    ${drawn(parts)}
    <form class="row" @submit=${named}>
      <label for="explore-hosted">Or a model’s name on Hugging Face, or its address</label>
      <input id="explore-hosted" name="name" required placeholder="HuggingFaceTB/SmolLM2-135M"
        autocomplete="off" autocapitalize="off" spellcheck="false" />
      <button type="submit">Fetch and open</button>
    </form>
    <p class="note">
      Your files stay on this machine: they are read in this tab, and the address never contains them.
    </p>
    <dl>${OPENABLE.map(([term, words]) => html`<dt>${term}</dt><dd>${words}</dd>`)}</dl>
  </dialog>`;
  return { element, show, read };
}
