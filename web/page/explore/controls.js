/**
 * What is done to the chosen head, and which map is drawn, and how.
 *
 * @import { Explorer } from './explorer.js'
 */

import { headAt, isSameHead, shortName } from '../shared/head-names.js';
import { menu } from '../shared/menu.js';
import { drawn, field, html, nothing, taking } from '../shared/template.js';
import { headOf, isOfHead } from './address.js';
import { leavingTo } from './leaving-to.js';
import { mapNameOf, MAPS, SCALES } from './titles.js';

/** The menu's word for the map before heads were muted. */
const BEFORE = 'before';

/** @param {Explorer} room with which a map can be compared */
function otherNames({ run, shown }) {
  const { layers = 0, heads = 0, muted = [] } = run.value ?? {};
  const names = Array.from({ length: layers * heads }, (_, i) => headAt(i, heads))
    .filter((name) => !isOfHead(shown.value.of) || !isSameHead(name, shown.value))
    .map(shortName);
  return [
    ['', 'nothing'],
    ...(muted.length > 0 ? [[BEFORE, 'itself before muting']] : []),
    ...names.map((name) => [name, `head ${name}`]),
  ];
}

/** @param {Explorer} room which maps there can be */
const mapsOf = ({ run }) => MAPS.filter(([, , { of }]) => of !== 'norms' || run.value?.hasNorms);

/** @param {Explorer} room */
const choicesOfMap = (room) =>
  drawn(() => {
    const state = room.shown.value;
    const other = state.other ? shortName(state.other) : state.before ? BEFORE : '';
    return html`<div id="explore-controls" class="explore-controls">
      ${field('Map', 'explore-map', mapsOf(room), mapNameOf(state), (map) =>
        room.set(MAPS.find(([name]) => name === map)?.[2] ?? {}),
      )}
      ${field('Compare with', 'explore-other', otherNames(room), other, (name) =>
        room.set({ other: headOf(name), before: name === BEFORE }),
      )}
      ${field('Colour scale', 'explore-scale', SCALES, state.scale, (scale) => room.set({ scale }))}
      <label class="check">
        <input type="checkbox" id="explore-first" .checked=${state.hideFirst}
          @change=${taking(({ checked }) => room.set({ hideFirst: checked }))} />
        Hide the first token
      </label>
    </div>`;
  });

/** @param {Explorer} room */
export const controls = (room) => html`<div class="head-tools">
    ${drawn(() => {
      const { muted, other, before } = room.shown.value;
      const isMuted = muted.some((head) => isSameHead(head, room.shown.value));
      const kept = room.state.value.other;
      const areMuted = (room.run.value?.muted.length ?? 0) > 0;
      // The key that mutes, or unmutes, takes one of them away.
      const leave = leavingTo('explore-mute');
      const beforeButton = html`<button type="button" class="quiet" id="explore-before" aria-pressed=${before}
          @click=${() => room.set({ before: !before, other: null })} ${leave}>Before/after</button>`;
      const compareButton = html`<button type="button" class="quiet ${kept ? 'on' : ''}" id="explore-compare"
          title="Key C: keeps this head; then choose another"
          .textContent=${other ? `Stop comparing with ${shortName(other)}` : 'Compare'}
          @click=${room.choices.compare} ${leave}></button>`;
      return html`<button type="button" class="quiet ${isMuted ? 'on' : ''}" id="explore-mute" ?hidden=${!room.hasModel.value}
          .textContent=${isMuted ? 'Unmute' : 'Mute this head'}
          @click=${room.choices.mute}></button>
        ${areMuted ? beforeButton : nothing} ${!areMuted || kept ? compareButton : nothing}
        <span class="note" role="status" id="explore-compare-note">${
          kept && !other ? `${shortName(kept)} is kept: choose another head.` : ''
        }</span>`;
    })}
    ${menu('explore-more', 'More', choicesOfMap(room))}
  </div>`;
