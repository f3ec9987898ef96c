/**
 * The dialog that says what can be opened, takes files, and shows how far they are read.
 *
 * @import { Found } from './sort-files.js'
 *
 * @typedef {(progress: { fraction: number, label?: string }) => void} OnProgress
 */

import { el } from '../../dom.js';
import { listedFiles } from './dropped.js';

const OPENABLE = [
  [
    'A model',
    'a GPT-2 in Hugging Face’s format: the folder, or its config.json, model.safetensors and tokenizer.json; without a tokenizer it reads token ids',
  ],
  [
    'Attention weights',
    '.npy or .safetensors, [layers, heads, n, n], [heads, n, n] or [n, n]; from Python: np.save("attn.npy", torch.stack(out.attentions)[:, 0])',
  ],
  [
    'Queries and keys',
    '[layers, heads, n, d]: q.npy and k.npy, or one .safetensors with q and k in the names of its tensors',
  ],
  ['The tokens', 'with tensors, a .txt with a token a line, or a .json with an array of them'],
];

/**
 * @param {HTMLElement} room
 * @param {(found: Found[]) => void} open
 */
export function createOpenDialog(room, open) {
  const files = el('input', {
    type: 'file',
    multiple: true,
    hidden: true,
    'aria-label': 'Files to open',
  });
  const folder = el('input', {
    type: 'file',
    webkitdirectory: true,
    hidden: true,
    'aria-label': 'Folder to open',
  });
  const chooseFiles = el('button', { type: 'button' }, 'Choose files…');
  const chooseFolder = el('button', { type: 'button' }, 'Choose a folder…');
  const close = el('button', { type: 'button', class: 'quiet' }, 'Close');
  const bar = el('progress', { max: 1, 'aria-label': 'Read so far' });
  const percent = el('span', { class: 'note' });
  const cancel = el('button', { type: 'button', class: 'quiet' }, 'Cancel');
  const working = el('div', { class: 'open-working', hidden: true }, bar, percent, cancel);
  const message = el('p', { class: 'message', role: 'status' });
  const choosing = el('div', { class: 'row' }, chooseFiles, chooseFolder, close);
  const dialog = el(
    'dialog',
    { class: 'explore-files', 'aria-labelledby': 'explore-open-title' },
    el('h2', { id: 'explore-open-title' }, 'Open your own'),
    el('p', {}, 'Choose files, or drop them anywhere in this room.'),
    el('dl', {}, ...OPENABLE.flatMap(([term, words]) => [el('dt', {}, term), el('dd', {}, words)])),
    el(
      'p',
      { class: 'note' },
      'Nothing leaves this machine: the files are read in this tab, and the address never carries them.',
    ),
    message,
    working,
    choosing,
    files,
    folder,
  );
  room.append(dialog);

  for (const [button, input] of /** @type {const} */ ([
    [chooseFiles, files],
    [chooseFolder, folder],
  ])) {
    button.addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      const found = listedFiles(/** @type {FileList} */ (input.files));
      input.value = ''; // the same file may be chosen again
      if (found.length > 0) open(found);
    });
  }
  /** @type {AbortController | undefined} */
  let work;
  close.addEventListener('click', () => dialog.close());
  cancel.addEventListener('click', () => work?.abort());
  dialog.addEventListener('close', () => work?.abort());

  /** @param {string} words @param {boolean} isError */
  const say = (words, isError) => {
    message.textContent = words;
    message.classList.toggle('error', isError);
  };
  /** @param {boolean} is */
  const isWorking = (is) => {
    working.hidden = !is;
    choosing.hidden = is;
    (is ? cancel : chooseFiles).focus();
  };

  const show = () => {
    if (dialog.open) return;
    say('', false);
    dialog.showModal();
  };

  return {
    show,

    /**
     * Reads files while the dialog shows how far it is; closes it when they are open.
     *
     * @template T
     * @param {(how: { signal: AbortSignal, onProgress: OnProgress }) => Promise<T>} read
     * @returns {Promise<T | undefined>} undefined: it was cancelled, or failed, and the dialog says why
     */
    async work(read) {
      work?.abort();
      const mine = new AbortController();
      work = mine;
      show();
      say('', false);
      /** @type {OnProgress} */
      const onProgress = ({ fraction, label = 'Loading' }) => {
        if (work !== mine) return;
        bar.value = fraction;
        percent.textContent = `${label} … ${Math.round(100 * fraction)} %`;
      };
      onProgress({ fraction: 0 });
      isWorking(true);
      try {
        const result = await read({ signal: mine.signal, onProgress });
        if (work !== mine) return undefined;
        work = undefined;
        dialog.close();
        return result;
      } catch (error) {
        if (work !== mine) return undefined;
        const isCancelled = mine.signal.aborted;
        say(
          isCancelled ? 'Cancelled; what was open still is.' : /** @type {Error} */ (error).message,
          !isCancelled,
        );
        return undefined;
      } finally {
        if (work === mine || work === undefined) {
          work = undefined;
          isWorking(false);
        }
      }
    },
  };
}
