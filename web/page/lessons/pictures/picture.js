/**
 * Everything that a lesson draws besides attention maps.
 *
 * @import { BarsItem, ChainItem, FlowRow, GridsPart, PictureItem } from '../audience.js'
 */

import { gradient } from '../../../headwise/view.js';
import { formatCount, formatNumber, formatWeight } from '../../shared/format.js';
import { html, render } from '../../shared/template.js';
import { el } from '../../shared/dom.js';
import { flowOf } from './flow.js';
import { gridsOf } from './grid.js';
import { linesOf } from './lines.js';
import { stripOf } from './strip.js';

/** @param {ChainItem} item */
function chainOf({ parts }) {
  const count = parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? 0 : part.grids.length),
    0,
  );
  // The fewer, the larger.
  const room = { width: Math.max(96, Math.min(440, 400 / count)), height: 132 };
  /** @type {unknown[]} */
  const links = [];
  let sign = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      sign = part;
      continue;
    }
    // A sign stays with what follows it.
    links.push(
      html`<div class="link">
        ${sign ? html`<span class="sign">${sign}</span>` : ''}${gridsOf(part, { room })}
      </div>`,
    );
    sign = '';
  }
  return links;
}

/** What the colours say. @param {GridsPart[]} parts */
function legendOf(parts) {
  const bar = (
    /** @type {string} */ colours,
    /** @type {string} */ from,
    /** @type {string} */ to,
  ) => html`<span>${from}<i style="background-image: ${colours}"></i>${to}</span>`;
  return html`<p class="scale">
    ${parts.some(({ isWeights }) => !isWeights) ? bar(gradient({ signed: true }), 'below 0', 'above') : ''}
    ${parts.some(({ isWeights }) => isWeights) ? bar(gradient(), '0', 'largest weight') : ''}
  </p>`;
}

/** All matrices of a flow. @param {FlowRow[]} rows @returns {GridsPart[]} */
const partsOf = (rows) =>
  rows.flatMap((row) =>
    'nodes' in row ? row.nodes.flatMap(({ part }) => part ?? []) : partsOf(row.around),
  );

/**
 * Bars from 0: to the right, or to the left of it for what is negative.
 *
 * @param {BarsItem} item
 */
function barsOf({ bars }) {
  const values = bars.map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const percent = (/** @type {number} */ part) =>
    `${((100 * part) / (high - low || Number.MIN_VALUE)).toFixed(1)}%`;
  const written = (/** @type {number} */ value) => {
    if (Number.isInteger(value)) return formatCount(value);
    return low < 0 ? formatNumber(value) : formatWeight(value);
  };
  return bars.map(({ label, value }) => {
    const from = percent(Math.min(0, value) - low);
    return html`<dt>${label}</dt>
      <dd class=${value < 0 ? 'below' : ''}>
        <span><i style="margin-left: ${from}; width: ${percent(Math.abs(value))}"></i></span>
        <span class="number">${written(value)}</span>
      </dd>`;
  });
}

/** @param {PictureItem} item */
function bodyOf(item) {
  switch (item.kind) {
    case 'chain':
      return html`<div class="chain">${chainOf(item)}</div>
        ${legendOf(item.parts.filter((part) => typeof part !== 'string'))}`;
    case 'flow':
      return html`<div class="flow">${flowOf(item.rows)}</div>
        ${legendOf(partsOf(item.rows))}`;
    case 'strip':
      return stripOf(item);
    case 'lines':
      return linesOf(item);
    case 'bars':
      return html`<dl class="value-bars">${barsOf(item)}</dl>`;
  }
}

/** @param {PictureItem} item @returns {HTMLElement} */
export function pictureFigure(item) {
  const figure = el('figure', { class: `result picture ${item.kind}-picture` });
  render(html`<figcaption><b>${item.name}</b></figcaption>${bodyOf(item)}`, figure);
  return figure;
}
