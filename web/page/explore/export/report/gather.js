/**
 * What a report tells of a prediction: asked of the Worker where it is cheap; what sweeps all heads, if it is there.
 *
 * @import { Seen } from '../settings.js'
 * @import { Part } from '../../why/sum.js'
 * @import { Score } from './score.js'
 *
 * @typedef {object} Grid a number for each head, or for each layer and token
 * @property {string} title
 * @property {string} words what the numbers mean
 * @property {string[]} columns
 * @property {number} layers
 * @property {number[]} values layer after layer
 * @property {{ layer: number, column: number }} [chosen]
 *
 * @typedef {object} Report
 * @property {string} title
 * @property {string} caption
 * @property {string} address where it is seen again
 * @property {string[]} leftOut what the address does not carry, in words
 * @property {boolean} isOpened whether that is the model too
 * @property {[name: string, value: string][]} settings
 * @property {{ text: string, isAsked: boolean }[]} tokens
 * @property {{ after: string, hasMuted: boolean, rows: { text: string, id: number | null, before: number, after: number, is: string }[] }} next
 * @property {{ name: string, parts: Part[], total: number }} sum
 * @property {{ target: string, rows: { after: string, likeliest: string, most: number, rank: number, share: number }[] }} lens
 *   what would be predicted after each layer
 * @property {Grid[]} grids
 * @property {{ title: string, svg: string, scale: string, row: { from: string, weights: number[] } }} map
 * @property {Score} score why the chosen head looks where it looks
 */

import { version } from '../../../../headwise/engine/version.js';
import { formatCount, formatNumber, plural } from '../../../shared/format.js';
import { shortName } from '../../../shared/head-names.js';
import { leftOut } from '../../address.js';
import { whatOf } from '../../maps.js';
import { OPENED } from '../../models.js';
import { nameOfScale, titleOf } from '../../titles.js';
import { INSTEAD } from '../../why/signed-scale.js';
import { partsOf } from '../../why/sum.js';
import { hatchPattern } from '../figure.js';
import { mapDrawing } from '../map-drawing.js';
import { FONT, tag } from '../svg.js';
import { gatherScore } from './score.js';
import { PIN_COLOURS } from '../../pin-colours.js';

/** The report's own colours, which follow its reader's scheme. @type {import('../../palette.js').Palette} */
const VARIABLES = {
  ...{ ground: 'var(--ground)', ink: 'var(--ink)', soft: 'var(--soft)', line: 'var(--line)' },
  ...{ accent: 'var(--accent)', wash: 'var(--line)', mask: 'var(--mask)', maskLine: 'var(--line)' },
  pins: Array(PIN_COLOURS).fill('var(--accent)'),
};

/** Pixels to the side of the map. */
const MAP_WIDTH = 620;

/** @param {Seen} seen the chosen map as it is seen */
async function mapOf(seen) {
  const { drawing } = await mapDrawing(seen, VARIABLES, MAP_WIDTH);
  const { width, height, content } = drawing;
  const box = { width, height, viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}` };
  const named = { role: 'img', 'aria-label': titleOf(seen.state), 'font-family': FONT };
  return tag('svg', { ...box, ...named }, tag('defs', {}, hatchPattern(VARIABLES)), content);
}

/** @param {Seen} seen @param {number} at the token after which the prediction is @returns {Report['settings']} */
function settingsOf({ state, run, session, source }, at) {
  const { simd, threads } = session.model ?? {};
  const { muted } = run;
  return [
    ['Model', source],
    ['Shape', `${plural(run.layers, 'layer')} × ${plural(run.heads, 'head')}`],
    ['Text', plural(run.n, 'token')],
    ['Prediction', `after token ${formatCount(at + 1)}, “${run.tokens[at].text}”`],
    ['Chosen head', shortName(state)],
    [
      'Muted',
      muted.length > 0 ? `${muted.map(shortName).join(', ')}, in all that follows` : 'no head',
    ],
    ['Software', `Headwise ${version}, ${simd} WebAssembly, ${plural(threads ?? 1, 'thread')}`],
  ];
}

/** @param {Seen} seen @param {ArrayLike<number>} values @param {Pick<Grid, 'title' | 'words'>} about @returns {Grid} */
const headGrid = ({ state, run }, values, about) => ({
  ...about,
  columns: Array.from({ length: run.heads }, (_, head) => `H${head}`),
  layers: run.layers,
  values: [...Array.from(values)],
  chosen: { layer: state.layer, column: state.head },
});

/**
 * What ablation of each head changes, if all of it is known.
 *
 * @param {Seen} seen
 * @param {string} score
 * @returns {Grid[]}
 */
function ablationGrids(seen, score) {
  const { effects } = seen;
  if (!effects || effects.done < effects.effects.length) return [];
  const of = seen.about.against === null ? 'log-probability of' : 'logit difference';
  const title = `Ablation of each head (${effects.method})`;
  const words = `The drop in the ${of} ${score} ${INSTEAD[/** @type {keyof typeof INSTEAD} */ (effects.method)]}. Above 0 the head helps.`;
  const lost = effects.effects.map((/** @type {number} */ change) => -change);
  return [headGrid(seen, lost, { title, words })];
}

/**
 * What brings the prediction back in another text, if all of it is known.
 *
 * @param {Seen} seen
 * @param {string} score
 * @returns {Grid[]}
 */
function patchingGrids(seen, score) {
  const { shares, pair } = seen.patching;
  if (!shares || !pair || shares.done < shares.count) return [];
  const { clean = NaN, other = NaN, heads, places, n } = shares;
  const texts = pair.other.map(({ text }) => text).join(' ');
  const from = `The share of ${score} that is restored in the other text: ${texts}. It is ${formatNumber(clean)} in the text and ${formatNumber(other)} in the other`;
  const columns = Array.from({ length: n }, (_, i) => pair.clean[i].text);
  return [
    headGrid(seen, heads, {
      title: 'Patching of each head',
      words: `${from}. Each head’s output, at all tokens.`,
    }),
    {
      title: 'Patching of each token',
      words: 'The residual stream before each layer, at one token.',
      ...{ columns, layers: seen.run.layers, values: [...places] },
    },
  ];
}

/**
 * What would be predicted at a token, after each layer.
 *
 * @param {Seen} seen
 * @param {number} at
 * @param {number} target
 */
async function lensOf({ session }, at, target) {
  /** @type {import('../../worker/lens.js').LensCell[][]} */
  let all = [];
  for await (const { rows } of session.lens({ from: at, to: at + 1, target }, 'report')) all = rows;
  return all.map(([{ top, rank, share }], i) => ({
    after: i === 0 ? 'embedding' : `L${i - 1}`,
    ...{ likeliest: top[0].token.text, most: top[0].share, rank, share },
  }));
}

/**
 * @param {Seen} seen
 * @param {{ title: string, caption: string }} wish its own where they are empty
 * @returns {Promise<Report>}
 */
export async function gather(seen, { title, caption }) {
  const { state, run, session, about, address } = seen;
  const next = await session.predict(about, 'report');
  const attribution = await session.attribution(about, false, 'report');
  const { target } = attribution;
  const { against, actual } = next;
  const textOf = (/** @type {number | null} */ id) =>
    next.predictions.find(({ token }) => token.id === id)?.token.text ?? '';
  const score =
    against === null ? `“${textOf(target)}”` : `“${textOf(target)}” − “${textOf(against)}”`;
  const marks = (/** @type {number | null} */ id) =>
    [id === target && 'target', id === against && 'against', id === actual && 'next in the text']
      .filter(Boolean)
      .join(', ');
  const grids = [
    headGrid(seen, attribution.heads, {
      title: 'Attribution of each head',
      words: `The head’s direct contribution to the logit of ${score}.`,
    }),
    ...ablationGrids(seen, score),
    ...patchingGrids(seen, score),
  ];
  const row = await session.row(whatOf(state), about.at);
  return {
    ...{ title: title || `Why “${textOf(target)}”?`, caption, address, grids },
    ...{ leftOut: leftOut(state), isOpened: state.model === OPENED },
    settings: settingsOf(seen, about.at),
    tokens: run.tokens.map(({ text }, i) => ({ text, isAsked: i === about.at })),
    next: {
      after: run.tokens[about.at].text,
      hasMuted: run.muted.length > 0,
      rows: next.predictions.map(({ token, before, after }) => ({
        ...token,
        before,
        after,
        is: marks(token.id),
      })),
    },
    lens: { target: textOf(target), rows: await lensOf(seen, about.at, target) },
    sum: { name: score, parts: partsOf(attribution), total: attribution.total },
    score: await gatherScore(seen, about.at),
    map: {
      title: titleOf(state),
      scale: nameOfScale(state.scale) ?? '',
      svg: await mapOf({ ...seen, state: { ...state, other: null, before: false } }),
      row: { from: run.tokens[about.at].text, weights: [...row] },
    },
  };
}
