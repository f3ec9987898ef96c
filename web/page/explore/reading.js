/**
 * Opens the model that the address names, and reads its text; each anew when something else is to be opened or read.
 *
 * @import { ExploreState } from './address.js'
 * @import { Explorer } from './explorer.js'
 */

import { inPlace } from '../mirror.js';
import { PageError } from '../shared/errors.js';
import { batch, computed, derived, effect, signal, untracked } from '../shared/signals.js';
import { EXPLORE_DEFAULTS } from './address.js';
import { isSuperseded } from './asked.js';
import { filesOf } from './model-files.js';
import { OPENED } from './models.js';
import { newest } from './newest.js';

/** @param {string} model @param {import('./open/panel.js').Opened} [own] */
async function wantedFiles(model, own) {
  const files = model === OPENED ? own : filesOf(model);
  if (files) return files;
  throw new PageError(
    'ERR_LOAD',
    model === OPENED
      ? 'This address is for files that were opened from a disk, or for a model from Train. It does not contain them. Open them again, train again, or choose one of the page’s models.'
      : `There is no model “${model}” here. Choose one from the list, or open files.`,
  );
}

/** @param {Explorer} room @returns what opens it once more, what stops it, and whether it is under way or stopped */
function connectOpening(room) {
  const { session, state, own, model, waiting } = room;
  /** Counts how often it is opened once more because its Worker ended. */
  const again = signal(0);
  const wanted = derived(() => {
    const name = state.value.model;
    return { name, own: name === OPENED ? own.value : undefined, again: again.value };
  });
  /** What was opened, or could not be. */
  const opened = signal(/** @type {object | undefined} */ (undefined));
  let opening = new AbortController();
  const open = async () => {
    opening.abort();
    const mine = new AbortController();
    opening = mine;
    const now = wanted.peek();
    const isWanted = () => now === wanted.peek();
    const end = waiting.begin('Loading the model');
    let isThere = false;
    try {
      const files = await wantedFiles(now.name, now.own);
      isThere = now.name !== OPENED;
      room.say('Loading …');
      await session.open(files, {
        signal: mine.signal,
        onProgress({ fraction, label = 'Loading' }) {
          if (!isWanted()) return;
          // How far it is, the bar says: a screen reader reads each new message.
          room.say(`${label} …`);
          waiting.reach(fraction);
        },
      });
      if (isWanted() && session.model) {
        const next = { ...session.model, files, name: now.name };
        room.say('');
        // Now the text is read, which the bar tells of until it ends.
        batch(() => ([model.value, opened.value] = [next, now]));
      }
    } catch (error) {
      if (!isWanted()) return;
      end();
      // Files of the dialog were read instead: if they cannot be opened, it resumes.
      if (isSuperseded(error) && !mine.signal.aborted) return;
      opened.value = now;
      if (mine.signal.aborted) {
        // None, if its Worker was ended before.
        room.run.value = session.run;
        room.say('Cancelled.');
      } else if (isThere && /** @type {PageError} */ (error).code === 'ERR_LOAD') {
        room.failLoading(error);
      } else room.failReading(error);
    }
  };
  effect(() => {
    if (wanted.value) untracked(open);
  });
  const isOpening = computed(() => opened.value !== wanted.value);
  const reopen = () => void again.value++;
  room.reopen = reopen;
  room.resume = () => {
    if (isOpening.peek()) reopen();
  };
  /** Whether it ends in a moment, and opens nothing. */
  const isCancelled = () => isOpening.peek() && opening.signal.aborted;
  return { isOpening, isCancelled, reopen, stop: () => opening.abort() };
}

/** Whether two states have the same text of the same model, and the same muted heads. @type {(a: ExploreState, b: ExploreState) => boolean} */
const readsTheSame = (a, b) =>
  a.model === b.model &&
  a.text === b.text &&
  `${a.added}` === `${b.added}` &&
  JSON.stringify(a.muted) === JSON.stringify(b.muted);

/** @param {Explorer} room */
export function connectReading(room) {
  const { session, state, causal, softmax, model, waiting } = room;
  const { isOpening, isCancelled, reopen, stop } = connectOpening(room);
  /** The model whose text was read, or could not be. */
  const read = signal(/** @type {object | undefined} */ (undefined));
  /** What was read last, and chosen of it since: to that a wait leads back that is cancelled. @type {ExploreState | undefined} */
  let settled;
  const isSettled = () => settled !== undefined && readsTheSame(state.peek(), settled);
  effect(() => {
    const now = state.value;
    if (isSettled()) settled = now;
  });
  const readText = newest(async () => {
    if (isOpening.peek()) return;
    const [about, asked] = [model.peek(), state.peek()];
    const end = waiting.begin('Reading the text');
    try {
      session.causal = causal.peek();
      session.softmax = softmax.peek();
      await session.read(room.text.peek(), asked);
      settled = asked;
      batch(() => {
        room.run.value = session.run;
        room.say('');
      });
    } finally {
      end();
      read.value = about;
    }
  }, room.failReading);
  /** Until nothing is left to read. */
  let latest = Promise.resolve();
  const reading = derived(() => {
    const { text, added, muted } = state.value;
    return { text, added, muted, causal: causal.value, softmax: softmax.value, model: model.value };
  });
  effect(() => {
    if (!reading.value.model || isOpening.peek()) return;
    untracked(() => {
      if (session.isLost) reopen();
      // The text is of a model that could not be opened: the one before is not asked.
      else if (model.peek()?.name === state.peek().model) latest = readText();
    });
  });
  room.whenRead = async () => {
    await latest;
    return isSettled();
  };

  /** What was chosen when it was opened once more: only once, as what ended one Worker may end the next. */
  let recovered = {};
  room.onLost = (error) => {
    if (isCancelled()) return;
    if (recovered === state.peek()) {
      room.failReading(error);
      return;
    }
    recovered = state.peek();
    reopen();
  };
  /** Where a cancelled wait leads before anything was read: to the sample, and from a sample that is read without end to the first model. @param {boolean} isReading */
  const begin = (isReading) => {
    const { model: name, text, kept, added } = state.peek();
    const isSample = text === null && kept === null && added.length === 0;
    if (isReading && isSample && name !== EXPLORE_DEFAULTS.model)
      room.choices.open(EXPLORE_DEFAULTS.model);
    else room.set({ text: null, kept: null, added: [] });
  };
  waiting.cancel = () => {
    const isReading = !isOpening.peek();
    waiting.end();
    stop();
    // To take a step back is none.
    inPlace(() => (settled ? room.set(settled) : begin(isReading)));
    // To end its Worker is no failure, however often.
    recovered = {};
    if (isReading) session.stop();
  };
  effect(() => void (room.isBusy.value = isOpening.value || read.value !== model.value));
  tellMissing(room, isSettled);
}

/** Of the heads that are not there so many are named. */
const MOST_NAMED = 8;

/** @param {string[]} names at least one */
function orList(names) {
  const others = names.length - MOST_NAMED;
  const rest = others > 0 ? [`${others} ${others === 1 ? 'other' : 'others'}`] : [];
  return [...names.slice(0, MOST_NAMED), ...rest].join(' or ');
}

/** Takes heads out of the choice that the model has not, and says which until something else is chosen. @param {Explorer} room @param {() => boolean} isSettled whether what is chosen was read */
function tellMissing(room, isSettled) {
  const { state, run, isBusy, message } = room;
  let told = { words: '', state: state.peek() };
  effect(() => {
    void state.value;
    if (!run.value || isBusy.value || !isSettled()) return;
    untracked(() => {
      const missing = room.takeOutMissing();
      if (missing.length > 0) {
        const words = `This model has no head ${orList(missing)}.`;
        told = { words, state: state.peek() };
      }
      // Also after the text was read again without those that were muted.
      if (state.peek() === told.state && told.words) room.say(told.words, true);
      else if (told.words && message.peek().words === told.words) room.say('');
    });
  });
}
