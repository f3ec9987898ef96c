/**
 * What becomes of what was trained: opened in Explore, saved as a folder, kept in this browser, gone on with later.
 *
 * @import { Found } from '../shared/dropped.js'
 * @import { Store } from '../state.js'
 * @import { Training } from './training.js'
 * @import { Kept } from './kept.js'
 * @import { Told } from './worker/train-worker.js'
 */

import { goToRoom } from '../mirror.js';
import { byId } from '../shared/dom.js';
import { download } from '../shared/download.js';
import { droppedFiles, listedFiles } from '../shared/dropped.js';
import { takeDrops } from '../shared/take-drops.js';
import { formatCount, plural } from '../shared/format.js';
import { handedOver } from '../shared/handed-over.js';
import { signal } from '../shared/signals.js';
import { drawn, html, taking } from '../shared/template.js';
import { charactersOf } from './files.js';
import { keep, keptRun } from './kept.js';
import { Requests } from './requests.js';
import { readSaved, zipOf } from './saved.js';

/** What Explore opens. */
const MODEL = ['config.json', 'model.safetensors', 'tokenizer.json'];

/** The first run, and the step that is looked back at, if one is: what plays is beyond the step that was heard of last. @param {Training} room */
function firstRun(room) {
  const [run] = room.runs.peek();
  return { run, step: room.back.peek() === null ? undefined : room.shown.peek() };
}

/** Its folder, with its name. @param {Training} room @param {Told} told */
async function folderOf(room, told) {
  const { run, step } = firstRun(room);
  return { run, ...(await run.files(step, told)) };
}

/** @param {Store} store @param {Training} room @param {Told} told @returns {Promise<boolean>} whether the visitor was there until then, and is taken to Explore */
async function openInExplore(store, room, told) {
  const { run, files, folder } = await folderOf(room, told);
  const found = MODEL.map((name) => ({
    path: `${folder}/${name}`,
    file: new File([files[name]], name),
  }));
  const { ids = [], characters = [] } = run.about.peek() ?? {};
  const text = charactersOf(ids, characters);
  const isHere = room.isShown.peek();
  handedOver.value = { found, text, head: room.chosen.peek(), isAwaited: isHere };
  if (isHere) goToRoom(store, 'explore');
  return isHere;
}

/** @param {Training} room @param {Told} told */
async function saveFolder(room, told) {
  const { files, folder } = await folderOf(room, told);
  download(zipOf(files, folder), `${folder}.zip`);
}

/** @param {Kept} kept */
const nameOf = ({ settings: { task, seed }, saved: { step } }) =>
  `${task}, seed ${seed}, after ${plural(step, 'step')}`;

/** @param {Kept | undefined} kept */
const keptWords = (kept) => (kept ? `Kept: ${nameOf(kept)}.` : '');

/** Goes on from a saved folder. @param {Training} room @param {Found[] | Promise<Found[]>} found */
async function openSaved(room, found) {
  const { settings, saved } = await readSaved(await found);
  room.resume(settings, saved);
}

/** Goes on from the step that is looked back at. @param {Training} room @param {Told} told */
async function goOnFromHere(room, told) {
  const { run, step } = firstRun(room);
  room.resume(run.settings, await run.save(step, told));
  // The button goes with what was looked back at.
  byId('train-play', HTMLButtonElement).focus();
}

/** Keeps the run in this browser. @param {Training} room @param {Told} told @returns {Promise<Kept>} */
async function keepHere(room, told) {
  const { run, step } = firstRun(room);
  const made = { settings: run.settings, saved: await run.save(step, told) };
  try {
    await keep(made);
  } catch (cause) {
    const why = /** @type {Error} */ (cause).message;
    throw new Error(`This browser could not keep the run: ${why}`, { cause });
  }
  return made;
}

/** Opens a saved folder that is chosen, or dropped on the room. @param {Training} room @param {Requests} requests */
function folderChoice(room, requests) {
  const chooseFile = taking((field) => {
    const found = field.files ? listedFiles(field.files) : [];
    field.value = ''; // the same file may be chosen again
    if (found.length > 0) requests.attempt(() => openSaved(room, found));
  });
  const choose = taking((one) => /** @type {HTMLElement} */ (one.nextElementSibling).click());
  const dropping = takeDrops(
    byId('train-room', HTMLElement),
    'Drop a saved folder, or its .zip',
    (transfer) => {
      const found = droppedFiles(transfer);
      requests.attempt(() => openSaved(room, found));
    },
  );
  return html`<button type="button" class="quiet" @click=${choose}>Open a saved folder (.zip)…</button>
    <input type="file" id="train-file" accept=".zip" hidden aria-label="Saved folder" @change=${chooseFile} />
    ${dropping}`;
}

/** @param {Store} store @param {Training} room */
export function keepView(store, room) {
  const kept = signal(/** @type {Kept | undefined} */ (undefined));
  const requests = new Requests(room, () =>
    byId('train-kept', HTMLElement).scrollIntoView({ block: 'nearest' }),
  );
  const { said } = requests;
  const readKept = async () => {
    const before = keptWords(kept.peek());
    kept.value = await keptRun();
    // Another tab may have kept another one.
    if (said.peek().words === before && keptWords(kept.peek()) !== before) requests.say('');
  };
  readKept();
  document.addEventListener('visibilitychange', readKept);
  addEventListener('focus', readKept);
  /** What the buttons take: of two runs the first, by its title. */
  const which = () => (room.runs.value.length > 1 ? ' this run' : '');
  /** @param {string} id @param {() => string} words @param {(told: Told) => Promise<unknown>} act */
  const button = (id, words, act) => html`<button type="button" class="quiet" id=${id}
    ?disabled=${drawn(() => room.runs.value.length === 0)}
    @click=${() => requests.takeInTurn(id, act)}>${drawn(words)}</button>`;
  const keepAndSay = async (/** @type {Told} */ told) => {
    const made = await keepHere(room, told);
    kept.value = made;
    requests.say(keptWords(made));
  };
  const openAndSay = async (/** @type {Told} */ told) => {
    if (!(await openInExplore(store, room, told)))
      requests.say('The model is ready. Open Explore to see it.');
  };
  const goOnWords = () => {
    const alone = which() && ', with this run alone';
    return `Go on from step ${formatCount(room.shown.value)}${alone}`;
  };
  const resumeButton = (/** @type {Kept} */ run) =>
    html`<button type="button" class="quiet" id="train-resume"
      @click=${() => requests.attempt(async () => room.resume(run.settings, run.saved))}>Go on with ${nameOf(run)}</button>`;
  return html`<div class="train-keep">
    ${button('train-explore', () => `Open${which()} in Explore`, openAndSay)}
    ${button(
      'train-save',
      () => `Save${which()} as a Hugging Face folder`,
      (told) => saveFolder(room, told),
    )}
    ${button('train-keep', () => `Keep${which()} in this browser`, keepAndSay)}
    ${drawn(() =>
      room.back.value === null
        ? ''
        : button('train-from-here', goOnWords, (told) => goOnFromHere(room, told)),
    )}
    ${drawn(() => kept.value && resumeButton(kept.value))}
    ${folderChoice(room, requests)}
    <p role="status" id="train-kept" class=${drawn(() => (said.value.isError ? 'message error' : 'note'))}
      .textContent=${drawn(() => said.value.words)}></p>
  </div>`;
}
