/**
 * The task and its settings, what is known of them, and a second run beside the first.
 *
 * @import { Settings } from './settings.js'
 * @import { Training } from './training.js'
 */

import { directed } from '../shared/direction.js';
import { capitalized, formatCount } from '../shared/format.js';
import { LOST } from '../shared/kept-texts.js';
import { steady } from '../shared/steady.js';
import { drawn, field, html, made, taking } from '../shared/template.js';
import { CHOICES, nextSeed, TASKS } from './settings.js';
import { LEAST_TEXT } from './tasks/text.js';
import { differenceOf, knownOf, leftOut, TASK_WORDS } from './words.js';

/** @param {Training} room */
export const taskChoice = (room) =>
  drawn(() =>
    field(
      'Task',
      'train-task',
      TASKS.map((task) => [task, TASK_WORDS[task].title]),
      room.settings.value.task,
      (/** @type {Settings['task']} */ task) => room.choose(task),
    ),
  );

/** @param {Training} room @param {'layers' | 'heads' | 'width' | 'lr'} name @param {string} label */
const count = (room, name, label) =>
  drawn(() =>
    field(
      label,
      `train-${name}`,
      CHOICES[name].map((value) => [String(value), String(value)]),
      String(room.settings.value[name]),
      (value) => room.change({ [name]: Number(value) }),
    ),
  );

const POSITIONS = [
  ['sinusoids', 'Learned, from sinusoids'],
  ['random', 'Learned, from random numbers'],
  ['none', 'None'],
];

/** The text of the task that has one of the visitor's. @param {Training} room */
export const ownText = (room) =>
  drawn(() => (room.settings.value.task === 'own' ? textForm(room) : ''));

/** @param {Training} room */
const textForm = (room) => html`<form class="train-own" @submit=${(
  /** @type {SubmitEvent} */ event,
) => {
  event.preventDefault();
  const text = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('text'));
  room.trainOn(text);
}}>
  <div class="field">
    <label for="train-text">Your text: ${LEAST_TEXT} characters or more; some pages are better</label>
    <textarea id="train-text" name="text" rows="4" spellcheck="false" .value=${room.typed}
      ${made(directed, room.typed)}
      @input=${taking(({ value }) => (room.typed = value))}></textarea>
    <p class="note" id="train-lost" ?hidden=${drawn(() => room.state.value.kept === '')}>${LOST}</p>
    <p class="note" id="train-left-out" role="status">${drawn(() => {
      const learnt = room.runs.value[0]?.about.value?.learnt;
      return learnt ? leftOut(learnt) : '';
    })}</p>
  </div>
  <button type="submit">Train on this text</button>
</form>`;

/** What a run beside this one may differ in, that tells something. @param {Settings} settings @returns {[string, string, Partial<Settings>][]} */
function others(settings) {
  const { layers, heads, lr } = settings;
  /** @type {([string, string, Partial<Settings>] | false)[]} */
  const all = [
    ['seed', 'Another seed', { seed: nextSeed(settings) }],
    layers > 1 && ['layers', 'One layer', { layers: 1 }],
    layers === 1 && ['layers', 'Two layers', { layers: 2 }],
    heads > 1 && ['heads', 'One head', { heads: 1 }],
    lr < 5e-3 && ['lr', 'Learning rate 0.01', { lr: 1e-2 }],
  ];
  return all.filter((one) => one !== false);
}

/** @param {Training} room */
const comparison = (room) =>
  drawn(() => {
    const { settings, other } = room.state.value;
    const choices = others(settings);
    const isSame = (/** @type {Partial<Settings>} */ part) =>
      JSON.stringify({ ...settings, ...part }) === JSON.stringify(other);
    const chosen = other ? (choices.find(([, , part]) => isSame(part))?.[0] ?? 'own') : 'none';
    // None of the choices: an address has it, or the first run was changed since.
    const own =
      other && chosen === 'own' ? [['own', capitalized(differenceOf(settings, other))]] : [];
    return field(
      'Compare with',
      'train-other',
      [['none', 'No other run'], ...choices, ...own],
      chosen,
      (value) => {
        const part = choices.find(([name]) => name === value)?.[2];
        const wasMuted = room.runs.peek().some((run) => run.wasMuted);
        room.set({ other: part ? { ...settings, ...part } : null });
        const which = part ? 'Both runs begin' : 'The run begins';
        if (wasMuted) room.say(`${which} anew, with no head muted.`);
      },
    );
  });

/** @param {Training} room */
export const settingsView = (room) => html`<section aria-labelledby="train-settings-title">
  ${drawn(() => {
    const about = room.runs.value[0]?.about.value;
    const from = about?.first.step ? 'as they were saved' : 'drawn at random';
    return html`<div class="section-head" ${made(steady, about !== undefined)}>
      <h2 id="train-settings-title">The model</h2>
      <p class="note">${about ? `${formatCount(about.parameters)} parameters, ${from}. Changing a setting starts a new run.` : ''}</p>
    </div>`;
  })}
  <div class="train-settings">
    ${comparison(room)} ${count(room, 'layers', 'Layers')} ${count(room, 'heads', 'Heads per layer')}
    ${count(room, 'width', 'Width')} ${count(room, 'lr', 'Learning rate')}
    ${drawn(() =>
      field('Positions', 'train-positions', POSITIONS, room.settings.value.positions, (positions) =>
        room.change({ positions }),
      ),
    )}
    <label class="check" for="train-only">
      <input type="checkbox" id="train-only" .checked=${drawn(() => room.settings.value.only)}
        @change=${taking(({ checked }) => room.change({ only: checked }))} />Attention only, no feed-forward</label>
  </div>
  <p class="note" id="train-known" role="status">${drawn(() =>
    [
      ...new Set(
        [room.state.value.settings, room.state.value.other].flatMap((one) =>
          one ? knownOf(one) : [],
        ),
      ),
    ].join(' '),
  )}</p>
</section>`;
