// What the shipped models are trained on: random numbers, byte pairs, the novels, letters that repeat, sentences of names.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { Gpt2 } from 'headwise/gpt2';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { austen, austenData, tokenShare } from '../web/page/models/train/austen.js';
import { Bpe } from '../web/page/models/train/bpe.js';
import { induction } from '../web/page/models/train/induction.js';
import { lazyLoad } from '../web/page/models/train/r-data.js';
import { Random } from '../web/page/models/train/random.js';
import * as sentences from '../web/page/models/train/sentences.js';
import { clean, split } from '../web/page/models/train/texts.js';
import { engine } from './helpers.js';

const MODELS = new URL('../web/page/models/', import.meta.url);

/** @param {string} path */
const json = async (path) => JSON.parse(await readFile(path, 'utf8'));

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
