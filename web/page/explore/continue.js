/**
 * The model writes on: tokens behind the text, one after another, until their number is reached or it is stopped.
 *
 * @import { Token } from '../types.js'
 * @import { ExploreState } from './address.js'
 * @import { Session } from './session.js'
 * @import { ExploreStore } from './slice.js'
 */

import { el } from '../dom.js';
import { plural } from '../format.js';
import { NUMBERS } from './address.js';

/** @typedef {'temperature' | 'topK' | 'seed' | 'count'} NumberName */

/** @type {[NumberName, string, number][]} name, label, step */
const FIELDS = [
  ['count', 'Tokens', 1],
  ['temperature', 'Temperature', 0.05],
  ['topK', 'Top k (0: all)', 1],
  ['seed', 'Seed', 1],
];

/** @param {number} rate */
const formatRate = (rate) => (rate >= 100 ? String(Math.round(rate)) : rate.toPrecision(2));

/**
 * @param {HTMLFormElement} form
 * @param {ExploreStore} store
 * @param {Session} session
 * @param {object} on
 * @param {(token: Token) => void} on.written shows a token at once
 * @param {(error: unknown) => void} on.fail
 */
export function connectContinue(form, store, session, on) {
  const button = el('button', { type: 'submit' }, 'Continue');
  const decoding = el(
    'select',
    { id: 'explore-decoding' },
    el('option', { value: 'greedy' }, 'the likeliest token'),
    el('option', { value: 'sample' }, 'a token drawn at random'),
  );
  const fields = FIELDS.map(([name, label, step]) => {
    const [min, max] = NUMBERS[name];
    const input = el('input', { id: `explore-${name}`, type: 'number', min, max, step });
    input.addEventListener('change', () => {
      if (input.checkValidity() && input.value !== '') store.set({ [name]: Number(input.value) });
    });
    return { name, input, label: el('label', { for: input.id }, label, input) };
  });
  const more = el(
    'details',
    {},
    el('summary', {}, 'How'),
    el(
      'div',
      { class: 'continue-how' },
      el('label', { for: decoding.id }, 'Each time', decoding),
      ...fields.map(({ label }) => label),
    ),
  );
  const forget = el('button', { type: 'button', class: 'quiet', hidden: true }, 'Take it back');
  const status = el('span', { class: 'note', role: 'status' });
  form.replaceChildren(button, forget, more, status);
  decoding.addEventListener('change', () =>
    store.set({ decoding: /** @type {ExploreState['decoding']} */ (decoding.value) }),
  );
  forget.addEventListener('click', () => store.set({ added: [] }));

  /** @type {AbortController | undefined} */
  let work;
  const write = async () => {
    const mine = new AbortController();
    work = mine;
    button.textContent = 'Stop';
    const before = store.get();
    /** @type {number[]} */
    const ids = [];
    const start = performance.now();
    try {
      for await (const token of session.write(before)) {
        if (mine.signal.aborted) break;
        ids.push(token.id);
        on.written(token);
        const rate = (1000 * ids.length) / (performance.now() - start);
        status.textContent = `${plural(ids.length, 'token')}, ${formatRate(rate)} per second`;
      }
    } catch (error) {
      if (!mine.signal.aborted) on.fail(error);
    }
    if (work === mine) {
      work = undefined;
      button.textContent = 'Continue';
    }
    const { model, text, added } = store.get();
    const isSame = model === before.model && text === before.text && added === before.added;
    // What was written until it was stopped is kept.
    if (isSame && ids.length > 0) store.set({ added: [...added, ...ids] });
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (work) work.abort();
    else write();
  });
  store.subscribe((after, before) => {
    if (after.model !== before.model || after.text !== before.text) {
      work?.abort();
      status.textContent = '';
    }
  });

  return {
    /** @param {ExploreState} state */
    show(state) {
      decoding.value = state.decoding;
      forget.hidden = state.added.length === 0;
      for (const { name, input, label } of fields) {
        if (document.activeElement !== input) input.value = String(state[name]);
        label.hidden = name !== 'count' && state.decoding === 'greedy';
      }
    },
  };
}
