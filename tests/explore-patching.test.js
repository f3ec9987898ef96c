// Patching in the Explore room: two texts, and what of the one brings its prediction back in the other.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { load } from 'headwise';
import { MODELS } from '../web/page/explore/models.js';
import { exampleOf } from '../web/page/explore/why/patching/examples.js';
import {
  differenceInWords,
  differingAt,
  problemOf,
} from '../web/page/explore/why/patching/pair.js';
import { Patching } from '../web/page/explore/why/patching/patching.js';
import { endOf, exact, wordsAt, written } from '../web/page/explore/why/patching/share-table.js';
import { patchingOf } from '../web/page/explore/worker/patching.js';
import { signal } from '../web/page/shared/signals.js';
import { openPageModel } from './page-model.js';

/** @import { DecoderModel } from '../web/page/explore/worker/model.js' */

/** @type {Awaited<ReturnType<typeof load>>} */
let hw;
/** @type {Record<string, DecoderModel>} */
const models = {};

before(async () => {
  hw = await load();
  for (const name of Object.keys(MODELS)) {
    models[name] = await openPageModel(hw, name);
  }
});
after(() => hw.dispose());

/** @param {string} name of a model */
function exampleIds(name) {
  const { text, other, target, against } = exampleOf(name);
  const encode = (/** @type {string} */ words) => models[name].text.encode(words);
  return {
    ids: encode(text),
    others: encode(other),
    target: encode(target)[0],
    against: encode(against)[0],
  };
}

/** @param {string} name of a model @param {ReturnType<typeof exampleIds>} asked */
async function swept(name, asked) {
  let last;
  for await (const part of patchingOf(models[name], asked, async () => {})) last = part;
  assert.ok(last?.clean !== undefined && last.other !== undefined);
  assert.equal(last.done, last.count);
  return { ...last, clean: last.clean, other: last.other };
}

for (const name of Object.keys(MODELS)) {
  test(`the example of ${name} has texts of equal length, and each says its own`, async () => {
    const { ids, others, target, against } = exampleIds(name);
    const tokensOf = (/** @type {number[]} */ all) => all.map(models[name].text.token);
    assert.equal(problemOf(tokensOf(ids), tokensOf(others), ids.length - 1), '');
    const scoreOf = (/** @type {number[]} */ text) => {
      const { data } = models[name].decoder.forward(text).logits;
      return data[target] - data[against];
    };
    assert.ok(scoreOf(ids) > 0.5 && scoreOf(others) < -0.5);
  });

  test(`the shares of all heads of ${name} are those of whole forwards with one output exchanged`, async () => {
    const asked = exampleIds(name);
    const { ids, others, target, against } = asked;
    const { heads, clean, other } = await swept(name, asked);
    const { decoder } = models[name];
    const scoreOf = (/** @type {import('headwise').Tensor} */ { data }) =>
      data[target] - data[against];
    const { trace, logits } = decoder.forward(ids, { trace: true });
    const base = scoreOf(decoder.forward(others).logits);
    assert.ok(Math.abs(scoreOf(logits) - clean) < 1e-3 && Math.abs(base - other) < 1e-3);
    heads.forEach((share, i) => {
      const [layer, head] = [Math.floor(i / decoder.config.numHeads), i % decoder.config.numHeads];
      const replace = [{ layer, head, output: trace[layer].output({ head }) }];
      const patched = scoreOf(decoder.forward(others, { replace }).logits);
      const expected = (patched - base) / (scoreOf(logits) - base);
      assert.ok(Math.abs(share - expected) < 1e-3, `L${layer}H${head}: ${share}, ${expected}`);
    });
  });
}

test('before the first layer a token’s share is that of the other text with this token exchanged', async () => {
  const asked = exampleIds('names');
  const { ids, target, against } = asked;
  // Two tokens differ: each alone brings a part back.
  const others = ids.with(1, ids[3]).with(9, ids[1]);
  const { places, clean, other } = await swept('names', { ...asked, others });
  ids.forEach((id, i) => {
    const { data } = models.names.decoder.forward(others.with(i, id)).logits;
    const expected = (data[target] - data[against] - other) / (clean - other);
    assert.ok(Math.abs(places[i] - expected) < 1e-3, `${i}: ${places[i]}, ${expected}`);
  });
  assert.equal(places[0], 0, 'up to the first token that differs nothing comes back');
});

test('after the last token nothing else counts: before the last layer all comes back there or nowhere', async () => {
  const asked = exampleIds('names');
  const n = asked.ids.length;
  const { places } = await swept('names', asked);
  assert.ok(Math.abs(places[9] - 1) < 1e-3, 'the one who gives is all that differs');
  const beforeLast = places.subarray(2 * n, 3 * n);
  assert.ok(beforeLast[n - 1] > 0.95 && Math.abs(beforeLast[9]) < 0.05);
  const beforeSecond = places.subarray(n, 2 * n);
  assert.ok(beforeSecond[n - 1] > 0.7 && beforeSecond[9] > 0.2 && beforeSecond[9] < 0.3);
});

test('a sweep whose reports are read slowly ends with all of them', async () => {
  let last;
  for await (const part of patchingOf(models.names, exampleIds('names'), async () => {})) {
    last = part;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(last?.done, last?.count);
});

test('a sweep that is not wanted any more ends', async () => {
  const { ids, others, ...asked } = exampleIds('austen');
  const long = (/** @type {number[]} */ all) => Array(12).fill(all).flat();
  const texts = { ...asked, ids: long(ids), others: long(others) };
  const sweep = patchingOf(models.austen, texts, () => Promise.reject(new Error('left')));
  await assert.rejects(async () => {
    for await (const part of sweep)
      assert.ok(part.done < part.count, 'it takes longer than a report');
  }, /left/);
  assert.deepEqual(await sweep.next(), { done: true, value: undefined });
});

const rest = () => new Promise((resolve) => setTimeout(resolve));

/** @param {string} text */
const tokens = (text) =>
  text.split(' ').map((word) => ({ id: word.length * 100 + word.charCodeAt(0), text: word }));

test('texts that do not go together are told why, and what to do', () => {
  const clean = tokens('when ann and bob');
  assert.match(
    problemOf(clean, tokens('when eve and bob left'), 3),
    /Your text has 4 tokens, the other 5\. .* Remove 1 token from the other text\. .* from token 2 on\./,
  );
  assert.match(
    problemOf(clean, tokens('when ann'), 3),
    /Add 2 tokens to the other text\. It is easiest to swap single-token words\.$/,
  );
  assert.match(problemOf(clean, clean, 3), /same tokens: change a word/);
  assert.match(problemOf(clean, tokens('when ann and eve'), 2), /only after token 3/);
  assert.equal(problemOf(clean, tokens('when eve and bob'), 3), '');
  assert.equal(problemOf(clean, tokens('when ann and eve'), 3), '', 'at the prediction itself');
});

test('what differs is told by its words', () => {
  const [clean, other] = [tokens('a b c d e f'), tokens('a x c y z w')];
  const pair = { clean, other, differing: differingAt(clean, other) };
  assert.deepEqual(pair.differing, [1, 3, 4, 5]);
  assert.equal(
    differenceInWords(pair),
    '“b” is “x”, “d” is “y”, “e” is “z”, and “f” is “w” in the other text.',
  );
});

test('shares are written with two decimals and a sign, and the scale ends at 1 or beyond', () => {
  assert.deepEqual([0.5, -0.004, -0.256, NaN].map(written), ['0.50', '0.00', '−0.26', '']);
  assert.deepEqual([-0.00001, -0.5, 1].map(exact), ['0.0000', '−0.5000', '1.0000']);
  assert.equal(endOf([0.2, NaN], [-0.4]), 1);
  assert.equal(endOf([0.2], [-1.5]), 1.5);
});

test('a cell of shares is told with its layer and column, or that it is not yet known', () => {
  /** @type {any} */
  const shares = {
    ...{ columns: ['H0', 'H1', 'H2'], values: [0, 0.1, 0.2, 0.3, -0.4, NaN] },
    nameOf: (/** @type {number} */ layer, /** @type {number} */ column) => `L${layer}H${column}`,
  };
  assert.equal(wordsAt(shares, 1, 1), 'L1H1: −0.4000');
  assert.equal(wordsAt(shares, 0, 2), 'L0H2: 0.2000');
  assert.equal(wordsAt(shares, 1, 2), 'L1H2: not yet known');
});

/** A room with a text of four tokens, what it asked of its Worker, and sweeps that tell when a test says so. */
function makeRoom() {
  const [first, second] = [1, 2].map((id) => ({
    ...{ id, ids: [5, 6, 7, 8], n: 4, written: 1 },
    tokens: tokens('an old cat sat'),
  }));
  /** @type {unknown[]} */
  const asked = [];
  /** @type {{ ids: number[], tell: (part: object) => Promise<void>, isOver: boolean }[]} */
  const sweeps = [];
  const session = {
    run: first,
    tokensOf: async (/** @type {string} */ text, /** @type {number[]} */ added) => {
      asked.push({ text, added });
      if (text === '?') throw new Error('no such letter');
      return tokens(`${text} sat`);
    },
    pairMaps: async (/** @type {object} */ head, /** @type {number[]} */ ids) => {
      asked.push({ ...head, ids });
      return { clean: 1, other: 2 };
    },
    async *patching(/** @type {object} */ _, /** @type {number[]} */ ids) {
      /** @type {((part: object) => void) | undefined} */
      let next;
      const sweep = {
        ...{ ids, isOver: false },
        tell: async (/** @type {object} */ part) => {
          next?.(part);
          await rest();
        },
      };
      sweeps.push(sweep);
      try {
        for (;;) {
          yield await new Promise((resolve) => (next = resolve));
        }
      } finally {
        sweep.isOver = true;
      }
    },
  };
  const room = {
    ...{ session, run: signal(first), isShown: signal(true), isPaired: signal(true) },
    about: signal({ at: 2 }),
    shown: signal({ layer: 1, head: 3, corrupted: /** @type {string | null} */ ('an old dog') }),
    next: { ended: signal(first) },
    fail: assert.fail,
  };
  const write = (/** @type {string | null} */ corrupted) => {
    room.shown.value = { ...room.shown.peek(), corrupted };
    return rest();
  };
  return { room, second, asked, sweeps, write, patching: new Patching(/** @type {any} */ (room)) };
}

test('the other text is read with what the model wrote, and told why it does not go together with the first', async () => {
  const { room, second, asked, sweeps, write, patching } = makeRoom();
  assert.equal(patching.pair.value, undefined);
  await rest();
  assert.deepEqual(asked[0], { text: 'an old dog', added: [8] });
  const pair = () => /** @type {any} */ (patching.pair.value);
  assert.deepEqual([pair().differing, pair().problem], [[2], '']);
  room.about.value = { at: 1 };
  assert.match(pair().problem, /only after token 2/);
  assert.deepEqual([patching.question.value.others, sweeps.length], [null, 1]);
  room.run.value = second;
  assert.equal(patching.pair.value, undefined, 'it is of the run before');
  room.run.value = room.session.run;
  const isRead = write('?');
  assert.equal(patching.pair.value, undefined, 'it is of the text before');
  await isRead;
  assert.equal(pair().problem, 'no such letter');
  await write(null);
  assert.equal(patching.pair.value, undefined);
  const texts = asked.flatMap((one) => /** @type {{ text?: string }} */ (one).text ?? []);
  assert.deepEqual(texts, ['an old dog', '?']);
  room.isPaired.value = false;
  await write('an old rat');
  assert.deepEqual([patching.text.value, asked.length], [null, 3]);
});

test('the chosen head’s maps are of both texts, and of no text that is gone', async () => {
  const { asked, write, patching } = makeRoom();
  await rest();
  await rest();
  const ids = tokens('an old dog sat').map(({ id }) => id);
  assert.deepEqual(asked[1], { layer: 1, head: 3, ids });
  const { layer, head, clean } = /** @type {any} */ (patching.maps.value ?? {});
  assert.deepEqual([layer, head, clean], [1, 3, 1]);
  await write(null);
  assert.deepEqual([patching.maps.value, asked.length], [undefined, 2]);
});

test('a sweep begins when the next token is known, and its shares are those of what is asked', async () => {
  const { room, sweeps, write, patching } = makeRoom();
  room.next.ended.value = /** @type {any} */ (undefined);
  await rest();
  assert.equal(sweeps.length, 0);
  room.next.ended.value = room.run.value;
  assert.equal(sweeps.length, 1);
  await rest();
  await sweeps[0].tell({ done: 0, count: 0 });
  assert.equal(patching.shares.value, undefined, 'nothing is to be patched');
  await sweeps[0].tell({ done: 1, count: 9 });
  assert.equal(/** @type {any} */ (patching.shares.value)?.done, 1);
  await write('an old rat');
  assert.equal(patching.shares.value, undefined);
  await sweeps[0].tell({ done: 2, count: 9 });
  assert.deepEqual([sweeps[0].isOver, patching.shares.value, sweeps.length], [true, undefined, 2]);
});

test('a sweep that is cancelled ends and keeps its shares; it begins anew on wish, and of another question', async () => {
  const { room, sweeps, patching } = makeRoom();
  await rest();
  await sweeps[0].tell({ done: 1, count: 9 });
  patching.cancel();
  await sweeps[0].tell({ done: 2, count: 9 });
  assert.deepEqual([sweeps[0].isOver, patching.shares.value?.done], [true, 2]);
  assert.equal(sweeps.length, 1);
  patching.goOn();
  await rest();
  assert.equal(sweeps.length, 2);
  patching.cancel();
  await sweeps[1].tell({ done: 1, count: 9 });
  room.about.value = { at: 3 };
  await rest();
  assert.equal(sweeps.length, 3);
});
