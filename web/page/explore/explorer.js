/**
 * All that the Explore room knows, as signals, one way: what the address holds, and what is open and read, say what is
 * asked of the Worker; the views draw that and its answers.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Signal } from '../shared/signals.js'
 * @import { Store } from '../state.js'
 * @import { Token } from '../types.js'
 * @import { ExploreState, Pin } from './address.js'
 * @import { Opened } from './open/panel.js'
 * @import { ModelSummary, RunSummary } from './session.js'
 */

import { sentence } from '../shared/errors.js';
import { shortName } from '../shared/head-names.js';
import { batch, computed, derived, signal, when } from '../shared/signals.js';
import { ABLATIONS, isAblation, SIGNED } from './address.js';
import { Asked, isSuperseded } from './asked.js';
import { createChoices } from './choices.js';
import { Focus, NOWHERE } from './focus.js';
import { hasMeasure } from './has-measure.js';
import { firstName, otherOf, secondName, whatOf } from './maps.js';
import { largestValue } from './measures.js';
import { MODELS, pageModel } from './models.js';
import { createOrdering } from './ordering.js';
import { existingState, hasHead, possibleState } from './possible-state.js';
import { lastToken, Session } from './session.js';
import { titleOf } from './titles.js';
import { Patching } from './why/patching/patching.js';
import { Score } from './why/score/score.js';
import { Summing } from './why/summing.js';
import { Waiting } from './waiting.js';

export class Explorer {
  #store;
  #dark = matchMedia('(prefers-color-scheme: dark)');
  session = new Session({ lost: (error) => this.onLost(error) });
  /** Called when the Worker ended, and with it what was open. @type {(error: Error) => void} */
  onLost = () => {};
  /** Waits until what the address holds is read, or could not be; whether it was. */
  whenRead = async () => false;
  /** Goes on with opening what the address names, if files of the dialog came in between. */
  resume = () => {};
  /** Opens what the address names once more. */
  reopen = () => {};
  focus = new Focus();

  /** What the address holds. @type {Signal<ExploreState>} */ state;
  /** What the visitor wrote last, or the address had at first. @type {Signal<string | null>} */
  ownText = signal(null);
  isShown = signal(false);
  isDark = signal(this.#dark.matches);
  #place = signal(NOWHERE);
  /** Files of the visitor's own. @type {Signal<Opened | undefined>} */ own = signal(undefined);
  /** What is open; name: as the address has it. @type {Signal<(ModelSummary & { files: object, name: string }) | undefined>} */
  model = signal(undefined);
  /** Of queries and keys that were opened: whether later keys are masked. */
  causal = signal(true);
  /** Of scores that were opened: whether they are made weights. */
  softmax = signal(false);
  /** The latest run. @type {Signal<RunSummary | undefined>} */ run = signal(undefined);
  /** What is written after it, and not yet read. @type {Signal<{ run?: RunSummary, tokens: Token[] } | undefined>} */
  draft = signal(undefined);
  message = signal({ words: '', isError: false, canReopen: false });
  /** What takes long before there are maps. */
  waiting = new Waiting();
  /** What takes long of all heads' small maps and scores. */
  surveying = new Waiting(300);
  /** The run of which no more of them are wanted. @type {Signal<RunSummary | undefined>} */
  skipped = signal(undefined);
  /** Whether a large map takes long. */
  isDrawing = signal(false);
  /** Whether something else is opened or read, and what is drawn is of what was before. */
  isBusy = signal(true);
  /** Whether the run is of the text, the model and the muted heads that are chosen. */
  isSettled = signal(false);
  /** The run whose large maps are drawn. @type {Signal<RunSummary | undefined>} */
  mapped = signal(undefined);
  /** What is seen of them. @type {Signal<import('./maps.js').Seen | undefined>} */ seen =
    signal(undefined);

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    this.state = signal(store.get().explore);
    this.ownText.value = store.get().explore.text || null;
    this.isShown.value = store.get().room === 'explore';
    store.subscribe(({ explore, room }) =>
      batch(() => ([this.state.value, this.isShown.value] = [explore, room === 'explore'])),
    );
    this.focus.subscribe(() => (this.#place.value = this.focus.place));
    this.#dark.addEventListener('change', ({ matches }) => (this.isDark.value = matches));
  }

  /** @param {Partial<ExploreState>} part what else the address is to hold */
  set(part) {
    const before = this.state.peek();
    const keys = /** @type {(keyof ExploreState)[]} */ (Object.keys(part));
    if (keys.every((key) => Object.is(part[key], before[key]))) return;
    this.#store.set({ explore: { ...before, ...part } });
  }

  /** Takes out of the address what the run does not have. @returns {string[]} names of such heads */
  takeOutMissing() {
    const state = this.state.peek();
    const run = this.run.peek() ?? {};
    const heads = [state, ...(state.other ? [state.other] : []), ...state.muted, ...state.overlay];
    const has = hasHead(run);
    const missing = heads.filter((name) => !has(name)).map(shortName);
    this.set(existingState(state, run, this.model.peek() ?? {}));
    return [...new Set(missing)];
  }

  /** @param {string} words @param {boolean} [isError] */
  say(words, isError = false) {
    this.message.value = { words, isError, canReopen: false };
  }

  /** A model could not be loaded, which may be otherwise the next time. @param {unknown} error */
  failLoading = (error) => {
    this.failReading(error);
    this.offerAgain();
  };

  /** To open the model once more, after what is said. */
  offerAgain() {
    this.message.value = { ...this.message.peek(), canReopen: true };
  }

  /** @param {unknown} error @param {string} [still] said besides, where a run is still shown */
  #tell(error, still = '') {
    if (isSuperseded(error)) return;
    const { run } = this.session;
    this.run.value = run;
    this.say(sentence(error) + (run ? still : ''), true);
  }

  /** @param {unknown} error */
  fail = (error) => this.#tell(error);

  /** A text or a model could not be read. @param {unknown} error */
  failReading = (error) => this.#tell(error, ' The last text that could be read is still shown.');

  // What follows from it

  /** The state as far as the run has it. */
  shown = computed(() =>
    possibleState(this.state.value, this.run.value ?? {}, this.model.value ?? {}),
  );
  what = derived(() => whatOf(this.shown.value));
  title = computed(() => titleOf(this.shown.value));
  pins = derived(() => this.shown.value.pins);
  /** The model's own text. */
  sample = computed(
    () => this.model.value?.sample ?? (pageModel(this.state.value.model) ?? MODELS.austen).sample,
  );
  text = computed(() => this.state.value.text ?? this.sample.value);
  hasModel = computed(() => this.model.value?.kind === 'model');
  /** Whether it is asked what makes up a prediction. */
  isWhy = computed(() => this.predicts.value === 'next' && this.state.value.mode === 'why');
  /** The same as the address has it, until it is known what the model predicts: what is said first stays. */
  isAboutWhy = computed(() =>
    this.model.value ? this.isWhy.value : this.state.value.mode === 'why',
  );
  /** Whether tokens are words or numbers of their own, and no parts of a text. */
  isApart = computed(() => !this.hasModel.value || this.model.value?.sample !== undefined);

  /** What the model predicts. */
  predicts = computed(() => this.model.value?.predicts ?? 'nothing');
  /** The token that is asked about before one is chosen. */
  last = computed(() => (this.run.value ? lastToken(this.run.value) : 0));

  /** What is pointed at: a text that got shorter under the pointer does not have it any more. */
  place = derived(() => {
    const n = this.run.value?.n ?? 0;
    const { query, key } = this.#place.value;
    return query < n && key < n ? { query, key } : NOWHERE;
  });

  /** What text, cards and table are about: what is pointed at, else the last pin, else the last token. */
  subject = derived(() => {
    const { query, key } = this.place.value;
    /** @type {(side: Pin['side'], token: number) => Pin} */
    const of = (side, token) => ({ side, token });
    if (query >= 0) return of('query', query);
    if (key >= 0) return of('key', key);
    return this.pins.value.at(-1) ?? of('query', this.last.value);
  });

  /** Whether there is another text to exchange parts with. */
  isPaired = computed(() => this.isWhy.value && this.state.value.corrupted !== null);

  /** Whether a measure of heads means something here. @param {string} name */
  hasMeasure = (name) =>
    hasMeasure(name, {
      causal: this.run.value?.causal ?? this.predicts.value !== 'masked',
      predicts: this.predicts.value,
      isPaired: this.isPaired.value,
    });

  /** What the heads are measured by. */
  measure = computed(() => {
    const { sort, by } = this.shown.value;
    const wanted = sort === 'place' ? by : sort;
    const measure = this.hasMeasure(wanted) ? wanted : 'none';
    return measure === 'none' && this.isWhy.value ? 'attribution' : measure;
  });

  /** Whether it is a change of a prediction, for it or against it. */
  isSigned = computed(() => SIGNED.some((measure) => measure === this.measure.value));

  /** Every head's measure, as soon as it is there: above 0 where the head is for the prediction. */
  values = computed(() => {
    const measure = this.measure.value;
    const { run, scores } = this.scores.answer.value ?? {};
    if (measure === 'none') return undefined;
    if (isAblation(measure))
      return this.effects.value?.effects.map((/** @type {number} */ change) => -change);
    if (measure === 'attribution') return this.attribution.value?.heads;
    if (measure === 'patching') return this.patching.shares.value?.heads;
    return run === this.run.value ? scores?.map((own) => own[measure]) : undefined;
  });

  /** The end of their scale; 0: there are none, or all are 0. */
  largest = computed(() => largestValue(this.values.value ?? []));

  /** The prediction that is asked about. */
  about = derived(() => {
    const { target, against } = this.shown.value;
    const pinned = this.pins.value.findLast(({ side }) => side === 'query');
    return { at: pinned?.token ?? this.last.value, target, against };
  });

  /** What of this text brings its prediction back in another. */
  patching = new Patching(this);

  // What is asked: first for what is looked at, then for all heads, then for their scores

  /** The lines of the subject and of each pin. */
  line = new Asked(this, () => {
    const [what, subject, title] = [this.what.value, this.subject.value, this.title.value];
    const isPinned = this.pins.value.length > 0;
    const pins = isPinned ? this.pins.value : [subject];
    const state = this.shown.value;
    const other = otherOf(state);
    const names = other && [firstName(state), secondName(state)];
    const second = other && { ...what, ...other };
    const linesOf = (/** @type {typeof what} */ map) =>
      Promise.all(pins.map((pin) => this.session.line(map, pin)));
    return async () => {
      const [line, lines, others] = await Promise.all([
        this.session.line(what, subject),
        linesOf(what),
        second && linesOf(second),
      ]);
      const cards = pins.map((pin, i) => ({
        ...{ pin, weights: lines[i], isPinned },
        ...{ others: others?.[i], names },
      }));
      return { subject, title, line, cards };
    };
  });

  /** What the model predicts. */
  next = new Asked(this, () => {
    const about = this.about.value;
    return this.predicts.value !== 'nothing' ? () => this.session.predict(about) : undefined;
  });

  /** What the target is compared with: not with itself, as it may be asked about without having been chosen. */
  against = derived(() => {
    const { against } = this.shown.value;
    return against === this.next.answer.value?.target ? null : against;
  });

  /** Side of a small map, in pixels. */
  thumbSide = () => 32;

  /** Every head's map, small: more of them with each layer. */
  thumbs = new Asked(this, (run) => {
    const isNext = this.predicts.value === 'nothing' || this.next.ended.value === run;
    const { show } = this.shown.value;
    if (!isNext || this.line.ended.value !== run || this.mapped.value !== run) return undefined;
    if (this.skipped.value === run) return undefined;
    return async (tell) => {
      await new Promise((resolve) => setTimeout(resolve)); // until the grid has its size
      const wanted = Math.min(run.n, this.thumbSide());
      /** @type {Float32Array[]} */
      const all = [];
      await this.#eachLayer(run, 'Drawing the small maps', async (layer) => {
        all.push(...(await this.session.thumbs(layer, wanted)).maps);
        tell({ size: wanted, show, maps: [...all] });
      });
      return { size: wanted, show, maps: all };
    };
  });

  scores = new Asked(this, (run) => {
    if (this.thumbs.ended.value !== run || this.skipped.value === run) return undefined;
    return async () => {
      /** @type {import('../shared/head-scores.js').HeadScores[]} */
      const scores = [];
      await this.#eachLayer(run, 'Scoring the heads', async (layer) => {
        scores.push(...(await this.session.scores(layer)));
      });
      return { scores: this.skipped.peek() === run ? undefined : scores };
    };
  });

  /**
   * Asks layer by layer while the room is seen, until the rest is not wanted any more.
   *
   * @param {RunSummary} run
   * @param {string} label
   * @param {(layer: number) => Promise<void>} ask
   */
  async #eachLayer(run, label, ask) {
    const isWanted = () => this.skipped.peek() !== run && this.session.run === run;
    const end = this.surveying.begin(label);
    try {
      for (let layer = 0; layer < run.layers && isWanted(); layer++) {
        await ask(layer);
        await when(this.isShown);
        this.surveying.reach((layer + 1) / run.layers);
      }
    } finally {
      end();
    }
  }

  /** Goes on with what was left out. */
  survey = () =>
    batch(() => {
      this.thumbs.ended.value = undefined;
      this.skipped.value = undefined;
    });

  /** Counts what was asked of all heads: an earlier sweep ends when another one is wanted, or none. */
  #sweep = 0;

  /** What each head does for the prediction. */
  #effects = new Asked(this, (run) => {
    const [about, method] = [this.about.value, ABLATIONS[this.measure.value]];
    const mine = ++this.#sweep;
    const canAsk = this.predicts.value !== 'nothing' && this.next.ended.value === run;
    if (!method || !canAsk) return undefined;
    return async (tell) => {
      /** @type {import('./worker/effects.js').Effects | undefined} */
      let latest;
      for await (const part of this.session.effects(about, method)) {
        latest = part;
        await tell({ ...part, about, method });
        if (mine !== this.#sweep) break;
      }
      return { ...(latest ?? { effects: new Float64Array(0), done: 0, target: 0 }), about, method };
    };
  });

  /** What each head does, of what is asked now. */
  effects = computed(() => {
    const answer = this.#effects.answer.value;
    const isOf = answer?.run === this.run.value && answer?.about === this.about.value;
    const isNow = isOf && answer?.method === ABLATIONS[this.measure.value];
    return isNow && answer.done > 0 ? answer : undefined;
  });

  /** Whether that could not be found out. */
  effectsHaveFailed = this.#effects.hasFailed;

  /** The parts of the logit that is asked about now. */
  summing = new Summing(this);
  attribution = this.summing.parts;

  /** What the chosen head reads at each key for it. */
  headKeys = new Asked(this, ({ heads }) => {
    const about = this.attribution.value;
    const { layer, head } = this.shown.value;
    const { directions } = about ?? {};
    if (!about || !directions || !this.isWhy.value) return undefined;
    const { at } = about.about;
    const i = layer * heads + head;
    const width = directions.length / about.heads.length;
    const direction = directions.slice(i * width, (i + 1) * width);
    return async () => ({
      ...(await this.session.headKeys({ at, layer, head, direction })),
      ...{ about, layer, head, part: about.heads[i] },
    });
  });

  /** Why the chosen head looks at one of them. */
  score = new Score(this);

  /** How badly the text was predicted. */
  losses = new Asked(this, (run) =>
    this.predicts.value === 'next' && this.scores.ended.value === run
      ? async () => ({ found: await this.session.losses() })
      : undefined,
  );

  ordering = createOrdering(this);
  /** What orders the heads in the grid: a score, as soon as it is there. */
  by = this.ordering.by;
  /** All heads in that order, by their places in the model. */
  order = this.ordering.order;

  choices = createChoices(this);
}
