/**
 * “Why this token?”: what makes up a prediction, over the same grid of heads and the same large map.
 *
 * @import { Explorer } from '../explorer.js'
 */

import { html } from '../../shared/template.js';
import { headView, weighing } from './head-view.js';
import { patchingView } from './patching/view.js';
import { question } from './question.js';
import { scoreView } from './score/view.js';
import { sumView } from './sum-view.js';

/**
 * @param {Explorer} room
 * @param {Record<'map' | 'next' | 'lens', HTMLElement>} parts which the room has in each of its modes
 * @param {unknown} grid all heads, and what they are measured by
 */
export const whyView = (room, { map, next, lens }, grid) => html`${question(room)}
  <div class="explore-main why-main">
    <div class="why-column">
      <div class="why-sum">${sumView(room)}</div>
      <div class="why-map">${map} ${weighing(room)}</div>
    </div>
    <div class="why-column">${grid}<div class="why-keys">${headView(room)}</div></div>
    <div class="explore-panel">${next}</div>
  </div>
  <div class="why-score">${scoreView(room)}</div>
  ${lens} ${patchingView(room)}`;
