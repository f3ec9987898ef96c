import { effect, signal } from './signals.js';
import { drawn, html } from './template.js';

/**
 * Words that are read aloud and not seen.
 *
 * @param {string} id
 * @param {() => string | undefined} words of signals; undefined: what was said last stays
 */
export function aloud(id, words) {
  const said = signal('');
  effect(() => void (said.value = words() ?? said.peek()));
  return html`<p class="visually-hidden" role="status" id=${id}>${drawn(() => said.value)}</p>`;
}
