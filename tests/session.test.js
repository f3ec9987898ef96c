// The Explore room's Session: a model and its latest run, with a Worker that answers when the test tells it to.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { PageError } from '../web/page/shared/errors.js';
import { Session } from '../web/page/explore/session.js';
import { FakeWorker } from './fakes.js';

beforeEach(() => FakeWorker.reset());

/** @param {(error: Error) => void} [lost] */
const sessionOf = (lost) => new Session({ lost, startWorker: FakeWorker.start });

/** Past the types: files and states have more than a Session reads. @returns {any} */
const any = (/** @type {unknown} */ value) => value;
const files = any({ name: 'austen' });
const otherFiles = any({ name: 'induction' });
const onProgress = () => {};
const what = any({ layer: 1, head: 2 });

const model = { kind: 'model', note: '', simd: 'simd128', threads: 1 };
const stateOf = (/** @type {object} */ more = {}) =>
  any({ text: 'It is', added: '', muted: [], ...more });

/** @param {Session} session @param {any} [from] @param {object} [summary] */
async function open(session, from = files, summary = model) {
  const opened = session.open(from, { onProgress });
  FakeWorker.last.answer('open', summary);
  await opened;
}

/** @param {Session} session @param {number} run its number @param {number} [n] tokens */
async function read(session, run, n = 5) {
  const reading = session.read('It is', stateOf());
  FakeWorker.last.answer('run', { run, n });
  return reading;
}

/** A session with a model and a run. @param {{ n?: number, lost?: (error: Error) => void }} [options] */
async function ready({ n, lost } = {}) {
  const session = sessionOf(lost);
  await open(session);
  await read(session, 1, n);
  return session;
}

const isLost = (/** @type {any} */ error) =>
  error instanceof PageError && error.code === 'ERR_LOAD';

const row = (/** @type {number[]} */ ...values) => Float32Array.from(values);

test('a Session starts no Worker before something is opened', async () => {
  const session = sessionOf();
  assert.equal(FakeWorker.all.length, 0);
  assert.deepEqual([session.model, session.run, session.files], [undefined, undefined, undefined]);
  assert.equal(session.hasModel, false);
});

test('a model that is open is not opened again, another one is', async () => {
  const session = sessionOf();
  await open(session);
  await session.open(files, { onProgress });
  assert.equal(FakeWorker.last.calls('open').length, 1);
  assert.deepEqual(session.model, model);
  await open(session, otherFiles, { ...model, note: 'another' });
  assert.equal(FakeWorker.last.calls('open').length, 2);
  assert.equal(session.model?.note, 'another');
  assert.equal(session.files, otherFiles);
});

test('opening another model ends the run of the one before', async () => {
  const session = await ready();
  assert.equal(session.run?.run, 1);
  await open(session, otherFiles);
  assert.equal(session.run, undefined);
});

test('what cannot be opened leaves the model and the run that were there', async () => {
  const session = await ready();
  const opening = session.open(otherFiles, { onProgress });
  FakeWorker.last.refuse('open', 'ERR_FORMAT');
  await assert.rejects(opening, { code: 'ERR_FORMAT' });
  assert.equal(session.files, files);
  assert.deepEqual(session.model, model);
  assert.equal(session.run?.run, 1);
  await open(session, otherFiles);
  assert.equal(session.files, otherFiles);
});

test('opening says how far it is and can be cancelled', async () => {
  /** @type {unknown[]} */
  const heard = [];
  const controller = new AbortController();
  const opening = sessionOf().open(files, {
    onProgress: (progress) => heard.push(progress),
    signal: controller.signal,
  });
  const [, tell, signal] = FakeWorker.last.newest('open').args;
  await tell({ fraction: 0.25 });
  controller.abort(new PageError('ERR_CANCELLED', 'Cancelled.'));
  assert.equal(signal.reason.code, 'ERR_CANCELLED');
  FakeWorker.last.newest('open').reject(signal.reason);
  await assert.rejects(opening, (error) => error === controller.signal.reason);
  assert.deepEqual(heard, [{ fraction: 0.25 }]);
});

/** In ms: longer than a Worker may take to hear. */
const LONG = 60_000;

/** @param {() => Promise<void>} body that moves the time on */
async function inTime(body) {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await body();
  } finally {
    mock.timers.reset();
  }
}

/** Until what was answered has been heard. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('files that a Worker does not hear of, as it reads without end, another one opens', () =>
  inTime(async () => {
    /** @type {Error[]} */
    const told = [];
    const session = await ready({ lost: (error) => told.push(error) });
    const [old] = FakeWorker.all;
    const reading = session.read('without end', stateOf());
    const opening = session.open(otherFiles, { onProgress });
    const left = assert.rejects(reading, { code: 'ERR_STALE' });
    mock.timers.tick(LONG);
    await left;
    assert.ok(old.isTerminated);
    assert.deepEqual([session.run, session.files], [undefined, undefined]);
    assert.equal(FakeWorker.all.length, 2);
    // One that starts takes its time.
    mock.timers.tick(LONG);
    FakeWorker.last.answer('open', { ...model, note: 'another' });
    await opening;
    assert.equal(FakeWorker.last.isTerminated, false);
    assert.deepEqual([session.files, session.isLost], [otherFiles, false]);
    assert.deepEqual(told, [], 'what is chosen is there');
  }));

test('a Worker that has heard of files has as long as it takes', () =>
  inTime(async () => {
    const session = await ready();
    const opening = session.open(otherFiles, { onProgress });
    const [, tell] = FakeWorker.last.newest('open').args;
    await tell({ fraction: 0 });
    mock.timers.tick(LONG);
    FakeWorker.last.answer('open', model);
    await opening;
    assert.equal(FakeWorker.all.length, 1);
  }));

test('a Worker that opened files at once, and told of no progress, goes on', () =>
  inTime(async () => {
    const session = await ready();
    const opening = session.open(otherFiles, { onProgress });
    FakeWorker.last.answer('open', model);
    await opening;
    mock.timers.tick(LONG);
    assert.equal(FakeWorker.last.isTerminated, false);
    assert.deepEqual([session.files, session.isLost], [otherFiles, false]);
  }));

for (const isNext of [false, true])
  test(`a Worker that does not hear that files are not wanted is ended${isNext ? ', and another one opens the next' : ''}`, () =>
    inTime(async () => {
      const session = sessionOf();
      const controller = new AbortController();
      const opening = session.open(files, { onProgress, signal: controller.signal });
      const [old] = FakeWorker.all;
      await old.newest('open').args[1]({ fraction: 0 });
      controller.abort();
      const next = isNext ? session.open(otherFiles, { onProgress }) : undefined;
      const left = assert.rejects(opening);
      mock.timers.tick(LONG);
      await left;
      assert.ok(old.isTerminated);
      await settle();
      assert.equal(FakeWorker.all.length, isNext ? 2 : 1);
      if (!isNext) return;
      FakeWorker.last.answer('open', model);
      await next;
      assert.equal(session.files, otherFiles);
    }));

test('what was open is lost with a Worker that does not hear that other files are not wanted', () =>
  inTime(async () => {
    /** @type {Error[]} */
    const told = [];
    const session = await ready({ lost: (error) => told.push(error) });
    const controller = new AbortController();
    const { signal } = controller;
    const left = assert.rejects(session.open(otherFiles, { onProgress, signal }));
    controller.abort();
    mock.timers.tick(LONG);
    await left;
    assert.equal(told.length, 1);
    assert.ok(session.isLost);
  }));

test('tokens stand apart where there is no text to be parts of', async () => {
  const session = sessionOf();
  await open(session);
  assert.deepEqual([session.hasModel, session.isApart], [true, false]);
  await open(session, otherFiles, { ...model, sample: '1 2 3' });
  assert.deepEqual([session.hasModel, session.isApart], [true, true]);
  await open(session, files, { ...model, kind: 'weights' });
  assert.deepEqual([session.hasModel, session.isApart], [false, true]);
});

test('reading tells the Worker the text, what was added and muted, and whether it is a sample', async () => {
  const session = sessionOf();
  await open(session);
  session.causal = false;
  const muted = [{ layer: 0, head: 1 }];
  const reading = session.read('a sample', stateOf({ text: null, added: ' b', muted }));
  assert.deepEqual(FakeWorker.last.newest('run').args, [
    1,
    { text: 'a sample', isSample: true, added: ' b', muted, causal: false, softmax: false },
  ]);
  FakeWorker.last.answer('run', { run: 7, n: 3 });
  assert.deepEqual(await reading, { run: 7, n: 3 });
  assert.deepEqual(session.run, { run: 7, n: 3 });
  session.read('own', stateOf()).catch(() => {});
  const [number, { isSample }] = FakeWorker.last.newest('run').args;
  assert.deepEqual([number, isSample], [2, false]);
});

test('a text that cannot be read leaves the run and its rows that were there', async () => {
  const session = await ready();
  const asked = session.row(what, 0);
  FakeWorker.last.answer('rows', row(1));
  await asked;
  const reading = session.read('too long', stateOf());
  FakeWorker.last.refuse('run', 'ERR_SHAPE');
  await assert.rejects(reading, { code: 'ERR_SHAPE' });
  assert.equal(session.run?.run, 1);
  assert.deepEqual(await session.row(what, 0), row(1));
  assert.equal(FakeWorker.last.calls('rows').length, 1);
});

test('every question is about the run that the page shows', async () => {
  const session = await ready();
  session.thumbs(2, 32);
  session.region('table', what, any({ rows: [0, 2] }));
  session.scores(2);
  session.predict({ at: 3, target: null, against: 7 });
  session.losses();
  session.rows(what, 1, 4);
  session.column(what, 2);
  assert.deepEqual(
    FakeWorker.last.asked.slice(2).map(({ name, args }) => [name, ...args]),
    [
      ['thumbs', 1, { layer: 2, size: 32 }],
      ['region', 1, { slot: 'table', what, region: { rows: [0, 2] } }],
      ['scores', 1, 2],
      ['predict', 1, { at: 3, target: null, against: 7 }, 'view'],
      ['losses', 1],
      ['rows', 1, { what, start: 1, end: 4 }],
      ['column', 1, { slot: 'column {"layer":1,"head":2} 2', what, key: 2 }],
    ],
  );
});

test('a row and a column are asked for once in a run, and anew in the next', async () => {
  const session = await ready();
  const [first, second] = [session.row(what, 3), session.line(what, { side: 'query', token: 3 })];
  const column = session.line(what, { side: 'key', token: 3 });
  FakeWorker.last.answer('rows', row(1, 2));
  FakeWorker.last.answer('column', row(3, 4));
  assert.deepEqual(await Promise.all([first, second, column]), [row(1, 2), row(1, 2), row(3, 4)]);
  const [, { start, end }] = FakeWorker.last.calls('rows')[0].args;
  assert.deepEqual([start, end], [3, 4]);
  await session.column(what, 3);
  assert.equal(FakeWorker.last.calls('rows').length, 1);
  assert.equal(FakeWorker.last.calls('column').length, 1);

  await read(session, 2);
  const anew = session.row(what, 3);
  FakeWorker.last.answer('rows', row(5, 6));
  assert.deepEqual(await anew, row(5, 6));
  assert.equal(FakeWorker.last.newest('rows').args[0], 2);
});

test('columns of two maps at the same key do not end one another', async () => {
  const session = await ready();
  session.column(what, 2);
  session.column(any({ layer: 0, head: 0 }), 2);
  const slots = FakeWorker.last.calls('column').map(({ args }) => args[1].slot);
  assert.equal(new Set(slots).size, 2, slots.join(', '));
});

test('rows that arrive in another order belong to who asked for them', async () => {
  const session = await ready();
  const asked = [0, 1, 2].map((query) => session.row(what, query));
  for (const { args, resolve } of FakeWorker.last.calls('rows').reverse())
    resolve(row(args[1].start));
  assert.deepEqual(await Promise.all(asked), [row(0), row(1), row(2)]);
});

test('a row that failed is asked for again', async () => {
  const session = await ready();
  const failing = session.row(what, 0);
  FakeWorker.last.refuse('rows', 'ERR_MEMORY');
  await assert.rejects(failing, { code: 'ERR_MEMORY' });
  const again = session.row(what, 0);
  FakeWorker.last.answer('rows', row(1));
  assert.deepEqual(await again, row(1));
});

test('a row that arrives after the next text was read is not taken for the new one’s', async () => {
  const session = await ready();
  const late = session.row(what, 0);
  const [first] = FakeWorker.last.calls('rows');
  await read(session, 2);
  const current = session.row(what, 0);
  first.resolve(row(1));
  assert.deepEqual(await late, row(1));
  FakeWorker.last.answer('rows', row(2));
  assert.deepEqual(await current, row(2));
  assert.deepEqual(await session.row(what, 0), row(2));
});

test('a row of an earlier text that fails late does not make the new one be asked for twice', async () => {
  const session = await ready();
  const late = session.row(what, 0);
  const [first] = FakeWorker.last.calls('rows');
  await read(session, 2);
  const current = session.row(what, 0);
  FakeWorker.last.answer('rows', row(2));
  await current;
  first.reject(new PageError('ERR_STALE', 'another text'));
  await assert.rejects(late, { code: 'ERR_STALE' });
  const kept = session.row(what, 0);
  assert.equal(FakeWorker.last.calls('rows').length, 2);
  assert.deepEqual(await kept, row(2));
});

test('of a long text few rows are kept, the newest', async () => {
  const n = 2 ** 18; // 4 rows are 2^20 weights
  const session = await ready({ n });
  const ask = async (/** @type {number} */ query) => {
    const before = FakeWorker.last.calls('rows').length;
    const asked = session.row(what, query);
    const isAsked = FakeWorker.last.calls('rows').length > before;
    if (isAsked) FakeWorker.last.answer('rows', row(query));
    assert.deepEqual(await asked, row(query));
    return isAsked;
  };
  for (let query = 0; query < 12; query++) assert.ok(await ask(query));
  assert.equal(await ask(11), false);
  assert.equal(await ask(10), false);
  assert.equal(await ask(0), true);
});

test('the model writes on as it was asked to, until its loop is left', async () => {
  const session = await ready();
  let isOver = false;
  function* tokens() {
    try {
      for (let id = 9; ; id++) yield { id };
    } finally {
      isOver = true;
    }
  }
  const how = { decoding: 'sample', temperature: 0.5, topK: 4, seed: 3, count: 2 };
  const writing = session.write(any(how));
  const { args } = FakeWorker.last.newest('write');
  assert.deepEqual(args, [1, 2, { temperature: 0.5, topK: 4, seed: 3 }]);
  FakeWorker.last.answer('write', tokens());
  /** @type {number[]} */
  const written = [];
  for await (const { id } of writing) if (written.push(id) === 3) break;
  assert.deepEqual([written, isOver], [[9, 10, 11], true]);

  session.write(any({ ...how, decoding: 'greedy' }));
  assert.deepEqual(FakeWorker.last.newest('write').args[2], { temperature: 0 });
  session.write(any({ ...how, topK: 0 }));
  assert.deepEqual(FakeWorker.last.newest('write').args[2], {
    ...{ temperature: 0.5, topK: undefined, seed: 3 },
  });
});

test('a dead Worker rejects what was asked, and the Session holds nothing that went with it', async () => {
  /** @type {Error[]} */
  const told = [];
  const session = await ready({ lost: (error) => told.push(error) });
  const asked = [session.row(what, 0), session.read('It is not', stateOf())];
  FakeWorker.last.crash('out of memory');
  for (const each of asked) await assert.rejects(each, isLost);
  assert.equal(told.length, 1);
  assert.ok(isLost(told[0]));
  assert.deepEqual([session.files, session.run, session.isLost], [undefined, undefined, true]);
});

test('after a dead Worker the same files are opened in another one, and rows are asked for anew', async () => {
  const session = await ready();
  const kept = session.row(what, 0);
  FakeWorker.last.answer('rows', row(1));
  await kept;
  FakeWorker.last.crash();
  await open(session);
  assert.equal(FakeWorker.all.length, 2);
  assert.deepEqual([session.files, session.isLost], [files, false]);
  await read(session, 1);
  const anew = session.row(what, 0);
  FakeWorker.last.answer('rows', row(2));
  assert.deepEqual(await anew, row(2));
});

test('a Worker that dies while it opens is no loss: nothing was open', async () => {
  /** @type {Error[]} */
  const told = [];
  const session = sessionOf((error) => told.push(error));
  const opening = session.open(files, { onProgress });
  FakeWorker.last.crash();
  await assert.rejects(opening, isLost);
  assert.deepEqual(told, []);
  await open(session);
  assert.equal(session.files, files);
});

test('a text that is being read can be left: its Worker ends, and what was open with it', async () => {
  /** @type {Error[]} */
  const lost = [];
  const session = await ready({ lost: (error) => lost.push(error) });
  const reading = session.read('It is long', stateOf());
  session.stop();
  await assert.rejects(reading, { code: 'ERR_STALE' });
  assert.equal(lost.length, 1);
  assert.deepEqual([session.isLost, session.run, session.files], [true, undefined, undefined]);
  await open(session);
  assert.equal(FakeWorker.all.length, 2);
});
