// Pictures that are exported from the Explore room, without a page: what of a long text is drawn, and what is said of the rest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPLORE_DEFAULTS } from '../web/page/explore/address.js';
import { makeExport } from '../web/page/explore/export/choices.js';
import { gridDrawing } from '../web/page/explore/export/grid-drawing.js';
import { linesDrawing } from '../web/page/explore/export/lines-drawing.js';
import { mapDrawing } from '../web/page/explore/export/map-drawing.js';
import { turned } from '../web/page/explore/export/right-to-left.js';
import { fitting, wrapped } from '../web/page/explore/export/svg.js';
import { textDrawing } from '../web/page/explore/export/text-drawing.js';

/** @import { Seen } from '../web/page/explore/export/settings.js' */

// Without a context a letter is 0.6 of its font wide.
const canvas = () => ({ width: 0, height: 0, getContext: () => null, toDataURL: () => 'data:,' });
Object.assign(globalThis, {
  document: { createElement: canvas },
  matchMedia: () => ({ matches: false }),
});

const palette = {
  ...{ ground: '#ffffff', ink: '#111111', soft: '#222222', line: '#333333', accent: '#aaaa00' },
  ...{ wash: '#444444', mask: '#555555', maskLine: '#666666' },
  pins: ['#000001', '#000002', '#000003', '#000004', '#000005', '#000006'],
};

/**
 * Two layers of two heads that look half at the token itself, and half at the first.
 *
 * @param {Partial<Seen['state']>} state
 * @param {number} n
 * @param {Partial<Seen>} [more]
 * @returns {Seen}
 */
function seenOf(state, n, more) {
  const row = (/** @type {number} */ at) => {
    const weights = new Float32Array(n);
    weights[0] = 0.5;
    weights[at] += 0.5;
    return weights;
  };
  /** The whole map has larger weights than a part of it, and layer 1 than layer 0. */
  const cells = (/** @type {any} */ what, /** @type {any} */ { height, width, queries }) => {
    const weight =
      (queries[1] - queries[0] === n ? 0.75 : 0.5) * (what.layer === 1 && !what.minus ? 1 : 0.5);
    const values = new Float32Array(height * width).fill(weight);
    return { values, largest: new Float32Array(height).fill(weight) };
  };
  const session = {
    row: async (/** @type {unknown} */ _, /** @type {number} */ query) => row(query),
    line: async (/** @type {unknown} */ _, /** @type {{ token: number }} */ { token }) =>
      row(token),
    region: async (/** @type {any} */ ...[, what, region]) => cells(what, region),
    thumbs: async (/** @type {number} */ _, /** @type {number} */ size) => ({
      size,
      maps: [0, 1].map(() => new Float32Array(size * size).fill(0.25)),
    }),
  };
  const tokens = Array.from({ length: n }, (_, i) => ({ id: i, text: `t${i}` }));
  const run = { n, layers: 2, heads: 2, causal: true, tokens, muted: [] };
  const order = [0, 1].flatMap((layer) => [0, 1].map((head) => ({ layer, head })));
  return /** @type {any} */ ({
    state: { ...EXPLORE_DEFAULTS, layer: 1, head: 0, pins: [], scale: 'unit', ...state },
    ...{ run, session, order, source: 'A model', measure: 'none', ...more },
  });
}

const query = (/** @type {number} */ token) => ({ side: /** @type {const} */ ('query'), token });
const key = (/** @type {number} */ token) => ({ side: /** @type {const} */ ('key'), token });

/** @param {string} svg @param {RegExp} what */
const count = (svg, what) => svg.match(what)?.length ?? 0;

test('of a long text the lines around the last pin are drawn, and those that lead beyond are counted', async () => {
  for (const [pins, words] of /** @type {const} */ ([
    [[query(5), query(100)], 'Tokens 41 to 160 of 200; 1 line to a token beyond is left out.'],
    [[query(10)], 'Tokens 1 to 120 of 200; 0 lines to tokens beyond are left out.'],
    [[query(190)], 'Tokens 81 to 200 of 200; 1 line to a token beyond is left out.'],
    [[], 'Tokens 81 to 200 of 200; 120 lines to tokens beyond are left out.'],
  ])) {
    const { note, content } = await linesDrawing(seenOf({ pins: [...pins] }, 200), palette);
    assert.ok(note?.endsWith(words), note);
    assert.equal(count(content, /text-anchor="end"[^>]*>t\d/g), 120);
  }
  const { note } = await linesDrawing(seenOf({}, 120), palette);
  assert.doesNotMatch(note ?? '', /Tokens/);
});

test('only lines of pinned tokens are drawn, on both sides, and the note says what they are', async () => {
  const drawn = async (/** @type {Seen['state']['pins']} */ pins, topP = 1) => {
    const { content, note } = await linesDrawing(seenOf({ pins, topP }, 10), palette);
    const bold = content.match(/font-weight="bold" fill="#\w+"[^>]*>t\d/g) ?? [];
    return [count(content, /<path/g), bold.length, note];
  };
  const all = 'A row’s lines carry at least 100 % of it; less than 0.1 % is not shown.';
  assert.deepEqual(await drawn([]), [19, 0, all]);
  assert.deepEqual(await drawn([query(4)]), [2, 1, all]);
  const toKey = 'Only lines to the chosen key, of those that carry at least 100 % of a row.';
  assert.deepEqual(await drawn([key(4)]), [1, 1, toKey]);
  assert.deepEqual(await drawn([key(0), query(4)]), [11, 2, all]);
  const whole = 'A row’s lines carry at least 50 % of it; less than 0.1 % is not shown.';
  assert.deepEqual(await drawn([query(0)], 0.5), [1, 1, whole]);
  const half = 'A row’s lines carry at least 50 % of it; up to 50.0 % is not shown.';
  assert.deepEqual(await drawn([query(4)], 0.5), [1, 1, half]);
});

test('names of heads whose lines are drawn go on below, where there is no more room', async () => {
  const overlay = Array.from({ length: 12 }, (_, head) => ({ layer: 0, head }));
  const { content, height } = await linesDrawing(seenOf({ overlay }, 4), palette);
  const places = [...content.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="10"/g)];
  assert.deepEqual([...new Set(places.map(([, , y]) => Number(y)))], [0, 22]);
  assert.ok(places.every(([, x]) => Number(x) <= 640 - 62));
  const alone = await linesDrawing(seenOf({}, 4), palette);
  assert.equal(height - alone.height, 44);
});

test('the grid’s picture says what its numbers are, and which head is chosen, muted or pooled', async () => {
  const values = [0.5, 1, NaN, 2];
  const measured = { measure: 'entropy', values };
  const muted = [{ layer: 0, head: 1 }];
  const grid = await gridDrawing(seenOf({ muted }, 20, measured), palette);
  const labels = [...grid.content.matchAll(/>(L\dH\d[^<]*)</g)].map(([, words]) => words);
  assert.deepEqual(labels, ['L0H0  0.50', 'L0H1  1.00  muted', 'L1H0', 'L1H1  2.00']);
  assert.equal(grid.note, 'Numbers: entropy, in bits. ');
  const chosen = [...grid.content.matchAll(/<rect x="(-?\d+)" y="(-?\d+)"[^>]*stroke="#aaaa00"/g)];
  assert.deepEqual(
    chosen.map(([, ...place]) => place.map(Number)),
    [[-2, 98]],
  );
  const sorted = await gridDrawing(seenOf({ sort: 'entropy' }, 20, measured), palette);
  assert.match(sorted.note ?? '', /^Sorted by: entropy/);
  const order = [{ layer: 1, head: 1 }];
  const one = await gridDrawing(seenOf({ sort: 'entropy' }, 20, { ...measured, order }), palette);
  assert.deepEqual(
    [grid, sorted, one].map(({ width, height }) => [width, height]),
    [
      [164, 200],
      [246, 200],
      [82, 100],
    ],
  );
  const { note } = await gridDrawing(seenOf({}, 145), palette);
  assert.equal(note, 'Pooled: each cell shows the largest of the weights it covers.');
});

test('a picture of a part of a map says which, and has the pins that are in it', async () => {
  const view = { query: 4.5, key: 2, span: 6.2 };
  const pins = [query(4), query(11), query(10), key(1), key(2)];
  const { drawing, largest } = await mapDrawing(seenOf({ view, pins }, 20), palette);
  assert.equal(largest, 0.75, 'of the whole map');
  assert.equal(drawing.note, 'Queries 5 to 11, keys 3 to 9 of 20.');
  const stroked = [...drawing.content.matchAll(/stroke="(#00000\d)"/g)].map(([, pin]) => pin);
  assert.deepEqual(stroked, ['#000001', '#000003', '#000005']);
  const whole = await mapDrawing(seenOf({}, 20), palette);
  assert.deepEqual([whole.drawing.note, whole.largest], ['', 0.75]);
  const long = await mapDrawing(seenOf({}, 1025), palette);
  assert.match(long.drawing.note ?? '', /^Pooled: /);
  assert.ok(long.drawing.width < 1100, `${long.drawing.width}`);
});

test('maps that are compared stand side by side with their titles, and the first is the legend’s', async () => {
  const titles = ({ content = '' }) =>
    [...content.matchAll(/<text[^>]*font-weight="600"[^>]*>([^<]+)</g)].map(([, title]) => title);
  const alone = await mapDrawing(seenOf({}, 20), palette);
  assert.deepEqual(titles(alone.drawing), []);
  const { drawing, largest } = await mapDrawing(
    seenOf({ other: { layer: 0, head: 1 } }, 20),
    palette,
  );
  assert.deepEqual(titles(drawing), ['Head L1H0', 'Head L0H1', 'Difference, L1H0 − L0H1']);
  assert.equal(largest, 0.75);
  const places = [...drawing.content.matchAll(/<image x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)];
  const [, x, side] = places.at(-1) ?? [];
  assert.equal(Math.round(Number(x) + Number(side)), Math.round(drawing.width));
});

test('the text’s picture has a mark at the last pin, and a line for each newline', async () => {
  const seen = seenOf({ pins: [query(1), query(2)] }, 5);
  const texts = ['␣', 'a↵', '␣b', 'c', '␣'];
  const tokens = texts.map((text, id) => ({ id, text }));
  const { title, drawing, legend } = await textDrawing(
    { ...seen, run: { ...seen.run, tokens } },
    palette,
  );
  assert.equal(title, 'Head L1H0: what “␣b” (3) attends to');
  const words = [...drawing.content.matchAll(/<text[^>]* x="([\d.]+)" y="(\d+)"[^>]*>([^<]+)</g)];
  assert.deepEqual(
    words.map(([, x, y, text]) => [Number(x), Number(y), text]),
    [
      [0.5, 16, '␣'],
      [10.5, 16, 'a↵'],
      [0.5, 43, 'b'],
      [10.5, 43, 'c'],
      [20.5, 43, '␣'],
    ],
  );
  assert.match(drawing.content, /<rect x="0" y="47" width="10" height="2" fill="#000002"\/>/);
  assert.deepEqual([drawing.height, legend.max], [54, 0.5]);
  const opacities = [...drawing.content.matchAll(/fill-opacity="([\d.]+)"/g)];
  assert.deepEqual(
    opacities.map(([, share]) => Number(share)),
    [0.45, 0, 0.45, 0, 0],
  );
  const last = await textDrawing(seenOf({}, 4), palette);
  assert.match(last.title, /what “t3” \(4\) attends to/);
  const long = await textDrawing(seenOf({}, 200), palette);
  const boxes = [...long.drawing.content.matchAll(/<rect x="([\d.]+)" y="\d+" width="(\d+)"/g)];
  assert.ok(boxes.every(([, x, width]) => Number(x) + Number(width) <= 680));
});

test('words that have no room are cut to what fits, a letter at least, and lines are filled', () => {
  assert.equal(fitting('abcdef', 10, 36), 'abcdef');
  assert.equal(fitting('abcdef', 10, 35), 'abcd…');
  assert.equal(fitting('abcdef', 10, 1), 'a…');
  assert.deepEqual(wrapped('ab cd ef', 10, 30), ['ab cd', 'ef']);
});

test('a picture’s file is named after what it shows, within bounds', async () => {
  const name = async (/** @type {string} */ what, /** @type {Partial<Seen>} */ more = {}) =>
    (await makeExport(what, 'svg', seenOf({}, 4, more), palette)).name;
  assert.equal(await name('map'), 'a-model-head-l1h0.svg');
  assert.equal(await name('grid'), 'a-model-all-heads.svg');
  assert.equal(await name('lines'), 'a-model-head-l1h0-lines.svg');
  assert.equal(
    await name('text', { source: 'My (own) model!' }),
    'my-own-model-head-l1h0-text.svg',
  );
  assert.equal(await name('map', { source: '模型' }), 'head-l1h0.svg');
  assert.equal(await name('map', { source: 'x'.repeat(200) }), `${'x'.repeat(60)}-head-l1h0.svg`);
});

test('a picture has the title, the caption and the width that are wished for', async () => {
  const svgOf = async (/** @type {object} */ wish, ground = '#ffffff') => {
    const all = { title: '', caption: '', width: 0, font: 0, ...wish };
    const colours = { ...palette, ground };
    return (await makeExport('text', 'svg', seenOf({}, 4), colours, all)).blob.text();
  };
  const plain = await svgOf({});
  assert.match(plain, /<title>Head L1H0: what “t3” \(4\) attends to<\/title>/);
  assert.match(plain, />A model: 4 tokens, 2 × 2 heads, causal; Headwise/);
  assert.match(
    plain,
    /<stop offset="0%" stop-color="#ffffff"\/><stop offset="100%" stop-color="#d9d98c"\/>/,
  );
  const own = await svgOf({ title: 'Mine', caption: 'Figure 3', width: 364 });
  assert.match(own, /<title>Mine<\/title><desc>Figure 3<\/desc>/);
  assert.match(own, /width="364" height="\d+" viewBox="0 0 728 /);
  assert.doesNotMatch(own, />A model: /);
  const dark = await svgOf({}, '#000000');
  assert.match(dark, /stop-color="#000000"\/><stop offset="100%" stop-color="#4d4d00"\/>/);
});

test('below a map stand what its colours mean, what the picture leaves out, and the settings', async () => {
  const svgOf = async (/** @type {Partial<Seen['state']>} */ state, width = 0) => {
    const wish = { title: '', caption: '', width, font: 0 };
    return (await makeExport('map', 'svg', seenOf(state, 20), palette, wish)).blob.text();
  };
  const part = await svgOf({ view: { query: 4, key: 2, span: 6 } });
  const texts = [...part.matchAll(/<text[^>]*>([^<]+)</g)].map(([, words]) => words);
  for (const words of ['weight', '0', '1', 'masked: a later token']) {
    assert.ok(texts.includes(words), words);
  }
  assert.equal(texts.at(-2), 'Queries 5 to 10, keys 3 to 8 of 20.');
  assert.match(texts.at(-1) ?? '', /^A model: 20 tokens/);
  const narrow = await svgOf({}, 300);
  assert.match(narrow, /<svg[^>]* width="300"/);
  assert.doesNotMatch(narrow, /NaN|Infinity/);
});

test('in a drawn line words of Hebrew and Arabic stand from the right, side by side', () => {
  const placed = [
    { words: 'a', x: 0, y: 0, width: 10 },
    { words: 'שלום', x: 15, y: 0, width: 40 },
    { words: 'עולם', x: 60, y: 0, width: 20 },
    { words: 'b', x: 85, y: 0, width: 10 },
    { words: 'مرحبا', x: 100, y: 0, width: 30 },
    { words: 'שוב', x: 0, y: 27, width: 30 },
  ];
  assert.deepEqual(
    turned(placed).map(({ x }) => x),
    [0, 40, 15, 85, 100, 0],
  );
  assert.deepEqual(turned([]), []);
});
