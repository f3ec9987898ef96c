/**
 * The chosen head: its map by weights or by what it writes.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { drawn, html, taking } from '../../shared/template.js';

/** @param {Explorer} room */
export const weighing = (room) =>
  drawn(
    () =>
      html`<label class="check" ?hidden=${!room.run.value?.hasNorms}>
        <input type="checkbox" id="explore-norms" .checked=${room.shown.value.of === 'norms'}
          @change=${taking(({ checked }) => room.set({ of: checked ? 'norms' : 'head' }))} />
        Weigh by value norms
      </label>`,
  );
