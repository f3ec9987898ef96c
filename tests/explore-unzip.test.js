// Opening .zip archives in the Explore room: what is in them, and what is refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { sortFiles } from '../web/page/explore/open/sort-files.js';
import { unzipped } from '../web/page/shared/unzip.js';

/** @param {Uint8Array} bytes @param {string} [name] */
const found = (bytes, name = 'tiny.zip') => [
  { path: name, file: new File([new Uint8Array(bytes)], name) },
];

/** @param {RegExp} message */
const refused = (message) => (/** @type {Error} */ error) => message.test(error.message);

/** The files of a model, of which the weights are large enough to be unpacked in a Worker. */
const MODEL = {
  'config.json': strToU8('{}'),
  'model.safetensors': new Uint8Array(2 ** 20).fill(7),
  'README.md': strToU8('words'),
};

/** @param {Uint8Array} zip @param {number} bytes what it says that its first file has */
function claiming(zip, bytes) {
  const changed = zip.slice();
  const view = new DataView(changed.buffer);
  let at = changed.length - 22;
  at = view.getUint32(at + 16, true); // the list of files
  view.setUint32(at + 24, bytes, true);
  return changed;
}

test('an archive is the folder that was packed, or one of its own name', async () => {
  for (const folder of ['tiny/', '']) {
    const named = Object.entries(MODEL).map(([name, bytes]) => [`${folder}${name}`, bytes]);
    const all = await unzipped(found(zipSync(Object.fromEntries(named))));
    const model = await sortFiles(all);
    assert.ok(!('tensors' in model));
    assert.equal(model.name, 'tiny');
    assert.equal(await model.config.text(), '{}');
    const weights = new Uint8Array(await /** @type {File} */ (model.weights).arrayBuffer());
    assert.deepEqual(weights, MODEL['model.safetensors']);
  }
});

test('an archive in a folder is a folder of it, by its own name', async () => {
  const zip = zipSync({ 'tiny/config.json': strToU8('{}') });
  const [{ file }] = found(zip);
  const [one] = await unzipped([{ path: 'all/tiny.zip', file }]);
  assert.deepEqual([one.path, one.file.name], ['all/tiny.zip/config.json', 'config.json']);
});

test('an archive beside a folder is another model', async () => {
  const files = ['m/config.json', 'm/model.safetensors'];
  const zip = zipSync(Object.fromEntries(files.map((path) => [path, strToU8('{}')])));
  const folder = files.map((path) => ({ path, file: new File(['{}'], path.slice(2)) }));
  const all = await unzipped([...folder, ...found(zip, 'm.zip')]);
  await assert.rejects(sortFiles(all), refused(/There are 2 models: m and m\.zip\./));
});

test('files that are no archives stay as they are', async () => {
  const files = [{ path: 'm/config.json', file: new File(['{}'], 'config.json') }];
  assert.deepEqual(await unzipped(files), files);
});

test('folders and what systems add to archives are passed over, and names tell why others are refused', async () => {
  const zip = zipSync({
    'm/': new Uint8Array(),
    'm/config.json': strToU8('{}'),
    'm/pytorch_model.bin': strToU8('numbers'),
    '__MACOSX/m/._config.json': strToU8('?'),
  });
  const all = await unzipped(found(zip));
  assert.deepEqual(
    all.map(({ path }) => path),
    ['tiny.zip/m/config.json', 'tiny.zip/m/pytorch_model.bin'],
  );
  await assert.rejects(sortFiles(all), refused(/pytorch_model\.bin is a pickle/));
});

test('archives that are broken, or too large for the memory, are refused by name', async () => {
  const zip = zipSync(MODEL);
  const damaged = zip.slice().fill(255, 120, 400);
  const letters = zipSync({ 'a.txt': strToU8('abcdefgh'.repeat(1000)) }).fill(255, 35, 45);
  const many = Object.fromEntries(
    Array.from({ length: 2001 }, (_, i) => [`${i}.txt`, new Uint8Array()]),
  );
  const refusals = /** @type {[Uint8Array, RegExp][]} */ ([
    [strToU8('hello'), /tiny\.zip cannot be unpacked: invalid zip data/],
    [zip.subarray(0, zip.length / 2), /tiny\.zip cannot be unpacked/],
    [damaged, /tiny\.zip cannot be unpacked/],
    [letters, /^tiny\.zip cannot be unpacked: invalid block type\.$/],
    [claiming(zip, 2 ** 31), /tiny\.zip holds 2,049 MiB; at most 1,024 MiB are unpacked here/],
    [claiming(zip, 5000), /tiny\.zip cannot be unpacked: config\.json is incomplete/],
    [zipSync(many), /more than 2000 files in tiny\.zip/],
  ]);
  for (const [bytes, message] of refusals) {
    await assert.rejects(unzipped(found(bytes)), refused(message), String(message));
  }
});

test('an archive that unpacks to more than it says is cut there', async () => {
  const zip = zipSync({ 'a.txt': new Uint8Array(2 ** 20) });
  const [{ file }] = await unzipped(found(claiming(zip, 10)));
  assert.equal(file.size, 10);
});

test('an abort ends the unpacking', async () => {
  const stop = new AbortController();
  const ended = unzipped(found(zipSync(MODEL)), stop.signal);
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(ended, (error) => error === reason);
});
