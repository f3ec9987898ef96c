// The report of a prediction: one HTML file without scripts, whose numbers are exact.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportPage } from '../web/page/explore/export/report/page.js';
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
