// What <attention-map> and drawWeights refuse, and that they go on after it.
import assert from 'node:assert/strict';
import { viewTest } from './view-page.js';

/** @type {[string, string][]} calls, and the beginning of what they say */
const REFUSED = [
  ['map.pinned = 1.5', 'ERR_VALUE: pinned is 1.5; expected an integer'],
  ["map.pinned = 'x'", 'ERR_VALUE: pinned is "x"; expected an integer'],
  ['map.place = { query: 1 }', 'ERR_VALUE: place.key is undefined; expected an integer'],
  ['map.place = {}', 'ERR_VALUE: place.query is undefined; expected an integer'],
  ['map.place = 5', 'ERR_VALUE: place is 5; expected { query, key } or null'],
  ['map.pins = 5', 'ERR_VALUE: pins is 5; expected an array'],
  ['map.pins = [null]', 'ERR_VALUE: pins[0].side is undefined; expected "query" or "key"'],
  [
    "map.pins = [{ side: 'key', token: 0.5 }]",
    'ERR_VALUE: pins[0].token is 0.5; expected an integer',
  ],
  ["map.show({ weights, tokens: 'ab' })", 'ERR_VALUE: tokens is "ab"; expected an array of labels'],
  ['map.show({ weights, queryTokens: 7 })', 'ERR_VALUE: queryTokens is 7; expected an array'],
  [
    "map.show({ weights, tokens: [{ id: 1, text: 'a' }, 'b'] })",
    'ERR_VALUE: tokens[0] is a value of type Object; expected a text or a number',
  ],
  ["map.show({ weights, tokens: ['a', undefined] })", 'ERR_VALUE: tokens[1] is undefined'],
  ['map.show({ weights, tokens: [Object.create(null), 1] })', 'ERR_VALUE: tokens[0] is'],
  ['map.show({ trace: 5 })', 'ERR_VALUE: trace is 5; expected a trace'],
  ['map.show({ trace: {} })', 'ERR_VALUE: trace is a value of type Object; expected a trace'],
  ['map.show({ cells: 5, keys: 2 })', 'ERR_VALUE: cells is 5; expected a function'],
  ['map.show({ weights, queries: 1e9 })', 'ERR_VALUE: queries is 1000000000; expected an integer'],
  ['map.show({ weights, queries: -3 })', 'ERR_VALUE: queries is -3; expected an integer'],
  ["map.show({ weights, keys: '2' })", 'ERR_VALUE: keys is "2"; expected an integer'],
  ['map.show({ weights: [[[1, 2]]] })', 'ERR_SHAPE: weights is [[…]]; expected one head’s weights'],
  ["map.show({ weights: [['1']] })", 'ERR_SHAPE: weights is [[…]]; expected one head’s weights'],
  ['map.show({ weights: { shape: [-1, -2], data: [1, 2] } })', 'ERR_SHAPE: weights is'],
  ['map.show({ weights: { shape: [0.5, 4], data: [1, 2] } })', 'ERR_SHAPE: weights is'],
  ['map.show({ weights: { shape: [1, 2], data: new BigInt64Array(2) } })', 'ERR_SHAPE: weights is'],
  ['map.show({ weights: [new BigInt64Array(2)] })', 'ERR_SHAPE: weights is'],
  ["map.show({ weights: { shape: [1, 2], data: 'ab' } })", 'ERR_SHAPE: weights is'],
  ["map.show({ weights: { shape: [1, 2], data: ['a', 'b'] } })", 'ERR_SHAPE: weights is'],
  [
    "map.show({ weights, causal: 'false' })",
    'ERR_VALUE: causal is "false"; expected true or false',
  ],
  ['map.show({ weights: { shape: [1, 2], data: null } })', 'ERR_SHAPE: weights is'],
  ['map.show({ weights: { shape: [1n, 2n], data: [1, 2] } })', 'ERR_SHAPE: weights is'],
  ['map.show({ weights, signed: 1 })', 'ERR_VALUE: signed is 1; expected true or false'],
  ['map.show({ weights, name: {} })', 'ERR_VALUE: name is'],
  ['map.show({ weights, noun: 5 })', 'ERR_VALUE: noun is 5; expected a text'],
  ["view.gradient({ signed: 'x' })", 'ERR_VALUE: signed is "x"; expected true or false'],
  ['map.zoomBy(NaN)', 'ERR_VALUE: factor is NaN; expected a finite number above 0'],
  ['map.zoomBy(0)', 'ERR_VALUE: factor is 0; expected a finite number above 0'],
  [
    'view.drawWeights(new OffscreenCanvas(9, 9), weights)',
    'ERR_VALUE: canvas is a value of type OffscreenCanvas; expected a canvas element',
  ],
];

viewTest(
  'what is no place, label or source is refused in words, and the map goes on',
  async (page) => {
    const said = /** @type {string[]} */ (
      await page.evaluate(`(async () => {
      const weights = [[1, 0], [0.5, 0.5]];
      await map.show({ weights });
      const said = [];
      for (const call of [${REFUSED.map(([call]) => `() => (${call})`).join()}])
        try {
          await call();
          said.push('nothing');
        } catch ({ code, message }) { said.push(code + ': ' + message); }
      await new Promise(requestAnimationFrame);
      map.pinned = null;
      map.pins = null;
      await map.show({ weights, tokens: [15, 4] });
      said.push(map.pinned + ' ' + [...map.shadowRoot.querySelectorAll('.columns span')].map((label) => label.textContent));
      return said;
    })()`)
    );
    for (const [i, [call, words]] of REFUSED.entries())
      assert.ok(said[i].startsWith(words), `${call}: ${said[i]}`);
    assert.equal(said.at(-1), '-1 15,4');
  },
);
