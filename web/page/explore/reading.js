/**
 * Reads the text that the address names, with the model that is open; anew when something else is to be read.
 *
 * @import { ExploreState } from './address.js'
 * @import { Explorer } from './explorer.js'
 *
 * @typedef {ReturnType<typeof connectOpening>} Opening
 */

import { inPlace } from '../mirror.js';
import { batch, derived, effect, signal, untracked } from '../shared/signals.js';
import { EXPLORE_DEFAULTS } from './address.js';
import { tellMissing } from './missing-heads.js';
import { newest } from './newest.js';
import { connectOpening } from './opening.js';

/** Whether two states have the same text of the same model, and the same muted heads. @type {(a: ExploreState, b: ExploreState) => boolean} */
const readsTheSame = (a, b) =>
  a.model === b.model &&
  a.text === b.text &&
  `${a.added}` === `${b.added}` &&
  JSON.stringify(a.muted) === JSON.stringify(b.muted);

/** @param {Explorer} room */
export function connectReading(room) {
  const { session, state, causal, softmax, model, waiting } = room;
  const opening = connectOpening(room);
  const { isOpening, reopen } = opening;
  /** The model whose text was read, or could not be. */
  const read = signal(/** @type {object | undefined} */ (undefined));
  /** What was read last, and chosen of it since: to that a wait leads back that is cancelled. */
  const settled = signal(/** @type {ExploreState | undefined} */ (undefined));
  effect(() => {
    const [now, last] = [state.value, settled.value];
    room.isSettled.value = last !== undefined && readsTheSame(now, last);
    if (room.isSettled.peek()) settled.value = now;
  });
  const readText = newest(async () => {
    if (isOpening.peek()) return;
    const [about, asked] = [model.peek(), state.peek()];
    const end = waiting.begin('Reading the text');
    try {
      session.causal = causal.peek();
      session.softmax = softmax.peek();
      await session.read(room.text.peek(), asked);
      batch(() => {
        settled.value = asked;
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
    return room.isSettled.peek();
  };

  const recovery = connectRecovery(room, opening);
  connectCancel(room, opening, recovery, () => settled.peek());
  effect(() => void (room.isBusy.value = isOpening.value || read.value !== model.value));
  tellMissing(room);
}

/**
 * Opens a model once more when its Worker has ended.
 *
 * @param {Explorer} room
 * @param {Opening} opening
 */
function connectRecovery(room, { isCancelled, reopen }) {
  /** What was chosen then: only once, as what ended one Worker may end the next. */
  let recovered = {};
  room.onLost = (error) => {
    if (isCancelled()) return;
    if (recovered === room.state.peek()) {
      room.failReading(error);
      return;
    }
    recovered = room.state.peek();
    reopen();
  };
  return {
    /** The next end is the first again. */
    forget: () => void (recovered = {}),
  };
}

/** Where a cancelled wait leads before anything was read: to the sample, and from a sample that is read without end to the first model. @param {Explorer} room @param {boolean} isReading */
function begin(room, isReading) {
  const { model, text, kept, added } = room.state.peek();
  const isSample = text === null && kept === null && added.length === 0;
  if (isReading && isSample && model !== EXPLORE_DEFAULTS.model)
    room.choices.open(EXPLORE_DEFAULTS.model);
  else room.set({ text: null, kept: null, added: [] });
}

/**
 * Lets a wait be cancelled.
 *
 * @param {Explorer} room
 * @param {Opening} opening
 * @param {ReturnType<typeof connectRecovery>} recovery
 * @param {() => ExploreState | undefined} settledOf to what it leads back
 */
function connectCancel(room, { isOpening, stop }, recovery, settledOf) {
  const { session, waiting } = room;
  waiting.cancel = () => {
    const isReading = !isOpening.peek();
    const settled = settledOf();
    waiting.end();
    stop();
    // To take a step back is none.
    inPlace(() => (settled ? room.set(settled) : begin(room, isReading)));
    // To end its Worker is no failure, however often.
    recovery.forget();
    if (isReading) session.stop();
  };
}
