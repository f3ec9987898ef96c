/**
 * Opening one's own files: chosen or dropped, read with progress until it is cancelled, and what then is open.
 *
 * @import { Found } from '../../shared/dropped.js'
 * @import { Explorer } from '../explorer.js'
 * @import { ModelFiles } from '../model-files.js'
 * @import { OwnModel, TensorFiles } from './sort-files.js'
 */

import { droppedFiles } from '../../shared/dropped.js';
import { batch } from '../../shared/signals.js';
import { takeDrops } from '../../shared/take-drops.js';
import { drawn, html, taking } from '../../shared/template.js';
import { PageError } from '../../shared/errors.js';
import { unzipped } from '../../shared/unzip.js';
import { hostedModel, isHosted } from '../model-files.js';
import { OPENED } from '../models.js';
import { tokenizerFrom } from './byte-level.js';
import { createOpenDialog } from './dialog.js';
import { ownJson, ownText } from './own-text.js';
import { sortFiles } from './sort-files.js';

const KINDS = { model: 'a model', weights: 'attention weights', queries: 'queries and keys' };

/** @typedef {(ModelFiles | TensorFiles) & { name: string }} Opened */

/** @param {OwnModel | TensorFiles} sorted @returns {Promise<Opened>} */
async function readyFiles(sorted) {
  if ('tensors' in sorted) return sorted;
  const { name, config, weights, tokenizer, vocab, merges } = sorted;
  if (tokenizer || !vocab || !merges) return { name, config, weights, tokenizer };
  const pieces = await ownText(vocab, 'vocab.json', 'json');
  const pairs = await ownText(merges, 'merges.txt', 'text');
  const described = ownJson(await ownText(config, 'config.json', 'json'), 'config.json');
  const json = JSON.stringify(tokenizerFrom(pieces, pairs, described?.model_type));
  return { name, config, weights, tokenizer: new Blob([json]) };
}

/**
 * The text that a model of Train's was watched on: its vocabulary may have no letter of another one. Others' files of that
 * name may hold anything.
 *
 * @param {OwnModel | TensorFiles} sorted
 * @returns {Promise<string | undefined>}
 */
async function exampleOf(sorted) {
  if (!('training' in sorted && sorted.training)) return undefined;
  try {
    const { example } = Object(
      ownJson(await ownText(sorted.training, 'training.json', 'json'), ''),
    );
    return typeof example === 'string' ? example : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function wantedModel(name) {
  if (isHosted(name)) return hostedModel(name);
  throw new PageError(
    'ERR_VALUE',
    `“${name}” is not a model’s name; expected organisation/name, or an address that begins with https://.`,
  );
}

/** What is open, where there is something to say of it. @param {Explorer} room */
export const openedLine = ({ model, own, hasModel, predicts, causal, softmax }) =>
  drawn(() => {
    const isOwn = own.value !== undefined && model.value?.files === own.value;
    const { kind, note, hasScores } = model.value ?? { kind: 'model', note: '' };
    const isEncoder = hasModel.value && predicts.value !== 'next';
    const words = [
      isOwn ? `${own.value?.name}: ${KINDS[kind]}, read in this tab and sent nowhere.` : '',
      note,
      isEncoder
        ? 'An encoder: every token looks at all tokens. It writes no text, so there is nothing to continue, and the text has no loss.'
        : '',
      hasModel.value || !isOwn
        ? ''
        : 'They come without a model, so there is nothing to type, mute, continue or predict.',
    ];
    const said = words.filter(Boolean).join(' ');
    return html`<div id="explore-opened" class="explore-opened" ?hidden=${said === ''}>
      <p class="note">${said}</p>
      <label class="check" for="explore-causal" ?hidden=${kind !== 'queries'}>
        <input type="checkbox" id="explore-causal" .checked=${causal.value}
          @change=${taking(({ checked }) => (causal.value = checked))} />Causal: later keys are masked</label>
      <label class="check" for="explore-softmax" ?hidden=${!hasScores}>
        <input type="checkbox" id="explore-softmax" .checked=${softmax.value}
          @change=${taking(({ checked }) => (softmax.value = checked))} />Turn the scores into weights (softmax)</label>
    </div>`;
  });

/** @param {HTMLElement} element the room, into which files are dropped @param {Explorer} room */
export function connectOpen(element, room) {
  /**
   * @param {Promise<Found[]> | Found[]} found
   * @param {(set: () => void) => void} [change] how what is chosen changes; default: as a step of the visitor's
   * @returns {Promise<boolean>} whether they could be opened
   */
  const open = async (found, change = (set) => set()) => {
    // The choices of an address wait for the files that they are about.
    const isAwaited = room.state.peek().model === OPENED && !room.session.run;
    const opened = await dialog.read(async (how) => {
      const sorted = await sortFiles(await unzipped(await found, how.signal));
      const files = await readyFiles(sorted);
      const example = await exampleOf(sorted);
      await room.session.open(files, how);
      return { files, example };
    });
    if (!opened) return false;
    change(() =>
      batch(() => {
        room.own.value = opened.files;
        if (isAwaited) return;
        room.choices.open(OPENED);
        if (opened.example !== undefined) room.choices.read(opened.example);
      }),
    );
    return true;
  };
  /** @param {string} name */
  const openNamed = async (name) => {
    const opened = await dialog.read(async (how) => {
      const files = wantedModel(name);
      await room.session.open(files, how);
      return files;
    }, '#explore-hosted');
    if (!opened) return;
    room.choices.open(name);
    // The address may name it already, and wait for it.
    room.resume();
  };
  const dialog = createOpenDialog(open, openNamed, () => room.resume());
  const words = 'Drop a model’s folder or .zip, or .npy and .safetensors files';
  const dropping = takeDrops(element, words, (transfer) => open(droppedFiles(transfer)));
  return {
    open,
    show: dialog.show,
    element: html`${dialog.element}${dropping}`,
  };
}
