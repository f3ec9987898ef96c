/**
 * Play, pause, step, speed, seed, restart, and the slider over the history.
 *
 * @import { Training } from './training.js'
 */

import { formatBytes, formatCount, plural } from '../shared/format.js';
import { isSeed, MAX_SEED } from '../shared/seeds.js';
import { drawn, field, html, taking } from '../shared/template.js';
import { MEASURED_EVERY } from './scores.js';
import { isText, lacksText } from './words.js';

/** Steps a second. */
const SPEEDS = [1, 5, 10, 25, 100, Infinity];

/** @param {number} speed */
const speedWords = (speed) =>
  speed === Infinity ? 'As fast as possible' : plural(speed, 'step') + ' a second';

/** @param {Training} room */
const speedChoice = (room) =>
  drawn(() =>
    field(
      'Speed',
      'train-speed',
      SPEEDS.map((speed) => [String(speed), speedWords(speed)]),
      String(room.speed.value),
      (value) => (room.speed.value = Number(value)),
    ),
  );

/** @param {Training} room */
const seedField = (room) => html`<div class="field">
  <label for="train-seed">Seed</label>
  <input type="number" id="train-seed" min="0" max=${MAX_SEED} step="1" inputmode="numeric"
    .value=${drawn(() => String(room.settings.value.seed))}
    @change=${taking((input) => takeSeed(room, input))} />
</div>`;

/** @param {Training} room @param {HTMLInputElement} input */
function takeSeed(room, input) {
  const { value, valueAsNumber: seed } = input;
  room.say('');
  if (value !== '' && isSeed(seed)) {
    room.change({ seed });
    return;
  }
  const before = room.settings.peek().seed;
  input.value = String(before);
  room.say(
    `The seed must be a whole number from 0 to ${formatCount(MAX_SEED)}; it is still ${before}.`,
    true,
  );
}

/** What the moment of the change is. @param {Training} room @param {number} step */
const changeWords = (room, step) =>
  isText(room.settings.value)
    ? `By step ${formatCount(step)} a head looked at the character before.`
    : `By step ${formatCount(step)} half of the answers were right.`;

/** @param {Training} room @param {HTMLInputElement} input */
function scrub(room, input) {
  room.scrub(input.valueAsNumber);
  // Beyond the history nothing changes, and the slider stays where the history ends.
  input.value = String(room.shown.peek());
}

/** @param {Training} room */
const slider = (room) =>
  drawn(() => {
    const [run] = room.runs.value;
    const end = room.end.value;
    const { value: step } = room.step;
    const shown = room.shown.value;
    const share = (/** @type {number} */ of) => `${((100 * of) / end).toFixed(2)}%`;
    return html`<div class="train-history">
      <label for="train-step" class="train-roomy" translate="no" data-longest=${`Step ${formatCount(end)} of ${formatCount(end)}`}>
        <span>Step <b>${formatCount(shown)}</b> of ${formatCount(end)}</span>
      </label>
      <div class="train-track" style="--done: ${share(step)}">
        <input type="range" id="train-step" min="0" max=${end} step="1" .value=${String(shown)}
          aria-valuetext=${`Step ${formatCount(shown)} of ${formatCount(end)}, ${formatCount(step)} done`}
          @input=${taking((input) => scrub(room, input))} />
        ${run?.change === undefined ? '' : html`<i style="left: ${share(run.change)}"></i>`}
      </div>
      <p class="note train-roomy" id="train-change" role="status" data-longest=${changeWords(room, end)}>
        <span>${run?.change === undefined ? '' : changeWords(room, run.change)}</span>
      </p>
    </div>`;
  });

/** What the history holds, and at which steps. @param {Training} room */
export const historyNote = (room) =>
  drawn(() => {
    void room.step.value;
    const runs = room.seenRuns.value;
    const count = runs.reduce((sum, { history }) => sum + history.seen.length, 0);
    const bytes = runs.reduce((sum, { history }) => sum + history.bytes, 0);
    const held =
      count > 0 ? `The history holds ${plural(count, 'snapshot')}, ${formatBytes(bytes)}. ` : '';
    return `${held}Accuracy is measured after every ${MEASURED_EVERY} steps.`;
  });

/** @param {Training} room */
export function bar(room) {
  const isOff = () => lacksText(room.settings.value);
  return html`<div class="train-bar">
  <div class="train-buttons">
    <button type="button" id="train-play" class="primary" ?disabled=${drawn(isOff)}
      @click=${() => room.play()}>
      ${drawn(() => (room.isPlaying.value ? 'Pause' : 'Play'))}
    </button>
    <button type="button" id="train-once" ?disabled=${drawn(isOff)}
      @click=${() => room.stepOnce()}>One step</button>
    <button type="button" id="train-restart" ?disabled=${drawn(isOff)}
      @click=${() => room.restart()}>Restart</button>
  </div>
  ${slider(room)}
  <div class="train-how">
    ${speedChoice(room)} ${seedField(room)}
    <p class="note">Training pauses while its tab is hidden.</p>
  </div>
</div>`;
}
