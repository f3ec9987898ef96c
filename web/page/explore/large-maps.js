/**
 * The large maps, what is done to their head, what moves them, and their legend.
 *
 * @import { ExploreState } from './address.js'
 * @import { Explorer } from './explorer.js'
 */

import { byId } from '../shared/dom.js';
import { derived, effect, signal, untracked } from '../shared/signals.js';
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

/**
 * What of the state the maps show: the rest is marked on them, or seen of them.
 *
 * @typedef {Pick<ExploreState, 'layer' | 'head' | 'of' | 'over' | 'other' | 'before' | 'scale' | 'hideFirst'>} Look
 */

/** The chosen head's own map: cancelling leads there if nothing was drawn before. */
const CHOSEN_HEAD = { of: /** @type {const} */ ('head'), other: null, before: false };

/**
 * Draws them, and their legend, whenever something else is to be seen.
 *
 * @param {Explorer} room
 * @param {import('../shared/signals.js').ReadonlySignal<Look>} look
 * @param {Maps} maps
 * @param {ReturnType<typeof createLegend>} legend
 * @returns what was drawn last
 */
function drawMaps({ isShown, run, shown, mapped }, look, maps, legend) {
  const settled = signal(/** @type {Look | undefined} */ (undefined));
  effect(() => {
    const about = isShown.value ? run.value : undefined;
    const mine = look.value;
    if (!about) return;
    const state = shown.peek();
    untracked(async () => {
      await maps.show(about, state);
      if (mine !== look.peek() || about !== run.peek()) return;
      legend.show(state, { largest: maps.largest, causal: about.causal });
      mapped.value = about;
      settled.value = mine;
    });
  });
  return settled;
}

/** @param {Explorer} room */
export function largeMaps(room) {
  const { shown, pins, seen, choices, isDrawing } = room;
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
    turn: choices.turnHead,
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

  const settled = drawMaps(room, look, maps, legend);
  /** Where cancelling leads; undefined: nowhere. */
  const back = () => {
    const isOther = settled.value && settled.value !== look.value;
    if (isOther) return settled.value;
    return look.value.of === 'head' ? undefined : CHOSEN_HEAD;
  };
  const wait = drawn(() => {
    const to = back();
    const now = isDrawing.value ? { label: 'Computing the map' } : undefined;
    return bar('explore-drawing', now, to && (() => room.set(to)));
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
