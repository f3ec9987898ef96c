// Exporting from the Explore room: what can be checked without a page.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { load } from 'headwise';
import { readNpy } from 'headwise/formats';
import { EXPLORE_DEFAULTS } from '../web/page/explore/address.js';
import { makeExport, mapTitle } from '../web/page/explore/export/choices.js';
import { allNpy, mapJson, mapNpy, rowInJson } from '../web/page/explore/export/numbers.js';
import { base64Of, pageOf } from '../web/page/explore/export/page.js';
import { pngOf } from '../web/page/explore/export/raster.js';
import { settingsInWords, settingsOf } from '../web/page/explore/export/settings.js';
import { escaped, tag } from '../web/page/explore/export/svg.js';
import { legendsOf } from '../web/page/explore/legend.js';
import { mapsOf } from '../web/page/explore/maps.js';
import { readLabels } from '../web/page/explore/open/labels.js';
import { rowsOf } from '../web/page/explore/worker/rows.js';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { data } from './helpers.js';

const [LAYERS, HEADS, N] = [2, 3, 150];

/** @import { Seen } from '../web/page/explore/export/settings.js' */

/** @param {Partial<Seen['state']>} [state] @param {number} [n] @returns {Promise<Seen & { all: Float32Array }>} */
async function makeSeen(state = {}, n = N) {
  const hw = await load();
  const { weights } = hw.scaledDotProductAttention(
    data(1, [LAYERS, HEADS, n, 4], 3),
    data(2, [LAYERS, HEADS, n, 4], 3),
    data(3, [LAYERS, HEADS, n, 1]),
    { needWeights: true, isCausal: true },
  );
  const all = /** @type {Float32Array} */ (weights?.data);
  const source = {
    n,
    layers: LAYERS,
    heads: HEADS,
    causal: true,
    rows: (/** @type {number[]} */ ...[layer, head, start, end]) => {
      const at = (layer * HEADS + head) * n;
      return all.slice((at + start) * n, (at + end) * n);
    },
  };
  const tokens = Array.from({ length: n }, (_, i) => ({ id: i, text: `<t${i}>` }));
  /** @type {(what: any, start: number, end: number) => Promise<Float32Array>} */
  const rows = async (what, start, end) =>
    (await rowsOf(source, what, () => assert.fail('no rollout')))(start, end);
  const seen = {
    state: { ...EXPLORE_DEFAULTS, layer: 1, head: 2, ...state },
    run: {
      n,
      layers: LAYERS,
      heads: HEADS,
      causal: true,
      tokens,
      ids: tokens.map(({ id }) => id),
      muted: [],
    },
    session: { rows },
    source: 'A model',
    order: [],
    all,
  };
  return /** @type {any} */ (seen);
}

test('a head as .npy is the head’s weights, bit for bit', async () => {
  const seen = await makeSeen();
  const { shape, data: values } = await readNpy(await mapNpy(seen));
  assert.deepEqual(shape, [N, N]);
  assert.deepEqual(values, seen.all.slice(5 * N * N));
});

test('all heads as .npy are all weights, whatever is hidden', async () => {
  const seen = await makeSeen({ hideFirst: true });
  const { shape, data: values } = await readNpy(await allNpy(seen));
  assert.deepEqual(shape, [LAYERS, HEADS, N, N]);
  assert.deepEqual(values, seen.all);
});

test('JSON has the same weights, with tokens and settings', async () => {
  const seen = await makeSeen({ scale: 'log', pins: [{ side: 'key', token: 3 }] });
  const read = JSON.parse(await (await mapJson(seen)).text());
  assert.deepEqual(read.shape, [N, N]);
  assert.deepEqual(Float32Array.from(read.weights.flat()), seen.all.slice(5 * N * N));
  assert.equal(read.weights.length, N);
  assert.equal(read.tokens[7], '<t7>');
  assert.equal(read.texts[7], '<t7>');
  assert.equal(read.settings.scale, 'log');
  assert.equal(read.settings.head, 'L1H2');
  assert.deepEqual(read.settings.pins, [{ side: 'key', token: 4 }]);
});

test('JSON has each token’s own text beside what is shown of it', async () => {
  const seen = await makeSeen();
  const vocab = { Ċ: 0, Ġa: 1, âĨµ: 2, â: 3, Ġ: 4, b: 5 };
  const [pre_tokenizer, decoder] = [{ type: 'ByteLevel' }, { type: 'ByteLevel' }];
  const rest = { ...{ added_tokens: [], normalizer: null, post_processor: null }, pre_tokenizer };
  const model = { type: 'BPE', vocab, merges: [] };
  const { token } = readTokenizer({ version: '1.0', ...rest, decoder, model });
  const own = { name: 'tokens.json', text: '["\\n", "Ġ", "▁c"]' };
  const tokens = [...[0, 1, 2, 3, 4, 5].map(token), ...readLabels(own, 3)];
  const run = { ...seen.run, tokens };
  const read = JSON.parse(await (await mapJson({ ...seen, run })).text());
  assert.deepEqual(read.tokens, ['↵', '␣a', '↵', '‹e2›', '␣', 'b', '↵', '␣', '␣c']);
  assert.deepEqual(read.texts, ['\n', ' a', '↵', null, ' ', 'b', '\n', ' ', ' c']);
});

test('numbers are named after the one map that they are of', async () => {
  const compared = await makeSeen({ other: { layer: 0, head: 1 } });
  const palette = /** @type {any} */ ({});
  for (const format of /** @type {const} */ (['npy', 'json'])) {
    const { name } = await makeExport('numbers', format, compared, palette);
    assert.equal(name, `a-model-head-l1h2.${format}`);
  }
  const read = JSON.parse(await (await mapJson(compared)).text());
  assert.equal(read.settings.with, null);
  assert.equal(settingsOf(compared).with, 'L0H1');
  const before = await makeSeen({ before: true });
  assert.equal(settingsOf(before).with, 'itself before muting');
});

test('maps and figures of two heads name what is drawn of each', () => {
  const heads = { layer: 1, head: 1, other: { layer: 0, head: 0 } };
  const titles = (/** @type {Partial<Seen['state']>} */ part) => {
    const state = { ...EXPLORE_DEFAULTS, ...heads, ...part };
    return [mapsOf(state)[1].title, mapTitle({ state })];
  };
  assert.deepEqual(titles({}), ['Head L0H0', 'Head L1H1 and head L0H0']);
  assert.deepEqual(titles({ of: 'norms' }), [
    'Head L0H0 by value norms',
    'Head L1H1 by value norms and head L0H0 by value norms',
  ]);
  // What is kept is a head, also beside a map of several.
  assert.deepEqual(titles({ of: 'mean' }), ['Head L0H0', 'Mean of layer 1’s heads and head L0H0']);
  assert.deepEqual(titles({ other: null, before: true }), [
    'Head L1H1, before muting',
    'Head L1H1, after and before muting',
  ]);
});

test('a legend’s end is the scale’s', () => {
  const map = { largest: 0.31, causal: true };
  const state = { ...EXPLORE_DEFAULTS, scale: /** @type {const} */ ('head') };
  assert.equal(legendsOf(state, map)[0].max, 0.31);
  const [weights] = legendsOf({ ...state, other: { layer: 1, head: 1 } }, map);
  assert.equal(weights.end, 'its largest');
});

test('numbers in JSON are the shortest that give the float32 back, and NaN is null', () => {
  const row = Float32Array.from([0, 1, 0.1, 1 / 3, 1e-30, 3.4e38, 1e-45, 0.7310586]);
  const text = rowInJson(row);
  assert.deepEqual(Float32Array.from(JSON.parse(text)), row);
  assert.match(text, /^\[0,1,0\.1,0\.33333334,/);
  assert.equal(rowInJson(Float32Array.of(NaN, Infinity)), '[null,null]');
});

test('files that would be too large are refused with their size', async () => {
  const seen = await makeSeen();
  const large = { ...seen, run: { ...seen.run, n: 5000 } };
  await assert.rejects(mapJson(large), /5,000 tokens; as JSON or HTML at most 4,096/);
  await assert.rejects(allNpy(large), /572\.2 MiB, and this page writes at most 512\.0 MiB/);
});

test('settings are in words and in data, and count as the page does', async () => {
  const seen = await makeSeen({
    pins: [{ side: 'query', token: 0 }],
    view: { query: 3, key: 0, span: 20 },
    hideFirst: true,
  });
  assert.equal(
    settingsInWords(seen),
    'A model: 150 tokens, 2 × 3 heads, causal; pinned: query “<t0>” (1); the first token hidden, the rest made to sum to 1; Headwise 0.1.0.',
  );
  const settings = settingsOf(seen);
  assert.deepEqual(settings.view, { query: 4, key: 1, span: 20 });
  assert.equal(settings.map, 'Head L1H2');
});

test('muted are the heads without which the text was read', async () => {
  const [asked, read] = [
    { layer: 0, head: 0 },
    { layer: 1, head: 1 },
  ];
  const seen = await makeSeen({ muted: [asked] });
  seen.run = { ...seen.run, muted: [read] };
  assert.match(settingsInWords(seen), /; muted: L1H1;/);
  assert.deepEqual(settingsOf(seen).muted, ['L1H1']);
});

test('SVG is well-formed whatever a token is', () => {
  assert.equal(escaped('a<b>&"c"'), 'a&lt;b&gt;&amp;&quot;c&quot;');
  assert.equal(escaped('\0x\x1b\ud800y\ud83d\ude00\uffff\t\n'), '\ufffdx\ufffd\ufffdy😀\ufffd\t\n');
  assert.equal(
    tag('rect', { x: 1 / 3, fill: 'url("#a")' }),
    '<rect x="0.33" fill="url(&quot;#a&quot;)"/>',
  );
});

test('the weights of a long text are in a saved page to the last bit', () => {
  for (const n of [1, 64, 79, 200]) {
    const weights = Float32Array.from({ length: n * n }, (_, i) => Math.sin(i));
    const bytes = Buffer.from(base64Of(weights), 'base64');
    assert.deepEqual(new Float32Array(Uint8Array.from(bytes).buffer), weights, `${n} tokens`);
  }
});

test('a saved page lets its own script run and nothing else, whatever the tokens say', () => {
  const code = 'alert(1)';
  const hash = `sha256-${createHash('sha256').update(code).digest('base64')}`;
  const tokens = ['</script><script>alert(2)</script>', '<!--', '"', '\u2028'];
  const saved = {
    title: '<i>',
    words: '&',
    settings: {},
    tokens,
    causal: true,
    scale: 'unit',
    maps: [],
    pins: [],
  };
  const html = pageOf(saved, { code, hash }).join('');
  assert.deepEqual([...html.matchAll(/<script/g)].length, 2);
  assert.match(
    html,
    new RegExp(`content="default-src 'none'; script-src '${hash.replaceAll('+', '\\+')}'"`),
  );
  assert.ok(html.includes(`<script>${code}</script>`));
  assert.match(html, /<title>&lt;i&gt;<\/title>/);
  const [, json] = /id="saved">([^]*)<\/script>\n<script>/.exec(html) ?? [];
  assert.deepEqual(JSON.parse(json), saved);
});

/** Draws as a browser does. @param {Blob | null} blob what its canvas gives @param {{ width: number, height: number }} size */
async function rasterized(blob, size) {
  const { createObjectURL, revokeObjectURL } = URL;
  /** @type {any} */
  const canvas = {
    getContext: () => ({ drawImage: (/** @type {any[]} */ ...drawn) => (canvas.drawn = drawn) }),
    toBlob: (/** @type {(blob: Blob | null) => void} */ give, /** @type {string} */ type) =>
      give(type === 'image/png' ? blob : new Blob()),
  };
  /** @type {string[]} */
  const left = [];
  class Image {
    src = '';
    async decode() {
      assert.deepEqual([this.src], left);
    }
  }
  Object.assign(globalThis, { Image, document: { createElement: () => canvas } });
  URL.createObjectURL = (/** @type {any} */ { type }) => `${left.push(type) && type}`;
  URL.revokeObjectURL = (address) => void left.splice(left.indexOf(address), 1);
  try {
    const png = await pngOf({ svg: '<svg/>', ...size }).catch((error) => error);
    assert.deepEqual(left, [], 'the address of the SVG is given back');
    const { width, height, drawn } = canvas;
    assert.deepEqual(drawn.slice(1), [0, 0, width, height]);
    return { png, width, height };
  } finally {
    Object.assign(URL, { createObjectURL, revokeObjectURL });
    for (const name of ['Image', 'document']) Reflect.deleteProperty(globalThis, name);
  }
}

test('a PNG has twice the SVG’s size, or less where a canvas takes no more', async () => {
  const blob = new Blob(['png']);
  const sizes = [
    ...[
      [100, 50.3, 200, 100],
      [10_000, 100, 16_384, 163],
      [100, 20_000, 81, 16_384],
    ],
    ...[
      [5000, 4000, 8660, 6928],
      [40_000, 40_000, 7745, 7745],
    ],
  ];
  for (const [width, height, ...pixels] of sizes) {
    const drawn = await rasterized(blob, { width, height });
    assert.deepEqual([drawn.width, drawn.height], pixels, `${width} × ${height}`);
    assert.equal(drawn.png, blob);
    assert.ok(drawn.width * drawn.height <= 6e7);
  }
});

test('a picture of which a canvas makes no PNG is an error that names SVG', async () => {
  const { png } = await rasterized(null, { width: 100, height: 100 });
  assert.match(png.message, /too large for PNG; save it as SVG/);
});
