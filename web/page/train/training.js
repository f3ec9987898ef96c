/**
 * All that the Train room knows, as signals: the settings of the address, the runs that they make, and what of them is
 * shown. A loop asks the runs for steps, at most once a frame.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Store } from '../state.js'
 * @import { Signal } from '../shared/signals.js'
 * @import { Settings, TaskName, TrainState } from './settings.js'
 * @import { Saved } from './trainer.js'
 */

import { batch, computed, derived, effect, signal, untracked } from '../shared/signals.js';
import { keepText } from '../shared/kept-texts.js';
import { isLinkable } from '../shared/linkable.js';
import { Run } from './run.js';
import { changed, DEFAULTS, TRAIN_DEFAULTS } from './settings.js';
import { TASK_WORDS } from './words.js';

/** Where nothing is to move, a still is shown this long. */
const STILL_MS = 2000;

const LEAST_AXIS = 140;

const NO_DRAFT = { text: '', typed: '' };

/** A hidden tab has no frames: training pauses there. */
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/** @param {TrainState} state */
const settingsIn = ({ settings, other }) => (other ? [settings, other] : [settings]);

/** Steps that all did. @param {readonly Run[]} runs */
const doneBy = (runs) => Math.min(...runs.map(({ done }) => done));

export class Training {
  #store;
  #calm = matchMedia('(prefers-reduced-motion: reduce)');
  #dark = matchMedia('(prefers-color-scheme: dark)');
  #isLooping = false;
  /** Steps done before the runs began: those of a run that was kept. */ #from = signal(0);
  /** @type {Promise<unknown>} steps that are under way */ #work = Promise.resolve();
  /** The task whose pace was set: a speed that was chosen for it stays. @type {TaskName | undefined} */ #paced;
  /** What a run is to go on from instead of its first weights. @type {Saved | undefined} */ #saved;

  /** The visitor's own text, while another task is chosen. */ #text = '';

  /** What the address holds. @type {Signal<TrainState>} */ state;
  /** @type {Signal<boolean>} */ isShown;
  isDark = signal(this.#dark.matches);
  isCalm = signal(this.#calm.matches);
  /** One, or two side by side. @type {Signal<readonly Run[]>} */ runs = signal([]);
  /** Those that are seen: until others have begun, the ones before. @type {Signal<readonly Run[]>} */ seenRuns =
    signal([]);
  isPlaying = signal(true);
  /** How many calls for steps are under way. */ calls = signal(0);
  /** Steps a second; Infinity: as fast as possible. */ speed = signal(0);
  /** The step at which it pauses. */ end = signal(0);
  /** The step that is looked back at; null: the latest. @type {Signal<number | null>} */ back =
    signal(null);
  /** @type {Signal<HeadName>} */ chosen = signal({ layer: 0, head: 0 });
  message = signal({ words: '', isError: false });
  /** What was typed for the task of an own text, and the text that was trained on then. */
  #draft = NO_DRAFT;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    this.state = signal(store.get().train);
    this.isShown = signal(store.get().room === 'train');
    store.subscribe(({ train, room }) =>
      batch(() => {
        this.state.value = train;
        this.isShown.value = room === 'train';
      }),
    );
    this.#dark.addEventListener('change', () => (this.isDark.value = this.#dark.matches));
    this.#calm.addEventListener('change', () => (this.isCalm.value = this.#calm.matches));
    const wanted = derived(() => ({ state: JSON.stringify(settingsIn(this.state.value)) }));
    effect(() => {
      if (wanted.value) untracked(() => this.restart());
    });
    effect(() => {
      const { text } = this.settings.value;
      if (!isLinkable(text)) keepText(text);
    });
    effect(() => {
      const goesOn = this.isPlaying.value && this.isShown.value && this.runs.value.length > 0;
      untracked(() => (goesOn ? this.#loop() : this.#show()));
    });
  }

  /** What is chosen for the first run. */
  settings = computed(() => this.state.value.settings);
  words = computed(() => TASK_WORDS[this.settings.value.task]);
  /** Steps done by all. */
  step = computed(() => {
    const runs = this.runs.value;
    for (const { version } of runs) void version.value;
    return runs.length ? Math.min(...runs.map((run) => run.step)) : this.#from.value;
  });
  /** The last step of the curves' axis: at first a part of all steps, doubled when it is full. */
  axis = computed(() => {
    let axis = this.end.value;
    while (axis / 2 >= Math.max(LEAST_AXIS, this.step.value)) axis /= 2;
    return axis;
  });
  /** The step that is shown: no earlier than those that were seen. */
  shown = computed(() => {
    const shown = Math.min(this.back.value ?? Infinity, this.step.value);
    return Math.max(this.#from.value, shown);
  });

  /** The own text as it was typed: it may not be trained on yet. */
  get typed() {
    const { text } = this.settings.value;
    return this.#draft.text === text ? this.#draft.typed : text;
  }

  set typed(typed) {
    this.#draft = { text: this.settings.peek().text, typed };
  }

  /** What is seen of a run now. @param {Run} run */
  seenOf(run) {
    void run.version.value;
    const { value } = this.back;
    return value === null ? run.history.last : run.history.at(value);
  }

  /** @param {Partial<TrainState>} part */
  set(part) {
    this.#store.set({ train: { ...this.#store.get().train, ...part } });
  }

  /** Changes settings of the first run; the run beside it keeps what it differs in. @param {Partial<Settings>} part */
  change(part) {
    if (part.text !== undefined) this.#draft = NO_DRAFT; // it is trained on
    this.set(changed(this.#store.get().train, part));
  }

  /** Trains on a text; one that no run could start with is refused anew. @param {string} text */
  trainOn(text) {
    const isSame = text === this.settings.peek().text;
    this.change({ text });
    if (isSame && this.#isOver) this.restart();
  }

  /** Chooses another task, with its own settings. @param {TaskName} task */
  choose(task) {
    this.#text = this.settings.peek().text || this.#text;
    const text = task === 'own' ? this.#text : '';
    this.set({ ...TRAIN_DEFAULTS, settings: { ...DEFAULTS[task], text } });
  }

  /** Goes on from a run that was kept. @param {Settings} settings @param {Saved} saved */
  resume(settings, saved) {
    this.#saved = saved;
    this.set({ ...TRAIN_DEFAULTS, settings });
    if (this.#saved) this.restart();
  }

  /** Begins anew with the settings. */
  restart() {
    this.#started = this.#start();
  }

  /** Whether the newest runs are there: some cannot start, others give way. @type {Promise<boolean>} */
  #started = Promise.resolve(false);

  async #start() {
    for (const run of this.runs.peek()) run.end();
    const saved = this.#saved;
    this.#saved = undefined;
    const runs = settingsIn(this.state.peek()).map((settings) => new Run(settings));
    const { pace, steps } = this.words.peek();
    const { task, layers } = this.settings.peek();
    batch(() => {
      this.runs.value = [];
      this.isPlaying.value = true;
      this.#from.value = saved?.step ?? 0;
      this.end.value = this.#from.value + steps;
      if (task !== this.#paced) this.speed.value = pace;
      this.#paced = task;
      this.say('');
      this.chosen.value = { layer: task === 'induction' ? layers - 1 : 0, head: 0 };
    });
    this.#starting = runs;
    const isNewest = () => this.#starting === runs;
    try {
      await Promise.all(runs.map((run) => run.start(saved)));
      if (isNewest()) this.#take(runs, runs);
    } catch (error) {
      if (isNewest()) this.#take([], []);
      if (isNewest()) this.fail(error);
    }
    if (isNewest()) this.#starting = [];
    const isThere = this.runs.peek() === runs;
    if (!isThere) for (const run of runs) run.end();
    return isThere;
  }

  /** What was looked back at stays until then. @param {readonly Run[]} runs @param {readonly Run[]} seen */
  #take(runs, seen) {
    batch(() => {
      this.back.value = null;
      [this.runs.value, this.seenRuns.value] = [runs, seen];
    });
  }

  /** Those whose models are not there yet. @type {readonly Run[]} */ #starting = [];

  /** Says something until the next action. @param {string} words */
  say(words, isError = false) {
    this.message.value = { words, isError };
  }

  /** @param {unknown} error */
  fail(error) {
    const { message = String(error), code } = /** @type {{ message?: string, code?: string }} */ (
      error
    );
    if (code === 'ERR_STALE') return; // of a run that was ended
    batch(() => {
      this.isPlaying.value = false;
      // No text yet is nothing that went wrong.
      this.say(message, code !== 'ERR_TEXT');
    });
  }

  async #loop() {
    if (this.#isLooping) return;
    this.#isLooping = true;
    try {
      while (this.#goesOn) await (this.isCalm.peek() ? this.#playStill() : this.#playMoving());
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isLooping = false;
    }
  }

  get #goesOn() {
    return this.isPlaying.peek() && this.isShown.peek() && this.runs.peek().length > 0;
  }

  /** Steps of one call, so that all runs answer soon. */
  get #most() {
    return Math.min(...this.runs.peek().map((run) => run.most));
  }

  /** Plays, and shows what each call did. */
  async #playMoving() {
    let last = performance.now();
    let due = 0;
    while (!this.isCalm.peek()) {
      await frame();
      if (!this.#goesOn) return;
      const now = performance.now();
      const rate = this.speed.peek();
      due = rate === Infinity ? this.#most : due + (rate * (now - last)) / 1000;
      last = now;
      if (due < 1) continue;
      const steps = Math.floor(Math.min(due, this.#most));
      due = Math.min(due - steps, 1);
      await this.advance(steps);
      if (this.step.peek() >= this.end.peek()) this.isPlaying.value = false;
    }
  }

  /** Plays up to the next still: as many steps as the speed asks for, in several calls. */
  async #playStill() {
    const runs = this.runs.peek();
    const start = performance.now();
    const isThis = () => this.#goesOn && this.runs.peek() === runs;
    const isEnd = () => doneBy(runs) >= this.end.peek();
    let done = 0;
    while (isThis() && !isEnd() && performance.now() - start < STILL_MS) {
      await frame();
      if (!isThis()) break;
      const steps = Math.min((this.speed.peek() * STILL_MS) / 1000 - done, this.#most);
      if (steps < 1) continue;
      done += steps;
      await this.#ask(steps);
    }
    this.#show();
    if (isThis() && isEnd()) this.isPlaying.value = false;
  }

  /** Lets all runs do steps, and shows them. @param {number} steps */
  async advance(steps) {
    await this.#ask(steps);
    this.#show();
  }

  #show() {
    try {
      batch(() => {
        for (const run of this.runs.peek()) run.show();
      });
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {number} steps */
  async #ask(steps) {
    const runs = this.runs.peek();
    const work = this.#work.then(async () => {
      if (this.runs.peek() !== runs) return;
      try {
        const left = Math.max(1, Math.min(steps, this.end.peek() - doneBy(runs)));
        await Promise.all(runs.map((run) => run.advance(left)));
      } catch (error) {
        if (this.runs.peek() === runs) this.fail(error);
      }
    });
    this.#work = work.catch(() => {}); // the next call does not fail for this one's reason
    try {
      this.calls.value++;
      await work;
    } finally {
      this.calls.value--;
    }
  }

  /** Whether there is nothing to go on with: no run could start, or a Worker is gone. */
  get #isOver() {
    const runs = this.runs.peek();
    const isNone = runs.length === 0 && this.#starting.length === 0;
    return isNone || runs.some((run) => run.isLost);
  }

  /** Plays, from the latest step on, or pauses. */
  play() {
    const isPlaying = !this.isPlaying.peek();
    if (isPlaying && this.#isOver) {
      this.restart();
      return;
    }
    batch(() => {
      this.say('');
      this.isPlaying.value = isPlaying;
      if (!isPlaying) return;
      this.back.value = null;
      if (this.step.peek() >= this.end.peek()) this.end.value += this.words.peek().steps;
    });
  }

  /** A single step. */
  async stepOnce() {
    if (this.#isOver) this.restart();
    batch(() => {
      this.say('');
      [this.isPlaying.value, this.back.value] = [false, null];
    });
    if (!(await this.#started)) return;
    if (this.step.peek() >= this.end.peek()) this.end.value += this.words.peek().steps;
    await this.advance(1);
  }

  /** Looks back. @param {number} step */
  scrub(step) {
    batch(() => {
      this.isPlaying.value = false;
      this.back.value = step >= this.step.peek() ? null : step;
    });
  }
}
