/**
 * What becomes of what was trained: opened in Explore, saved as a folder, kept in this browser, gone on with later.
 *
 * @import { Found } from '../shared/dropped.js'
 * @import { Store } from '../state.js'
 * @import { Training } from './training.js'
 * @import { Kept } from './kept.js'
 */

import { goToRoom } from '../mirror.js';
import { byId, el } from '../shared/dom.js';
import { droppedFiles, listedFiles } from '../shared/dropped.js';
import { takeDrops } from '../shared/take-drops.js';
import { formatCount } from '../shared/format.js';
import { handedOver } from '../shared/handed-over.js';
import { effect, signal } from '../shared/signals.js';
import { drawn, html, taking } from '../shared/template.js';
import { keep, keptRun } from './kept.js';
import { readSaved, zipOf } from './saved.js';

/** What Explore opens. */
const MODEL = ['config.json', 'model.safetensors', 'tokenizer.json'];

/** The first run, and the step that is looked back at, if one is: what plays is beyond the step that was heard of last. @param {Training} room */
function firstRun(room) {
  const [run] = room.runs.peek();
  return { run, step: room.back.peek() === null ? undefined : room.shown.peek() };
}

/** Its folder, with its name. @param {Training} room */
async function folderOf(room) {
  const { run, step } = firstRun(room);
  return { run, ...(await run.files(step)) };
}

/** @param {Store} store @param {Training} room */
async function openInExplore(store, room) {
  const { run, files, folder } = await folderOf(room);
  const found = MODEL.map((name) => ({
    path: `${folder}/${name}`,
    file: new File([files[name]], name),
  }));
  const { ids = [], characters = [] } = run.about.peek() ?? {};
  const text = ids.map((id) => characters[id]).join('');
  handedOver.value = { found, text, head: room.chosen.peek() };
  goToRoom(store, 'explore');
}

/** @param {Training} room */
async function saveFolder(room) {
  const { files, folder } = await folderOf(room);
  const href = URL.createObjectURL(zipOf(files, folder));
  el('a', { href, download: `${folder}.zip` }).click();
  URL.revokeObjectURL(href);
}

/** @param {Kept} kept */
const nameOf = ({ settings: { task, seed }, saved: { step } }) =>
  `${task}, seed ${seed}, after ${formatCount(step)} steps`;

/** Goes on from a saved folder. @param {Training} room @param {Found[] | Promise<Found[]>} found */
async function openSaved(room, found) {
  const { settings, saved } = await readSaved(await found);
  room.resume(settings, saved);
}

/** @param {Store} store @param {Training} room */
export function keepView(store, room) {
  const kept = signal(/** @type {Kept | undefined} */ (undefined));
  const said = signal({ words: '', isError: false });
  keptRun().then((run) => (kept.value = run));
  // What was said is of the runs that were there.
  effect(() => {
    void room.runs.value;
    said.value = { words: '', isError: false };
  });
  /** Does it, and says beside the buttons if it fails: the run goes on. @param {() => Promise<unknown>} act */
  const attempt = async (act) => {
    room.say('');
    said.value = { words: '', isError: false };
    try {
      await act();
    } catch (error) {
      const { message, code } = /** @type {{ message: string, code?: string }} */ (error);
      if (code === 'ERR_STALE') return; // of a run that was ended
      said.value = { words: message, isError: true };
      byId('train-kept', HTMLElement).scrollIntoView({ block: 'nearest' });
    }
  };
  /** Takes something of the run: at a step that is looked back at, steps since a checkpoint are trained once more. @param {() => Promise<unknown>} act */
  const take = async (act) => {
    const step = formatCount(room.shown.peek());
    const waiting = room.back.peek() === null ? '' : `Going back to step ${step} …`;
    await attempt(() => {
      said.value = { words: waiting, isError: false };
      return act();
    });
    if (said.peek().words === waiting) said.value = { words: '', isError: false };
  };
  /** What was asked for, by its button, until it is done: one after another. @type {Map<string, Promise<void>>} */
  const asked = new Map();
  /** @param {string} id @param {() => Promise<unknown>} act */
  const takeInTurn = async (id, act) => {
    if (asked.has(id)) return;
    const done = Promise.allSettled(asked.values()).then(() => take(act));
    asked.set(id, done);
    await done;
    asked.delete(id);
  };
  /** What the buttons take: of two runs the first, by its title. */
  const which = () => (room.runs.value.length > 1 ? ' this run' : '');
  /** @param {string} id @param {() => string} words @param {() => Promise<unknown>} act */
  const button = (id, words, act) => html`<button type="button" class="quiet" id=${id}
    ?disabled=${drawn(() => room.runs.value.length === 0)}
    @click=${() => takeInTurn(id, act)}>${drawn(words)}</button>`;
  const keepHere = async () => {
    const { run, step } = firstRun(room);
    const made = { settings: run.settings, saved: await run.save(step) };
    try {
      await keep(made);
    } catch (cause) {
      const why = /** @type {Error} */ (cause).message;
      throw new Error(`This browser could not keep the run: ${why}`, { cause });
    }
    kept.value = made;
    said.value = { words: `Kept: ${nameOf(made)}.`, isError: false };
  };
  const goOnFromHere = async () => {
    const { run, step } = firstRun(room);
    room.resume(run.settings, await run.save(step));
    // The button goes with what was looked back at.
    byId('train-play', HTMLButtonElement).focus();
  };
  const chooseFile = taking((field) => {
    const found = field.files ? listedFiles(field.files) : [];
    field.value = ''; // the same file may be chosen again
    if (found.length > 0) attempt(() => openSaved(room, found));
  });
  const choose = taking((one) => /** @type {HTMLElement} */ (one.nextElementSibling).click());
  const dropping = takeDrops(
    byId('train-room', HTMLElement),
    'Drop a saved folder, or its .zip',
    (transfer) => {
      const found = droppedFiles(transfer);
      attempt(() => openSaved(room, found));
    },
  );
  return html`<div class="train-keep">
    ${button(
      'train-explore',
      () => `Open${which()} in Explore`,
      () => openInExplore(store, room),
    )}
    ${button(
      'train-save',
      () => `Save${which()} as a Hugging Face folder`,
      () => saveFolder(room),
    )}
    ${button('train-keep', () => `Keep${which()} in this browser`, keepHere)}
    ${drawn(() =>
      room.back.value === null
        ? ''
        : button(
            'train-from-here',
            () => {
              const alone = which() && ', with this run alone';
              return `Go on from step ${formatCount(room.shown.value)}${alone}`;
            },
            goOnFromHere,
          ),
    )}
    ${drawn(() => {
      const { value: run } = kept;
      return run
        ? html`<button type="button" class="quiet" id="train-resume"
            @click=${() => attempt(async () => room.resume(run.settings, run.saved))}>Go on with ${nameOf(run)}</button>`
        : '';
    })}
    <button type="button" class="quiet" @click=${choose}>Open a saved folder (.zip)…</button>
    <input type="file" id="train-file" accept=".zip" hidden aria-label="Saved folder" @change=${chooseFile} />
    <p role="status" id="train-kept" class=${drawn(() => (said.value.isError ? 'message error' : 'note'))}
      .textContent=${drawn(() => said.value.words)}></p>
    ${dropping}
  </div>`;
}
