/**
 * Which model reads which text.
 *
 * @import { ExploreState } from './address.js'
 * @import { RunSummary, Session } from './session.js'
 * @import { ExploreStore } from './slice.js'
 */

import { byId, el } from '../dom.js';
import { formatCount } from '../format.js';
import { EXPLORE_DEFAULTS, isLinkable } from './address.js';
import { firstHead, MODELS, pageModel } from './models.js';

/** How long a pause in typing is. */
const TYPING_MS = 300;

/** What belongs to a text, and ends with it. */
const OF_TEXT = {
  added: EXPLORE_DEFAULTS.added,
  pins: EXPLORE_DEFAULTS.pins,
  view: EXPLORE_DEFAULTS.view,
};

/**
 * What a model begins with.
 *
 * @param {string} model
 * @returns {Partial<ExploreState>}
 */
export const beginning = (model) => ({
  ...OF_TEXT,
  model,
  text: null,
  ...firstHead(model),
  other: null,
  muted: EXPLORE_DEFAULTS.muted,
});

/** @param {ExploreState} state @param {Session} session */
export const textOf = ({ text, model }, session) =>
  text ?? session.model?.sample ?? (pageModel(model) ?? MODELS.austen).sample;

/** @param {ExploreStore} store @param {Session} session */
export function connectText(store, session) {
  const model = byId('explore-model', HTMLSelectElement);
  const edit = byId('explore-edit', HTMLButtonElement);
  const editor = byId('explore-editor', HTMLElement);
  const input = byId('explore-input', HTMLTextAreaElement);
  const label = /** @type {HTMLLabelElement} */ (editor.querySelector('label'));

  model.replaceChildren(
    ...Object.entries(MODELS).map(([value, { title }]) => el('option', { value }, title)),
  );
  model.addEventListener('change', () => store.set(beginning(model.value)));

  edit.addEventListener('click', () => {
    editor.hidden = !editor.hidden;
    edit.setAttribute('aria-expanded', String(!editor.hidden));
    if (!editor.hidden) input.focus();
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const take = () => {
    clearTimeout(typing);
    if (input.value !== textOf(store.get(), session)) store.set({ ...OF_TEXT, text: input.value });
  };
  input.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(take, TYPING_MS);
  });
  input.addEventListener('change', take);
  byId('explore-sample', HTMLButtonElement).addEventListener('click', () => {
    clearTimeout(typing);
    input.value = textOf({ ...store.get(), text: null }, session);
    store.set({ ...OF_TEXT, text: null });
  });

  return {
    /** @param {ExploreState} state */
    show(state) {
      model.value = state.model;
      if (document.activeElement !== input) input.value = textOf(state, session);
      label.textContent =
        session.model?.sample === undefined ? 'Your text' : 'Token ids, with spaces between';
    },

    /** @param {RunSummary} run */
    count({ n }) {
      const opened = session.model;
      const most = formatCount(opened?.options?.contextLength ?? 0);
      const link = isLinkable(store.get().text)
        ? ''
        : '; too long for the address: a link, or this page loaded again, shows the sample';
      byId('explore-room-left', HTMLElement).textContent = opened?.options
        ? `${formatCount(n)} of at most ${most} tokens${link}`
        : '';
    },
  };
}
