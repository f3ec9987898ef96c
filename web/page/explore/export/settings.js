/**
 * What was seen when it was exported, for people and for programs.
 *
 * @import { ExploreState, Pin } from '../address.js'
 * @import { Explorer } from '../explorer.js'
 * @import { RunSummary, Session } from '../session.js'
 *
 * @typedef {object} Seen
 * @property {ExploreState} state
 * @property {RunSummary} run
 * @property {Session} session
 * @property {string} source the model's title, or the opened files' names
 * @property {readonly { layer: number, head: number }[]} order of the heads in the grid
 * @property {string} measure what the heads are measured by
 * @property {ArrayLike<number>} [values] every head's measure
 * @property {Explorer['about']['value']} about the prediction that is asked about
 * @property {Explorer['effects']['value']} effects of muting each head, as far as they are known
 * @property {{ shares: Explorer['patching']['shares']['value'], pair: Explorer['patching']['pair']['value'] }} patching
 *   what is known of another text
 * @property {Float32Array} [losses] how badly each token but the first was predicted, as far as it is known
 * @property {string} address where all of it is seen again
 */

import { version } from '../../../headwise/engine/version.js';
import { formatCount, plural } from '../../shared/format.js';
import { shortName } from '../../shared/head-names.js';
import { lastToken } from '../session.js';
import { titleOf } from '../titles.js';

/** @param {Pin} pin @param {RunSummary} run */
const pinWords = ({ side, token }, { tokens }) =>
  `${side} “${tokens[token].text}” (${formatCount(token + 1)})`;

/** @param {Seen} seen @returns {string} */
export function settingsInWords({ state, run, source }) {
  const { muted } = run;
  const { pins } = state;
  const parts = [
    `${source}: ${plural(run.n, 'token')}, ${run.layers} × ${run.heads} heads${run.causal ? ', causal' : ''}`,
    muted.length > 0 ? `muted: ${muted.map(shortName).join(', ')}` : '',
    pins.length > 0 ? `pinned: ${pins.map((pin) => pinWords(pin, run)).join(', ')}` : '',
    state.hideFirst ? 'the first token hidden, the rest made to sum to 1' : '',
    `Headwise ${version}`,
  ];
  return `${parts.filter(Boolean).join('; ')}.`;
}

/** @param {Seen} seen @returns {Record<string, unknown>} heads are named from 0, tokens count from 1, as in the page */
export function settingsOf({ state, run, source }) {
  const { of, over, other, before, pins, scale, hideFirst, topP, view } = state;
  return {
    software: `Headwise ${version}`,
    source,
    tokens: run.n,
    layers: run.layers,
    heads: run.heads,
    causal: run.causal,
    map: titleOf(state),
    of,
    over,
    head: shortName(state),
    with: other ? shortName(other) : before ? 'itself before muting' : null,
    muted: run.muted.map(shortName),
    pins: pins.map(({ side, token }) => ({ side, token: token + 1 })),
    scale,
    hideFirst,
    linesCarry: topP,
    view: view && { query: view.query + 1, key: view.key + 1, span: view.span },
  };
}

/** What text and lines are about: the last pin, else what is asked about before one is chosen. @param {Seen} seen @returns {Pin} */
export const subjectOf = ({ state: { pins }, run }) =>
  pins[pins.length - 1] ?? { side: 'query', token: lastToken(run) };
