/**
 * Opening one's own files: chosen or dropped, read with progress until it is cancelled, and what then is open.
 *
 * @import { ModelFiles } from '../model-files.js'
 * @import { Session } from '../session.js'
 * @import { ExploreStore } from '../slice.js'
 * @import { Found, OwnModel, TensorFiles } from './sort-files.js'
 */

import { byId, el } from '../../dom.js';
import { PageError } from '../../engine/errors.js';
import { beginning } from '../text-controls.js';
import { tokenizerFrom } from './byte-level.js';
import { createOpenDialog } from './dialog.js';
import { droppedFiles, hasFiles } from './dropped.js';
import { ownText } from './own-text.js';
import { sortFiles } from './sort-files.js';

/** What the address calls files that it cannot carry. */
const OPENED = 'opened';

const KINDS = { model: 'a model', weights: 'attention weights', queries: 'queries and keys' };

/** @typedef {(ModelFiles | TensorFiles) & { name: string }} Opened */

/** @param {OwnModel | TensorFiles} sorted @returns {Promise<Opened>} */
async function readyFiles(sorted) {
  if ('tensors' in sorted) return sorted;
  const { name, config, weights, tokenizer, vocab, merges } = sorted;
  if (tokenizer || !vocab || !merges) return { name, config, weights, tokenizer };
  const pieces = await ownText(vocab, 'vocab.json', 'json');
  const pairs = await ownText(merges, 'merges.txt', 'text');
  const json = JSON.stringify(tokenizerFrom(pieces, pairs));
  return { name, config, weights, tokenizer: new Blob([json]) };
}

/**
 * @param {HTMLElement} room
 * @param {ExploreStore} store
 * @param {Session} session
 * @param {object} on
 * @param {() => void} on.opened the session has other files, and the store says so
 * @param {() => void} on.reread the same files are to be computed anew
 */
export function connectOpen(room, store, session, on) {
  const select = byId('explore-model', HTMLSelectElement);
  const line = byId('explore-opened', HTMLElement);
  const about = el('p', { class: 'note' });
  const causal = el('input', { type: 'checkbox', id: 'explore-causal', checked: true });
  const causalLabel = el(
    'label',
    { class: 'check', for: causal.id },
    causal,
    'Causal: later keys are masked',
  );
  line.replaceChildren(about, causalLabel);
  /** @type {Opened | undefined} */
  let own;

  /** @param {string} title */
  const showName = (title) => {
    const option =
      [...select.options].find(({ value }) => value === OPENED) ??
      select.appendChild(el('option', { value: OPENED }));
    option.textContent = title;
    select.value = OPENED;
  };

  /** @param {Promise<Found[]> | Found[]} found */
  const open = async (found) => {
    const before = store.get();
    // The choices of an address wait for the files that they are about.
    const isAwaited = before.model === OPENED && !session.run;
    const opened = await dialog.work(async ({ signal, onProgress }) => {
      const files = await readyFiles(sortFiles(await found));
      await session.open(files, { signal, onProgress });
      return files;
    });
    if (!opened) return;
    own = opened;
    showName(own.name);
    if (!isAwaited) store.set(beginning(OPENED));
    if (before.model === OPENED) on.opened();
  };

  const dialog = createOpenDialog(room, open);
  byId('explore-open', HTMLButtonElement).addEventListener('click', () => dialog.show());
  causal.addEventListener('change', () => {
    session.causal = causal.checked;
    on.reread();
  });
  listenToDrops(room, (transfer) => open(droppedFiles(transfer)));

  return {
    /** @param {string} model @returns {Opened | undefined} undefined: none that was opened */
    filesOf(model) {
      if (model !== OPENED) return undefined;
      if (own) return own;
      showName('files that were opened');
      throw new PageError(
        'ERR_LOAD',
        'This address is of files that were opened from a disk: it does not carry them. Open them again, or choose a model of the page.',
      );
    },

    /** Says what is open, and hides what needs a model where there is none. */
    show() {
      const { model, files, hasModel } = session;
      line.hidden = files !== own || !own || !model;
      room.classList.toggle('without-model', !hasModel);
      if (!model || !own || line.hidden) return;
      causalLabel.hidden = model.kind !== 'queries';
      about.textContent = [
        `${own.name}: ${KINDS[model.kind]}, read in this tab and sent nowhere.`,
        model.note,
        hasModel
          ? ''
          : 'There is no model behind them: nothing to type, to mute, to continue or to predict.',
      ]
        .filter(Boolean)
        .join(' ');
    },
  };
}

/** @param {HTMLElement} room @param {(transfer: DataTransfer) => void} dropped */
function listenToDrops(room, dropped) {
  const isOver = (/** @type {boolean} */ is) => room.classList.toggle('dropping', is);
  document.addEventListener('dragover', (event) => {
    if (room.hidden || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    isOver(true);
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) isOver(false);
  });
  document.addEventListener('drop', (event) => {
    isOver(false);
    if (room.hidden || !event.dataTransfer || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    dropped(event.dataTransfer);
  });
}
