// Headers, configs and tokenizers made to hold the thread or to fill the heap: refused before anything is made of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGpt2Config, readNpy, readSafetensors } from 'headwise/formats';
import { tokenizerFrom } from '../web/page/explore/open/byte-level.js';
import { ownText } from '../web/page/explore/open/own-text.js';
import { openModel } from '../web/page/explore/worker/model.js';
import { evaluate } from './child.js';
import { npyFile, safetensorsFile } from './formats.js';
import { engine, rejectsCode, throwsCode } from './helpers.js';

const BYTES = 95_000_000;
const LONG = 'has a member of more than 65536 characters, ';

/** What fills a header, behind what, and what it is refused for. @type {[string, string, string, string][]} */
const bombs = [
  ['arrays in arrays', '[', '{"x":', 'is nested more than 64 levels deep'],
  ['objects in objects', '{"a":', '', 'is nested more than 64 levels deep'],
  ['empty objects', '{},', '{"x":[', LONG],
  ['empty objects as metadata', '{},', '{"__metadata__":[', 'has more than 524288 values'],
  ['members', '"a":{},', '{', 'has more than 524288 values'],
  ['numbers', '0,', '{"__metadata__":[', 'has more than 524288 values'],
  ['one number', '1', '{"x":', `${LONG}"\\"x\\":1111`],
  ['one name', 'a', '{"', LONG],
  ['one text in what is only called metadata', 'a', '{"x":{"__metadata__":"', LONG],
  ['one name behind metadata', 'a', '{"__metadata__":{},"', LONG],
  ['spaces', ' ', '{"x":{"dtype":', LONG],
  ['spaces as metadata', ' ', '{"__metadata__":', 'cannot be parsed ('],
];

test('95 MB of brackets, commas or digits in a header are refused, within a heap of 600 MB', async () => {
  const script = `
    import { readSafetensors } from ${JSON.stringify(import.meta.resolve('headwise/formats'))};
    const lines = [];
    const header = new Uint8Array(8 + ${BYTES});
    new DataView(header.buffer).setUint32(0, ${BYTES}, true);
    for (const [, part, start] of ${JSON.stringify(bombs)}) {
      header.set(new TextEncoder().encode(start), 8);
      Buffer.from(header.buffer, 8 + start.length).fill(part);
      await readSafetensors(header).catch(({ code, message }) => lines.push(code + ' ' + message));
    }
    report(lines);`;
  const flags = ['--max-old-space-size=600'];
  /** @type {string[]} */
  const lines = await evaluate('a process that reads huge headers', script, { flags });
  assert.equal(lines.length, bombs.length, lines.join('\n'));
  lines.forEach((line, i) => {
    const [title, , , problem] = bombs[i];
    assert.ok(line.startsWith('ERR_FORMAT source: the header '), `${title}: ${line}`);
    assert.ok(line.includes(problem), `${title}: ${line}`);
    assert.ok(line.length < 400, `${title}: the message has ${line.length} characters`);
  });
});

const tensor = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
/** @param {number} levels */
const nested = (levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test('a header may nest 64 levels, and metadata may be long', async () => {
  const deep = safetensorsFile({ x: { ...tensor, more: nested(62) } }, 8);
  assert.deepEqual([...(await readSafetensors(deep)).tensors.x.data], [0, 0]);
  const flat = safetensorsFile({ x: { ...tensor, more: Array(100).fill(['a']) } }, 8);
  assert.deepEqual([...(await readSafetensors(flat)).tensors.x.data], [0, 0]);
  const deeper = safetensorsFile({ x: { ...tensor, more: nested(63) } }, 8);
  await rejectsCode(readSafetensors(deeper), 'ERR_FORMAT', 'more than 64 levels');
  const notes = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, 'a note']));
  const long = safetensorsFile({ x: tensor, __metadata__: notes, y: 0 }, 8);
  await rejectsCode(readSafetensors(long), 'ERR_FORMAT', 'tensor "y": is 0');
  const read = await readSafetensors(safetensorsFile({ x: tensor, __metadata__: notes }, 8));
  assert.equal(read.metadata[19_999], 'a note');
});

test('a header may describe 50,000 tensors', async () => {
  const all = Array.from({ length: 50_000 }, (_, i) => [
    `transformer.h.${i}.weight`,
    { dtype: 'U8', shape: [1, 1], data_offsets: [i, i + 1] },
  ]);
  const file = safetensorsFile(Object.fromEntries(all), 50_000);
  assert.equal(Object.keys((await readSafetensors(file)).tensors).length, 50_000);
});

test('a config is refused whose model_type is nested 50,000 levels deep', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"shape":[', ']}'],
  ]) {
    const text = `{"model_type":${open.repeat(50_000)}${close.repeat(50_000)}}`;
    throwsCode(() => readGpt2Config(text), 'ERR_FORMAT', 'config.json: is nested more than 64');
  }
});

test('a .npy description is refused whose shape or type is nested', async () => {
  for (const shape of ['('.repeat(4000) + ')'.repeat(4000), '{"shape":['.repeat(900)]) {
    const file = npyFile(`{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}}`, 4);
    await rejectsCode(readNpy(file), 'ERR_FORMAT', 'the header is nested more than 64 levels deep');
  }
});

test('a tokenizer of brackets leaves a model that reads token ids, and says why', async () => {
  const hw = await engine();
  const folder = new URL('fixtures/gpt2/f32/', import.meta.url).href;
  const files = { config: `${folder}config.json`, weights: `${folder}model.safetensors` };
  for (const text of ['['.repeat(1e6), `[${'{},'.repeat(5e6)}0]`]) {
    const model = await openModel(hw, { ...files, tokenizer: new Blob([text]) });
    assert.match(model.note ?? '', /^tokenizer\.json: (is nested|has) more than .*token ids\.$/);
    assert.equal(model.text.token(7).text, '7');
  }
  hw.dispose();
});

test('a vocabulary of brackets, and files longer than any tokenizer, are refused by name', async () => {
  throwsCodeOf(() => tokenizerFrom('['.repeat(1e6), ''), /^vocab\.json: is nested more than 64/);
  throwsCodeOf(() => tokenizerFrom(`[${'0,'.repeat(5e6)}0]`, ''), /^vocab\.json: has more than/);
  const long = { size: 2 ** 40, text: () => assert.fail('it is not read') };
  for (const kind of /** @type {const} */ (['json', 'text']))
    await assert.rejects(ownText(/** @type {any} */ (long), 'merges.txt', kind), {
      code: 'ERR_FORMAT',
      message: /^merges\.txt has more than (16|64)\.0 MiB; expected a shorter file$/,
    });
});

/** @param {() => unknown} call @param {RegExp} message */
const throwsCodeOf = (call, message) => assert.throws(call, { code: 'ERR_FORMAT', message });
