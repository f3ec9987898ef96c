/**
 * The chosen head: its map by weights or by what it writes.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { drawn, html, taking } from '../../shared/template.js';

/** @param {Explorer} room */
const weighing = (room) =>
  drawn(
    () =>
      html`<label class="check" ?hidden=${!room.run.value?.hasNorms}>
        <input type="checkbox" id="explore-norms" .checked=${room.shown.value.of === 'norms'}
          @change=${taking(({ checked }) => room.set({ of: checked ? 'norms' : 'head' }))} />
        Weigh the map by value norms
      </label>`,
  );

/** @param {Explorer} room */
export const headView = (room) => html`<div class="why-made">${weighing(room)}</div>`;
