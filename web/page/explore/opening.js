/**
 * Opens the model that the address names; anew when another is named, when its Worker has ended, or when it is asked for.
 *
 * @import { Explorer } from './explorer.js'
 */

import { PageError } from '../shared/errors.js';
import { batch, computed, derived, effect, signal, untracked } from '../shared/signals.js';
import { isSuperseded } from './asked.js';
import { filesOf } from './model-files.js';
import { OPENED } from './models.js';

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

/** @param {Explorer} room @param {unknown} error @param {{ isCancelled: boolean, hasFiles: boolean }} how */
function sayWhyNot(room, error, { isCancelled, hasFiles }) {
  if (isCancelled) {
    // None, if its Worker was ended before.
    room.run.value = room.session.run;
    room.say('Cancelled.');
    // The list of models names it already.
    if (hasFiles && !room.session.model) room.offerAgain();
  } else if (hasFiles && /** @type {PageError} */ (error).code === 'ERR_LOAD') {
    room.failLoading(error);
  } else room.failReading(error);
}

/** @param {Explorer} room @returns what opens it once more, what stops it, and whether it is under way or stopped */
export function connectOpening(room) {
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
        // The bar says how far it is: a screen reader reads each new message.
        onProgress(fraction) {
          if (isWanted()) waiting.reach(fraction);
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
      sayWhyNot(room, error, { isCancelled: mine.signal.aborted, hasFiles: isThere });
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
