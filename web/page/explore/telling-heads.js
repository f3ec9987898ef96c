/**
 * Heads of the page's own models to begin with: each a button, with what it looks at.
 *
 * @import { ExploreState, HeadName } from './address.js'
 */

import { el } from '../dom.js';
import { isSameHead, shortName, spokenName } from './address.js';
import { pageModel } from './models.js';

/**
 * @param {HTMLElement} room
 * @param {(head: HeadName) => void} choose
 * @returns {(state: ExploreState) => void} shows those of the state's model
 */
export function createTellingHeads(room, choose) {
  const list = el('ul', {});
  room.append(el('h4', {}, 'Worth a look'), list);
  let shown = '';
  /** @type {{ name: HeadName, button: HTMLButtonElement }[]} */
  let buttons = [];
  return (state) => {
    const heads = pageModel(state.model)?.telling ?? [];
    room.hidden = heads.length === 0;
    if (shown !== state.model) {
      shown = state.model;
      buttons = heads.map(({ layer, head }) => {
        const name = { layer, head };
        const words = el('span', { class: 'visually-hidden' }, ` ${spokenName(name)}`);
        const button = el('button', { type: 'button' }, shortName(name), words);
        button.addEventListener('click', () => choose(name));
        return { name, button };
      });
      list.replaceChildren(
        ...heads.map(({ seen }, i) => el('li', {}, buttons[i].button, ` ${seen}`)),
      );
    }
    for (const { name, button } of buttons)
      button.setAttribute('aria-pressed', String(isSameHead(name, state)));
  };
}
