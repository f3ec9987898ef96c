/**
 * The tour: offered on the first visit, and its steps, in the place of what is said of the room otherwise.
 *
 * @import { ExploreState } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { TourStep } from './tours.js'
 */

import { isRemembered, remember } from '../shared/remember.js';
import { computed, effect, signal } from '../shared/signals.js';
import { drawn, html, nothing } from '../shared/template.js';
import { quoted } from './bars.js';
import { percent } from './next-token.js';
import { TOURS } from './tours.js';

/** The tour that is offered. */
const FIRST = 'induction';

/** Remembers that a tour was offered. */
const KEY = 'headwise-explore-toured';

/** What the prediction of the step comes to. @param {Explorer} room */
function result({ next, run, isSettled }) {
  const { run: about, predictions, at = 0, target } = next.answer.value ?? {};
  const found = predictions?.find(({ token }) => token.id === target);
  if (!found || !about || about !== run.value || !isSettled.value) return '';
  const { before, after, token } = found;
  const shares =
    about.muted.length > 0 ? `${percent(before)} becomes ${percent(after)}` : percent(after);
  return html`<span class="tour-result">${quoted(token.text)} after ${quoted(about.tokens[at].text)}: <b>${shares}</b>.</span>`;
}

/** @param {string} words @param {() => void} act @param {{ kind?: string, id?: string }} [how] */
const button = (words, act, { kind = 'quiet', id } = {}) =>
  html`<button type="button" class=${kind} id=${id ?? nothing} @click=${act}>${words}</button>`;

/** Where a button may have gone, another one has the focus: the way on, or to the tour. */
function keepFocus() {
  if (document.activeElement !== document.body) return;
  const on = ['explore-tour-next', 'explore-tour-end', 'explore-tour', 'main'];
  const next = on.map((id) => document.getElementById(id)).find(Boolean);
  next?.focus({ preventScroll: true });
}

/** @param {Explorer} room */
export function tours(room) {
  const isNew = signal(!isRemembered(KEY, true));
  /** What was seen before the tour: who skips it goes back there. @type {ExploreState | undefined} */
  let before;
  effect(() => {
    if (!room.state.value.tour) before = undefined;
  });
  const act = (/** @type {() => void} */ change) => {
    remember(KEY, true);
    isNew.value = false;
    change();
    keepFocus();
  };
  const go = (/** @type {TourStep} */ tour) => act(() => room.choices.tour(tour));
  const start = () => {
    before = room.state.peek();
    go({ name: FIRST, step: 0 });
  };
  const end = () => act(() => room.choices.endTour());
  const skip = () => act(() => room.choices.endTour(before));

  /** Nothing could be opened: first there is something else to do. */
  const isEmpty = computed(() => !room.run.value && room.message.value.isError);
  /** Starts it, and says what it is to who is here for the first time. It is about maps. */
  const offer = drawn(() => {
    if (room.state.value.tour || room.isAboutWhy.value || isEmpty.value) return '';
    if (!isNew.value) return button('Take the tour', start, { id: 'explore-tour' });
    return html`<p class="tour-offer" id="explore-tour-offer">
      <b>New here?</b> Three steps show how two heads work together.
      ${button('Take the tour', start, { kind: 'primary', id: 'explore-tour' })}
      ${button('No, thanks', end)}
    </p>`;
  });

  /** @param {TourStep} tour */
  const card = (tour) => {
    const { title, steps } = TOURS[tour.name];
    const { step } = tour;
    const to = (/** @type {number} */ next) => () => go({ ...tour, step: next });
    const isLast = step === steps.length - 1;
    return html`<section class="tour-card" aria-label="Tour" id="explore-tour-card">
      <div aria-live="polite">
        <p>
          <span class="note">${title}, ${step + 1} of ${steps.length}:</span>
          ${steps[step].words} ${result(room)}
        </p>
      </div>
      <div class="tour-buttons">
        ${button(isLast ? 'End the tour' : 'Skip the tour', isLast ? end : skip, { id: 'explore-tour-end' })}
        ${step > 0 ? button('Back', to(step - 1)) : ''}
        ${isLast ? '' : button('Next', to(step + 1), { kind: 'primary', id: 'explore-tour-next' })}
      </div>
    </section>`;
  };
  return { offer, card };
}
