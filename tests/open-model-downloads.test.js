// openModel's downloads: parts, redirects, cut connections, changed files and aborts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { loadGpt2 } from 'headwise/gpt2';
import { readCheckpoint, smallConfig, smallModel } from './gpt2.js';
import { data, engine, rejectsCode } from './helpers.js';
import {
  tensors,
  whole,
  pinned,
  server,
  open,
  valuesOf,
  areTensors,
  weightBytes,
} from './served-models.js';

const hw = await engine();

test('unwanted tensors are not fetched, and small gaps are', async () => {
  const model = await open('org/model');
  areTensors(await valuesOf(model, (name) => name !== 'unwanted'), ['a', 'b']);
  const needed = (tensors.a.data.length + tensors.b.data.length) * 4;
  assert.ok(weightBytes() < needed + 2 ** 17, `${weightBytes()} bytes for ${needed}`);
  assert.ok(server.served.every(({ range }) => range?.startsWith('bytes=')));
  // Of a file without unwanted tensors there is one part after the beginning.
  server.served.length = 0;
  await valuesOf(await open('org/model'));
  assert.equal(server.served.filter(({ path }) => path.endsWith('.safetensors')).length, 2);
});

test('redirects are followed, for parts too', async () => {
  server.behaviours[`${pinned}/model.safetensors`] = { to: '/plain/folder/model.safetensors' };
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
});

test('a server that gives no parts is read as a stream', async () => {
  for (const path of ['config.json', 'model.safetensors'])
    server.behaviours[`/plain/folder/${path}`] = { isWhole: true };
  const model = await open(`${server.origin}/plain/folder`);
  areTensors(await valuesOf(model, (name) => name !== 'unwanted'), ['a', 'b']);
  assert.equal(weightBytes(), whole.length);
});

test('a server that sends the whole file for a part is read from that part on', async () => {
  for (const source of [`${server.origin}/plain/folder`, 'org/model']) {
    const model = await open(source);
    const files = await model.openFiles();
    for (const folder of ['/plain/folder', pinned])
      server.behaviours[`${folder}/model.safetensors`] = {
        ...{ isWhole: true, cutAfter: whole.length - 1000, cuts: 1 },
      };
    const opened = { ...model, openFiles: async () => files };
    areTensors(await valuesOf(opened, (name) => name !== 'unwanted'), ['a', 'b']);
    for (const path of Object.keys(server.behaviours)) delete server.behaviours[path];
  }
});

/** Answers with the server's, or for a part of the weights with another's. @param {(response: Response) => Response} change @returns {typeof fetch} */
const withParts = (change) => async (address, options) => {
  const response = await fetch(address, options);
  const { range = '' } = /** @type {any} */ (options)?.headers ?? {};
  const isPart = String(address).endsWith('.safetensors') && !range.startsWith('bytes=0-');
  return isPart ? change(response) : response;
};

test('a whole file of which only the version is told is read from a part on', async () => {
  const fetchWhole = withParts(({ headers }) => {
    const { body } = new Response(whole);
    return new Response(body, { headers: { etag: headers.get('etag') ?? '' } });
  });
  const model = await open(`${server.origin}/plain/folder`, { fetch: fetchWhole });
  areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
});

test('a stream of other than bytes, and one that is cut time and again, are errors that say what was expected', async () => {
  /** @type {[code: string, words: string, start: (controller: ReadableStreamDefaultController) => void][]} */
  const streams = [
    ['ERR_VALUE', 'the stream gave "text"; expected a Uint8Array', (c) => c.enqueue('text')],
    [
      'ERR_LOAD',
      'could not be read (it broke); expected the rest',
      (c) => c.error(Error('it broke')),
    ],
  ];
  for (const [code, words, start] of streams) {
    const fetchIt = withParts(({ headers }) => {
      const body = new ReadableStream({ start });
      return new Response(body, { status: 206, headers });
    });
    const model = await open(`${server.origin}/plain/folder`, { fetch: fetchIt });
    await rejectsCode(valuesOf(model), code, 'model.safetensors', words);
  }
});

test('a server that asks to wait is asked again then, and not at all where that is long', async () => {
  for (const say of [() => '1', () => new Date(Date.now() + 2000).toUTCString()]) {
    const after = say();
    const began = Date.now();
    /** @type {number[]} */
    const asked = [];
    /** @type {typeof fetch} */
    const busy = async (address, options) => {
      if (!String(address).endsWith('.safetensors')) return fetch(address, options);
      asked.push(Date.now() - began);
      const isBusy = Date.now() - began < 950;
      const headers = { 'retry-after': after };
      return isBusy ? new Response('', { status: 429, headers }) : fetch(address, options);
    };
    const model = await open(`${server.origin}/plain/folder`, { fetch: busy });
    areTensors(await valuesOf(model, (name) => name === 'a'), ['a']);
    assert.ok(asked[1] >= 950, `asked after ${asked} ms, for ${after}`);
  }
  let asked = 0;
  /** @type {typeof fetch} */
  const closed = async (address, options) => {
    if (!String(address).endsWith('.safetensors')) return fetch(address, options);
    asked++;
    return new Response('', { status: 429, headers: { 'retry-after': '300' } });
  };
  const late = open(`${server.origin}/plain/folder`, { fetch: closed }).then((m) => m.openFiles());
  const words = 'answered 429, and asks to wait 300 s; expected the file';
  await rejectsCode(late, 'ERR_LOAD', words);
  assert.equal(asked, 1);
  const headers = { 'retry-after': '300' };
  const closing = withParts(() => new Response('', { status: 429, headers }));
  const begun = await open(`${server.origin}/plain/folder`, { fetch: closing });
  await rejectsCode(valuesOf(begun), 'ERR_LOAD', words);
});

test('a download that is cut goes on where it was cut', async () => {
  server.behaviours['/plain/folder/model.safetensors'] = { cutAfter: 1_000_000, cuts: 3 };
  const model = await open(`${server.origin}/plain/folder`);
  areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  const starts = server.served
    .filter(({ path }) => path.endsWith('.safetensors'))
    .map(({ range }) => Number(/\d+/.exec(range ?? '')));
  assert.ok(starts.length >= 4);
  assert.ok(
    starts.slice(2).every((start, i) => start > starts[i + 1] + 900_000),
    `${starts}`,
  );
});

test('a download that is cut more often than is tried in vain goes on as long as more comes each time', async () => {
  server.behaviours['/plain/folder/model.safetensors'] = { cutAfter: 500_000, cuts: 7 };
  const model = await open(`${server.origin}/plain/folder`);
  areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  assert.equal(server.behaviours['/plain/folder/model.safetensors'].cuts, 0);
});

test('a download that is cut within the first bytes goes on too', async () => {
  for (const cutAfter of [0, 4, 5000]) {
    server.behaviours['/plain/folder/config.json'] = { cutAfter: Math.min(cutAfter, 9), cuts: 1 };
    server.behaviours['/plain/folder/model.safetensors'] = { cutAfter, cuts: 2 };
    const model = await open(`${server.origin}/plain/folder`);
    areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  }
  server.behaviours['/plain/folder/config.json'] = { cutAfter: 0 };
  await rejectsCode(open(`${server.origin}/plain/folder`), 'ERR_LOAD', 'config.json');
});

test('a connection that is cut again and again is an error, in time', async () => {
  server.behaviours['/plain/folder/model.safetensors'] = { cutAfter: 65_536 };
  const model = await open(`${server.origin}/plain/folder`);
  // Each attempt brings something new: it takes many.
  areTensors(await valuesOf(model, (name) => name === 'b'), ['b']);
  const opened = await open(`${server.origin}/plain/folder`);
  server.behaviours['/plain/folder/model.safetensors'] = { status: 503 };
  const [weights] = await opened.openFiles().catch(() => []);
  assert.equal(weights, undefined);
  delete server.behaviours['/plain/folder/model.safetensors'];
  const [again] = await opened.openFiles();
  server.behaviours['/plain/folder/model.safetensors'] = { status: 503 };
  const read = async () => {
    for await (const _ of again.pieces()) continue;
  };
  await rejectsCode(read(), 'ERR_LOAD', 'model.safetensors', '503 Service Unavailable');
});

test('a file that changes while it is read is an error', async () => {
  const model = await open(`${server.origin}/plain/folder`);
  const [weights] = await model.openFiles();
  server.files['/plain/folder/model.safetensors'] = writeSafetensors({
    ...tensors,
    b: data(9, [5000, 10]),
  });
  const read = async () => {
    for await (const _ of weights.pieces()) continue;
  };
  await rejectsCode(read(), 'ERR_LOAD', 'changed while it was read');
  server.files['/plain/folder/model.safetensors'] = whole;
});

test('an abort rejects with the signal’s reason: while nothing comes, between parts, and while it waits to try again', async () => {
  const reason = new Error('enough');
  const isReason = (/** @type {unknown} */ error) => error === reason;
  const { signal: aborted } = { signal: AbortSignal.abort(reason) };
  await assert.rejects(open('org/model', { signal: aborted }), isReason);
  const without = { signal: AbortSignal.abort(null) };
  const opened = open('org/model', without).catch((/** @type {unknown} */ error) => error);
  assert.equal(await opened, null);
  for (const behaviour of [{ cutAfter: 100_000, stalls: true }, { cutAfter: 0 }]) {
    const controller = new AbortController();
    const model = await open(`${server.origin}/plain/folder`, { signal: controller.signal });
    const files = await model.openFiles();
    server.behaviours['/plain/folder/model.safetensors'] = behaviour;
    const read = async () => {
      for await (const _ of files[0].pieces()) continue;
    };
    const reading = read();
    setTimeout(() => controller.abort(reason), 100);
    await assert.rejects(reading, isReason);
    delete server.behaviours['/plain/folder/model.safetensors'];
  }
});

test('loadGpt2 reads shards, parts and cut connections as the others do, and says what shards lack', async () => {
  const state = smallModel(hw).stateDict();
  const names = Object.keys(state);
  const pick = (/** @type {string[]} */ keys) =>
    writeSafetensors(Object.fromEntries(keys.map((key) => [key, state[key]])));
  const halves = [pick(names.slice(0, 9)), pick(names.slice(9))];
  /** @type {{ loaded: number, total: number }[]} */
  const steps = [];
  const model = await loadGpt2(hw, {
    ...{ config: smallConfig, weights: halves, onProgress: (step) => steps.push(step) },
  });
  assert.deepEqual(model.stateDict(), state);
  const total = halves.reduce((sum, { length }) => sum + length, 0);
  assert.ok(
    steps.every((step, i) => step.total === total && step.loaded >= (steps[i - 1]?.loaded ?? 0)),
  );
  assert.equal(steps.at(-1)?.loaded, total);
  const only = { config: smallConfig, weights: halves.slice(0, 1) };
  await rejectsCode(loadGpt2(hw, only), 'ERR_FORMAT', 'missing: ');
  const twice = { config: smallConfig, weights: [...halves, halves[0]] };
  await rejectsCode(loadGpt2(hw, twice), 'ERR_FORMAT', 'weights[0] and 2 more do not fit', 'twice');
  const checkpoint = readCheckpoint('f16');
  server.files['/gpt2.safetensors'] = checkpoint.weights;
  server.behaviours['/gpt2.safetensors'] = { cutAfter: 70_000, cuts: 1 };
  const weights = `${server.origin}/gpt2.safetensors`;
  const far = await loadGpt2(hw, { config: checkpoint.config, weights });
  const near = await loadGpt2(hw, checkpoint);
  assert.deepEqual(far.stateDict(), near.stateDict());
});
