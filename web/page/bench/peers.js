/**
 * How many times Headwise's time other runtimes take, as bars: measured before, by npm run bench:peers.
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} [version]
 * @property {number} [kilobytes] that a page downloads, gzip
 * @property {Record<string, number>} ratios by shape
 * @property {string[]} [otherwise] shapes that it does head by head or by another operator
 *
 * @typedef {{ date: string, version: string, machine: string, browser: string, threads: number, runtimes: Runtime[] }} Peers
 *
 * @import { Shape } from './work.js'
 */

import { formatCount } from '../shared/format.js';
import { html } from '../shared/template.js';
import { describe } from './words.js';

/** The end of the bars' scale; what is longer is cut. */
const MOST = 5;

const date = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** @param {Runtime} runtime @param {string} shape */
function bar({ name, ratios, otherwise }, shape) {
  const ratio = ratios[shape];
  const isOwn = name === 'Headwise';
  const width = `--share:${Math.min(ratio, MOST) / MOST}`;
  const star = otherwise?.includes(shape) ? '*' : '';
  return html`<tr translate="no" class=${isOwn ? 'own' : ''}>
    <th scope="row">${name.replace(', wasm backend', '')}</th>
    <td class="bar-cell"><span class="bar ${ratio > MOST ? 'cut' : ''}" style=${width}></span></td>
    <td>${isOwn ? '1' : `${ratio.toPrecision(3)}×${star}`}</td>
  </tr>`;
}

/** @param {Peers} peers @param {Record<string, Shape>} shapes */
export function peersChart({ date: day, machine, browser, threads, runtimes }, shapes) {
  const panels = Object.keys(runtimes[0].ratios).map(
    (name) =>
      html`<figure>
        <figcaption><b translate="no">${name}</b> ${describe(shapes[name])}</figcaption>
        <table class="bars">
          <caption class="visually-hidden">
            Time of each runtime, as a multiple of Headwise’s, for ${name}
          </caption>
          <tbody>
            ${runtimes.filter(({ ratios }) => name in ratios).map((runtime) => bar(runtime, name))}
          </tbody>
        </table>
      </figure>`,
  );
  const bytes = runtimes.flatMap(({ name, version, kilobytes }) =>
    kilobytes === undefined ? [] : [`${name} ${version ?? ''}: ${formatCount(kilobytes)} kB`],
  );
  return html`<div class="peers">${panels}</div>
    <p class="note">
      Measured on ${date.format(new Date(day))}, ${machine}, ${browser},
      ${threads === 1 ? 'one thread' : `${threads} threads`}. Bars are cut at ${MOST} times. A page
      downloads, compressed: ${bytes.join('; ')}. * The direct operator fails or gives wrong numbers there, so another one
      was timed. M1, the maps of all heads, has no bars: the others have no operation for it.
      Measure it yourself with <code translate="no">npm run bench:peers</code>.
    </p>`;
}
