/**
 * Which map is drawn and how: what is chosen goes into the store, what the store says is shown.
 *
 * @import { ExploreState, MapScale } from './address.js'
 * @import { RunSummary } from './session.js'
 * @import { ExploreStore } from './slice.js'
 * @import { Of, Over } from './worker/rows.js'
 */

import { el } from '../dom.js';
import { headOf, isSameHead, longName, shortName } from './address.js';

/** @type {[string, string, { of: Of, over: Over }][]} */
const MAPS = [
  ['head', 'this head', { of: 'head', over: 'layer' }],
  ['mean layer', 'mean of the layer’s heads', { of: 'mean', over: 'layer' }],
  ['max layer', 'largest of the layer’s heads', { of: 'max', over: 'layer' }],
  ['mean all', 'mean of all heads', { of: 'mean', over: 'all' }],
  ['max all', 'largest of all heads', { of: 'max', over: 'all' }],
  ['rollout', 'rollout up to this layer', { of: 'rollout', over: 'layer' }],
];

/** @type {[MapScale, string][]} */
const SCALES = [
  ['unit', '0 to 1'],
  ['row', 'each row its own'],
  ['head', 'each map its own'],
  ['log', 'logarithmic'],
];

/** @param {MapScale} scale */
export const nameOfScale = (scale) => SCALES.find(([name]) => name === scale)?.[1];

/** @param {ExploreState} state @returns {string} of MAPS */
export const mapNameOf = ({ of, over }) =>
  of === 'head' || of === 'rollout' ? of : `${of} ${over}`;

/** @param {ExploreState} state in words */
export function titleOf(state) {
  const { of, over, layer } = state;
  const which = over === 'all' ? 'all layers’ heads' : `layer ${layer}’s heads`;
  switch (of) {
    case 'head':
      return longName(state);
    case 'mean':
      return `Mean of ${which}`;
    case 'max':
      return `Largest of ${which}`;
    case 'rollout':
      return `Rollout up to layer ${layer}`;
  }
}

/** What a map of several heads is, and is not. @param {ExploreState} state */
function noteOf({ of, layer }) {
  switch (of) {
    case 'head':
      return '';
    case 'mean':
      return 'The mean of the heads’ weights: no head need look like it.';
    case 'max':
      return 'Of each cell the largest weight of any head: its rows do not sum to 1.';
    case 'rollout':
      return `Attention rollout (Abnar & Zuidema 2020): the mean attention of ${layer > 0 ? `layers 0 to ${layer}` : 'layer 0'}, each half of it the residual connection, multiplied. It leaves out values, MLPs and norms.`;
  }
}

/** @param {string} id @param {string} label @param {Node} control */
const field = (id, label, control) =>
  el('div', { class: 'field' }, el('label', { for: id }, label), control);

/** @param {string} id @param {readonly (readonly [string, string, ...unknown[]])[]} options */
const selectOf = (id, options) =>
  el('select', { id }, ...options.map(([value, words]) => el('option', { value }, words)));

/**
 * @param {HTMLElement} room
 * @param {ExploreStore} store
 * @param {() => void} mute mutes the chosen head, or lets it be heard again
 */
export function createControls(room, store, mute) {
  const map = selectOf('explore-map', MAPS);
  const scale = selectOf('explore-scale', SCALES);
  const other = el('select', { id: 'explore-other' });
  const first = el('input', { type: 'checkbox', id: 'explore-first' });
  const muteButton = el('button', { type: 'button', id: 'explore-mute' }, 'Mute this head');
  const note = el('p', { class: 'note', id: 'explore-map-note' });
  room.replaceChildren(
    field('explore-map', 'Map', map),
    field('explore-other', 'Compare with', other),
    field('explore-scale', 'Colour scale', scale),
    el('label', { class: 'check' }, first, 'Hide the first token'),
    muteButton,
    note,
  );
  map.addEventListener('change', () => {
    const [, , chosen] = MAPS.find(([name]) => name === map.value) ?? MAPS[0];
    store.set(chosen);
  });
  scale.addEventListener('change', () =>
    store.set({ scale: /** @type {MapScale} */ (scale.value) }),
  );
  other.addEventListener('change', () => store.set({ other: headOf(other.value) }));
  first.addEventListener('change', () => store.set({ hideFirst: first.checked }));
  muteButton.addEventListener('click', mute);

  return {
    /** @param {ExploreState} state @param {RunSummary} run */
    show(state, { layers, heads }) {
      map.value = mapNameOf(state);
      note.textContent = noteOf(state);
      scale.value = state.scale;
      first.checked = state.hideFirst;
      const count = 1 + layers * heads;
      if (other.options.length !== count) {
        const names = Array.from({ length: layers * heads }, (_, i) =>
          shortName({ layer: Math.floor(i / heads), head: i % heads }),
        );
        other.replaceChildren(
          el('option', { value: '' }, 'no other head'),
          ...names.map((name) => el('option', { value: name }, `head ${name}`)),
        );
      }
      other.value = state.other ? shortName(state.other) : '';
      const isMuted = state.muted.some((head) => isSameHead(head, state));
      muteButton.textContent = isMuted ? 'Unmute this head' : 'Mute this head';
      muteButton.setAttribute('aria-pressed', String(isMuted));
    },
  };
}
