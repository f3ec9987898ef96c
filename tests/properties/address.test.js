// Whatever an address says, the page has a state that every room can show, and an address of its own for it.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatHash, parseHash } from '../../web/page/address.js';
import { headChoices, settingsOf, WIDTHS } from '../../web/page/compare/address.js';
import { EXPLORE_DEFAULTS, NUMBERS } from '../../web/page/explore/address.js';
import { MODELS, pageModel } from '../../web/page/explore/models.js';
import { MAX_SEED } from '../../web/page/shared/seeds.js';
import { DEFAULTS, ROOMS } from '../../web/page/state.js';
import { checkProperty } from './check.js';

/** @import { ExploreState } from '../../web/page/explore/address.js' */
/** @import { State } from '../../web/page/state.js' */

/** Names that every object has, and others that look like something else. */
const hostileName = fc.oneof(
  fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'length', 'then'),
  fc.constantFrom('', ' ', '.', '../austen', 'austen/', 'AUSTEN', '%', '%E0%A4%A', '#', '?', '&='),
  fc.string({ unit: 'binary' }),
);
const number = fc.oneof(
  fc.constantFrom('-0', '1e3', '1e400', '0x10', ' 7', 'NaN', 'Infinity', '٣', '1_000', '99999'),
  fc.integer().map(String),
  fc.double().map(String),
);
const head = fc
  .tuple(fc.nat(1200), fc.nat(1200), fc.constantFrom('.', ',', 'H', ''))
  .map(([layer, at, between]) => `${between === 'H' ? 'L' : ''}${layer}${between}${at}`);
const list = fc
  .array(fc.oneof(hostileName, number, head, fc.constantFrom('q3', 'k1', 'q0', 'k-1')))
  .map((parts) => parts.join('_'));

const names = [
  ...Object.keys(DEFAULTS),
  ...Object.keys(EXPLORE_DEFAULTS),
  ...['with', 'mute', 'lines', 'first', 'constructor', '__proto__'],
];
const known = [
  ...Object.keys(MODELS),
  'own',
  'fused',
  'difference',
  'row',
  'mean',
  'all',
  'effect',
  'loss',
  'before',
  'induction.1',
  '4g0-1kx2',
  'induction.3',
  '0',
  '1',
];
const value = fc.oneof(hostileName, number, head, list, fc.constantFrom(...known));
const pair = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.oneof(fc.constantFrom(...names), hostileName), value) },
  // What is looked up by its name.
  fc.tuple(fc.constantFrom('model', 'lesson', 'sort'), hostileName),
);
const query = fc
  .array(pair, { maxLength: 8 })
  .map((pairs) => pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&'));
const room = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ROOMS) },
  hostileName.map((name) => encodeURIComponent(name)),
);
/** @type {fc.Arbitrary<string>} */
const hash = fc.tuple(room, query).map(([name, said]) => `#${name}?${said}`);

/** @param {unknown} count @param {number} [least] @param {number} [most] */
const isWhole = (count, least = 0, most = Infinity) =>
  Number.isInteger(count) && Number(count) >= least && Number(count) <= most;

/** @param {State} state */
function checkCompare(state) {
  assert.ok(['example', 'own'].includes(state.source));
  assert.ok(['wrapper', 'fused', 'difference'].includes(state.mode));
  assert.ok(['unit', 'head', 'row'].includes(state.scale));
  assert.ok(WIDTHS.includes(state.width));
  assert.ok(headChoices(state.width).includes(state.heads));
  assert.ok(isWhole(state.seed, 0, MAX_SEED) && isWhole(state.head) && isWhole(state.row, -1));
  assert.equal(typeof state.causal, 'boolean');
  assert.equal(typeof settingsOf(state).text, 'string');
}

/** @param {ExploreState} state */
function checkExplore(state) {
  assert.equal(typeof state.model, 'string');
  assert.ok(pageModel(state.model) === undefined || Object.keys(MODELS).includes(state.model));
  assert.ok(state.text === null || typeof state.text === 'string');
  assert.ok(state.kept === null || (state.text === null && /^[\da-z]+-[\da-z]+$/.test(state.kept)));
  for (const id of state.added) assert.ok(isWhole(id));
  for (const name of [state, state.other, ...state.muted]) {
    assert.ok(name === null || (isWhole(name.layer, 0, 999) && isWhole(name.head, 0, 999)));
  }
  for (const { side, token } of state.pins) {
    assert.ok(['query', 'key'].includes(side) && isWhole(token));
  }
  assert.ok(['head', 'mean', 'max', 'rollout'].includes(state.of));
  assert.ok(['layer', 'all'].includes(state.over));
  assert.ok(['unit', 'row', 'head', 'log'].includes(state.scale));
  assert.equal(typeof state.sort, 'string');
  assert.ok(['greedy', 'sample'].includes(state.decoding));
  for (const [name, [least, most]] of Object.entries(NUMBERS)) {
    const own = Number(state[/** @type {keyof ExploreState} */ (name)]);
    assert.ok(own >= least && own <= most, name);
  }
  const { view } = state;
  if (view) for (const at of [view.query, view.key, view.span]) assert.ok(at >= 0 && at <= 1e6);
}

checkProperty(
  'whatever an address says, every room has a state to show',
  fc.property(hash, hash, (first, second) => {
    const before = parseHash(first);
    for (const state of [before, parseHash(second, before)]) {
      assert.ok(ROOMS.includes(state.room));
      assert.equal(typeof state.lesson, 'string');
      checkCompare(state);
      checkExplore(state.explore);
      // Nothing but what a state has.
      assert.deepEqual(Object.keys(state).sort(), Object.keys(DEFAULTS).sort());
      assert.deepEqual(Object.keys(state.explore).sort(), Object.keys(EXPLORE_DEFAULTS).sort());
    }
  }),
);

checkProperty(
  "a state's own address leads back to it, whatever led to the state",
  fc.property(hash, (said) => {
    const own = formatHash(parseHash(said));
    const state = parseHash(own);
    assert.equal(formatHash(state), own);
    assert.deepEqual(parseHash(formatHash(state)), state);
  }),
);
