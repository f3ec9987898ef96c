// The Explore room with models that a server has: by address, every architecture, and what goes wrong.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { serveFiles } from '../file-server.js';
import {
  address,
  goBackAfter,
  openMenu,
  reread,
  ROOM,
  roomTest,
  says,
  scored,
} from './explore-room.js';
import { pageTest, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const MODELS = new URL('../fixtures/models/', import.meta.url);
const INDUCTION = new URL('../../web/page/models/induction/', import.meta.url);
const ENCODERS = /bert/;

/** What browsers say of files that are not there. That such an answer is not read to its end, Firefox tells as a failure. */
// Firefox reports a 404 whose body the page did not wait for as failed.
const isMeant =
  /404|(tokenizer|vocab)\.json|^failed: (blob:|.*\/(model\.safetensors|nowhere\/config\.json)$)/;

/** A test of the room once its own model has scores. @param {string} title @param {(page: Page) => Promise<void>} body */
const hostedTest = (title, body) =>
  pageTest(title, '#explore', body, { ready: async (page) => void (await scored(page)), isMeant });

/** Tensors of which a model is served that has nothing but NaN in one. */
const [LAST_NORM, FIRST_NORM] = ['ln_f.weight', 'h.0.ln_1.weight'];
const NAN = [LAST_NORM, FIRST_NORM];

/** @param {Uint8Array} file safetensors @param {string} name of the tensor that is all NaN in the copy, whatever its type */
function withNaN(file, name) {
  const copy = Uint8Array.from(file);
  const start = 8 + Number(new DataView(copy.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(8, start)));
  const [from, to] = header[name].data_offsets;
  return copy.fill(0xff, start + from, start + to);
}

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
const decoders = (await readdir(MODELS)).filter((name) => !ENCODERS.test(name));

before(async () => {
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  for (const name of decoders) {
    for (const file of await readdir(new URL(`${name}/`, MODELS))) {
      files[`/${name}/${file}`] = await readFile(new URL(`${name}/${file}`, MODELS));
    }
  }
  for (const file of ['config.json', 'model.safetensors', 'tokenizer.json']) {
    files[`/induction/${file}`] = await readFile(new URL(file, INDUCTION));
    for (const name of NAN) files[`/${name}/${file}`] = files[`/induction/${file}`];
  }
  for (const name of NAN) {
    const weights = files['/induction/model.safetensors'];
    files[`/${name}/model.safetensors`] = withNaN(weights, name);
  }
  server = await serveFiles(files);
});

after(() => server?.close());

/** @param {Page} page @param {string} name */
async function fetchModel(page, name) {
  await openMenu(page, 'explore-files');
  await page.click('#explore-open');
  await page.evaluate((value) => {
    const input = /** @type {HTMLInputElement} */ (document.querySelector('#explore-hosted'));
    input.value = value;
  }, name);
  await page.click('.explore-files form button[type=submit]');
}

roomTest('a model is fetched by its address, which the page’s own then has', '', async (page) => {
  const name = `${server.origin}/induction`;
  await reread(page, () => fetchModel(page, name));
  assert.match(await address(page), new RegExp(`model=${encodeURIComponent(name)}`));
  assert.match(await textOf(page, '#explore-cost'), / heads: /);
  await page.reload();
  await scored(page);
  assert.match(await address(page), /model=http/);
  assert.equal(
    await page.$eval('#explore-model', (menu) => /** @type {HTMLSelectElement} */ (menu).value),
    name,
  );
  await openMenu(page, 'explore-files');
  await page.click('#explore-export');
  await page.waitForSelector('#export-save[download*="induction"]');
});

for (const [where, name, query] of [
  ['at the end of the text', LAST_NORM, ''],
  ['where the text goes on', LAST_NORM, '&pins=q3'],
  ['where attention is NaN too', FIRST_NORM, ''],
]) {
  roomTest(`of a model that predicts NaN nothing is asked ${where}`, '', async (page) => {
    const model = encodeURIComponent(`${server.origin}/${name}`);
    const open = (/** @type {string} */ more) =>
      page.evaluate((hash) => void (location.hash = hash), `#explore?model=${model}${more}`);
    await reread(page, () => open(query));
    await page.waitForSelector('.next-tokens td');
    const shares = await page.$$eval('.next-tokens td:last-child', (cells) =>
      cells.map((cell) => cell.textContent),
    );
    assert.deepEqual([...new Set(shares)], ['NaN %']);
    assert.equal((await page.$$('.next-tokens .target')).length, 0);
    for (const question of ['#explore-effects', '#explore-why']) {
      assert.equal(await page.$eval(question, (button) => button.checkVisibility()), false);
    }
    assert.equal((await page.$$('#explore-by [value=effect]')).length, 0);
    await says(page, '#explore-text-note', name === LAST_NORM ? /to “.*” \d/ : /to “.*” NaN/);
    // An address can ask all the same.
    await open(`${query}&by=effect`);
    await says(
      page,
      '#explore-message',
      /^The model’s logits are NaN here: it predicts nothing\.$/,
    );
    assert.equal((await page.$$('#explore-ablating')).length, 0);
    await open(`${query}&mode=why`);
    await says(page, '#explore-sum', /The parts could not be added up\./);
  });
}

hostedTest(
  'every architecture opens and shows its heads; without a tokenizer, texts are token ids',
  async (page) => {
    for (const name of decoders) {
      const config = JSON.parse(await readFile(new URL(`${name}/config.json`, MODELS), 'utf8'));
      await reread(page, () => fetchModel(page, `${server.origin}/${name}`));
      const layers = config.num_hidden_layers ?? config.n_layer;
      const heads = config.num_attention_heads ?? config.n_head;
      assert.match(
        await textOf(page, '#explore-cost'),
        new RegExp(`${layers} × ${heads} heads`),
        name,
      );
      assert.equal((await page.$$(`${ROOM} canvas`)).length > 0, true, name);
    }
  },
);

hostedTest(
  'a name that is none and a place without a model are said, and what was open still is',
  async (page) => {
    await fetchModel(page, 'austen');
    await says(page, '#explore-open-dialog .message', /“austen” is not a model’s name; expected/);
    await page.click('.explore-files .row button.quiet');
    await fetchModel(page, `${server.origin}/nowhere`);
    await says(page, '#explore-open-dialog .message', /nowhere.*404/);
    assert.match(await textOf(page, '#explore-cost'), / heads: /);
  },
);

hostedTest(
  'after a wrong name the focus is in its field, and the name is selected',
  async (page) => {
    for (const [name, why] of /** @type {const} */ ([
      ['austen', /is not a model’s name/],
      [`${server.origin}/nowhere`, /nowhere.*404/],
    ])) {
      await fetchModel(page, name);
      await says(page, '#explore-open-dialog .message', why);
      await page.waitForSelector('#explore-hosted:focus', { timeout: 5000 });
      const selected = await page.$eval('#explore-hosted', (field) => {
        const { value, selectionStart, selectionEnd } = /** @type {HTMLInputElement} */ (field);
        return value.slice(selectionStart ?? 0, selectionEnd ?? 0);
      });
      assert.equal(selected, name);
      await page.keyboard.press('Escape');
    }
  },
);

hostedTest(
  'a model that takes long has a bar, and when it is cancelled the one before is back',
  async (page) => {
    const weights = '/induction/model.safetensors';
    server.behaviours[weights] = { cutAfter: 1000, stalls: true };
    await page.evaluate(
      (name) => void (location.hash = `#explore?model=${encodeURIComponent(name)}`),
      `${server.origin}/induction`,
    );
    await page.waitForSelector('#explore-waiting:not([hidden])');
    assert.match(await textOf(page, '#explore-waiting'), /Loading the model Cancel/);
    assert.equal(await textOf(page, '#explore-message'), 'Loading …');
    await page.click('#explore-waiting button');
    await page.waitForSelector('#explore-waiting[hidden]');
    await page.waitForFunction(() => !location.hash.includes('model='));
    await page.waitForSelector('#explore-room:not([aria-busy])');
    assert.match(await textOf(page, '#explore-text'), /^It was not/);
    assert.match(await textOf(page, '#explore-cost'), / heads: /);
    delete server.behaviours[weights];
  },
);

hostedTest('Back stops what the dialog fetches, and the model before stays', async (page) => {
  const weights = '/induction/model.safetensors';
  server.behaviours[weights] = { cutAfter: 1000, stalls: true };
  await goBackAfter(page, async () => {
    await fetchModel(page, `${server.origin}/induction`);
    await page.waitForSelector('.open-working:not([hidden])');
  });
  await page.waitForFunction(() => document.querySelector('.open-working[hidden]'));
  delete server.behaviours[weights];
  await page.click('#rooms [data-room=explore]');
  await reread(page, () => page.click('#explore-mute'));
  assert.equal((await page.$$('dialog[open]')).length, 0);
  assert.doesNotMatch(await address(page), /model=/);
  assert.match(await textOf(page, '#explore-text'), /^It was not/);
});
