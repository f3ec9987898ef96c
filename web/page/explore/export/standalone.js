/**
 * The script of a saved page: the maps that are in it, drawn by the same element as everywhere. Bundled as text; it asks
 * for nothing and works from a disk.
 *
 * @typedef {object} SavedMap
 * @property {string} title
 * @property {string} weights float32, little endian, in base64
 *
 * @typedef {object} Saved
 * @property {string} title
 * @property {string} words
 * @property {Record<string, unknown>} settings
 * @property {string[]} tokens
 * @property {readonly { side: 'query' | 'key', token: number, colour?: string }[]} pins
 * @property {boolean} causal
 * @property {string} scale
 * @property {SavedMap[]} maps
 */

import { AttentionMap, gradient } from '../../../headwise/view.js';
import { el } from '../../../headwise/view/element.js';
import { formatWeight } from '../../../headwise/view/format.js';
import { largestOf } from '../../../headwise/view/paint.js';
import { SPACE } from '../../shared/signs.js';
import pinColours from '../../style/pins.css?raw';

/** @type {Record<string, { words: string, how: { max: 1 | 'row' | 'map', scale?: 'log' }, start: string, end: string }>} */
const SCALES = {
  unit: { words: '0 to 1', how: { max: 1 }, start: '0', end: '1' },
  row: {
    words: '0 to each row’s largest',
    how: { max: 'row' },
    start: '0',
    end: 'the row’s largest',
  },
  head: {
    words: '0 to the map’s largest',
    how: { max: 'map' },
    start: '0',
    end: 'the map’s largest',
  },
  log: {
    words: 'logarithmic',
    how: { max: 1, scale: 'log' },
    start: '10⁻⁴ or less',
    end: '1',
  },
};

const sheet = new CSSStyleSheet();
sheet.replaceSync(`${pinColours}
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 .5rem; }
h2 { font-size: 1rem; margin: 0 0 .3rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.maps { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.5rem; }
.maps > * { max-width: 40rem; }
.legend { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: 0 0 1rem; font-size: .875rem; }
.bar { width: 10rem; height: .6rem; forced-color-adjust: none; }
summary { cursor: pointer; }
.text span { border-bottom: 1px solid GrayText; padding: .15rem; cursor: pointer; forced-color-adjust: none; }
.text { --pin: var(--pin-0); }
.text [aria-pressed='true'] { outline: 2px solid var(--pin); }
pre { overflow-x: auto; font-size: .8rem; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section { break-inside: avoid; }
}
`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** @param {string} base64 */
function floatsOf(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

/** Below it two decimals are 0. */
const LEAST_TOLD = 0.005;

/** A token in a sentence, which no browser translates. @param {string} token */
const quoted = (token) => ['“', el('span', { translate: 'no' }, token), '”'];

/** What a pinned token attends to most, or what attends to it. @param {string[]} tokens @param {Saved['pins'][number]} pin @param {number[]} line its weights */
function told(tokens, pin, line) {
  const best = line.map((weight, i) => ({ weight, i })).sort((a, b) => b.weight - a.weight);
  const list = best
    .slice(0, 3)
    .filter(({ weight }) => weight >= LEAST_TOLD)
    .flatMap(({ weight, i }, at) => [
      at > 0 ? ', ' : '',
      ...quoted(tokens[i]),
      ` ${weight.toFixed(2)}`,
    ]);
  const verb = pin.side === 'key' ? ' is attended to by ' : ' attends to ';
  const others = list.length > 0 ? list : ['nothing much'];
  return [...quoted(tokens[pin.token]), verb, ...others, '.'];
}

/**
 * The text, whose tokens are pinned by a click, and tinted by what the pinned one attends to in the first map.
 *
 * @param {string[]} tokens
 * @param {Saved['pins']} first what is pinned at first
 * @param {{ element: AttentionMap, weights: { data: Float32Array } }[]} maps
 */
function textOf(tokens, first, maps) {
  const note = el('p', { class: 'note', role: 'status' });
  // No buttons: these would stand from left to right whatever the script.
  const buttons = tokens.map((token) => el('span', { role: 'button', tabindex: 0 }, token));
  const n = tokens.length;
  const mark = (/** @type {Saved['pins']} */ pins) => {
    for (const { element } of maps) element.pins = pins;
    const pin = pins.at(-1);
    const { data } = maps[0].weights;
    const line = tokens.map((_, i) => {
      if (!pin) return 0;
      return pin.side === 'query' ? data[pin.token * n + i] : data[i * n + pin.token];
    });
    const most = Math.max(...line.map(Math.abs));
    buttons.forEach((button, i) => {
      const share = most > 0 ? Math.abs(line[i]) / most : 0;
      button.style.background = `color-mix(in srgb, ${pin?.colour ?? 'var(--pin-0)'} ${Math.round(45 * share)}%, transparent)`;
      const own = pins.findLast(({ token }) => token === i);
      button.setAttribute('aria-pressed', String(own !== undefined));
      button.style.setProperty('--pin', own?.colour ?? null);
    });
    note.replaceChildren(...(pin ? told(tokens, pin, line) : ['Choose a token.']));
  };
  let now = first;
  const pin = (/** @type {'query' | 'key'} */ side, /** @type {number} */ token) => {
    const isSame = now.length === 1 && now[0].side === side && now[0].token === token;
    now = isSame ? [] : [{ side, token }];
    mark(now);
  };
  buttons.forEach((button, i) => {
    button.addEventListener('click', () => pin('query', i));
    button.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      pin('query', i);
    });
  });
  for (const { element } of maps) {
    element.addEventListener('pin', ({ detail }) => pin('query', detail));
    element.addEventListener('pin-key', ({ detail }) => pin('key', detail));
  }
  mark(now);
  // A line ends before a word: nothing else says where, as spaces are signs.
  const words = buttons.flatMap((button, i) =>
    tokens[i].startsWith(SPACE) ? [el('wbr'), button] : [button],
  );
  return [el('p', { class: 'text', translate: 'no', dir: 'auto' }, ...words), note];
}

/** The colours of a scale, between the weights that they stand for. */
function scaleKey() {
  const start = el('span', { class: 'start' });
  const bar = el('span', { class: 'bar' });
  const end = el('span', { class: 'end' });
  bar.style.backgroundImage = gradient();
  return {
    parts: [start, bar, end],
    /** @param {string} least @param {string} most */
    show(least, most) {
      start.textContent = `weight ${least}`;
      end.textContent = most;
    },
  };
}

/** @param {Saved} saved */
function show({ title, words, settings, tokens, pins, causal, scale, maps }) {
  const shown = maps.map((map) => ({
    ...map,
    weights: { shape: [tokens.length, tokens.length], data: floatsOf(map.weights) },
    element: new AttentionMap(),
  }));
  const select = el(
    'select',
    { id: 'scale' },
    ...Object.entries(SCALES).map(([value, one]) => el('option', { value }, one.words)),
  );
  select.value = scale in SCALES ? scale : 'unit';
  const key = scaleKey();
  const draw = () => {
    const { how, start, end } = SCALES[select.value];
    const isOne = how.max === 'map' && shown.length === 1;
    key.show(start, isOne ? formatWeight(largestOf(shown[0].weights.data)) : end);
    for (const { element, weights, title: name } of shown) {
      element.show({ weights, tokens, causal, ...how, name });
    }
  };
  const text = textOf(tokens, pins, shown);
  select.addEventListener('change', draw);
  document.title = title;
  document.body.replaceChildren(
    el(
      'main',
      {},
      el('h1', {}, title),
      el('p', {}, words),
      ...text,
      el(
        'p',
        { class: 'legend' },
        el('label', { for: 'scale' }, 'Colour scale'),
        select,
        ...key.parts,
        causal ? el('span', {}, 'hatched: masked, a later token') : '',
      ),
      el(
        'div',
        { class: 'maps' },
        ...shown.map(({ element, title: name }) =>
          el('section', { 'aria-label': name }, el('h2', {}, name), element),
        ),
      ),
      el(
        'details',
        {},
        el('summary', {}, 'Settings'),
        el('pre', { tabindex: 0, translate: 'no' }, JSON.stringify(settings, null, 2)),
      ),
    ),
  );
  draw();
}

show(JSON.parse(document.getElementById('saved')?.textContent ?? ''));
