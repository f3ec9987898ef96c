/**
 * A report as one HTML file without scripts: it asks for nothing, and reads well in dark and on paper.
 *
 * @import { Grid, Report } from './gather.js'
 */

import { rangeOf, stacked, sumOf } from '../../why/sum.js';
import { nameOf } from '../../why/part-names.js';
import { formatList, formatWeight } from '../../../shared/format.js';
import { escaped } from '../svg.js';
import { scoreSection } from './score.js';
import { STYLE } from './style.js';
import { barTable, headRow, number, percent, quoted, room, section, token } from './tables.js';

/** @param {Report} report */
const textOf = ({ tokens }) =>
  `<p class="text">${tokens
    .map(({ text, isAsked }) => token(text, isAsked ? 'token asked' : 'token'))
    .join('<wbr>')}</p>`;

/** @param {Report['settings']} settings */
const settingsOf = (settings) =>
  `<dl>${settings.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>`;

/** @param {Report['next']} next */
function predictions({ after, hasMuted, rows }) {
  const most = Math.max(...rows.map((row) => row.after));
  const bar = (/** @type {number} */ share) =>
    `<td class="cell"><span class="bar whole" style="left: 0; width: ${((100 * share) / most).toFixed(2)}%"></span></td>`;
  const head = ['token', 'id', '', ...(hasMuted ? ['all heads'] : []), 'probability', ''];
  const body = rows.map(
    ({ text, id, before, after: now, is }) =>
      `<tr><th scope="row">${token(text)}</th><td>${id}</td>${bar(now)}${hasMuted ? `<td>${percent(before)}</td>` : ''}<td>${percent(now)}</td><td class="word">${is}</td></tr>`,
  );
  return `<p>After ${quoted(after)}${hasMuted ? ', with the heads above muted' : ''}.</p>${room('Predictions', `<table><thead>${headRow(head)}</thead><tbody>${body.join('')}</tbody></table>`)}`;
}

/** @param {Report['sum']} sum */
function sumSection({ name, parts, total }) {
  const rows = stacked(parts);
  const sum = sumOf(parts.map(({ value }) => value));
  const bars = rows.map((part) => ({ ...part, name: nameOf(part) }));
  const table = barTable(['part', 'logits'], bars, { name: 'Sum', value: sum }, rangeOf(rows));
  return `<p>What each part of the model writes to the logit of <span translate="no">${escaped(name)}</span>, through the final norm with its scale held fixed. The logit itself: <b>${number(total)}</b>.</p>${room('Attribution', table)}`;
}

/** @param {Report['lens']} lens */
function lensSection({ target, rows }) {
  const body = rows.map(
    ({ after, likeliest, most, rank, share }) =>
      `<tr><th scope="row">${after}</th><td class="word">${token(likeliest)}</td><td>${percent(most)}</td><td>${rank}</td><td>${percent(share)}</td></tr>`,
  );
  const head = ['after', 'likeliest', 'probability', 'rank', 'probability'].map((name, i) =>
    i > 2 ? `${name} of “${target}”` : name,
  );
  return `<p>What the model would predict if it ended after a layer: the residual stream there through the final norm and the unembedding (logit lens).</p>${room('Logit lens', `<table><thead>${headRow(head)}</thead><tbody>${body.join('')}</tbody></table>`)}`;
}

/** @param {Grid} grid */
function gridTable({ title, words, columns, layers, values, chosen }) {
  const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value) || 0), 0);
  const cell = (/** @type {number} */ layer, /** @type {number} */ column) => {
    const value = values[layer * columns.length + column];
    const share = most > 0 ? (100 * Math.abs(value)) / most : 0;
    const isChosen = chosen?.layer === layer && chosen.column === column;
    const kind = [value < 0 ? 'against' : 'for', isChosen && 'chosen'].filter(Boolean).join(' ');
    return `<td class="${kind}" style="--share: ${share.toFixed(1)}%">${number(value)}</td>`;
  };
  const rows = Array.from(
    { length: layers },
    (_, layer) =>
      `<tr><th scope="row">L${layer}</th>${columns.map((__, column) => cell(layer, column)).join('')}</tr>`,
  );
  return `<p>${escaped(words)} <span class="note">Orange is for the prediction, purple against it.</span></p>${room(title, `<table class="grid"><thead>${headRow(['', ...columns])}</thead><tbody>${rows.join('')}</tbody></table>`)}`;
}

/** @param {Report} report */
function mapSection({ map: { svg, scale, row }, tokens }) {
  const rows = row.weights
    .map((weight, i) => ({ weight, i }))
    .filter(({ weight }) => weight !== 0)
    .sort((a, b) => b.weight - a.weight)
    .map(
      ({ weight, i }) =>
        `<tr><th scope="row">${token(tokens[i].text)}</th><td>${i + 1}</td><td>${formatWeight(weight)}</td></tr>`,
    );
  const table = `<table><thead>${headRow(['token', 'place', 'weight'])}</thead><tbody>${rows.join('')}</tbody></table>`;
  return `<div class="map" translate="no">${svg}</div><p class="note">Rows are queries, columns keys. Dark: weight 0. Yellow: the scale’s end (${escaped(scale)}).</p><details><summary>What ${quoted(row.from)} attends to, exactly</summary>${room('Weights', table)}</details>`;
}

/** @param {Report} report */
function againOf({ address, leftOut, isOpened }) {
  const note = [
    leftOut.length > 0
      ? `The address does not carry ${formatList(leftOut)}. It holds all other choices.`
      : 'The address holds the text and all choices.',
    isOpened ? 'Open the model there first.' : '',
  ]
    .filter(Boolean)
    .join(' ');
  return `<p><a href="${escaped(address)}">See it again in Headwise</a></p><p class="note">${note}</p><p class="address" translate="no">${escaped(address)}</p>`;
}

/** @param {Report} report @returns {string} the file */
export function reportPage(report) {
  const { title, caption, settings, next, sum, lens, grids, map, score } = report;
  // In HTML a script's data ends at "</script" alone.
  const exact = JSON.stringify({ ...report, map: { title: map.title, row: map.row } }).replaceAll(
    '<',
    '\\u003c',
  );
  const parts = [
    section('settings', 'Settings', settingsOf(settings)),
    section('next', 'What comes next', predictions(next)),
    section('sum', 'The sum', sumSection(sum)),
    section('lens', 'After each layer', lensSection(lens)),
    ...grids.map((grid, i) => section(`grid-${i}`, grid.title, gridTable(grid))),
    section('map', map.title, mapSection(report)),
    section('score', `Why ${score.head} attends to “${score.key.text}”`, scoreSection(score)),
    section('again', 'See it again', againOf(report)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${caption ? `<p>${escaped(caption)}</p>` : ''}
${textOf(report)}
${parts.join('\n')}
</main>
<script type="application/json" id="exact">${exact}</script>
</body>
</html>
`;
}
