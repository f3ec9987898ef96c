// The report of a prediction: one HTML file without scripts, whose numbers are exact.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPLORE_DEFAULTS } from '../web/page/explore/address.js';
import { gather } from '../web/page/explore/export/report/gather.js';
import { reportPage } from '../web/page/explore/export/report/page.js';
import { OPENED } from '../web/page/explore/models.js';
import { partsOf } from '../web/page/explore/why/sum.js';

/** @import { Report } from '../web/page/explore/export/report/gather.js' */

const HOSTILE = '</script><script>alert(1)</script>';

/** @type {Report} */
const report = {
  title: 'Why “b”?',
  caption: '',
  address: 'https://headwise.example/#explore?mode=why&text=a%20b',
  leftOut: [],
  isOpened: false,
  settings: [['Model', HOSTILE]],
  tokens: [
    { text: 'a', isAsked: false },
    { text: HOSTILE, isAsked: true },
  ],
  next: {
    after: HOSTILE,
    hasMuted: true,
    rows: [
      { text: 'b', id: 7, before: 0.75, after: 0.5, is: 'target' },
      { text: 'c', id: 8, before: 0.25, after: 0.125, is: 'against' },
    ],
  },
  sum: {
    name: '“b” − “c”',
    parts: partsOf({ heads: [1, -2, 3, 4], mlps: [0.5, -0.25], embedding: 0.125, biases: 1 / 3 }),
    total: 6.7083333,
  },
  score: {
    head: 'L1H0',
    ...{ query: { text: HOSTILE, at: 2 }, key: { text: HOSTILE, at: 1 }, score: 2.5 },
    atQuery: [
      { name: 'L0H1', value: 3 },
      { name: 'Embedding', value: -0.5 },
    ],
    atKey: [{ name: 'Biases', value: 2.5 }],
    pairs: [
      { name: 'L0H1 · Embedding', value: 2.25 },
      { name: '3 smaller', value: 0.25 },
    ],
  },
  lens: {
    target: 'b',
    rows: [
      { after: 'embedding', likeliest: HOSTILE, most: 0.5, rank: 12, share: 0.01 },
      { after: 'L0', likeliest: 'b', most: 0.75, rank: 1, share: 0.75 },
    ],
  },
  grids: [
    {
      ...{ title: 'Attribution of each head', words: 'What it writes.', layers: 2 },
      ...{ columns: ['H0', 'H1'], values: [1, -2, 3, 4], chosen: { layer: 1, column: 0 } },
    },
    {
      ...{ title: 'Ablation of each head', words: 'What is lost.', layers: 2 },
      ...{ columns: ['H0', 'H1'], values: [-1, 2, 0, 0.00001] },
    },
  ],
  map: {
    title: 'Head L1H0',
    svg: '<svg role="img"></svg>',
    scale: '0 to 1',
    row: { from: 'a', weights: [0.25, 0.75] },
  },
};
const html = reportPage(report);

test('a report runs nothing and asks for nothing, whatever the text is', () => {
  assert.match(html, /content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"/);
  const scripts = html.match(/<script[^>]*>/g);
  assert.deepEqual(scripts, ['<script type="application/json" id="exact">']);
  assert.equal(html.match(/<\/script>/g)?.length, 1);
  assert.doesNotMatch(html, /<(link|img|iframe)\b/);
});

test('a report holds its numbers for programs too, to the last bit', () => {
  const [, json] = /id="exact">(.*?)<\/script>/s.exec(html) ?? [];
  const exact = JSON.parse(json ?? '');
  assert.deepEqual(exact.sum, report.sum);
  assert.deepEqual(exact.grids, JSON.parse(JSON.stringify(report.grids)));
  assert.deepEqual(exact.next, report.next);
  assert.deepEqual(exact.score, report.score);
  assert.deepEqual(exact.map, { title: 'Head L1H0', row: report.map.row });
});

test('a report says parts, predictions, grids, weights and the address', () => {
  const words = html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  for (const text of [
    'b 7 75.00 % 50.00 % target',
    'Embedding 0.1250 L0 heads −1.0000 L0 feed-forward 0.5000 L1 heads 7.0000 L1 feed-forward −0.2500 Biases 0.3333 Sum 6.7083',
    'L0 1.0000 −2.0000 L1 3.0000 4.0000',
    '2 0.7500',
    'after likeliest probability rank of “b” probability of “b”',
    'L0 b 75.00 % 1 75.00 %',
    'is 2.5000 : scale · query · key',
    'L0H1 3.0000 Embedding −0.5000 Score 2.5000',
    'Biases 2.5000 Score 2.5000',
    'L0H1 · Embedding 2.2500 3 smaller 0.2500 Score 2.5000',
    'See it again in Headwise',
  ]) {
    assert.ok(words.includes(text), text);
  }
  assert.ok(html.includes('href="https://headwise.example/#explore?mode=why&amp;text=a%20b"'));
});

test('a report lists what a token attends to with the most first, without what it does not see', () => {
  const row = { from: 'a', weights: [0.25, 0, 0.75] };
  const tokens = ['a', 'b', 'c'].map((text) => ({ text, isAsked: text === 'c' }));
  const long = reportPage({ ...report, tokens, map: { ...report.map, row } });
  const [, table = ''] = /attends to, exactly(.*?)<\/table>/s.exec(long) ?? [];
  const rows = [...table.matchAll(/<td>(.*?)<\/td>/g)].map(([, words]) => words);
  assert.deepEqual(rows, ['3', '0.7500', '1', '0.2500']);
  assert.deepEqual(long.match(/<span class="token asked"[^>]*>.*?</g)?.length, 1);
  assert.match(long, /<span class="token asked"[^>]*>c</);
});

test('a report’s predictions have bars up to the likeliest, and a second column where heads are muted', () => {
  const widthsIn = (/** @type {string} */ page) =>
    [...page.matchAll(/<span class="bar whole" style="left: 0; width: ([\d.]+)%">/g)].map(
      ([, width]) => Number(width),
    );
  assert.deepEqual(widthsIn(html), [100, 25]);
  assert.match(html, /<th>all heads<\/th><th>probability<\/th>/);
  const heard = reportPage({ ...report, next: { ...report.next, hasMuted: false } });
  assert.doesNotMatch(heard, /all heads|75\.00 %<\/td><td>50/);
});

test('bars of a score begin at 0 in a report, also where all parts are above it', () => {
  const parts = [{ name: 'Embedding', value: 2 }];
  const score = { ...report.score, score: 2, atQuery: parts, atKey: parts, pairs: parts };
  const [, own = ''] = reportPage({ ...report, score }).split('id="score"');
  assert.deepEqual(
    [...new Set(own.match(/(--zero|left|width): [\d.]+%/g))],
    [...['--zero: 0.00%', 'left: 0.00%', 'width: 100.00%']],
  );
});

test('a report writes titles, captions, names and tokens as they are, whatever they are', () => {
  const { sum, grids, score } = report;
  const columns = [HOSTILE, HOSTILE];
  const page = reportPage({
    ...{ ...report, title: HOSTILE, caption: HOSTILE, sum: { ...sum, name: HOSTILE } },
    grids: [{ ...grids[0], columns }],
    score: { ...score, head: HOSTILE, atKey: [{ name: HOSTILE, value: 1 }] },
  });
  assert.equal(page.match(/<\/?script/g)?.length, 2);
  const written = HOSTILE.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  assert.ok(page.includes(`<title>${written}</title>`) && page.includes(`<p>${written}</p>`));
  assert.doesNotMatch(html, /<p><\/p>/, 'without a caption');
});

test('bars of a report stand where 0 is, and the whole has a colour of its own', () => {
  const [, own = ''] = html.split('id="score"');
  const [table] = own.split('</table>');
  assert.deepEqual(
    [...table.matchAll(/class="bar (\w+)" style="left: ([\d.]+)%; width: ([\d.]+)%/g)].map(
      ([, kind, left, width]) => `${kind} ${left} ${width}`,
    ),
    ['for 14.29 85.71', 'against 0.00 14.29', 'whole 14.29 71.43'],
  );
  const wholeOf = (/** @type {number} */ value) =>
    /whole" style="(left: [\d.]+%; width: [\d.]+%)/.exec(
      reportPage({ ...report, score: { ...report.score, score: value, atQuery: [] } }).split(
        'id="score"',
      )[1],
    )?.[1];
  // Its largest part is 2.5.
  assert.deepEqual([4, -4].map(wholeOf), [
    ...['left: 0.00%; width: 100.00%', 'left: 0.00%; width: 61.54%'],
  ]);
});

test('a grid of a report has no colour where all is 0, and where nothing is known', () => {
  const sharesOf = (/** @type {number[]} */ values) => {
    const page = reportPage({ ...report, grids: [{ ...report.grids[0], values }] });
    return [...page.matchAll(/--share: ([^%]+)%/g)].map(([, share]) => share);
  };
  assert.deepEqual(sharesOf([0, 0, 0, 0]), ['0.0', '0.0', '0.0', '0.0']);
  assert.deepEqual(sharesOf([1, -2, 0, NaN]).slice(0, 3), ['50.0', '100.0', '0.0']);
});

test('a report says what its address does not carry', () => {
  assert.match(html, /The address holds the text and all choices\.</);
  const long = reportPage({ ...report, leftOut: ['this', 'that'] });
  assert.match(long, /The address does not carry this and that\. It holds all other choices\.</);
  const opened = reportPage({ ...report, leftOut: ['what was opened'], isOpened: true });
  assert.match(opened, /not carry what was opened\. .* Open the model there first\.</);
  assert.doesNotMatch(opened + long, /The address holds|disk/);
});

test('a browser that translates a report keeps its tokens', () => {
  const tokens = html.match(/<span class="token[^>]*>/g) ?? [];
  assert.equal(tokens.length, 8);
  for (const tag of tokens) assert.match(tag, / translate="no"/);
  const kept = ['After “', 'to the logit of ', 'from “', ' to “', 'What “'];
  for (const words of kept) assert.ok(html.includes(`${words}<span translate="no">`), words);
});

test('what is for the prediction and what is against it have colours of their own, by its sign', () => {
  const cells = [
    ...html.matchAll(/<td class="(for|against)( chosen)?" style="--share: ([\d.]+)%">/g),
  ];
  assert.deepEqual(
    cells.map(([, kind, chosen, share]) => [kind, Boolean(chosen), Number(share)]),
    [
      ['for', false, 25],
      ['against', false, 50],
      ['for', true, 75],
      ['for', false, 100],
      ['against', false, 50],
      ['for', false, 100],
      ['for', false, 0],
      ['for', false, 0],
    ],
  );
});

/** Two layers of two heads, of which L1H0 is chosen, asked about token 2 of 3. @param {object} [state] @param {object} [more] */
function seenOf(state = {}, more = {}) {
  /** @type {Record<string, any[]>} */
  const asked = {};
  const names = ['a', 'b', 'c'];
  const tokens = names.map((text, id) => ({ id, text }));
  const ask =
    (/** @type {string} */ name, /** @type {(...args: any[]) => unknown} */ answer) =>
    async (/** @type {any[]} */ ...args) => {
      (asked[name] ??= []).push(args);
      return answer(...args);
    };
  const cells = { values: new Float32Array(9).fill(0.5), largest: new Float32Array(3).fill(0.5) };
  const side = (/** @type {number} */ value) => ({
    heads: [value, 1],
    mlps: [0],
    embedding: 0,
    biases: 0,
  });
  const session = {
    model: { simd: 'relaxed', threads: 2 },
    predict: ask('predict', () => ({
      ...{ against: 2, actual: 2 },
      predictions: tokens.map((token) => ({ token, before: 0.1, after: 0.2 })),
    })),
    attribution: ask('attribution', () => ({
      ...{ target: 1, heads: [1, 2, 3, 4], mlps: [0, 0], embedding: 5, biases: 6, total: 21 },
    })),
    row: ask('row', () => [0.5, 0.25, 0.25]),
    region: ask('region', () => cells),
    qkScore: ask('qkScore', () => ({
      ...{ score: 3, query: side(7), key: side(8) },
      pairs: { parts: [{ kind: 'embedding' }, { kind: 'mlp', layer: 0 }], scores: [0, 9, 0, 0] },
    })),
    async *lens(/** @type {any[]} */ ...args) {
      asked.lens = args;
      yield { rows: [] };
      const cell = (/** @type {number} */ rank) => [
        { top: [{ token: tokens[0], share: 0.5 }], rank, share: 0.25 },
      ];
      yield { rows: [cell(3), cell(2), cell(1)] };
    },
  };
  const muted = [{ layer: 0, head: 1 }];
  const seen = {
    state: { ...EXPLORE_DEFAULTS, layer: 1, head: 0, ...state },
    run: { n: 3, layers: 2, heads: 2, causal: true, tokens, muted },
    ...{ session, source: 'A model', about: { at: 1, target: null, against: 2 }, address: 'here' },
    ...{ effects: undefined, patching: {}, ...more },
  };
  return { seen: /** @type {any} */ (seen), asked };
}

const OWN = { title: '', caption: '' };
const ABOUT = { at: 1, target: null, against: /** @type {number | null} */ (null) };
// Without a context a letter is 0.6 of its font wide.
const canvas = () => ({ getContext: () => null, toDataURL: () => 'data:,' });
Object.assign(globalThis, {
  document: { createElement: canvas },
  matchMedia: () => ({ matches: false }),
});

test('a report asks beside what the view asks, and of the chosen head by itself', async () => {
  const state = { other: { layer: 0, head: 0 }, before: true, hideFirst: true, scale: 'log' };
  const { seen, asked } = seenOf(state);
  const { map } = await gather(seen, OWN);
  assert.deepEqual(asked.predict, [[seen.about, 'report']]);
  assert.deepEqual(asked.attribution, [[seen.about, false, 'report']]);
  assert.deepEqual(asked.lens, [{ from: 1, to: 2, target: 1 }, 'report']);
  const head = { of: 'head', over: 'layer', layer: 1, head: 0 };
  assert.deepEqual(asked.row, [
    [{ ...head, hideFirst: true }, 1],
    [{ ...head, hideFirst: false }, 1],
  ]);
  assert.equal(asked.region.length, 1, 'no map that it is compared with');
  assert.deepEqual([map.scale, map.row.from], ['logarithmic', 'b']);
});

test('a report has parts, predictions, layers and settings of the prediction that is asked about', async () => {
  const { seen } = seenOf();
  const { title, settings, next, lens, sum, grids, tokens, isOpened, leftOut } = await gather(
    seen,
    OWN,
  );
  assert.deepEqual([title, sum.name, sum.total], ['Why “b”?', '“b” − “c”', 21]);
  assert.equal((await gather(seen, { ...OWN, title: 'Mine' })).title, 'Mine');
  const all = Object.fromEntries(settings);
  assert.deepEqual(
    [all['Prediction'], all['Muted']],
    ['after token 2, “b”', 'L0H1, in all that follows'],
  );
  assert.match(all['Software'], /, relaxed WebAssembly, 2 threads$/);
  const bare = {
    ...seen,
    run: { ...seen.run, muted: [] },
    state: { ...seen.state, model: OPENED },
  };
  const opened = await gather(bare, OWN);
  assert.equal(Object.fromEntries(opened.settings)['Muted'], 'no head');
  assert.deepEqual([next.hasMuted, opened.next.hasMuted], [true, false]);
  assert.deepEqual(
    [isOpened, opened.isOpened, leftOut.length, opened.leftOut.length],
    [false, true, 0, 1],
  );
  assert.deepEqual(
    next.rows.map(({ text, before, after, is }) => [text, before, after, is]),
    [
      ['a', 0.1, 0.2, ''],
      ['b', 0.1, 0.2, 'target'],
      ['c', 0.1, 0.2, 'against, next in the text'],
    ],
  );
  assert.deepEqual(
    lens.rows.map(({ after, rank }) => `${after} ${rank}`),
    ['embedding 3', 'L0 2', 'L1 1'],
  );
  assert.deepEqual(
    tokens.map(({ isAsked }) => isAsked),
    [false, true, false],
  );
  assert.deepEqual(
    grids.map(({ values, chosen }) => [values, chosen]),
    [[[1, 2, 3, 4], { layer: 1, column: 0 }]],
  );
});

test('a report has sweeps over all heads that are at their end, and leaves others out', async () => {
  const effects = { method: 'zero', done: 4, effects: [0.5, -1, 2, 0] };
  const patched = {
    clean: 1,
    other: -2,
    n: 2,
    heads: [1, 2, 3, 4],
    places: [5, 6, 7, 8],
    done: 8,
    count: 8,
  };
  const pair = { clean: [{ text: 'a' }, { text: 'b' }], other: [{ text: 'a' }, { text: 'x' }] };
  const titlesOf = async (/** @type {object} */ more, about = ABOUT) => {
    const { grids } = await gather(seenOf({}, { ...more, about }).seen, OWN);
    return grids.slice(1);
  };
  const [ablation, heads, places] = await titlesOf({
    effects,
    patching: { shares: patched, pair },
  });
  assert.deepEqual([...ablation.values], [-0.5, 1, -2, -0]);
  assert.match(
    ablation.words,
    /^The drop in the log-probability of “b” − “c” .* Above 0 the head helps\.$/,
  );
  assert.match(heads.words, /text: a x\. It is 1\.0000 in the text and −2\.0000 in the other\. /);
  assert.deepEqual(
    [heads.values, places.values, places.columns],
    [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      ['a', 'b'],
    ],
  );
  const [other] = await titlesOf({ effects }, { ...ABOUT, against: 2 });
  assert.match(other.words, /^The drop in the logit difference “b”/);
  const under = {
    effects: { ...effects, done: 3 },
    patching: { shares: { ...patched, done: 7 }, pair },
  };
  assert.deepEqual(await titlesOf(under), []);
});

test('a report’s score is of the chosen key, or of the one that gets most where that is behind the query', async () => {
  const scoreOf = async (/** @type {number | null} */ key) => {
    const { seen, asked } = seenOf({ key });
    const { score } = await gather(seen, OWN);
    assert.deepEqual(asked.qkScore, [
      [{ layer: 1, head: 0, query: 1, key: score.key.at - 1 }, 'report'],
    ]);
    return score;
  };
  const { query, atQuery, atKey, pairs } = await scoreOf(null);
  assert.deepEqual(query, { text: 'b', at: 2 });
  assert.deepEqual(atQuery[0], { name: 'L0H0', value: 7 });
  assert.deepEqual(atKey[0], { name: 'L0H0', value: 8 });
  assert.deepEqual(pairs, [{ name: 'Embedding · L0 feed-forward', value: 9 }]);
  const keys = [await scoreOf(null), await scoreOf(1), await scoreOf(2)].map(({ key }) => key.at);
  assert.deepEqual(keys, [1, 2, 1]);
});
