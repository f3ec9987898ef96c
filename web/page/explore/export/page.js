/**
 * A page in one file that works from a disk: exact weights and tokens as data, the script beside them. Its policy lets
 * that script run and nothing else, and lets nothing be asked for.
 *
 * @import { Seen } from './settings.js'
 * @import { Saved } from './standalone.js'
 */

/// <reference path="./bundle.d.ts" />

import { colouredPins } from '../pin-colours.js';
import { exactMaps } from './numbers.js';
import { settingsInWords, settingsOf } from './settings.js';
import { escaped } from './svg.js';

/** Bytes turned into base64 at a time: a multiple of 3. */
const STRIDE = 3 * 2 ** 13;

/** @param {Float32Array<ArrayBuffer>} floats */
export function base64Of({ buffer }) {
  const parts = [];
  for (let at = 0; at < buffer.byteLength; at += STRIDE) {
    const bytes = new Uint8Array(buffer, at, Math.min(STRIDE, buffer.byteLength - at));
    parts.push(btoa(String.fromCharCode(...bytes)));
  }
  return parts.join('');
}

/** @param {Saved} saved @param {{ code: string, hash: string }} script @returns {BlobPart[]} of an HTML file */
export function pageOf(saved, { code, hash }) {
  // In HTML a script's data ends at "</script" alone.
  const data = JSON.stringify(saved).replaceAll('<', '\\u003c');
  const policy = `default-src 'none'; script-src '${hash}'`;
  return [
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(saved.title)}</title>
</head>
<body>
<h1>${escaped(saved.title)}</h1>
<p>${escaped(saved.words)}</p>
<noscript>The maps are drawn by this file’s own script.</noscript>
<script type="application/json" id="saved">`,
    data,
    '</script>\n<script>',
    code,
    '</script>\n</body>\n</html>\n',
  ];
}

/** @param {Seen} seen @param {string} title @param {string} [caption] in place of the settings in words @returns {Promise<Blob>} */
export async function standalonePage(seen, title, caption = '') {
  const [script, maps] = await Promise.all([import('./standalone.js?bundle'), exactMaps(seen)]);
  const { run, state } = seen;
  const saved = {
    title,
    words: caption || settingsInWords(seen),
    settings: settingsOf(seen),
    tokens: run.tokens.map(({ text }) => text),
    pins: colouredPins(state.pins),
    causal: run.causal,
    scale: state.scale,
    maps: maps.map(({ title: name, weights }) => ({ title: name, weights: base64Of(weights) })),
  };
  return new Blob(pageOf(saved, script), { type: 'text/html' });
}
