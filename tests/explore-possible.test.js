// What of an Explore address means something in a run: its last head, token and id, and none beyond; and what each choice changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPLORE_DEFAULTS } from '../web/page/explore/address.js';
import { createChoices } from '../web/page/explore/choices.js';
import { existingState, possibleState } from '../web/page/explore/possible-state.js';
import { noteOf } from '../web/page/explore/titles.js';

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

/** Choices in a room with a state, and the state after them. @param {Partial<ExploreState>} part @param {number[]} [order] of the heads */
function choosing(part, order = [0, 1, 2, 3, 4, 5]) {
  let now = state(part);
  const shown = { peek: () => now };
  const room = {
    ...{ shown, state: shown, run: { peek: () => run }, order: { peek: () => order } },
    measure: { peek: () => 'entropy' },
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
