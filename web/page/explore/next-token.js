/**
 * What the model says behind a token: the likeliest tokens, before and after heads were muted.
 *
 * @import { Token } from '../types.js'
 * @import { HeadName } from './address.js'
 * @import { Prediction } from './worker/predict.js'
 */

import { el } from '../dom.js';
import { formatCount } from '../format.js';
import { shortName } from './address.js';

/** @param {number} share */
const percent = (share) => (share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : '< 0.1 %');

/** @param {number} share @param {number} most @param {string} name */
function barOf(share, most, name) {
  const bar = el('span', { class: `bar ${name}` });
  bar.style.setProperty('--share', String(most > 0 ? share / most : 0));
  return bar;
}

/** @param {number} before @param {number} after in points of a hundred */
function changeOf(before, after) {
  const points = 100 * (after - before);
  if (Math.abs(points) < 0.05) return '±0';
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)}`;
}

/**
 * @param {HTMLElement} room
 * @param {object} shown
 * @param {Token} shown.token
 * @param {number} shown.at
 * @param {Prediction[]} shown.predictions
 * @param {readonly HeadName[]} shown.muted
 */
export function showNextTokens(room, { token, at, predictions, muted }) {
  const hasMuted = muted.length > 0;
  const most = Math.max(...predictions.map(({ before, after }) => Math.max(before, after)));
  const rows = predictions.map(({ token: next, before, after }) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('span', { class: 'token' }, next.text)),
      el(
        'td',
        { class: 'bar-cell' },
        ...(hasMuted ? [barOf(before, most, 'before')] : []),
        barOf(after, most, 'after'),
      ),
      el('td', {}, percent(after)),
      ...(hasMuted ? [el('td', { class: 'change' }, changeOf(before, after))] : []),
    ),
  );
  const heads = ['token', '', hasMuted ? 'muted' : 'probability', ...(hasMuted ? ['change'] : [])];
  const names = `${muted.length === 1 ? 'head' : 'heads'} ${muted.map(shortName).join(', ')}`;
  const note = hasMuted
    ? [`Without ${names}; the pale bars are with ${muted.length === 1 ? 'it' : 'them'}.`]
    : [
        '“Mute this head” shows what changes',
        el('span', { class: 'with-keyboard' }, ' (key ', el('kbd', {}, 'M'), ')'),
        '.',
      ];
  room.replaceChildren(
    el(
      'h3',
      {},
      'Next after ',
      el('span', { class: 'token' }, token.text),
      el('span', { class: 'at' }, formatCount(at + 1)),
    ),
    el(
      'table',
      { class: 'bars next-tokens' },
      el(
        'thead',
        { class: hasMuted ? '' : 'visually-hidden' },
        el('tr', {}, ...heads.map((head) => (head ? el('th', { scope: 'col' }, head) : el('td')))),
      ),
      el('tbody', {}, ...rows),
    ),
    el('p', { class: 'note' }, ...note),
  );
}
