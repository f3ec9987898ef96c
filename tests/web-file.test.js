// What is made of a server's answers: which are asked for again, which version a file is, what is said of a refusal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnclearError } from '../web/headwise/formats/source.js';
import {
  AbsentError,
  ChangedError,
  isFixed,
  PassingError,
  WebFile,
} from '../web/headwise/formats/web-file.js';

const hash = 'c0ffee'.padEnd(40, '0');
const fixed = `https://hub.test/org/model/resolve/${hash}/x.bin`;
const plain = 'https://files.test/x.bin';

/** @param {() => Response | Promise<Response>} answer @param {string} [address] */
const fileOf = (answer, address = plain) =>
  new WebFile(new URL(address), address, async () => answer());

/** @param {Promise<unknown>} promise @returns {Promise<any>} its error */
const errorOf = (promise) => promise.then(() => assert.fail('no error'), (error) => error); // prettier-ignore

/** A part from 5 on of a file whose beginning was read. @param {Record<string, string>} begun @param {Response} part @param {string} [address] */
async function partOf(begun, part, address) {
  const answers = [new Response('01234', { status: 206, headers: begun }), part];
  const file = fileOf(() => /** @type {Response} */ (answers.shift()), address);
  await file.begin(undefined);
  const stream = await file.part(5, 8, undefined);
  return new TextDecoder().decode((await stream?.read())?.value);
}

test('of refusals those that may pass are told from files that are not there, and from what is unclear', async () => {
  const kinds = /** @type {const} */ ([
    [PassingError, [408, 425, 429, 500, 502, 503, 504]],
    [AbsentError, [404, 410]],
    [UnclearError, [401, 403]],
  ]);
  for (const [Kind, statuses] of kinds)
    for (const status of statuses) {
      const error = await errorOf(fileOf(() => new Response('', { status })).begin(undefined));
      assert.ok(error instanceof Kind, `${status}: ${error}`);
      assert.match(error.message, new RegExp(`answered ${status}; expected the file$`));
    }
  for (const status of [400, 405, 451, 501]) {
    const error = await errorOf(fileOf(() => new Response('', { status })).begin(undefined));
    assert.ok(
      kinds.every(([Kind]) => !(error instanceof Kind)),
      `${status}`,
    );
  }
});

test('what 401 and 403 mean is said of Hugging Face’s hosts, and of no other that ends alike', async () => {
  for (const [host, isHub] of /** @type {const} */ ([
    ['huggingface.co', true],
    ['cdn.huggingface.co', true],
    ['nothuggingface.co', false],
    ['huggingface.co.test', false],
  ]))
    for (const [status, words] of /** @type {const} */ ([
      [401, 'private or gated'],
      [403, 'request access'],
    ])) {
      const file = fileOf(() => new Response('', { status }), `https://${host}/x.bin`);
      assert.equal((await errorOf(file.begin(undefined))).message.includes(words), isHub, host);
    }
});

test('how long a server asks to wait is said in whole seconds, and a time that is over is not', async () => {
  const told = async (/** @type {string} */ after) => {
    const headers = { 'retry-after': after };
    const file = fileOf(() => new Response('', { status: 503, headers }));
    const { wait, isAnswer, message } = await errorOf(file.begin(undefined));
    assert.equal(isAnswer, true);
    return { wait, words: /asks to wait \d+ s/.exec(message)?.[0] };
  };
  assert.deepEqual(await told('20'), { wait: 20_000, words: 'asks to wait 20 s' });
  for (const none of ['0', 'soon', '-5', new Date(Date.now() - 60_000).toUTCString()])
    assert.deepEqual(await told(none), { wait: 0, words: undefined }, none);
  // The date has whole seconds: up to one less is left.
  const later = await told(new Date(Date.now() + 10_000).toUTCString());
  assert.ok(later.wait > 8500 && later.wait <= 10_000, `${later.wait}`);
  assert.equal(later.words, `asks to wait ${Math.ceil(later.wait / 1000)} s`);
});

test('what browsers’ fetch throws says that nothing answered, and a caller’s own words are kept with their cause', async () => {
  for (const words of [
    ...['Failed to fetch', 'fetch failed', 'Load failed', 'network error'],
    'NetworkError when attempting to fetch resource.',
  ]) {
    const cause = new TypeError(words);
    const error = await errorOf(fileOf(() => Promise.reject(cause)).begin(undefined));
    assert.ok(error instanceof PassingError && !error.isAnswer);
    assert.match(error.message, /could not be read: no response from the server; expected/);
    assert.equal(error.cause, cause);
  }
  for (const [thrown, words] of [
    [new Error('the token expired'), 'the token expired'],
    ['a text', '"a text"'],
    [undefined, 'undefined'],
  ]) {
    const error = await errorOf(fileOf(() => Promise.reject(thrown)).begin(undefined));
    assert.ok(error.message.includes(`could not be read (${words}); expected`), error.message);
  }
});

test('fetch is called without an object, as browsers demand of theirs, and with the signal', async () => {
  /** @type {unknown[]} */
  const calls = [];
  /** @this {unknown} @param {...any} args */
  function fetch(...args) {
    calls.push([this, ...args]);
    return Promise.resolve(new Response('all'));
  }
  const { signal } = new AbortController();
  const file = new WebFile(new URL(plain), plain, fetch);
  await file.begin(signal);
  await file.whole(signal);
  assert.deepEqual(calls, [
    [undefined, plain, { headers: { range: 'bytes=0-65535' }, signal }],
    [undefined, plain, { headers: {}, signal }],
  ]);
});

test('an address with a commit’s whole hash is fixed, and no other', () => {
  const isOf = (/** @type {string} */ path) => isFixed(new URL(`https://hub.test${path}`));
  assert.ok(isOf(`/org/model/resolve/${hash}/x.bin`));
  for (const path of [`/resolve/${hash}`, '/resolve/c0ffee/x', '/resolve/main/x', `/${hash}/x`])
    assert.equal(isOf(path), false, path);
});

test('a part is the file’s where nothing that is told of it differs', async () => {
  const range = (/** @type {string} */ of) => ({ 'content-range': `bytes ${of}` });
  const begun = { etag: '"1"', 'last-modified': 'then', ...range('0-4/8') };
  const part = (/** @type {Record<string, string>} */ headers, status = 206) =>
    new Response('567', { status, headers });
  /** @type {Record<string, string>[]} */
  const alike = [
    ...[range('5-7/8'), range('5-7/*'), {}, { 'last-modified': 'later' }],
    { 'content-encoding': 'identity' },
  ];
  for (const same of alike)
    assert.equal(await partOf(begun, part({ etag: '"1"', ...same })), '567');
  for (const other of [range('4-6/8'), range('4-6/*'), range('5-7/9'), { etag: '"2"' }]) {
    const error = await errorOf(partOf(begun, part({ etag: '"1"', ...other })));
    assert.ok(error instanceof ChangedError, `${JSON.stringify(other)}: ${error}`);
  }
  const dated = { 'last-modified': 'then' };
  assert.equal(await partOf(dated, part(dated)), '567');
  const later = await errorOf(partOf(dated, part({ 'last-modified': 'later' })));
  assert.ok(later instanceof ChangedError);
  assert.equal(await partOf({ etag: '"1"' }, part({ etag: '"2"' }), fixed), '567');
});

test('of a whole answer in place of a part only a file of a known version or length is read on', async () => {
  const whole = (/** @type {Record<string, string>} */ headers) =>
    new Response('01234567', { headers });
  const begun = { etag: '"1"', 'content-range': 'bytes 0-4/8' };
  assert.equal(await partOf(begun, whole({ etag: '"1"' })), '567');
  assert.equal(await partOf(begun, whole({ 'content-length': '8' }), fixed), '567');
  const isChanged = async (/** @type {Response} */ answer, address = plain) =>
    (await errorOf(partOf(begun, answer, address))) instanceof ChangedError;
  assert.equal(await isChanged(whole({ etag: '"2"' })), true);
  const page = { etag: '"2"', 'content-type': 'text/html; charset=utf-8' };
  assert.equal(await isChanged(whole(page)), false);
  assert.equal(await isChanged(whole({})), false);
  assert.equal(await isChanged(whole({ 'content-length': '9' }), fixed), false);
});

test('the commit is the one that the first answer names, if it is one', async () => {
  const answers = ['main', hash, 'decade'.padEnd(40, '1')].map(
    (commit) => new Response('', { headers: { 'x-repo-commit': commit } }),
  );
  const file = fileOf(() => /** @type {Response} */ (answers.shift()));
  const seen = [];
  while (answers.length > 0) {
    await file.begin(undefined);
    seen.push(file.commit);
  }
  assert.deepEqual(seen, [undefined, hash, hash]);
});

test('the bodies of answers that are not read are ended', async () => {
  const begun = new Response('01234', { status: 206, headers: { etag: '"1"' } });
  const gzip = { 'content-encoding': 'gzip' };
  for (const [status, headers, isPart] of /** @type {const} */ ([
    ...[
      [416, {}, false],
      [500, {}, false],
      [206, gzip, false],
    ],
    ...[
      [416, {}, true],
      [500, {}, true],
      [206, { etag: '"2"' }, true],
      [200, {}, true],
    ],
  ])) {
    let isEnded = false;
    const body = new ReadableStream({ cancel: () => void (isEnded = true) });
    const answers = [new Response(body, { status, headers }), new Response('01234567')];
    if (isPart) answers.unshift(begun.clone());
    const file = fileOf(() => /** @type {Response} */ (answers.shift()));
    await file.begin(undefined).catch(() => undefined);
    if (isPart) await file.part(5, 8, undefined).catch(() => undefined);
    assert.ok(isEnded, `${status}, ${JSON.stringify(headers)}`);
  }
});

test('an abort ends what is passed over of a whole answer, and its connection', async () => {
  const reason = new Error('left');
  const controller = new AbortController();
  let isEnded = false;
  const body = new ReadableStream({
    pull(stream) {
      stream.enqueue(new Uint8Array(1));
      controller.abort(reason);
    },
    cancel: () => void (isEnded = true),
  });
  const headers = { etag: '"1"' };
  const answers = [
    new Response('01234', { status: 206, headers }),
    new Response(body, { headers }),
  ];
  const file = fileOf(() => /** @type {Response} */ (answers.shift()));
  await file.begin(undefined);
  assert.equal(await errorOf(file.part(5, 8, controller.signal)), reason);
  assert.ok(isEnded);
});
