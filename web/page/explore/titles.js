/**
 * What maps and scales are called.
 *
 * @import { ExploreState, MapScale } from './address.js'
 * @import { Of, Over } from './worker/rows.js'
 */

import { longName } from '../shared/head-names.js';
import { isOfHead } from './address.js';

/** @type {[string, string, { of: Of, over: Over }][]} */
export const MAPS = [
  ['head', 'this head', { of: 'head', over: 'layer' }],
  ['norms', 'this head, by value norms', { of: 'norms', over: 'layer' }],
  ['mean layer', 'mean of the layer’s heads', { of: 'mean', over: 'layer' }],
  ['max layer', 'largest of the layer’s heads', { of: 'max', over: 'layer' }],
  ['mean all', 'mean of all heads', { of: 'mean', over: 'all' }],
  ['max all', 'largest of all heads', { of: 'max', over: 'all' }],
  ['rollout', 'rollout up to this layer', { of: 'rollout', over: 'layer' }],
];

/** @type {[MapScale, string][]} */
export const SCALES = [
  ['unit', '0 to 1'],
  ['row', '0 to each row’s largest'],
  ['head', '0 to the map’s largest'],
  ['log', 'logarithmic'],
];

/** @param {MapScale} scale */
export const nameOfScale = (scale) => SCALES.find(([name]) => name === scale)?.[1];

/** What a cell of a map says. @param {Pick<ExploreState, 'of'>} state */
export const nounOf = ({ of }) => (of === 'norms' ? 'share' : 'weight');

/** @param {ExploreState} state @returns {string} of MAPS */
export const mapNameOf = ({ of, over }) =>
  isOfHead(of) || of === 'rollout' ? of : `${of} ${over}`;

/** @param {ExploreState} state in words */
export function titleOf(state) {
  const { of, over, layer } = state;
  const which = over === 'all' ? 'all layers’ heads' : `layer ${layer}’s heads`;
  switch (of) {
    case 'head':
      return longName(state);
    case 'norms':
      return `${longName(state)} by value norms`;
    case 'mean':
      return `Mean of ${which}`;
    case 'max':
      return `Largest of ${which}`;
    case 'rollout':
      return `Rollout up to layer ${layer}`;
  }
}

/** Whether a map is of heads of all layers. @param {ExploreState} state whose `over` stays while a head is chosen */
const isOfAll = ({ of, over }) => over === 'all' && (of === 'mean' || of === 'max');

/** Whether a map is compared with itself before muting, and no head below it is muted. @param {ExploreState} state */
function isUnchanged(state) {
  const { before, muted, layer } = state;
  const isBelow = muted.some((head) => head.layer < layer);
  return before && muted.length > 0 && !isBelow && !isOfAll(state);
}

/** What a map of several heads is, and is not; what muting cannot change. @param {ExploreState} state */
export function noteOf(state) {
  const { of, layer } = state;
  if (isUnchanged(state)) {
    return `Muting changes only what later layers read, so this map of layer ${layer} is the same before and after. Choose a head of a later layer.`;
  }
  switch (of) {
    case 'head':
      return '';
    case 'norms':
      return 'Each weight times the length of what the head writes for that key, as a share of its row (Kobayashi et al. 2020).';
    case 'mean':
      return 'The mean of the heads’ weights. No single head may look like this.';
    case 'max':
      return 'Each cell shows the largest weight of any head, so rows do not sum to 1.';
    case 'rollout':
      return `Attention rollout (Abnar & Zuidema 2020): ${layer > 0 ? `the mean attention of layers 0 to ${layer}, each averaged with its residual connection, multiplied` : 'the mean attention of layer 0, averaged with its residual connection'}. It leaves out values, feed-forward layers and norms.`;
  }
}
