/**
 * Which map is drawn, and how.
 *
 * @import { MapScale } from './address.js'
 * @import { Explorer } from './explorer.js'
 */

import { drawn, html, select, taking } from '../template.js';
import { headOf, isSameHead, shortName } from './address.js';
import { mapNameOf, MAPS, noteOf, SCALES } from './titles.js';

/** @param {string} id @param {string} label @param {unknown} control */
const field = (id, label, control) =>
  html`<div class="field"><label for=${id}>${label}</label>${control}</div>`;

/** @param {Explorer} room */
export const controls = (room) =>
  drawn(() => {
    const state = room.shown.value;
    const { layers = 0, heads = 0 } = room.run.value ?? {};
    const names = Array.from({ length: layers * heads }, (_, i) =>
      shortName({ layer: Math.floor(i / heads), head: i % heads }),
    );
    const others = ['', ...names].map((name) => [name, name ? `head ${name}` : 'no other head']);
    const isMuted = state.muted.some((head) => isSameHead(head, state));
    const chooseMap = (/** @type {string} */ value) =>
      room.set(MAPS.find(([name]) => name === value)?.[2] ?? {});
    return html`<div id="explore-controls" class="explore-controls">
      ${field('explore-map', 'Map', select('explore-map', MAPS, mapNameOf(state), chooseMap))}
      ${field(
        'explore-other',
        'Compare with',
        select('explore-other', others, state.other ? shortName(state.other) : '', (name) =>
          room.set({ other: headOf(name) }),
        ),
      )}
      ${field(
        'explore-scale',
        'Colour scale',
        select('explore-scale', SCALES, state.scale, (scale) =>
          room.set({ scale: /** @type {MapScale} */ (scale) }),
        ),
      )}
      <label class="check">
        <input
          type="checkbox"
          id="explore-first"
          .checked=${state.hideFirst}
          @change=${taking(({ checked }) => room.set({ hideFirst: checked }))}
        />
        Hide the first token
      </label>
      <button
        type="button"
        id="explore-mute"
        ?hidden=${!room.hasModel.value}
        aria-pressed=${isMuted}
        .textContent=${isMuted ? 'Unmute this head' : 'Mute this head'}
        @click=${room.choices.mute}
      ></button>
      <p class="note" id="explore-map-note">${noteOf(state)}</p>
    </div>`;
  });
