/**
 * The large maps, what is done to their head, what moves them, and their legend.
 *
 * @import { Explorer } from './explorer.js'
 */

import { byId } from '../shared/dom.js';
import { derived, effect, untracked } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';
import { controls } from './controls.js';
import { createLegend } from './legend.js';
import { Maps } from './maps.js';
import { colouredPins } from './pin-colours.js';
import { noteOf } from './titles.js';
import { bar } from './waiting.js';

const CLOSER = 0.5;

/** @param {Explorer} room @param {Maps} maps */
function zoomBar(room, maps) {
  const whole = () => {
    maps.showWhole();
    room.set({ view: null });
  };
  /** @param {string} id @param {string} name @param {string} words @param {() => void} act */
  const button = (id, name, words, act) =>
    html`<button type="button" class="quiet" id=${id} aria-label=${name} @click=${act}>${words}</button>`;
  return html`<div class="explore-zoom">
    ${button('explore-closer', 'Zoom in', '+', () => maps.zoomBy(CLOSER))}
    ${button('explore-farther', 'Zoom out', '−', () => maps.zoomBy(1 / CLOSER))}
    ${button('explore-whole', 'Whole map', 'Whole map', whole)}
  </div>`;
}

/** @param {Explorer} room */
export function largeMaps(room) {
  const { shown, run, isShown, pins, seen, mapped, choices, isDrawing } = room;
  /** What of the state the maps show: the rest is marked on them, or seen of them. */
  const look = derived(() => {
    const { layer, head, of, over, other, before, scale, hideFirst } = shown.value;
    return { layer, head, of, over, other, before, scale, hideFirst };
  });
  const view = derived(() => shown.value.view);

  const element = document.createElement('div');
  element.id = 'explore-maps';
  element.className = 'explore-maps';
  const heading = document.createElement('div');
  heading.className = 'map-heading';
  const maps = new Maps(element, heading, room.session, room.focus, {
    pin: choices.pin,
    fail: room.fail,
    slow: (isSlow) => (isDrawing.value = isSlow),
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
      // The button goes; here is the choice.
      byId('explore-more', HTMLElement).querySelector('summary')?.focus();
    },
  });

  /** @type {typeof look.value} */
  let latest;
  /** What was drawn last: to that a map leads back that is cancelled. @type {typeof look.value | undefined} */
  let settled;
  const wait = drawn(() => {
    const HEAD = { of: /** @type {const} */ ('head'), other: null, before: false };
    const isOther = settled && settled !== look.value;
    const back = isOther ? settled : look.value.of === 'head' ? undefined : HEAD;
    const now = isDrawing.value ? { label: 'Computing the map' } : undefined;
    return bar('explore-drawing', now, back && (() => room.set(back)));
  });
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
      settled = mine;
    });
  });
  effect(() => {
    const now = view.value;
    untracked(() => (maps.view = now));
  });
  effect(() => {
    const now = pins.value;
    untracked(() => (maps.pins = colouredPins(now)));
  });
  return html`<div class="map-head">${heading} ${controls(room)}</div>
    <p class="note" id="explore-map-note">${drawn(() => noteOf(shown.value))}</p>
    ${element} ${wait}
    <div class="explore-under-map">${key} ${zoomBar(room, maps)}</div>`;
}
