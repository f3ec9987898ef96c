/**
 * Tokens with bars.
 *
 * @import { Token } from '../types.js'
 */

import { formatCount } from '../shared/format.js';
import { html } from '../shared/template.js';

/** @param {number} value @param {number} most @param {string} [name] */
export const bar = (value, most, name = '') =>
  html`<span class="bar ${name}" style="--share: ${most > 0 ? value / most : 0}"></span>`;

/** A token, itself in every language. @param {string} text @param {string} [kind] another class */
export const tokenText = (text, kind = '') =>
  html`<span class="token ${kind}" translate="no">${text}</span>`;

/** A token with its place, from 0. @param {Token} token @param {number} at */
export const tokenName = ({ text }, at) =>
  html`${tokenText(text)}<span class="at" translate="no">${formatCount(at + 1)}</span>`;

/** A token within a sentence. @param {string | undefined} text */
export const quoted = (text) => html`“<span translate="no">${text}</span>”`;

/** The same, and its place, from 0. @param {Token} token @param {number} at */
export const quotedAt = ({ text }, at) => html`${quoted(text)} (token ${formatCount(at + 1)})`;
