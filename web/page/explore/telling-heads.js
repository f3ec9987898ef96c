/**
 * Heads of the page's own models to begin with: each a button, with what it looks at.
 *
 * @import { Explorer } from './explorer.js'
 */

import { isSameHead, shortName, spokenName } from '../shared/head-names.js';
import { drawn, html } from '../shared/template.js';
import { pageModel } from './models.js';

/** @param {Explorer} room */
export const tellingHeads = ({ shown, choices }) =>
  drawn(() => {
    const heads = pageModel(shown.value.model)?.telling ?? [];
    return html`<div id="explore-telling" class="explore-telling" ?hidden=${heads.length === 0}>
      <h3>Worth a look</h3>
      <ul>
        ${heads.map(
          (name) =>
            html`<li>
              <button type="button" aria-pressed=${isSameHead(name, shown.value)}
                @click=${() => choices.choose(name)}>
                <span translate="no">${shortName(name)}</span><span class="visually-hidden"> ${spokenName(name)}</span></button
              ><span>${name.seen}</span>
            </li>`,
        )}
      </ul>
    </div>`;
  });
