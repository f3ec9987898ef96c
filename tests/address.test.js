// The page's address: what it says of the state, and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHash, goTo, parseHash } from '../web/page/address.js';
import { formatExplore, leftOut, parseExplore } from '../web/page/explore/address.js';
import { shortName } from '../web/page/shared/head-names.js';
import { keyOf } from '../web/page/shared/linkable.js';
import { TOURS } from '../web/page/explore/tours.js';
import { DEFAULTS, ROOMS } from '../web/page/state.js';

test('every room has an address that leads to it', () => {
  for (const room of ROOMS) {
    assert.equal(formatHash({ ...DEFAULTS, room }), `#${room}`);
    assert.equal(parseHash(`#${room}`).room, room);
  }
});

test('a room is found by its letters, whatever comes before or after them', () => {
  for (const hash of [
    '#lessons.',
    '#Lessons',
    '#/lessons',
    '#lessons/',
    '#lessons/fused',
    '#LESSONS),',
  ]) {
    assert.equal(parseHash(hash).room, 'lessons', hash);
  }
  const state = parseHash('#/Lessons/?lesson=fused');
  assert.deepEqual(state, { ...DEFAULTS, room: 'lessons', lesson: 'fused' });
  assert.equal(parseHash('#trained').room, 'compare');
});

test('no room or an unknown one is Compare', () => {
  assert.deepEqual(parseHash(''), DEFAULTS);
  assert.deepEqual(parseHash('#attic?head=H1'), { ...DEFAULTS, head: 1 });
});

test('a lesson is in the address', () => {
  const state = parseHash('#lessons?lesson=fused');
  assert.deepEqual(state, { ...DEFAULTS, room: 'lessons', lesson: 'fused' });
  assert.equal(formatHash(state), '#lessons?lesson=fused');
  // Changed code stays in it; the place to go to does not.
  const shared = parseHash('#lessons?lesson=fused&to=step-2&code=abc');
  assert.deepEqual([shared.lessonStep, shared.lessonCode], ['step-2', 'abc']);
  assert.equal(formatHash(shared), '#lessons?lesson=fused&code=abc');
});

test('a change of rooms leaves the other room as it was', () => {
  const compare = parseHash('#compare?source=own&text=one+two&heads=2&width=8');
  const lessons = parseHash('#lessons?lesson=causal&code=abc', compare);
  const lesson = { lesson: 'causal', lessonCode: 'abc' };
  assert.deepEqual(lessons, { ...compare, room: 'lessons', ...lesson });
  const back = parseHash(formatHash({ ...lessons, room: 'compare' }), lessons);
  assert.deepEqual(back, { ...compare, ...lesson });
});

test('a text that is too long for the address stays when the visitor comes back to it', () => {
  const own = { ...DEFAULTS, source: /** @type {const} */ ('own'), text: 'word '.repeat(900) };
  const away = { ...own, ...goTo('#bench', own) };
  assert.deepEqual(away, { ...own, room: 'bench' });
  const link = formatHash(own);
  assert.equal(link, `#compare?source=own&kept=${keyOf(own.text)}`);
  assert.deepEqual({ ...away, ...goTo(link, away) }, own);
  const other = { ...away, ...goTo('#compare?source=own&text=one+two', away) };
  assert.deepEqual([other.room, other.text], ['compare', 'one two']);
  const train = parseHash('#train?task=own');
  const { settings } = train.train;
  const long = { ...train, train: { ...train.train, settings: { ...settings, text: own.text } } };
  assert.deepEqual(goTo(formatHash(long), { ...long, room: 'bench' }), { room: 'train' });
  const explore = { ...DEFAULTS.explore, corrupted: own.text };
  const maps = { ...DEFAULTS, room: /** @type {const} */ ('explore'), explore };
  const kept = `kept-other=${keyOf(own.text)}`;
  const why = { ...maps, ...goTo(`#explore?${kept}&mode=why`, maps) };
  assert.deepEqual(why.explore, { ...explore, mode: 'why' });
  assert.deepEqual(goTo(`#explore?${kept}`, why), { room: 'explore', explore });
});

test('Compare’s address keeps the name of a long text that this browser has not', () => {
  const hash = '#compare?source=own&kept=3ij-1abc';
  const state = parseHash(hash);
  assert.deepEqual([state.text, state.kept], [DEFAULTS.text, '3ij-1abc']);
  assert.equal(formatHash(state), hash);
  assert.equal(formatHash({ ...state, text: 'one', kept: '' }), '#compare?source=own&text=one');
});

test('Compare’s address leads to heads, rows and widths that are there', () => {
  assert.equal(parseHash('#compare?head=H9').head, 1, 'the last of the example’s two');
  assert.equal(parseHash('#compare?source=own&heads=8&head=H9').head, 7);
  assert.deepEqual(
    ['0', '1', '1024', '1025', ''].map((row) => parseHash(`#compare?row=${row}`).row),
    [-1, 0, 1023, -1, -1],
  );
  assert.equal(parseHash('#compare?source=own&width=100').width, DEFAULTS.width);
  for (const scale of ['head', 'row'])
    assert.equal(parseHash(`#compare?scale=${scale}`).scale, scale);
  const state = parseHash('#compare?source=own&width=12&heads=5');
  assert.deepEqual([state.width, state.heads], [12, 4]);
});

test('a seed that is none is not in the address', () => {
  for (const seed of [-1, 1.5, NaN, 2 ** 32, 99999999999]) {
    assert.equal(formatHash({ ...DEFAULTS, seed }), '#compare', String(seed));
  }
  for (const seed of [0, 2 ** 32 - 1]) {
    assert.equal(formatHash({ ...DEFAULTS, seed }), `#compare?seed=${seed}`);
  }
});

test('everything that is chosen in Explore is in its address, and comes back', () => {
  const hash =
    '#explore?model=induction&text=a+b+a&added=5_9&head=L1H6&with=L0H2&mute=L0H3_L1H0&lines=L0H1&pins=q3_k1&key=2&corrupted=a+c+a&first=0' +
    '&view=4_2.5_12&target=7&against=9&mode=why&of=mean&over=all&scale=log&sort=induction&by=effect&parts=size&show=all&tint=loss&decoding=greedy&topP=0.5&temperature=1.2&topK=7&seed=99&count=5';
  const state = parseHash(hash);
  assert.deepEqual(state.explore, {
    mode: 'why',
    model: 'induction',
    text: 'a b a',
    kept: null,
    added: [5, 9],
    layer: 1,
    head: 6,
    of: 'mean',
    over: 'all',
    other: { layer: 0, head: 2 },
    before: false,
    muted: [
      { layer: 0, head: 3 },
      { layer: 1, head: 0 },
    ],
    overlay: [{ layer: 0, head: 1 }],
    pins: [
      { side: 'query', token: 2 },
      { side: 'key', token: 0 },
    ],
    scale: 'log',
    sort: 'induction',
    by: 'effect',
    parts: 'size',
    show: 'all',
    target: 7,
    against: 9,
    key: 1,
    corrupted: 'a c a',
    keptOther: null,
    tint: 'loss',
    tour: null,
    hideFirst: true,
    topP: 0.5,
    view: { query: 3, key: 1.5, span: 12 },
    decoding: 'greedy',
    temperature: 1.2,
    topK: 7,
    seed: 99,
    count: 5,
  });
  assert.equal(formatHash(state), hash);
});

test('heads are named from 0; addresses from when they counted from 1 lead to the same heads', () => {
  for (const [old, now] of [
    ['#compare?head=2', '#compare?head=H1'],
    ['#explore?head=2.6&with=1.3&mute=1.4_2.1', '#explore?head=L1H5&with=L0H2&mute=L0H3_L1H0'],
  ]) {
    assert.deepEqual(parseHash(old), parseHash(now));
    assert.equal(formatHash(parseHash(old)), now);
  }
  assert.deepEqual(parseHash('#explore?mute=1.0_0.1_1.1').explore.muted.map(shortName), ['L0H0']);
  assert.equal(parseHash('#compare?head=1').head, 0);
  assert.equal(parseHash('#compare?head=H0').head, 0);
  for (const wrong of ['0', 'H16', '17', 'H', 'h1', '-1']) {
    assert.equal(parseHash(`#compare?head=${wrong}`).head, DEFAULTS.head, wrong);
  }
});

test('what an Explore address says wrongly is default', () => {
  const wrong =
    'head=0.3&with=x&mute=1_2._L1_H2&view=1_2&of=median&topP=7&topK=1.5&seed=-1&added=1_x&scale=&target=-1&against=x&key=0&tour=induction.9';
  assert.deepEqual(parseExplore(new URLSearchParams(wrong)), DEFAULTS.explore);
  assert.equal(String(formatExplore(DEFAULTS.explore)), '');
});

test('an empty number of an Explore address is none, and not 0', () => {
  const empty = 'topK=&seed=&count=&temperature=&topP=&target=&against=&key=&view=&added=';
  assert.deepEqual(parseExplore(new URLSearchParams(empty)), DEFAULTS.explore);
  for (const added of ['_', '5_', '_5', '5__9', '5_1e3', '5_ 9', '5_1000000']) {
    assert.deepEqual(parseExplore(new URLSearchParams({ added })).added, [], added);
  }
  assert.deepEqual(parseExplore(new URLSearchParams('added=0_999999')).added, [0, 999999]);
  assert.equal(parseExplore(new URLSearchParams('topK=0')).topK, 0);
});

test('an Explore address that says too much or nothing is read as far as it says something', () => {
  const parse = (/** @type {string} */ params) => parseExplore(new URLSearchParams(params));
  for (const view of ['0_1_5', '1_0_5', '1_1_0', '1_1_0.5', '1_1_2000000']) {
    assert.equal(parse(`view=${view}`).view, null, view);
  }
  assert.deepEqual(parse('view=1_1_1').view, { query: 0, key: 0, span: 1 });
  assert.deepEqual(parse('pins=q0_k0_q1').pins, [{ side: 'query', token: 0 }]);
  for (const tour of ['constructor.1', 'induction.0', 'induction.4', 'none.1']) {
    assert.equal(parse(`tour=${tour}`).tour, null, tour);
  }
  // The text itself counts more than the name of one.
  const { text, kept } = parse('text=a+b&kept=3ij-1abc');
  assert.deepEqual([text, kept], ['a b', null]);
  const { corrupted, keptOther } = parse('corrupted=a+c&kept-other=3ij-1abc');
  assert.deepEqual([corrupted, keptOther], ['a c', null]);
});

test('what a link does not carry is said, and nothing of what it does', () => {
  const state = { ...DEFAULTS.explore, text: 'a'.repeat(4000), corrupted: 'b'.repeat(4000) };
  const added = Array.from({ length: 500 }, () => 1);
  assert.deepEqual(leftOut({ ...state, added }), []);
  const more = { added: [...added, 1], text: `${state.text}a`, corrupted: `${state.corrupted}b` };
  const words = [
    'the text, which is too long',
    'what the model wrote',
    'the other text, which is too long',
  ];
  assert.deepEqual(leftOut({ ...state, ...more, model: 'opened' }), ['what was opened', ...words]);
  assert.deepEqual(leftOut({ ...DEFAULTS.explore, kept: '3ij-1abc', keptOther: '3ij-1abd' }), [
    words[0],
    words[2],
  ]);
});

test('that a map is compared with itself before heads were muted is in the address', () => {
  const hash = '#explore?with=before&mute=L0H1';
  const { explore } = parseHash(hash);
  assert.deepEqual([explore.before, explore.other], [true, null]);
  assert.equal(formatHash(parseHash(hash)), hash);
  assert.equal(parseHash('#explore?with=L0H1').explore.before, false);
});

test('a step of a tour has an address, and what is changed in it is in the address too', () => {
  for (const [name, { steps }] of Object.entries(TOURS)) {
    for (const [step, { set }] of steps.entries()) {
      const hash = `#explore?tour=${name}.${step + 1}`;
      const state = parseHash(hash);
      assert.deepEqual(state.explore, { ...state.explore, ...set, tour: { name, step } });
      assert.equal(formatHash(state), hash);
      const changed = `${hash}&head=L0H1&mute=&pins=`;
      assert.equal(formatHash(parseHash(changed)).replace('mute=&', ''), `${hash}&head=L0H1&pins=`);
    }
  }
  assert.deepEqual(parseHash('#explore?tour=induction.3&mute=').explore.muted, []);
});

test('what is pinned in a sample at first is not in the address; nothing pinned is', () => {
  assert.deepEqual(parseHash('#explore').explore.pins, DEFAULTS.explore.pins);
  assert.ok(DEFAULTS.explore.pins.length > 0);
  assert.deepEqual(parseHash('#explore?pins=').explore.pins, []);
  assert.equal(formatHash(parseHash('#explore?pins=')), '#explore?pins=');
  assert.deepEqual(parseHash('#explore?text=a+b').explore.pins, []);
});

test('of a long text the address has a name, and of a long continuation nothing', () => {
  const text = 'long '.repeat(1000);
  const added = Array.from({ length: 600 }, (_, i) => i);
  const said = String(formatExplore({ ...DEFAULTS.explore, text, added, pins: [] }));
  assert.equal(said, `kept=${keyOf(text)}`);
  const state = parseExplore(new URLSearchParams(said));
  assert.deepEqual([state.text, state.kept, state.pins], [null, keyOf(text), []]);
  assert.equal(String(formatExplore(state)), said);
  assert.notEqual(keyOf(text), keyOf(`${text}.`));
});

test('of the lists in an address each is taken once, and no more than the room can draw', () => {
  const repeated = { mute: 'L0H1_L2H0_1.2', lines: 'L1H2_L1H2', pins: 'q1_k2_q1_q1' };
  const { muted, overlay, pins } = parseExplore(new URLSearchParams(repeated));
  assert.deepEqual(muted.map(shortName), ['L0H1', 'L2H0']);
  assert.deepEqual(overlay.map(shortName), ['L1H2']);
  assert.equal(formatExplore({ ...DEFAULTS.explore, pins }).get('pins'), 'q1_k2');
  const list = (/** @type {(i: number) => unknown} */ of) =>
    Array.from({ length: 60_000 }, (_, i) => of(i)).join('_');
  const heads = list((i) => `L${Math.floor(i / 900)}H${i % 900}`);
  const long = { mute: heads, lines: heads, pins: list((i) => `q${i + 1}`), added: list((i) => i) };
  const state = parseExplore(new URLSearchParams(long));
  for (const [name, most] of /** @type {const} */ ([
    ...[
      ['muted', 2000],
      ['overlay', 100],
      ['pins', 200],
      ['added', 500],
    ],
  ]))
    assert.equal(state[name].length, most, name);
  assert.deepEqual([state.overlay[99], state.pins[199].token], [{ layer: 0, head: 99 }, 199]);
});
