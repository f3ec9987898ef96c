// Opening files in the Explore room: ids, roles, shapes, labels, and what another room hands over.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readLabels } from '../web/page/explore/open/labels.js';
import { fitQueriesAndKeys, fitWeights, roleOf } from '../web/page/explore/open/shapes.js';
import { takeHandedOver } from '../web/page/explore/take-handed-over.js';
import { idTokens } from '../web/page/explore/worker/ids.js';
import { handedOver } from '../web/page/shared/handed-over.js';
import { signal } from '../web/page/shared/signals.js';

/** @param {RegExp} message */
const refused = (message) => (/** @type {Error} */ error) => message.test(error.message);

/** @param {string} name @param {number[]} shape */
const part = (name, shape) => ({
  label: `file: "${name}"`,
  name,
  shape,
  data: new Float32Array(shape.reduce((product, size) => product * size, 1)),
});

test('token ids are read from numbers, and what is none of the vocabulary is named', () => {
  const { encode, token, sample = '' } = idTokens(50);
  assert.deepEqual(encode('0 49, 7\n07'), [0, 49, 7, 7]);
  assert.deepEqual(encode(' '), []);
  assert.deepEqual(token(49), { id: 49, text: '49' });
  const ids = encode(sample);
  assert.ok(new Set(ids).size > 2 && ids.length > 2);
  for (const [text, word] of [
    ['1 two 3', 'two'],
    ['1 50', '50'],
    ['-1', '-1'],
    ['1.5', '1.5'],
    ['9'.repeat(20), '9'.repeat(20)],
    ['9'.repeat(400), '99999…'],
  ]) {
    assert.throws(
      () => encode(text),
      refused(new RegExp(`${word}” is not a token id .* from 0 to 49, with spaces`)),
    );
  }
  // A vocabulary that is smaller than the sample is long.
  assert.ok(
    idTokens(1)
      .encode(idTokens(1).sample ?? '')
      .every((id) => id === 0),
  );
});

test('roles are words of a name', () => {
  const roles = Object.fromEntries(
    [
      'q',
      'layers.0.k',
      'query_states',
      'key',
      'attn_v',
      'values2',
      'attentions.3',
      'quick',
      'constructor',
      'Q',
      'layers.0.Keys',
    ].map((name) => [name, roleOf(name)]),
  );
  assert.deepEqual(roles, {
    q: 'q',
    'layers.0.k': 'k',
    query_states: 'q',
    key: 'k',
    attn_v: 'v',
    values2: 'v',
    'attentions.3': 'weights',
    quick: 'weights',
    constructor: 'weights',
    Q: 'q',
    'layers.0.Keys': 'k',
  });
});

test('weights of any rank become layers and heads, in the order of their numbers', () => {
  const size = (/** @type {ReturnType<typeof part>[]} */ ...parts) => {
    const { layers, heads, n } = fitWeights(parts);
    return [layers, heads, n];
  };
  assert.deepEqual(size(part('a', [5, 5])), [1, 1, 5]);
  assert.deepEqual(size(part('a', [3, 5, 5])), [1, 3, 5]);
  assert.deepEqual(size(part('a', [2, 3, 5, 5])), [2, 3, 5]);
  assert.deepEqual(size(part('a', [2, 1, 3, 5, 5])), [2, 3, 5]);
  const { parts, layers } = fitWeights(
    ['a.10', 'a.2', 'a.0'].map((name) => part(name, [1, 3, 5, 5])),
  );
  assert.equal(layers, 3);
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['a.0', 'a.2', 'a.10'],
  );
});

test('shapes that do not fit are refused with the file and the axis', () => {
  const refusals = /** @type {[ReturnType<typeof part>[], RegExp][]} */ ([
    [
      [part('a', [2, 3, 5, 6])],
      /"a" has shape \[2, 3, 5, 6\]: axis 2 \(queries\) has 5 and axis 3 \(keys\) 6/,
    ],
    [[part('a', [5])], /it has 1 axes; expected \[layers, heads, n, n\]/],
    [[part('a', [2, 4, 3, 5, 5])], /axis 1 \(batch\) has 4/],
    [[part('a', [2, 0, 5, 5])], /axis 1 has no elements/],
    [[part('a', [0, 5, 5])], /axis 0 has no elements/],
    [[part('a', [1, 1, 1, 2, 5, 5])], /it has 6 axes; expected/],
    [
      [part('a.0', [3, 5, 5]), part('a.1', [4, 5, 5])],
      /"a\.1" .* axis 0 \(heads\) has 4; expected 3/,
    ],
    [[part('a.0', [3, 5, 5]), part('a.1', [3, 6, 6])], /axis 1 \(queries\) has 6; expected 5/],
  ]);
  for (const [parts, message] of refusals) {
    assert.throws(() => fitWeights(parts), refused(message), String(message));
  }
  const pairs = /** @type {[ReturnType<typeof part>[], RegExp][]} */ ([
    [[part('q', [2, 5, 4])], /"q" has no keys beside it/],
    [[part('l0.k', [2, 5, 4])], /has no queries beside it/],
    [[part('q', [2, 5, 4]), part('k', [2, 5, 3])], /"k" .* axis 2 \(d\) has 3; expected 4/],
    [[part('q', [2, 5, 4]), part('k', [2, 6, 4])], /axis 1 \(tokens\) has 6; expected 5/],
    [
      [part('q', [4, 5, 4]), part('k', [3, 5, 4])],
      /axis 0 \(heads\) has 3; expected a divisor of 4/,
    ],
    [
      [part('q', [5, 4]), part('query', [5, 4])],
      /The names of .* both say q; expected one tensor of each role/,
    ],
    [[part('q', [2, 2, 5, 4]), part('k', [3, 2, 5, 4])], /axis 0 \(layers\) has 3; expected 2/],
  ]);
  const first = [part('q.0', [4, 5, 4]), part('k.0', [2, 5, 4])];
  for (const [q, k, message] of /** @type {[number[], number[], RegExp][]} */ ([
    [[2, 5, 4], [2, 5, 4], /"q\.1" .* axis 0 \(heads\) has 2; expected 4, as file: "q\.0"/],
    [[4, 6, 4], [2, 6, 4], /"q\.1" .* axis 1 \(tokens\) has 6; expected 5, as file: "q\.0"/],
    [[4, 5, 3], [2, 5, 3], /"q\.1" .* axis 2 \(d\) has 3; expected 4, as file: "q\.0"/],
    [[4, 5, 4], [4, 5, 4], /"k\.1" .* axis 0 \(heads\) has 4; expected 2, as file: "k\.0"/],
  ]))
    pairs.push([[...first, part('q.1', q), part('k.1', k)], message]);
  for (const [parts, message] of pairs) {
    assert.throws(() => fitQueriesAndKeys(parts), refused(message), String(message));
  }
});

test('labels are a line, a word or an element each, and refused by the file’s name', () => {
  const texts = (/** @type {string} */ name, /** @type {string} */ text, n = 3) =>
    readLabels({ name, text }, n).map((token) => token.text);
  assert.deepEqual(texts('t.txt', 'a\n b\na\n'), ['a', '␣b', 'a']);
  assert.deepEqual(texts('t.txt', 'a\r\n b\r\na\r\n'), ['a', '␣b', 'a']);
  assert.deepEqual(texts('t.txt', '[CLS] b c'), ['[CLS]', 'b', 'c']);
  assert.deepEqual(texts('t.txt', ' a b c \n\n'), ['a', 'b', 'c']);
  assert.deepEqual(texts('t.json', '["a", "Ġb", "▁c"]'), ['a', '␣b', '␣c']);
  assert.deepEqual(texts('T.JSON', '["ĊĊ", "aĠ", "ĠĠ"]'), ['↵↵', 'aĠ', '␣Ġ']);
  assert.deepEqual(texts('t.json', '{"tokens": ["a", 7, "\\n"]}'), ['a', '7', '↵']);
  assert.deepEqual(
    readLabels({ name: 't.txt', text: 'a b a' }, 3).map(({ id }) => id),
    [0, 1, 0],
  );
  assert.deepEqual(
    readLabels(undefined, 2).map(({ text }) => text),
    ['1', '2'],
  );
  assert.throws(() => texts('t.txt', 'a b'), refused(/t\.txt: has 1 line and 2 words; expected 3/));
  assert.throws(() => texts('t.json', '["a"]'), refused(/t\.json: has 1 token; expected 3/));
  assert.throws(() => texts('t.json', '["a", "b"]', 1), refused(/has 2 tokens; expected 1/));
  assert.throws(() => texts('t.txt', 'a b\nc d\ne', 2), refused(/has 3 lines and 5 words/));
  for (const json of ['null', '7', '{"tokens": "abc"}'])
    assert.throws(() => texts('t.json', json), refused(/t\.json: expected an array of 3 tokens/));
  assert.throws(() => texts('t.json', '[null, "a", "b"]'), refused(/element 0 is neither/));
  assert.throws(
    () => texts('t.json', '["a", {}, "b"]'),
    refused(/element 1 is neither a text nor a number/),
  );
  assert.throws(() => texts('t.json', '{'), refused(/t\.json: cannot be parsed/));
});

test('a model that is handed over waits until the room is seen', async () => {
  const isShown = signal(false);
  /** @type {unknown[]} */
  const opened = [];
  const room = /** @type {any} */ ({ isShown, choices: { read() {}, choose() {} } });
  takeHandedOver(room, async (found) => opened.push(found) > 0);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  for (const text of ['left before it opened', 'opened']) {
    handedOver.value = { found: [], text, head: { layer: 0, head: 0 }, isAwaited: true };
    await turn();
    assert.deepEqual(opened, []);
  }
  isShown.value = true;
  await turn();
  assert.deepEqual(opened, [[]]);
  assert.equal(handedOver.value, undefined);
});
