/**
 * All heads of a run as small maps, each with the curves of its scores; and the chosen one large.
 *
 * @import { AttentionMap } from '../../headwise/view.js'
 * @import { HeadName } from '../shared/head-names.js'
 * @import { About, Run } from './run.js'
 * @import { Snapshot } from './trainer.js'
 * @import { Training } from './training.js'
 */

import { line } from 'd3-shape';
import { drawWeights } from '../../headwise/view.js';
import { hasModifier } from '../shared/dom.js';
import { drawFitted } from '../shared/fitted.js';
import { formatCount } from '../shared/format.js';
import { headAt, isSameHead, shortName, spokenName } from '../shared/head-names.js';
import { showWeightLegend } from '../shared/legend.js';
import { steadily } from '../shared/steady.js';
import { drawn, html, made, nothing, svg } from '../shared/template.js';
import { labelOf } from '../shared/tokenize.js';
import { FORMED, thinnedSnapshots } from './history.js';
import { SCORES } from './scores.js';

const [WIDTH, HEIGHT] = [100, 26];
const MOST_POINTS = 60;
/** Heads side by side on a phone. */
const MOST_NARROW = 4;

/** @param {Training} room @param {number} score its place in SCORES */
const scoreName = ({ words }, score) => ['previous token', words.value.answer, 'entropy'][score];

/** A head's map, as the view takes it. @param {Snapshot} seen @param {number} i which head @param {number} n tokens */
const weightsOf = ({ maps }, i, n) => ({
  shape: [n, n],
  data: Float32Array.from(maps.subarray(i * n * n, (i + 1) * n * n), (value) => value / 255),
});

/** @param {HTMLCanvasElement} canvas @param {Snapshot} seen @param {number} i @param {number} n */
function paint(canvas, seen, i, n) {
  drawFitted(canvas, () => drawWeights(canvas, weightsOf(seen, i, n), { causal: true, max: 1 }));
}

/** @param {Snapshot[]} list @param {number} i which head @param {number} end the last step of the axis @param {number} at the step that is shown */
function scoreCurves(list, i, end, at) {
  const first = i * SCORES.length;
  const x = (/** @type {number} */ step) => (WIDTH * step) / end;
  const points = thinnedSnapshots(list, MOST_POINTS);
  const paths = SCORES.map((_, score) =>
    line(
      (/** @type {Snapshot} */ one) => Math.round(10 * x(one.step)) / 10,
      (one) => Math.round(10 * (1 + (HEIGHT - 2) * (1 - one.scores[first + score]))) / 10,
    )(points),
  );
  return html`<svg class="train-scores" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    <line class="train-now" x1=${x(at)} x2=${x(at)} y1="0" y2=${HEIGHT}></line>
    ${paths.map((d, score) => svg`<path class="train-line ${SCORES[score]}" d=${d ?? ''}></path>`)}
  </svg>`;
}

/** What a head does that is plain to see, by its place in SCORES; undefined: nothing. @param {Float32Array} scores its own */
function roleOf([previous, answer]) {
  if (Math.max(previous, answer) < FORMED) return undefined;
  return previous > answer ? 0 : 1;
}

/** The head that Tab reaches: the chosen one, or the nearest that the run has. @param {Training} room @param {Run} run */
function stopOf({ chosen }, { settings: { layers, heads } }) {
  const { layer, head } = chosen.value;
  return { layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) };
}

/** The heads that are muted at the step that is shown. @param {Training} room @param {Run} run @param {Snapshot} seen */
const mutedAt = ({ back }, { muted }, seen) => (back.value === null ? muted.value : seen.muted);

/** @param {Training} room @param {Run} run @param {About} about @param {number} i which head */
function tile(room, run, about, i) {
  const { heads } = run.settings;
  const name = headAt(i, heads);
  const seen = room.seenOf(run);
  if (!seen) return '';
  const scores = seen.scores.subarray(i * SCORES.length, (i + 1) * SCORES.length);
  const isMuted = mutedAt(room, run, seen).some((head) => isSameHead(head, name));
  const isChosen = isSameHead(name, room.chosen.value);
  const role = isMuted ? undefined : roleOf(scores);
  const does = isMuted ? 'muted' : role === undefined ? '' : scoreName(room, role);
  const tone = role === undefined ? '' : SCORES[role];
  const spoken = SCORES.map((_, k) => `${scoreName(room, k)} ${scores[k].toFixed(2)}`).join(', ');
  return html`<button type="button" class=${isMuted ? 'muted' : ''} aria-pressed=${isChosen} tabindex=${isSameHead(name, stopOf(room, run)) ? 0 : -1}
    data-head=${shortName(name)} @click=${() => (room.chosen.value = name)}>
    <span class="train-tile-head"><b translate="no">${shortName(name)}</b> <span class="train-role ${tone}">${does}</span></span>
    <canvas aria-hidden="true" ${made(paint, seen, i, about.ids.length, room.isDark.value)}></canvas>
    ${scoreCurves(run.history.seen, i, room.axis.value, seen.step)}
    <span class="visually-hidden">${spokenName(name)}: ${spoken}</span>
  </button>`;
}

/** @type {Record<string, [number, number]>} */
const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Arrows go from head to head. @param {Training} room @param {Run} run @param {KeyboardEvent} event */
function follow(room, run, event) {
  const way = WAYS[event.key];
  if (!way || hasModifier(event)) return;
  event.preventDefault();
  const { layers, heads } = run.settings;
  const { layer, head } = stopOf(room, run);
  const next = {
    layer: (layer + way[0] + layers) % layers,
    head: (head + way[1] + heads) % heads,
  };
  room.chosen.value = next;
  const grid = /** @type {HTMLElement} */ (event.currentTarget);
  /** @type {HTMLElement | null} */ (grid.querySelector(`[data-head=${shortName(next)}]`))?.focus();
}

/** @param {Training} room @param {Run} run @param {string} label */
export const headsGrid = (room, run, label) =>
  steadily(() => {
    const about = run.about.value;
    const { layers, heads } = run.settings;
    if (!about) return undefined;
    return html`<div class="train-heads" role="group" aria-label=${label} style="--heads: ${heads}; --narrow: ${Math.min(heads, MOST_NARROW)}; --layers: ${layers}"
      @keydown=${(/** @type {KeyboardEvent} */ event) => follow(room, run, event)}>
      ${Array.from({ length: layers * heads }, (_, i) => tile(room, run, about, i))}
    </div>`;
  });

/** What the curves below the maps are. @param {Training} room */
export const scoreKey = (room) =>
  drawn(
    () => html`<p class="train-key">
      ${SCORES.map((score, i) => html`<span class=${score}>${scoreName(room, i)}${score === 'entropy' ? ' (1: uniform)' : ''}</span>`)}
    </p>`,
  );

/** @param {AttentionMap} map @param {Snapshot} seen @param {number} i @param {About} about @param {string} name */
function showLarge(map, seen, i, { ids, characters }, name) {
  const tokens = ids.map((id) => labelOf(characters[id]));
  map.show({ weights: weightsOf(seen, i, ids.length), tokens, causal: true, max: 1, name });
}

/** The chosen head's map with its tokens, and its mute. @param {Training} room @param {Run} run @param {string} id of the mute */
export function largeHead(room, run, id) {
  const has = ({ layer, head } = room.chosen.value) =>
    layer < run.settings.layers && head < run.settings.heads;
  /** Whether another run is about to take its place, of which the chosen head may be. */
  const isGoing = () => !room.runs.value.includes(run);
  const isMissing = () => !has() && !isGoing();
  const isMuted = () => run.muted.value.some((one) => isSameHead(one, room.chosen.value));
  const muteWords = () => {
    const now = `from step ${formatCount(room.step.value)} on`;
    if (room.back.value !== null) return `${isMuted() ? 'Unmute' : 'Mute'} it ${now}`;
    return isMuted() ? 'Unmute' : 'Mute this head';
  };
  return html`<div class="train-large">
    <div class="part-head">
      <h2>${drawn(() => `Head ${shortName(room.chosen.value)}`)}</h2>
      <button type="button" class="quiet" id=${id} ?hidden=${drawn(() => !has())}
        title=${drawn(() => (isMuted() ? nothing : 'Its output is zero from now on'))}
        @click=${() => has() && run.mute(room.chosen.value).catch((error) => room.fail(error))}>
        ${drawn(muteWords)}
      </button>
    </div>
    ${steadily(() => {
      const [seen, about] = [room.seenOf(run), run.about.value];
      const { layer, head } = room.chosen.value;
      if (isMissing())
        return html`<p class="note">This run has no head ${shortName({ layer, head })}.</p>`;
      if (!has() || !seen || !about) return undefined;
      const i = layer * run.settings.heads + head;
      return html`<attention-map ${made(showLarge, seen, i, about, `Head ${shortName({ layer, head })}`)}></attention-map>`;
    })}
    <div ?hidden=${drawn(isMissing)} ${made(showWeightLegend)}></div>
  </div>`;
}
