/**
 * Which map is drawn, and how.
 *
 * @import { Explorer } from './explorer.js'
 */

import { drawn, field, html, taking } from '../shared/template.js';
import { headAt, headOf, isSameHead, shortName } from './address.js';
import { mapNameOf, MAPS, noteOf, SCALES } from './titles.js';

/** @param {Explorer} room */
export const controls = (room) =>
  drawn(() => {
    const state = room.shown.value;
    const { layers = 0, heads = 0 } = room.run.value ?? {};
    const names = Array.from({ length: layers * heads }, (_, i) => shortName(headAt(i, heads)));
    const others = ['', ...names].map((name) => [name, name ? `head ${name}` : 'no other head']);
    const isMuted = state.muted.some((head) => isSameHead(head, state));
    return html`<div id="explore-controls" class="explore-controls">
      ${field('Map', 'explore-map', MAPS, mapNameOf(state), (map) =>
        room.set(MAPS.find(([name]) => name === map)?.[2] ?? {}),
      )}
      ${field(
        'Compare with',
        'explore-other',
        others,
        state.other ? shortName(state.other) : '',
        (name) => room.set({ other: headOf(name) }),
      )}
      ${field('Colour scale', 'explore-scale', SCALES, state.scale, (scale) => room.set({ scale }))}
      <label class="check">
        <input type="checkbox" id="explore-first" .checked=${state.hideFirst}
          @change=${taking(({ checked }) => room.set({ hideFirst: checked }))} />
        Hide the first token
      </label>
      <button type="button" id="explore-mute" ?hidden=${!room.hasModel.value}
        aria-pressed=${isMuted} .textContent=${isMuted ? 'Unmute this head' : 'Mute this head'}
        @click=${room.choices.mute}></button>
      <p class="note" id="explore-map-note">${noteOf(state)}</p>
    </div>`;
  });
