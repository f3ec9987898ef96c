/**
 * The large maps, what moves them, and their legend.
 *
 * @import { Signal } from '../shared/signals.js'
 * @import { Explorer } from './explorer.js'
 * @import { Seen } from './maps.js'
 */

import { byId } from '../shared/dom.js';
import { derived, effect, signal, untracked } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';
import { spanWords } from './costs.js';
import { createLegend } from './legend.js';
import { Maps } from './maps.js';

const CLOSER = 0.5;

/** @param {Explorer} room @param {Maps} maps @param {Signal<Seen | undefined>} seen */
function zoomBar(room, maps, seen) {
  const whole = () => {
    maps.view = null;
    room.set({ view: null });
  };
  /** @param {string} id @param {string} name @param {string} words @param {() => void} act */
  const button = (id, name, words, act) =>
    html`<button type="button" class="quiet" id=${id} aria-label=${name} @click=${act}>${words}</button>`;
  return html`<div class="explore-zoom">
    ${button('explore-closer', 'Zoom in', '+', () => maps.zoomBy(CLOSER))}
    ${button('explore-farther', 'Zoom out', '−', () => maps.zoomBy(1 / CLOSER))}
    ${button('explore-whole', 'Whole map', 'Whole map', whole)}
    <span class="note" id="explore-span">${drawn(() => seen.value && spanWords(seen.value))}</span>
  </div>`;
}

/** @param {Explorer} room */
export function largeMaps(room) {
  const { shown, run, isShown, pins, mapped, choices } = room;
  /** What of the state the maps show: the rest is marked on them, or seen of them. */
  const look = derived(() => {
    const { layer, head, of, over, other, scale, hideFirst } = shown.value;
    return { layer, head, of, over, other, scale, hideFirst };
  });
  const view = derived(() => shown.value.view);
  const seen = signal(/** @type {Seen | undefined} */ (undefined));

  const element = document.createElement('div');
  element.id = 'explore-maps';
  element.className = 'explore-maps';
  const maps = new Maps(element, room.session, room.focus, {
    pin: choices.pin,
    fail: room.fail,
    view: (next) => room.set({ view: next }),
    moved: (now) => {
      seen.value = now;
      legend.moved();
    },
  });
  const key = document.createElement('div');
  key.id = 'explore-legend';
  const legend = createLegend(key, {
    seen: () => maps.weightsSeen,
    choose: (scale) => {
      room.set({ scale });
      byId('explore-scale', HTMLSelectElement).focus(); // the button goes; here is the choice
    },
  });

  /** @type {typeof look.value} */
  let latest;
  effect(() => {
    const about = isShown.value ? run.value : undefined;
    latest = look.value;
    if (!about) return;
    const [state, mine] = [shown.peek(), latest];
    untracked(async () => {
      await maps.show(about, state);
      if (mine !== latest || about !== run.peek()) return;
      legend.show(state, { largest: maps.largest, causal: about.causal });
      mapped.value = about;
    });
  });
  effect(() => {
    const now = view.value;
    untracked(() => (maps.view = now));
  });
  effect(() => {
    const now = pins.value;
    untracked(() => (maps.pins = now));
  });
  return html`${element} ${zoomBar(room, maps, seen)} ${key}`;
}
