// npm run train: what it trains on, that a run is the same however it is interrupted, and that its files are read.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { tensor } from 'headwise';
import { readSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { austen, austenData, tokenShare } from '../web/page/models/train/austen.js';
import { Bpe } from '../web/page/models/train/bpe.js';
import { renewed } from '../web/page/models/train/card.js';
import { circuitOf } from '../web/page/models/train/circuit.js';
import { halfOf, writeHalves } from '../web/page/models/train/half.js';
import { induction } from '../web/page/models/train/induction.js';
import { lazyLoad } from '../web/page/models/train/r-data.js';
import { Random } from '../web/page/models/train/random.js';
import { train as trainRun } from '../web/page/models/train/trainer.js';
import { names } from '../web/page/models/train/names.js';
import * as sentences from '../web/page/models/train/sentences.js';
import { clean, split } from '../web/page/models/train/texts.js';
import { runNode } from './child.js';
import { engine } from './helpers.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODELS = new URL('../web/page/models/', import.meta.url);

/** @type {string} */
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-train-'));
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {...string} args */
const run = (...args) =>
  runNode(`npm run train -- ${args.join(' ')}`, ['web/page/models/train/run.js', ...args], {
    cwd: ROOT,
  });

/** @param {string} name of its folder @param {...string} args @returns {Promise<string>} the folder */
async function train(name, ...args) {
  const out = join(folder, name);
  const { status, stderr } = await run(...args, '--out', out);
  assert.equal(status, 0, stderr);
  return out;
}

/** @param {string} path */
const json = async (path) => JSON.parse(await readFile(path, 'utf8'));

test('a run that was interrupted ends with the bits of one that was not, on any number of threads', async () => {
  const steps = ['induction', '--steps', '6', '--seed', '5'];
  const whole = await train('whole', ...steps);
  const parts = await train('parts', ...steps, '--stop', '2');
  await assert.rejects(readFile(join(parts, 'model.safetensors')), /ENOENT/);
  await train('parts', ...steps, '--stop', '4', '--resume', '--threads', '2');
  await train('parts', ...steps, '--resume');
  for (const name of ['model.safetensors', 'scores.json']) {
    const [a, b] = [await readFile(join(whole, name)), await readFile(join(parts, name))];
    assert.ok(a.equals(b), name);
  }
  const [a, b] = [
    await json(join(whole, 'training.json')),
    await json(join(parts, 'training.json')),
  ];
  assert.deepEqual({ ...a, processor_minutes: 0 }, { ...b, processor_minutes: 0 });
  await assert.rejects(readFile(join(whole, 'checkpoint.safetensors')), /ENOENT/);
});

test('a checkpoint of another run is not resumed', async () => {
  await train('mine', 'induction', '--steps', '6', '--stop', '1', '--seed', '5');
  const { status, stderr } = await run(
    ...['induction', '--steps', '6', '--seed', '6', '--resume', '--out', join(folder, 'mine')],
  );
  assert.equal(status, 2);
  assert.match(stderr, /checkpoint’s seed is 5, this run’s 6/);
});

test('what is trained is read: config, weights, tokenizer, scores and card', async () => {
  const hw = await engine();
  for (const name of ['induction', 'names']) {
    const out = await train(`read-${name}`, name, '--steps', '2');
    const file = (/** @type {string} */ part) => pathToFileURL(join(out, part));
    const model = await loadGpt2(hw, {
      config: file('config.json'),
      weights: file('model.safetensors'),
    });
    const { encode, token } = readTokenizer(await json(join(out, 'tokenizer.json')));
    const shipped = await json(fileURLToPath(new URL(`${name}/tokenizer.json`, MODELS)));
    assert.deepEqual(await json(join(out, 'tokenizer.json')), shipped);
    const ids = encode(name === 'names' ? 'Mary saw john' : 'aB9');
    assert.deepEqual(
      ids.map((id) => token(id).text).join(''),
      name === 'names' ? 'marysawjohn' : 'aB9',
    );
    const { numLayers, numHeads, vocabSize } = model.options;
    assert.ok(model.forward(ids).logits.data.every(Number.isFinite));
    assert.equal(token(vocabSize - 1).text.startsWith('#'), false);
    const { heads } = await json(join(out, 'scores.json'));
    assert.deepEqual([heads.length, heads[0].length], [numLayers, numHeads]);
    const card = await readFile(join(out, 'README.md'), 'utf8');
    assert.match(card, /<!-- training -->\n- steps: 2\n/);
    assert.match(card, new RegExp(`L0H0 .*${heads[0][0].entropy.toFixed(2)}`));
    model.dispose();
  }
});

test('a model learns, and the feed-forward parts of one of attention alone stay zero', async () => {
  const out = await train('learns', 'names', '--steps', '60');
  const file = await readFile(join(out, 'model.safetensors'));
  const { tensors } = await readSafetensors(new Uint8Array(file));
  for (const [name, { data }] of Object.entries(tensors)) {
    if (name.includes('.mlp.'))
      assert.ok(
        data.every((value) => value === 0),
        name,
      );
  }
  const hw = await engine();
  const model = new Gpt2(hw, names.options, false).loadStateDict(tensors);
  const rows = names.data().batch(new Random(7, 7), 0);
  const [ids, targets] = [rows.map((row) => row.ids), rows.map((row) => row.targets)];
  const loss = model.loss(ids, targets).item();
  assert.ok(loss < Math.log(sentences.VOCABULARY.length) - 0.5, `${loss}`);
  model.dispose();
});

test('wrong options are named, with the usage', async () => {
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['gpt5'], /the model is gpt5; expected one of induction, austen, names/],
    [[], /the model is not named/],
    [['names', '--seed', '-1'], /argument|--seed is -1/],
    [['names', '--steps', '0'], /--steps is 0; expected a whole number of at least 1/],
    [['names', '--simd', 'mmx'], /--simd is mmx; expected simd128, relaxed or auto/],
    [['names', '--fast'], /--fast/],
  ])) {
    const { status, stderr } = await run(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
    assert.match(stderr, /usage: npm run train/);
  }
});

test('a step’s random numbers are its own, and fill what they may', () => {
  const draw = (/** @type {number} */ seed, /** @type {number} */ step) => {
    const random = new Random(seed, step);
    return Array.from({ length: 2000 }, () => random.whole(2, 6));
  };
  assert.deepEqual(draw(1, 2), draw(1, 2));
  assert.notDeepEqual(draw(1, 2), draw(1, 3));
  assert.notDeepEqual(draw(1, 2), draw(2, 2));
  for (const value of [2, 3, 4, 5, 6]) {
    const share = draw(1, 2).filter((drawn) => drawn === value).length / 2000;
    assert.ok(Math.abs(share - 0.2) < 0.05, `${value}: ${share}`);
  }
  assert.deepEqual(new Random(3, 0).choose(5, 5).sort(), [0, 1, 2, 3, 4]);
});

test('float16 is the nearest, the even one of two', async () => {
  const bits = Uint16Array.from({ length: 0x7c00 }, (_, i) => i);
  const values = (await readSafetensors(fileOfHalves(bits))).tensors.x.data;
  assert.equal(values[1], 2 ** -24);
  assert.equal(values[0x3c00], 1);
  for (let i = 0; i + 1 < bits.length; i++) {
    assert.equal(halfOf(values[i]), i);
    assert.equal(halfOf(-values[i]), i | 0x8000);
    const middle = (values[i] + values[i + 1]) / 2;
    assert.equal(halfOf(middle), i + (i % 2), `between ${i} and the next`);
    if (i > 1024) {
      assert.equal(halfOf(middle * (1 + 2 ** -20)), i + 1);
      assert.equal(halfOf(middle * (1 - 2 ** -20)), i);
    }
  }
  assert.deepEqual([halfOf(65_519), halfOf(65_520), halfOf(-Infinity)], [0x7bff, 0x7c00, 0xfc00]);
  const { y } = (await readSafetensors(writeHalves({ y: tensor([[1, -2.5, 0.1]]) }))).tensors;
  assert.deepEqual(
    [y.shape, [...y.data]],
    [
      [1, 3],
      [1, -2.5, 0.0999755859375],
    ],
  );
});

/** @param {Uint16Array<ArrayBuffer>} bits */
function fileOfHalves(bits) {
  const header = { x: { dtype: 'F16', shape: [bits.length], data_offsets: [0, 2 * bits.length] } };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = new Uint8Array(8);
  start[0] = text.length;
  return Uint8Array.from([...start, ...text, ...new Uint8Array(bits.buffer)]);
}

test('byte pairs are learnt from the most frequent on, of equal ones in alphabetical order', () => {
  const times = { hug: 10, pug: 5, pun: 12, bun: 4, hugs: 5 };
  const text = Object.entries(times)
    .map(([word, count]) => `\n${word}`.repeat(count))
    .join('');
  // u g 20, then u n 16, h ug 15, p un 12; then h·ug·s and p·ug, five each.
  const { merges } = Bpe.learn(text, 257 + 6);
  assert.deepEqual(merges, ['u g', 'u n', 'h ug', 'p un', 'hug s', 'p ug']);
});

test('text is encoded as the shipped tokenizer does, and decoded to itself', async () => {
  const shipped = await json(fileURLToPath(new URL('austen/tokenizer.json', MODELS)));
  const bpe = new Bpe(shipped.model.merges);
  assert.deepEqual(bpe.json, shipped);
  const { encode } = readTokenizer(shipped);
  for (const text of [
    'It was not in her power to speak of him to her sister.',
    '  "Pray, Mr. Bennet—" said he,\nwith 20,000 pounds;  it’s naïve… ',
    '',
  ]) {
    assert.deepEqual([...bpe.encode(text)], encode(text));
    assert.equal(bpe.decode([...bpe.encode(text)]), text);
  }
});

/** R's serialisation of what the novels' package has, written from "R Internals". */
const serialised = (() => {
  const int = (/** @type {number} */ value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const chars = (/** @type {string} */ text) =>
    Buffer.concat([int(9), int(Buffer.byteLength(text)), Buffer.from(text)]);
  const strings = (/** @type {string[]} */ list) =>
    Buffer.concat([int(16), int(list.length), ...list.map(chars)]);
  const ints = (/** @type {number[]} */ list) =>
    Buffer.concat([int(13), int(list.length), ...list.map(int)]);
  const list = (/** @type {Record<string, Buffer>} */ named) =>
    Buffer.concat([
      ...[int(19 | (1 << 9)), int(Object.keys(named).length), ...Object.values(named)],
      // Attributes: a pairlist of one cell with the tag "names", then nil.
      ...[int(2 | (1 << 10)), int(1), chars('names'), strings(Object.keys(named)), int(254)],
    ]);
  const file = (/** @type {Buffer} */ value) =>
    Buffer.concat([
      Buffer.from('X\n'),
      int(3),
      int(0x40300),
      int(0x30500),
      int(5),
      Buffer.from('UTF-8'),
      value,
    ]);
  return { strings, ints, list, file, int };
})();

test('the novels are read from R’s lazy-load database', () => {
  const { strings, ints, list, file, int } = serialised;
  const novels = { persuasion: ['A', '', 'é--b'], emma: ['EMMA'] };
  /** @type {Record<string, Buffer>} */
  const variables = {};
  let values = Buffer.alloc(0);
  for (const [name, lines] of Object.entries(novels)) {
    const raw = file(strings(lines));
    const packed = Buffer.concat([int(raw.length), deflateSync(raw)]);
    variables[name] = ints([values.length, packed.length]);
    values = Buffer.concat([values, packed]);
  }
  const index = gzipSync(file(list({ variables: list(variables), references: list({}) })));
  assert.deepEqual(lazyLoad(index, values), novels);
  assert.throws(() => lazyLoad(gzipSync(Buffer.from('RDX3')), values), /not in R’s XDR format/);
});

test('a paragraph becomes a line, and the end of each novel is held out', () => {
  assert.equal(
    clean(['EMMA', '', '', 'She _was_ ', ' here--and  ', 'happy.', '']),
    'EMMA\nShe was here—and happy.\n',
  );
  const novel = 'one line\n'.repeat(100);
  const { train: first, heldOut } = split([novel, novel]);
  assert.equal(first.length + heldOut.length, 2 * novel.length);
  assert.equal(heldOut, 'one line\n'.repeat(2 * 4));
});

test('rows of the novels are windows of the text, some after <|endoftext|>, some with a part that repeats', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const CONTEXT = 128;
  const phases = [
    { from: 0, tokens: 128, rows: [32] },
    { from: 0.5, tokens: 128, rows: [64] },
  ];
  const data = austenData(phases, CONTEXT, () => ({ train: text, heldOut: text.slice(0, 9000) }));
  const bpe = new Bpe(/** @type {any} */ (data.tokenizer).model.merges);
  const all = bpe.decode([...bpe.encode(text)]);
  assert.equal(all, text);
  const count = { rows: 0, starts: 0, last: 0, beginnings: 0, repeats: 0 };
  for (let step = 0; step < 200; step++) {
    const rows = data.batch(new Random(1, step), step / 200);
    assert.deepEqual([rows.length, rows[0].ids.length], step < 100 ? [4, 32] : [2, 64]);
    for (const { ids, targets, positions = [] } of rows) {
      assert.deepEqual(Array.from(ids).slice(1), Array.from(targets).slice(0, -1));
      const begins = ids[0] === bpe.endOfText;
      const [first] = positions;
      assert.deepEqual(
        positions,
        Array.from(ids, (_, i) => first + i),
      );
      assert.ok(first >= 0 && first + ids.length <= CONTEXT && (first === 0 || !begins));
      count.starts += first === 0 ? 1 : 0;
      count.last = Math.max(count.last, first + ids.length);
      count.rows++;
      if (begins) count.beginnings++;
      const words = bpe.decode(Array.from(targets));
      if (!all.includes(begins ? `\n${words}` : words.replaceAll('\ufffd', ''))) count.repeats++;
    }
  }
  const share = (/** @type {number} */ part, /** @type {number} */ of) => part / of;
  assert.ok(Math.abs(share(count.repeats, count.rows) - 0.1) < 0.05, JSON.stringify(count));
  assert.ok(Math.abs(share(count.starts, count.rows) - 0.5) < 0.1, JSON.stringify(count));
  assert.ok(Math.abs(share(count.beginnings, count.rows) - 0.5 * 0.9 * 0.8) < 0.1);
  assert.equal(count.last, CONTEXT);
  const hw = await engine();
  const model = new Gpt2(hw, { ...austen.options, dModel: 8, numHeads: 2, numLayers: 1, dFf: 8 });
  const { held_out_loss_256: loss, held_out_bits_per_byte: bits } = data.evaluate(model, false);
  // Weights as small as GPT-2's first ones know nothing: every token is as likely as any.
  assert.ok(Math.abs(loss - Math.log(2048)) < 0.05, `${loss}`);
  const tokens = bpe.encode(text.slice(0, 9000)).length;
  const bytes = Buffer.byteLength(text.slice(0, 9000));
  assert.ok(Math.abs(bits - ((loss / Math.LN2) * tokens) / bytes) < 0.01, `${bits}`);
  model.dispose();
});

test('the share of the tokens that steps have had follows the tokens of their phases', () => {
  const phases = [
    { from: 0, tokens: 512, rows: [32] },
    { from: 0.2, tokens: 1024, rows: [64] },
    { from: 0.5, tokens: 2048, rows: [64] },
  ];
  const share = tokenShare(phases);
  const widths = [...Array(800).fill(512), ...Array(600).fill(1024), ...Array(500).fill(2048)];
  const all = widths.reduce((sum, width) => sum + width, 0);
  let seen = 0;
  [...widths, 0].forEach((width, step) => {
    assert.ok(Math.abs(share(step / widths.length) - seen / all) < 1e-9, `step ${step}`);
    seen += width;
  });
});

test('letters of the induction task repeat, and only what repeats is asked', () => {
  const { batch } = induction.data();
  for (const { ids, targets } of batch(new Random(1, 7), 0)) {
    const period = Array.from(targets).findIndex((id) => id >= 0);
    assert.ok(period >= 4 && period <= 32);
    const text = [ids[0], ...Array.from(ids).slice(1), targets[targets.length - 1]];
    for (let at = 1; at < text.length; at++) {
      assert.equal(targets[at - 1], at <= period ? -100 : text[at - period]);
    }
  }
});

test('held-out sentences have names that training never shows together', () => {
  const nameIds = new Set(sentences.NAMES.map(sentences.idOf));
  const together = (/** @type {sentences.Sentence} */ { ids }) =>
    [...new Set(ids.filter((id) => nameIds.has(id)))].sort((a, b) => a - b).join(' ');
  const random = new Random(1, 0);
  const seen = new Set(
    Array.from({ length: 20_000 }, () => together(sentences.trainingSentence(random))),
  );
  const beside = new Set(
    [...seen].filter((people) => people.includes(' ')).flatMap((people) => people.split(' ')),
  );
  for (let i = 0; i < 500; i++) {
    const pair = sentences.heldOutPair(random);
    assert.ok(!seen.has(together(pair)));
    assert.equal(pair.ids.filter((id) => id === sentences.idOf(pair.subject)).length, 2);
    assert.equal(pair.ids.filter((id) => id === sentences.idOf(pair.object)).length, 1);
    assert.ok(!pair.ids.includes(0), 'all words are known');
    const lone = together(sentences.heldOutNames(random)).split(' ');
    assert.ok(lone.length === 2 && lone.every((id) => !beside.has(id) && seen.has(id)));
  }
  assert.equal(new Set(sentences.VOCABULARY).size, sentences.VOCABULARY.length);
});

test('the shipped names model answers sentences of names that it never saw together', async () => {
  const hw = await engine();
  const file = (/** @type {string} */ part) => new URL(`names/${part}`, MODELS);
  const model = await loadGpt2(hw, {
    config: file('config.json'),
    weights: file('model.safetensors'),
  });
  const random = new Random(9, 9);
  for (const kind of [sentences.heldOutPair, sentences.heldOutNames]) {
    let right = 0;
    for (let i = 0; i < 100; i++) {
      const { ids, object } = kind(random);
      const data = /** @type {Float32Array} */ (model.forward(ids).logits.data);
      if (data.indexOf(Math.max(...data)) === sentences.idOf(object)) right++;
    }
    assert.ok(right >= 97, `${right} of 100`);
  }
  model.dispose();
});

test('a head’s part in the circuit is told from where it looks, and what is lost without it', () => {
  const io = sentences.idOf('mary');
  const s = sentences.idOf('john');
  const ids = 'mary saw john near the park , so john gave a cake to'.split(' ').map(sentences.idOf);
  const n = ids.length;
  /** Two heads that look at one place from one place: the end at S2, the end at IO. */
  const looks = [
    [n - 1, 8],
    [n - 1, 0],
  ];
  const model = {
    options: { numLayers: 1, numHeads: 2 },
    forward(/** @type {number[]} */ given, /** @type {{ headMask?: number[][] }} */ { headMask }) {
      assert.deepEqual(given, ids);
      const weights = new Float32Array(2 * n * n);
      looks.forEach(([query, key], head) => (weights[(head * n + query) * n + key] = 1));
      const logits = new Float32Array(sentences.VOCABULARY.length);
      const [inhibits, moves] = headMask?.[0] ?? [1, 1];
      logits[io] = 2 + moves;
      logits[s] = 4 - 3 * inhibits;
      return { weights: [tensor(weights, [2, n, n])], logits: tensor(logits) };
    },
  };
  const sentence = { ids, subject: 'john', object: 'mary' };
  const { difference, heads, roles, accuracy } = circuitOf(/** @type {any} */ (model), [
    sentence,
    sentence,
  ]);
  assert.equal(difference, 2);
  const none = { duplicate: 0, subject: 0 };
  assert.deepEqual(heads, [
    [
      { ...none, inhibition: 1, mover: 0, without: -1 },
      { ...none, inhibition: 0, mover: 1, without: 1 },
    ],
  ]);
  assert.deepEqual(roles, { duplicate: [], inhibition: ['L0H0'], both: [], mover: ['L0H1'] });
  assert.deepEqual(accuracy, { duplicate: 1, inhibition: 0, both: 1, mover: 1 });
});

test('a run gives the model that was judged best, also when it is resumed', async () => {
  const hw = await engine();
  /** Judged worse and worse but at step 4. */
  const judged = (/** @type {number[]} */ seen) => () => {
    seen.push(seen.length);
    return seen.length === 2 ? -1 : seen.length;
  };
  const { data, ...task } = induction;
  const states = [];
  for (const stops of [[10], [5, 7, 10]]) {
    /** @type {number[]} */
    const seen = [];
    const own = { ...data(), judge: judged(seen) };
    const options = { folder: join(folder, `best-${stops.length}`), seed: 1, steps: 10, tell() {} };
    let last;
    for (const stop of stops) {
      last?.model.dispose();
      const how = { ...options, stop, isResumed: stop !== stops[0] };
      last = await trainRun(hw, { ...task, data, judgedEvery: 2 }, own, how);
    }
    assert.deepEqual(last?.progress.best, { step: 4, loss: -1 });
    assert.equal(seen.length, 5);
    states.push(last?.model.stateDict());
    last?.model.dispose();
  }
  const four = { folder: join(folder, 'four'), seed: 1, steps: 10, stop: 4, tell() {} };
  const early = await trainRun(hw, { ...task, data }, data(), { ...four, isResumed: false });
  assert.deepEqual(states[0], early.model.stateDict());
  assert.deepEqual(states[1], states[0]);
  early.model.dispose();
});

test('a card’s parts are renewed, and nothing else', () => {
  const card = 'a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n';
  assert.equal(
    renewed(card, { x: 'new', y: 'z' }),
    'a\n<!-- x -->\nnew\n<!-- /x -->\nb\n<!-- y -->\nz\n<!-- /y -->\n',
  );
  assert.throws(() => renewed(card, { z: '' }), /no part <!-- z -->/);
});
