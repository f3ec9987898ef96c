/**
 * The results of a run as a table.
 *
 * @import { Result } from './bench.js'
 * @import { Shape } from './work.js'
 */

import { formatBytes, formatTime } from '../shared/format.js';
import { html } from '../shared/template.js';
import { doubtOf } from './ceiling.js';
import { describe } from './words.js';

const COLUMNS = ['Way', 'Threads', 'Time', 'Rate', 'Share of the ceiling', 'Memory'];

/** @param {number} percent of the ceiling */
function share(percent) {
  const words = `${percent.toFixed(1)} %`;
  const doubt = doubtOf(percent);
  return html`<span class="share">
    <meter min="0" max="100" value=${Math.min(percent, 100)} aria-label=${words}></meter>
    <span class="percent" translate="no">${words}</span>
    ${doubt === undefined ? '' : html`<span class="note">Warning: ${doubt}.</span>`}
  </span>`;
}

/** @param {Result} result */
function row({ name, threads, timing, skipped, problem }) {
  const what = html`<th scope="row">${name}</th>
    <td translate="no">${threads}</td>`;
  if (!timing) {
    const words = problem === undefined ? `not run: ${skipped}` : `failed: ${problem}`;
    return html`<tr>
      ${what}
      <td colspan="4" class=${problem ? 'bad' : 'note'}>${words}</td>
    </tr>`;
  }
  return html`<tr>
    ${what}
    <td translate="no">${formatTime(timing.minimum)}</td>
    <td translate="no">${timing.rate.toFixed(1)} ${timing.unit}</td>
    <td>${share(timing.percent)}</td>
    <td translate="no">${formatBytes(timing.memoryBytes)}</td>
  </tr>`;
}

/** @param {readonly Result[]} results @param {Record<string, Shape>} shapes */
export function resultsTable(results, shapes) {
  if (results.length === 0) return '';
  /** @type {Map<string, Result[]>} */
  const groups = new Map();
  for (const result of results) {
    const group = `${result.shape} ${result.simd}`;
    groups.set(group, [...(groups.get(group) ?? []), result]);
  }
  return html`<div class="bench-results" tabindex="0" role="region" aria-label="Results">
    <table>
      <thead>
        <tr>
          ${COLUMNS.map((title) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      ${[...groups.values()].map(
        (group) =>
          html`<tbody>
            <tr>
              <th colspan=${COLUMNS.length} scope="rowgroup">
                <b translate="no">${group[0].shape}</b> ${describe(shapes[group[0].shape])}
                <span class="note">· ${group[0].simd} module</span>
              </th>
            </tr>
            ${group.map(row)}
          </tbody>`,
      )}
    </table>
  </div>`;
}
