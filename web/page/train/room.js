/**
 * The Train room: a small transformer learns, and its heads form before one's eyes.
 *
 * @import { Point } from './history.js'
 * @import { Run } from './run.js'
 * @import { Store } from '../state.js'
 */

import { repeat } from 'lit-html/directives/repeat.js';
import { aloud } from '../shared/aloud.js';
import { tooLong } from '../shared/kept-texts.js';
import { formatCount } from '../shared/format.js';
import { isLinkable } from '../shared/linkable.js';
import { byId } from '../shared/dom.js';
import { effect } from '../shared/signals.js';
import { isNarrow } from '../shared/narrow.js';
import { drawn, html, render } from '../shared/template.js';
import { answers } from './answers.js';
import { bar, historyNote } from './bar.js';
import { curvesChart } from './curves.js';
import { headsGrid, largeHead, scoreKey } from './heads-view.js';
import { keepView } from './keep-view.js';
import { ownText, settingsView, taskChoice } from './settings-view.js';
import { Training } from './training.js';
import { ways } from './ways.js';
import { differenceOf } from './words.js';

const MAP = html`<b>How to read a map.</b> Each row belongs to one token. A bright cell marks a token that it attends to
  strongly. Pause and drag the slider to look back.`;

/** What happens, and what to look at; on a phone the rest is folded, so that the maps are near. @param {Training} room */
const sentences = (room) =>
  drawn(() => {
    const { happens, look, further } = room.words.value;
    const list = (/** @type {unknown} */ rest) => html`<ul class="explore-read">
      <li><b>What happens.</b> ${happens}</li>
      <li><b>What to look at.</b> ${look}${isNarrow.value ? '' : ` ${further}`}</li>
      ${rest}
    </ul>`;
    if (!isNarrow.value) return list(html`<li>${MAP}</li>`);
    return html`${list('')}
      <details class="explain" id="train-more">
        <summary>${further ? 'More, and how to read a map' : 'How to read a map'}</summary>
        <p ?hidden=${!further}>${further}</p>
        <p>${MAP}</p>
      </details>`;
  });

/** @param {Training} room */
const lead = (room) => html`<div class="lead explore-lead">
  <div class="explore-title">
    <h1>Watch attention heads form</h1>
    <div class="field inline train-task">${taskChoice(room)}</div>
  </div>
  ${sentences(room)}
</div>`;

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;

/** @param {Training} room @param {readonly Run[]} runs */
const charts = (room, runs) =>
  drawn(() => {
    for (const { version } of runs) void version.value;
    const [end, at] = [room.axis.value, room.shown.value];
    /** @param {'loss' | 'accuracy'} what */
    const curves = (what) =>
      runs.map((run, i) => ({
        of: i === 0 ? 'first' : 'second',
        points: run.history[what],
      }));
    const highest = Math.max(1, ...runs.map(({ history }) => history.highestLoss));
    /** @param {(run: Run) => string} each */
    const values = (each) => runs.map(each).join(' · ');
    const isBack = room.back.value !== null;
    const valueAt = (/** @type {Point[]} */ points) =>
      (isBack ? points.findLast(({ x }) => x <= at) : points.at(-1))?.y;
    return html`
      ${curvesChart({
        ...{ title: 'Accuracy on new rows', end, at, top: 1, format: percent },
        value: values(({ history }) => percent(valueAt(history.accuracy) ?? 0)),
        longest: values(() => percent(1)),
        curves: curves('accuracy'),
        marks: runs.map(({ change }) => change),
      })}
      ${curvesChart({
        ...{ title: 'Loss of recent steps', end, at, top: Math.ceil(highest), format: String },
        value: values(({ history }) => valueAt(history.loss)?.toFixed(2) ?? '–'),
        longest: values(() => highest.toFixed(2)),
        curves: curves('loss'),
        marks: runs.map(({ change }) => change),
      })}`;
  });

/** One run: its heads large and small; on a phone all heads come first. @param {Training} room @param {Run} run */
const alone = (room, run) => {
  const all = html`<div class="train-all">
    <div class="part-head"><h2>All heads</h2>${scoreKey(room)}</div>
    ${headsGrid(room, run, 'All heads')}
  </div>`;
  const parts = [
    { name: 'large', part: largeHead(room, run, 'train-mute') },
    { name: 'all', part: all },
  ];
  // They keep what they are when they change places.
  return repeat(
    isNarrow.value ? parts.reverse() : parts,
    ({ name }) => name,
    ({ part }) => part,
  );
};

/** Two runs beside each other, under one key. @param {Training} room @param {readonly Run[]} runs */
const beside = (room, runs) => [
  scoreKey(room),
  ...runs.map((run, i) => {
    const title =
      i === 0 ? 'This run' : `Compared with: ${differenceOf(runs[0].settings, run.settings)}`;
    return html`<div class="train-all" role="group" aria-label=${title}>
      <div class="part-head"><h2 class="train-name ${i === 0 ? 'first' : 'second'}">${title}</h2></div>
      ${headsGrid(room, run, title)}
      <div class="train-below">${answers(room, run)}</div>
      ${largeHead(room, run, i === 0 ? 'train-mute' : 'train-mute-second')}
    </div>`;
  }),
];

/** What a link to the run has. @param {Training} room */
const linkNote = (room) =>
  drawn(() => {
    const { text } = room.settings.value;
    const { value: runs } = room.runs;
    for (const { version } of runs) void version.value;
    if (runs.some((run) => run.wasMuted))
      return runs.length > 1
        ? 'The address does not record muted heads.'
        : 'The address does not record muted heads. To keep this run, save it or keep it in this browser.';
    if (!isLinkable(text)) {
      return `Your text is ${tooLong()}. Another browser shows the same run, to the bit, when the same text is pasted there.`;
    }
    const rest = text ? ', the seed and your text' : ' and the seed';
    return `The address holds the task, the settings${rest}. It shows the same run, to the bit, wherever it is opened: this room always computes with the SIMD128 module.`;
  });

/** Where it rests, and what it can do by then. @param {Training} room */
function restWords(room) {
  /** @param {(run: Run) => string} each */
  const values = (each) => room.runs.peek().map(each).join(' and ');
  const accuracy = values(({ history }) => percent(history.accuracy.at(-1)?.y ?? 0));
  const loss = values(({ history }) => history.loss.at(-1)?.y.toFixed(2) ?? '–');
  const place = `Step ${formatCount(room.step.peek())} of ${formatCount(room.end.peek())}`;
  return `${place}: accuracy ${accuracy}, loss ${loss}.`;
}

/** Is read aloud whenever it rests after a step: while it trains it would be read without end. @param {Training} room */
const restAloud = (room) =>
  aloud('train-rest', () => {
    const isResting = !room.isPlaying.value && room.calls.value === 0;
    return isResting && room.step.value > 0 ? restWords(room) : '';
  });

/** @param {Store} store */
export function openTrain(store) {
  const element = byId('train-room', HTMLElement);
  const room = new Training(store);
  const { message } = room;
  const views = drawn(() => {
    const runs = room.seenRuns.value;
    if (runs.length === 0) return message.value.words ? '' : html`<div class="train-main"></div>`;
    return html`<div class="train-main ${runs.length > 1 ? 'beside' : ''}" aria-busy=${drawn(() => room.runs.value !== runs)}>
      ${runs.length > 1 ? beside(room, runs) : runs.map((run) => alone(room, run))}
      <div class="train-curves">${charts(room, runs)}</div>
    </div>
    ${runs.length === 1 ? html`<div class="train-below">${answers(room, runs[0])}</div>` : ''}`;
  });
  render(
    html`${lead(room)}
      <section aria-label="The run">
        ${ownText(room)} ${bar(room)}
        <p id="train-message" role="status" class=${drawn(() => (message.value.isError ? 'message error' : 'message'))}
          .textContent=${drawn(() => message.value.words)}></p>
        ${restAloud(room)}
        ${views} ${keepView(store, room)}
      </section>
      ${settingsView(room)}
      <section aria-labelledby="train-more-title">
        <h2 id="train-more-title">Details</h2>
        <p class="note">
          ${historyNote(room)} <span id="train-link">${linkNote(room)}</span>
        </p>
        ${ways(room)}
      </section>`,
    element,
  );
  effect(() => {
    const isResting = !room.isPlaying.value && room.calls.value === 0;
    element.dataset.step = String(room.step.value);
    element.dataset.state = isResting ? 'resting' : 'training';
  });
}
