// What of an Explore address means something in a run: its last head, token and id, and none beyond; and what each choice changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPLORE_DEFAULTS } from '../web/page/explore/address.js';
import { createChoices } from '../web/page/explore/choices.js';
import { MODELS } from '../web/page/explore/models.js';
import { existingState, possibleState } from '../web/page/explore/possible-state.js';
import { Focus, NOWHERE } from '../web/page/explore/focus.js';
import { linedMaps } from '../web/page/explore/maps.js';
import { noteOf, nounOf } from '../web/page/explore/titles.js';

/** @import { ExploreState } from '../web/page/explore/address.js' */

const run = { layers: 2, heads: 3, n: 5, hasNorms: false };
const config = { contextLength: 8, vocabSize: 7, numLayers: 2, numHeads: 3, dModel: 6, dFf: 6 };
const model = { config, predicts: /** @type {const} */ ('next') };
const [last, beyond] = [
  { layer: 1, head: 2 },
  { layer: 1, head: 3 },
];

/** @param {Partial<ExploreState>} part */
const state = (part) => ({ ...EXPLORE_DEFAULTS, ...part });

test('the last head, token and id of a run are there, and those after them are not', () => {
  const pins = [4, 5].map((token) => ({ side: /** @type {const} */ ('query'), token }));
  const found = existingState(
    state({ layer: 2, head: 3, muted: [last, beyond], overlay: [beyond, last], pins }),
    run,
    model,
  );
  const { layer, head, muted, overlay } = found;
  assert.deepEqual([layer, head, muted, overlay], [1, 2, [last], [last]]);
  assert.deepEqual(found.pins, pins.slice(0, 1));
  const ofTokens = (/** @type {Partial<ExploreState>} */ part) => {
    const { key, target, against, other } = existingState(state(part), run, model);
    return [key, target, against, other];
  };
  assert.deepEqual(ofTokens({ key: 4, target: 6, against: 0, other: last }), [4, 6, 0, last]);
  assert.deepEqual(ofTokens({ key: 5, target: 7, against: 8, other: beyond }), Array(4).fill(null));
});

test('nothing is compared with itself', () => {
  const first = { layer: 0, head: 0 };
  const possible = (/** @type {Partial<ExploreState>} */ part) =>
    possibleState(state({ ...first, ...part }), run, model);
  assert.deepEqual(
    [possible({ other: first }).other, possible({ other: last }).other],
    [null, last],
  );
  assert.deepEqual(possible({ overlay: [first, last] }).overlay, [last]);
  assert.equal(possible({ target: 3, against: 3 }).against, null);
  assert.equal(possible({ target: 3, against: 4 }).against, 4);
  assert.equal(possible({ of: 'mean', other: first }).other, first, 'with the mean of heads');
  assert.equal(possible({ of: 'norms' }).of, 'head', 'no norms are there');
  assert.equal(possible({ before: true }).before, false, 'no head is muted');
  const muted = possibleState(state({ before: true }), { ...run, muted: [last] }, model);
  assert.equal(muted.before, true);
});

test('a map that muting cannot change is said to be the same, also after a map of all layers', () => {
  const before = { ...EXPLORE_DEFAULTS, layer: 1, before: true };
  const isSame = (/** @type {Partial<ExploreState>} */ part) =>
    noteOf({ ...before, ...part }).startsWith('Muting changes only');
  for (const over of /** @type {const} */ (['layer', 'all'])) {
    assert.ok(isSame({ muted: [last], over }));
    assert.ok(
      isSame({ muted: [last], over, of: 'rollout' }),
      'which is of the layers up to this one',
    );
    assert.ok(!isSame({ muted: [last, { layer: 0, head: 1 }], over }), 'a head below is muted');
    assert.ok(!isSame({ muted: [last], over, before: false }));
    assert.equal(isSame({ muted: [last], over, of: 'mean' }), over === 'layer');
    assert.equal(isSame({ muted: [last], over, of: 'max' }), over === 'layer');
  }
  assert.ok(!isSame({ muted: [] }));
});

/** Choices in a room with a state, and the state after them. @param {Partial<ExploreState>} part @param {number[]} [order] of the heads @param {string} [measure] that is shown */
function choosing(part, order = [0, 1, 2, 3, 4, 5], measure = 'entropy') {
  let now = state(part);
  const shown = { peek: () => now };
  const room = {
    ...{ shown, state: shown, run: { peek: () => run }, order: { peek: () => order } },
    measure: { peek: () => measure },
    sample: { peek: () => 'a sample' },
    set: (/** @type {Partial<ExploreState>} */ next) => (now = { ...now, ...next }),
  };
  return { choices: createChoices(/** @type {any} */ (room)), now: () => now };
}

/** @param {number} token */
const query = (token) => ({ side: /** @type {const} */ ('query'), token });

test('the key of which it is asked why belongs to a head and a query: others ask about their own', () => {
  /** @type {[string, (choices: ReturnType<typeof createChoices>) => unknown][]} */
  const others = [
    ['another head', ({ choose }) => choose({ layer: 1, head: 1 })],
    ['the next head', ({ turnHead }) => turnHead(1)],
    ['the next layer', ({ turnLayer }) => turnLayer(1)],
    ['another pin', ({ pin }) => pin(query(4))],
    ['a pin more', ({ pin }) => pin(query(4), true)],
    ['a pin less', ({ unpin }) => unpin(query(3))],
    ['a turned pin', ({ turn }) => turn(query(3))],
    ['no pins', ({ unpinAll }) => unpinAll()],
  ];
  for (const [what, act] of others) {
    const { choices, now } = choosing({ key: 1, pins: [query(2), query(3)] });
    act(choices);
    assert.equal(now().key, null, what);
  }
  const { choices, now } = choosing({ key: 1 });
  choices.mute();
  assert.equal(now().key, 1);
});

/** @param {number} token */
const key = (token) => ({ side: /** @type {const} */ ('key'), token });

test('a pin takes the place of others, or stands besides them; what is pinned is unpinned, and turned in its place', () => {
  /** @param {Partial<ExploreState>['pins']} pins @param {(choices: ReturnType<typeof createChoices>) => unknown} act */
  const after = (pins, act) => {
    const { choices, now } = choosing({ pins });
    act(choices);
    return now().pins;
  };
  const two = [query(1), key(1)];
  assert.deepEqual(
    after(two, ({ pin }) => pin(query(2))),
    [query(2)],
  );
  assert.deepEqual(
    after(two, ({ pin }) => pin(query(1))),
    [query(1)],
    'one of several stays alone',
  );
  assert.deepEqual(
    after([query(1)], ({ pin }) => pin(query(1))),
    [],
  );
  assert.deepEqual(
    after(two, ({ pin }) => pin(query(2), true)),
    [...two, query(2)],
  );
  assert.deepEqual(
    after(two, ({ pin }) => pin(query(1), true)),
    [key(1)],
  );
  assert.deepEqual(
    after(two, ({ unpin }) => unpin(key(1))),
    [query(1)],
  );
  assert.deepEqual(
    after([query(1), query(2)], ({ turn }) => turn(query(1))),
    [key(1), query(2)],
  );
  assert.deepEqual(
    after(two, ({ turn }) => turn(query(1))),
    [key(1)],
    'its other side is pinned already',
  );
  assert.deepEqual(
    after([query(1)], ({ turn }) => turn(query(2))),
    [query(1), key(2)],
    'what is not pinned is pinned besides',
  );
});

test('heads turn around in the order of the grid, and layers at the ends; a map of several heads gives way to the head’s', () => {
  const order = [5, 0, 4, 1, 3, 2];
  const turned = (/** @type {number} */ head, /** @type {number} */ by) => {
    const { choices, now } = choosing({ layer: 0, head, of: 'mean' }, order);
    choices.turnHead(by);
    const { layer, head: next, of } = now();
    return [layer, next, of];
  };
  assert.deepEqual(turned(0, 1), [1, 1, 'head']);
  assert.deepEqual(turned(0, -1), [1, 2, 'head']);
  assert.deepEqual(turned(2, 1), [1, 2, 'head'], 'from the last to the first');
  const { choices, now } = choosing({ layer: 1, head: 2, of: 'norms' });
  choices.turnLayer(1);
  assert.deepEqual([now().layer, now().head], [0, 2]);
  choices.turnLayer(-1);
  assert.equal(now().layer, 1);
  choices.choose({ layer: 0, head: 0 });
  assert.equal(now().of, 'norms');
});

test('a head is muted and drawn once, and comparing ends as it began', () => {
  const { choices, now } = choosing({ layer: 1, head: 2, muted: [{ layer: 0, head: 1 }] });
  choices.mute();
  assert.deepEqual(now().muted, [{ layer: 0, head: 1 }, last]);
  choices.mute();
  assert.deepEqual(now().muted, [{ layer: 0, head: 1 }]);
  choices.overlay();
  choices.overlay({ layer: 0, head: 0 });
  choices.overlay();
  assert.deepEqual(now().overlay, [{ layer: 0, head: 0 }]);
  choices.compare();
  assert.deepEqual(now().other, last);
  choices.compare();
  assert.equal(now().other, null);
});

test('heads stay sorted by another measure, and in their places by none', () => {
  const { choices, now } = choosing({ by: 'entropy' });
  const chosen = () => [now().by, now().sort];
  choices.measure('first');
  assert.deepEqual(chosen(), ['first', 'place']);
  choices.sort(true);
  assert.deepEqual(chosen(), ['entropy', 'entropy'], 'what the room shows');
  choices.measure('first');
  assert.deepEqual(chosen(), ['first', 'first']);
  choices.measure('none');
  assert.deepEqual(chosen(), ['none', 'place']);
  const none = choosing({ sort: 'first' }, undefined, 'none');
  none.choices.sort(true);
  assert.deepEqual([none.now().by, none.now().sort], ['none', 'place']);
});

test('another text takes nothing along of the one before, and a sample has its own pins', () => {
  const before = { target: 3, against: 4, corrupted: 'another', added: [1], pins: [query(1)] };
  const read = (/** @type {string | null} */ text) => {
    const { choices, now } = choosing({ ...before, text: 'before', model: 'induction' });
    choices.read(text);
    return now();
  };
  const { pins } = MODELS.induction;
  assert.deepEqual([read('own').pins, read(null).pins], [[], pins]);
  const { target, against, corrupted, added, text } = read('own');
  assert.deepEqual([target, against, corrupted, added, text], [null, null, null, [], 'own']);
  const { choices, now } = choosing({ ...before, model: 'induction' });
  const asked = { target: 5, against: 6, corrupted: 'other' };
  choices.compareTexts({ text: 'a sample', ...asked });
  assert.deepEqual(now(), { ...now(), ...asked, text: null, pins, mode: 'why', added: [] });
  choices.compareTexts({ text: 'own', ...asked });
  assert.deepEqual(now(), { ...now(), ...asked, text: 'own', pins: [] });
});

test('what is all there stays the same list, so that nothing is asked anew', () => {
  const [muted, overlay, pins] = [[last], [last], [query(4)]];
  const found = existingState(state({ muted, overlay, pins }), run, model);
  assert.deepEqual(
    [found.muted === muted, found.overlay === overlay, found.pins === pins],
    [true, true, true],
  );
});

test('a map is not compared with two others, and losses tint where the next token is predicted', () => {
  const muted = { ...run, muted: [last] };
  assert.equal(possibleState(state({ before: true, other: last }), muted, model).before, false);
  const tint = (/** @type {'next' | 'masked'} */ predicts) =>
    possibleState(state({ tint: 'loss' }), run, { config, predicts }).tint;
  assert.deepEqual([tint('next'), tint('masked')], ['loss', 'attention']);
});

test('lines of heads that are kept are of heads, also beside a map of several', () => {
  const of = (/** @type {ExploreState['of']} */ first) =>
    linedMaps(state({ of: first, overlay: [last] })).map((map) => [map.of, map.layer, map.head]);
  const { layer, head } = EXPLORE_DEFAULTS;
  assert.deepEqual(of('mean'), [
    ['mean', layer, head],
    ['head', 1, 2],
  ]);
  assert.deepEqual(of('norms')[1], ['norms', 1, 2]);
  assert.deepEqual([nounOf({ of: 'norms' }), nounOf({ of: 'mean' })], ['share', 'weight']);
});

test('a view forgets a place that it has set, and none that another one has', () => {
  const [focus, first, second] = [new Focus(), {}, {}];
  let told = 0;
  focus.subscribe(() => told++);
  focus.set({ query: 1 }, first);
  focus.set({ query: 1 }, second);
  assert.equal(told, 1, 'the same place');
  focus.clear(first);
  assert.deepEqual(focus.place, { query: 1, key: -1 });
  focus.clear(second);
  assert.deepEqual([focus.place, told], [NOWHERE, 2]);
});
