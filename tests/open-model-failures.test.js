// What openModel says of models that are not there, may not be read or are not what they should be.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSafetensors } from 'headwise/formats';
import { evaluate } from './child.js';
import { rejectsCode } from './helpers.js';
import {
  config,
  text,
  whole,
  first,
  folder,
  shards,
  server,
  disk,
  open,
  file,
} from './served-models.js';

/** @type {[string, () => unknown, Partial<import('./file-server.js').Behaviour>, string, string[]][]} */
const failures = [
  [
    'a model that is not there',
    () => 'org/none',
    {},
    'ERR_LOAD',
    ['/org/none/resolve/main/config.json', '404 Not Found'],
  ],
  [
    'a private or gated one',
    () => 'org/model',
    { status: 401 },
    'ERR_LOAD',
    ['401 Unauthorized', 'gated', 'options.fetch'],
  ],
  [
    'a gated one',
    () => 'org/model',
    { status: 403 },
    'ERR_LOAD',
    ['403 Forbidden', 'request access'],
  ],
  [
    'a server that nobody runs',
    () => 'http://127.0.0.1:1/x/',
    {},
    'ERR_LOAD',
    ['http://127.0.0.1:1/x/config.json', 'no response from the server'],
  ],
  [
    'a folder that is not there',
    () => join(disk, 'none'),
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  [
    'a folder beside this program that is not there',
    () => './none',
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  [
    'a folder above it that is not there',
    () => '../none',
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  ['no source', () => undefined, {}, 'ERR_VALUE', ['source is undefined', "'org/name'"]],
  ['an empty text', () => '', {}, 'ERR_VALUE', ['source is ""', "'org/name'"]],
  ['a number', () => 5, {}, 'ERR_VALUE', ['source is 5']],
  ['an address that is none', () => 'http://', {}, 'ERR_VALUE', ['source is http://']],
  ['files that are none', () => [text], {}, 'ERR_VALUE', ['source[0] is']],
  [
    'files without a config',
    () => [file(whole, 'model.safetensors')],
    {},
    'ERR_LOAD',
    ['the files: config.json is not there'],
  ],
  [
    'a page for a config',
    () => ({ config: file('<!doctype html>', 'c.json'), weights: whole }),
    {},
    'ERR_FORMAT',
    ['c.json: begins with "<!doctype html>"', 'expected a config.json'],
  ],
  ['no weights', () => ({ config, weights: [] }), {}, 'ERR_VALUE', ['weights is []']],
  ['weights of another kind', () => ({ config, weights: 5 }), {}, 'ERR_VALUE', ['weights is 5']],
  [
    'a shard of another kind',
    () => ({ config, weights: [first, 5] }),
    {},
    'ERR_VALUE',
    ['weights[1] is 5'],
  ],
  ['an option that is not there', () => ({ config }), {}, 'ERR_VALUE', ['weights is undefined']],
  [
    'Files without a shard',
    () =>
      Object.entries(shards)
        .slice(0, 3)
        .map(([name, content]) => file(content, name)),
    {},
    'ERR_LOAD',
    ['the files: two.safetensors is not there'],
  ],
  [
    'a folder without weights',
    () => [file(text, 'config.json'), file('', 'pytorch_model.bin')],
    {},
    'ERR_LOAD',
    [
      'the files: model.safetensors is not there, but pytorch_model.bin, a pickle',
      'safe_serialization=True',
      'expected a folder with',
    ],
  ],
  [
    'a folder with an adapter',
    () => [
      file(text, 'config.json'),
      file('{}', 'adapter_config.json'),
      file(whole, 'model.safetensors'),
    ],
    {},
    'ERR_FORMAT',
    ['the files: adapter_config.json is of an adapter (LoRA)', 'merge_and_unload()'],
  ],
  ...[
    '{}',
    '{"weight_map":{}}',
    '{"weight_map":{"a":5}}',
    '{"weight_map":{"a":"../x.safetensors"}}',
  ].map(
    (content) =>
      /** @type {[string, () => unknown, object, string, string[]]} */ ([
        `an index of ${content}`,
        () => [file(text, 'config.json'), file(content, 'model.safetensors.index.json')],
        {},
        'ERR_FORMAT',
        ['model.safetensors.index.json: weight_map is'],
      ]),
  ),
];

for (const [title, source, behaviour, code, parts] of failures)
  test(`${title}: ${code}`, async () => {
    if (Object.keys(behaviour).length > 0) server.behaviours[`${folder}/config.json`] = behaviour;
    const opened = open(source()).then((model) => model.openFiles());
    await rejectsCode(opened, code, ...parts);
  });

test('a folder on the disk with an adapter is refused as one of Files is', async () => {
  const adapted = join(disk, 'adapted');
  await mkdir(adapted);
  await writeFile(join(adapted, 'config.json'), text);
  await writeFile(join(adapted, 'adapter_config.json'), '{}');
  await rejectsCode(open(adapted), 'ERR_FORMAT', 'adapter_config.json is of an adapter (LoRA)');
});

test('a machine that is offline, and a server that allows no other origins, are told apart', async () => {
  const failing = async () => {
    throw new TypeError('Failed to fetch');
  };
  const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  try {
    // In a sandbox a page of an address has no origin, not even that of the address.
    for (const [onLine, origin, words] of /** @type {const} */ ([
      [false, 'https://page.example', 'this machine is offline'],
      [true, 'https://page.example', 'CORS'],
      [true, 'null', 'CORS'],
      [true, 'https://other.example', 'no response from the server; expected'],
    ])) {
      Object.defineProperty(globalThis, 'navigator', { value: { onLine }, configurable: true });
      const of = origin === 'null' ? 'https://other.example' : origin;
      Object.assign(globalThis, { origin, location: { origin: of, href: `${of}/` } });
      await rejectsCode(open('https://other.example/m/', { fetch: failing }), 'ERR_LOAD', words);
    }
  } finally {
    delete (/** @type {any} */ (globalThis).location);
    delete (/** @type {any} */ (globalThis).origin);
    if (navigator) Object.defineProperty(globalThis, 'navigator', navigator);
    else delete (/** @type {any} */ (globalThis).navigator);
  }
});

test('a long address is read in a moment', () =>
  // In a process of its own, which its limit ends: a regular expression would hold this one.
  evaluate(
    'A long address',
    `import { placeOf } from '${new URL('../web/headwise/models/places.js', import.meta.url)}';
    const long = 'a'.repeat(1e6);
    const names = [
      \`https://models.example/\${long}/config.json\`,
      \`https://huggingface.co/org/model/blob/main/\${long}/config.json\`,
      \`https://huggingface.co/org/model/blob/main\`,
      \`https://models.example/\${'/'.repeat(1e6)}a\`,
    ].map(async (source) => (await placeOf(source, 'main')).find('x.json').pathname.length);
    report(await Promise.all(names));`,
    { seconds: 60 },
  ).then((lengths) =>
    assert.deepEqual(lengths, [
      ...[1e6 + '//x.json'.length, 1e6 + '/org/model/resolve/main//x.json'.length],
      ...['/org/model/resolve/main/x.json'.length, 1e6 + '/a/x.json'.length],
    ]),
  ));

/** @param {Error} error */
function isShort({ message }) {
  assert.ok(message.length < 2000, `${message.length} characters`);
  return true;
}

test('of a long address a message has the beginning and the end', async () => {
  const fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  const long = 'a'.repeat(300_000);
  for (const source of [
    ...[`https://models.example/${long}/end/config.json`, `org/${long}`, `http://[${long}`],
    join(disk, long),
    { config, weights: `https://models.example/${long}/end` },
  ]) {
    const opened = open(source, { fetch }).then((model) => model.openFiles());
    await assert.rejects(opened, isShort);
  }
  const named = open(`https://models.example/${long}/end/`, { fetch });
  await rejectsCode(named, 'ERR_LOAD', 'https://models.example/a', '…', '/end/config.json: could');
  await assert.rejects(readSafetensors(`data:${long}`), isShort);
});
