/**
 * Time and memory of both, against the number of tokens and of heads: where fusing matters.
 *
 * @import { Chart } from '../../shared/chart.js'
 * @import { Timing, Work } from '../../types.js'
 * @import { Timed } from './curves.js'
 * @import { Measured } from './measured.js'
 */

import { aloud } from '../../shared/aloud.js';
import { chart } from '../../shared/chart.js';
import { formatBytes, formatCount, formatTime, plural } from '../../shared/format.js';
import { computed, signal } from '../../shared/signals.js';
import { drawn, field, html, made } from '../../shared/template.js';
import { crossoverOf, speedOf } from '../verdict.js';
import {
  crossover,
  headline,
  HEADS,
  mapBytes,
  pointsOf,
  shortly,
  TOKENS,
  workOf,
} from './curves.js';
import { keyOf } from './measured.js';

const WIDTHS = [64, 256, 768];
/** 256 B to 1 GiB, each 16 times the one before. */
const BYTES = Array.from({ length: 6 }, (_, i) => 16 ** (i + 2));

/** @param {number} ms with one digit that counts */
const tickTime = (ms) => (ms < 1 ? `${Number((ms * 1000).toPrecision(1))} µs` : `${ms} ms`);

/** @param {readonly number[]} values */
const options = (values) => values.map((value) => [String(value), formatCount(value)]);

/** @param {Timing['wrapper']} samples */
const range = ({ minimum, median }) => `${formatTime(minimum)} to ${formatTime(median)}`;

/** Redraws what is in it when it gets wider or narrower. @param {(width: number) => unknown} draw */
function sized(draw) {
  const width = signal(0);
  /** @param {HTMLElement} place */
  const watch = (place) =>
    new ResizeObserver(() => (width.value = Math.floor(place.clientWidth))).observe(place);
  return html`<div class="chart-place" ${made(watch)}>
    ${drawn(() => (width.value ? draw(width.value) : ''))}
  </div>`;
}

/** @param {string} noun @param {readonly number[]} ticks @param {() => Timed[]} points */
const timePlot = (noun, ticks, points) => html`
  <p class="plot-verdict">
    ${drawn(() =>
      points().length < ticks.length
        ? `Measuring: ${points().length} of ${ticks.length} …`
        : headline(points(), noun),
    )}
  </p>
  ${sized((width) =>
    chart({
      width,
      title: `Time of a forward pass against the number of ${noun}`,
      x: { label: noun, ticks, format: formatCount },
      y: { label: 'one forward pass', format: tickTime },
      series: [
        { name: 'wrapper', of: 'of-wrapper', points: pointsOf(points(), 'wrapper') },
        { name: 'fused', of: 'of-fused', points: pointsOf(points(), 'fused') },
      ],
      below: points().map(({ at, timing }) => ({ x: at, words: shortly(timing) })),
    }),
  )}
`;

/** What a plot holds fixed. @param {() => string[]} parts */
const fixed = (parts) => html`<p class="note plot-held">${drawn(() => parts().join(', '))}</p>`;

/** What could not be measured. @param {Measured} measured */
const problem = (measured) =>
  drawn(() => {
    const { value } = measured.problem;
    return value && html`<p class="message error" role="alert">${value}</p>`;
  });

/**
 * What the plots hold fixed, to be chosen.
 *
 * @typedef {import('../../shared/signals.js').Signal<number>} Choice
 * @param {Measured} measured
 * @param {Record<'width' | 'heads' | 'tokens', Choice>} chosen
 * @param {() => void} ask that what is measured then is asked for
 */
function menus(measured, { width, heads, tokens }, ask) {
  const choice = (/** @type {Choice} */ chosen) => (/** @type {string} */ value) => {
    chosen.value = Number(value);
    ask();
    measured.go();
  };
  const again = () => {
    ask();
    measured.again();
  };
  return html`
    <div class="plot-menus row">
      ${drawn(() => [
        field('Width', 'plot-width', options(WIDTHS), String(width.value), choice(width)),
        field('Heads', 'plot-heads', options(HEADS.slice(1)), String(heads.value), choice(heads)),
        field('Tokens', 'plot-tokens', options(TOKENS), String(tokens.value), choice(tokens)),
      ])}
      <button type="button" class="quiet" id="measure-again" @click=${again}>
        Measure again
      </button>
      ${problem(measured)}
    </div>
  `;
}

/** @param {Measured} measured @param {import('../../shared/signals.js').Signal<Work | undefined>} current */
export function plots(measured, current) {
  const width = signal(64);
  const heads = signal(16);
  const tokens = signal(32);

  const alongTokens = computed(() => TOKENS.map((n) => workOf(width.value, heads.value, n)));
  const alongHeads = computed(() => HEADS.map((h) => workOf(width.value, h, tokens.value)));
  measured.wants(() => [
    ...(current.value ? [current.value] : []),
    ...alongTokens.value,
    ...alongHeads.value,
  ]);
  /** @param {readonly Work[]} works @param {(work: Work) => number} at @returns {Timed[]} */
  const timed = (works, at) =>
    works.flatMap((work) => {
      const timing = measured.times.value.get(keyOf(work));
      return timing ? [{ at: at(work), timing }] : [];
    });

  const ofShape = () => [`${width.value} wide`, plural(heads.value, 'head')];
  const byTokens = () => timed(alongTokens.value, (work) => work.tokens);
  const byHeads = () => timed(alongHeads.value, (work) => work.heads);
  const isAsked = signal(false);
  const told = () => {
    const [along, across] = [byTokens(), byHeads()];
    if (!isAsked.value || along.length < TOKENS.length || across.length < HEADS.length) return '';
    return `By tokens: ${headline(along, 'tokens')} By heads: ${headline(across, 'heads')}`;
  };
  return html`
    <p id="current-time">${drawn(() => currentWords(measured, current.value))}</p>
    ${menus(measured, { width, heads, tokens }, () => (isAsked.value = true))}
    ${aloud('plots-told', told)}
    <div class="plots">
      <div>
        <h3>Time and the length of the text</h3>
        ${fixed(ofShape)}
        ${timePlot('tokens', TOKENS, byTokens)}
      </div>
      <div>
        <h3>Time and the number of heads</h3>
        ${fixed(() => [`${width.value} wide`, plural(tokens.value, 'token')])}
        ${timePlot('heads', HEADS, byHeads)}
      </div>
      <div>
        <h3>Memory and the length of the text</h3>
        ${fixed(ofShape)}
        ${memoryPlot(measured, () => alongTokens.value)}
      </div>
    </div>
    <p class="note">
      A line joins the fastest runs. The band above it reaches to the median of all runs. Where the two bands overlap, it
      is too close to call (≈). Numbers below the axis: how many times as fast the fused module is. Both modules have
      the same weights and do the same work, on one thread, by turns.
    </p>
  `;
}

/** @param {Measured} measured @param {Work | undefined} work */
function currentWords(measured, work) {
  const timing = work && measured.times.value.get(keyOf(work));
  if (!timing) return html`<span class="note">The sentence above: measuring …</span>`;
  const { wrapper, fused } = timing;
  return html`The sentence above: <b>${speedOf(timing)}</b>
    <span class="note">wrapper ${range(wrapper)}, fused ${range(fused)}: fastest run to median</span>`;
}

/** @param {Measured} measured @param {() => readonly Work[]} works */
function memoryPlot(measured, works) {
  const curves = computed(() => {
    const known = works().flatMap((work) => {
      const held = measured.held.value.get(keyOf(work));
      return held ? [{ ...held, tokens: work.tokens, maps: mapBytes(work) }] : [];
    });
    const column = (/** @type {'tokens' | 'maps' | 'wrapper' | 'fused'} */ name) =>
      known.map((each) => each[name]);
    const at = crossover(column('tokens'), column('maps'), column('fused'));
    return { known, at };
  });
  /** @param {'maps' | 'wrapper' | 'fused'} name */
  const points = (name) => curves.value.known.map((each) => ({ x: each.tokens, y: each[name] }));
  return html`
    <p class="plot-verdict">
      ${drawn(() => {
        const { at } = curves.value;
        return at === undefined ? '' : crossoverOf(at, 'the fused module');
      })}
    </p>
    ${sized((width) => {
      const { at } = curves.value;
      return chart({
        width,
        title: 'Memory for the maps against the number of tokens',
        x: { label: 'tokens', ticks: TOKENS, format: formatCount },
        y: { label: 'kept', ticks: BYTES, format: (bytes) => formatBytes(bytes).replace('.0', '') },
        series: [
          { name: 'maps, n × n', of: 'of-maps', points: points('maps') },
          { name: 'wrapper', of: 'of-wrapper wide', points: points('wrapper') },
          { name: 'fused', of: 'of-fused', points: points('fused') },
        ],
        ...(at !== undefined && { mark: { x: at, words: `${formatCount(at)} tokens` } }),
      });
    })}
    <p class="note">
      Neither keeps its maps. Both keep queries, keys, values and the sums of each row, and recompute any weight that is looked at.
    </p>
  `;
}
