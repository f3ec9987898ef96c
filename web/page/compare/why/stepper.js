/** The drawing with its steps: buttons, arrow keys, and a way to let it play. */

import { hasModifier } from '../../shared/dom.js';
import { signal } from '../../shared/signals.js';
import { drawn, html } from '../../shared/template.js';
import { drawing, STEPS } from './drawing.js';

/** @import { Numbers } from './drawing.js' */

/** How long a step stands while it plays. */
const STEP_MS = 3200;
const LAST = STEPS.length - 1;

/** The step that is shown, chosen by hand or played. */
function createPlayer() {
  const step = signal(0);
  const isPlaying = signal(false);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let next;

  /** @param {number} wish */
  const go = (wish) => (step.value = Math.min(LAST, Math.max(0, wish)));
  const stop = () => {
    clearTimeout(next);
    isPlaying.value = false;
  };
  const play = () => {
    next = setTimeout(() => {
      go(step.value + 1);
      if (step.value < LAST) play();
      else stop();
    }, STEP_MS);
  };
  return {
    step,
    isPlaying,
    /** @param {number} wish */
    choose(wish) {
      stop();
      go(wish);
    },
    toggle() {
      if (isPlaying.value) return stop();
      go(step.value < LAST ? step.value + 1 : 0);
      isPlaying.value = true;
      play();
    },
  };
}

/** The steps by name: arrow keys go through them. @param {ReturnType<typeof createPlayer>} player */
function stepList({ step, choose }) {
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    /** @type {Record<string, number>} */
    const to = {
      ...{ ArrowRight: step.value + 1, ArrowDown: step.value + 1, End: LAST },
      ...{ ArrowLeft: step.value - 1, ArrowUp: step.value - 1, Home: 0 },
    };
    if (!(event.key in to) || hasModifier(event)) return;
    event.preventDefault();
    choose(to[event.key]);
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    list.querySelectorAll('button')[step.value].focus();
  };
  const steps = () =>
    STEPS.map(
      ({ name }, i) =>
        html`<li>
          <button
            type="button"
            aria-current=${i === step.value ? 'step' : 'false'}
            tabindex=${i === step.value ? 0 : -1}
            @click=${() => choose(i)}
          >
            <b>${i + 1}</b> ${name}
          </button>
        </li>`,
    );
  return html`<ol class="stepper-steps" aria-label="Steps" @keydown=${key}>
    ${drawn(steps)}
  </ol>`;
}

/** @param {Numbers} numbers */
export function stepper(numbers) {
  const player = createPlayer();
  const { step, isPlaying, choose, toggle } = player;
  // At the last step it keeps the focus: a disabled button would lose it.
  const turn = (/** @type {string} */ words, /** @type {number} */ to) =>
    html`<button type="button" aria-disabled=${!(to in STEPS)} @click=${() => choose(to)}>${words}</button>`;
  return html`<div class="stepper">
    <div>${drawn(() => drawing(numbers, step.value))}</div>
    <div>
      ${stepList(player)}
      <p class="stepper-words" role="status">${drawn(() => STEPS[step.value].words)}</p>
      <div class="row">
        ${drawn(() => [turn('Back', step.value - 1), turn('Next', step.value + 1)])}
        <button type="button" class="quiet" @click=${toggle}>
          ${drawn(() => (isPlaying.value ? 'Pause' : 'Play'))}
        </button>
      </div>
    </div>
  </div>`;
}
