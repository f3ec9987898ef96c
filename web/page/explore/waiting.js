/**
 * What takes long: opening a model, reading a text, the small maps and scores of all heads. A bar says how far it is, and a
 * button cancels it.
 *
 * @import { Signal } from '../shared/signals.js'
 * @import { Explorer } from './explorer.js'
 */

import { turnFocusTo } from '../shared/dom.js';
import { signal } from '../shared/signals.js';
import { drawn, html, leaving, made, nothing } from '../shared/template.js';

export class Waiting {
  #slowMs;
  /** What is waited for; fraction: how much of it is done, where that is known. @type {Signal<{ label: string, fraction?: number } | undefined>} */
  now = signal(undefined);
  /** Called when it is not wanted any more. */
  cancel = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;
  /** How often something was waited for. */
  #count = 0;

  /** @param {number} [slowMs] what is done by then needs no bar */
  constructor(slowMs = 500) {
    this.#slowMs = slowMs;
  }

  /** @param {string} label @returns what ends it, unless something else has begun since */
  begin(label) {
    const mine = ++this.#count;
    const show = () => (this.now.value = { label });
    clearTimeout(this.#timer);
    if (this.now.peek()) show();
    else this.#timer = setTimeout(show, this.#slowMs);
    return () => {
      if (mine === this.#count) this.end();
    };
  }

  /** @param {number} fraction */
  reach(fraction) {
    const now = this.now.peek();
    if (now) this.now.value = { ...now, fraction };
  }

  end() {
    clearTimeout(this.#timer);
    this.now.value = undefined;
  }
}

/** What had the focus when a bar came, by its id: mostly what started the wait. @type {Map<string, Element | null>} */
const starters = new Map();

/** The bar's button goes: back to what started the wait, where that is seen. @param {string} id */
export const leaveBar = (id) => turnFocusTo(starters.get(id));

/** @param {HTMLElement} element a bar @param {boolean} isShown */
function noteStarter(element, isShown) {
  if (isShown) starters.set(element.id, document.activeElement);
  else if (element.contains(document.activeElement)) leaveBar(element.id);
}

/**
 * @param {string} id
 * @param {Waiting['now']['value']} now undefined: nothing is waited for
 * @param {() => void} [cancel] undefined: it cannot be left
 * @param {string} [words] of the button
 * @param {string} [kind] brief: where there is no room for the label, which the button says
 */
export function bar(id, now, cancel, words = 'Cancel', kind = '') {
  const { label = '', fraction } = now ?? {};
  const progress =
    fraction === undefined
      ? html`<progress aria-label=${label}></progress>`
      : html`<progress max="1" .value=${fraction} aria-label=${label}></progress>`;
  const leave = () => {
    cancel?.();
    leaveBar(id);
  };
  return html`<div class="waiting-bar ${kind}" id=${id} ${made(noteStarter, now !== undefined)} ?hidden=${!now}
    ${leaving(() => leaveBar(id))}>
    ${progress}<span class="note">${label}</span>
    <button type="button" class="quiet" ?hidden=${!cancel} @click=${leave}>${words}</button>
  </div>`;
}

/** @param {Explorer} room */
export const waitingBar = ({ waiting }) =>
  drawn(() => bar('explore-waiting', waiting.now.value, () => waiting.cancel()));

/** Whether the drawing and scoring of all heads was stopped. @param {Pick<Explorer, 'run' | 'skipped'>} room */
export const isSkipped = ({ run, skipped }) =>
  run.value !== undefined && skipped.value === run.value;

/** Whether the scores of all heads are still to come. @param {Pick<Explorer, 'run' | 'skipped' | 'scores'>} room */
export const areScoresToCome = (room) => !room.scores.hasFailed.value && !isSkipped(room);

/** Of what is asked of all heads; what was cancelled can be gone on with. @param {Explorer} room */
export const headsBar = ({ surveying, run, skipped, survey }) => {
  const goOn = () => {
    survey();
    leaveBar('explore-surveying');
  };
  const stop = () => void (skipped.value = run.peek());
  return drawn(() => {
    const now = surveying.now.value;
    if (isSkipped({ run, skipped }))
      return html`<button type="button" class="quiet" id="explore-go-on" @click=${goOn}>Go on drawing</button>`;
    return now ? bar('explore-surveying', now, stop, 'Stop drawing', 'brief') : nothing;
  });
};
