// The Explore room with a model whose text is token ids, as it came without a tokenizer, or that comes with a text of its own.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileOf, small, smallConfig, smallModel } from '../gpt2.js';
import { engine } from '../helpers.js';
import { modelFiles } from '../../web/page/train/files.js';
import { zipOf } from '../../web/page/train/saved.js';
import { DEFAULTS } from '../../web/page/train/settings.js';
import { drawnTasks } from '../../web/page/train/tasks/tasks.js';
import { Trainer } from '../../web/page/train/trainer.js';
import { choose, filesTest, reread, says, scored, write } from './explore-room.js';
import { textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const FILES = ['config.json', 'model.safetensors'];
const REPEATED = [5, 6, 7, 5, 6];

/** Of a model with far more tokens. */
const otherTokenizer = {
  ...{
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
  },
  model: { type: 'BPE', vocab: { a: 100_000, b: 100_001 }, merges: [] },
};

/** @type {string} */
let folder;
/** @type {ReturnType<typeof smallModel>} */
let model;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-ids-'));
  model = smallModel(await engine());
  await writeFile(join(folder, FILES[0]), JSON.stringify({ model_type: 'gpt2', ...smallConfig }));
  await writeFile(join(folder, FILES[1]), fileOf(model.stateDict()));
  await writeFile(join(folder, 'tokenizer.json'), '{"model":{"type":"Odd"}}');
  await mkdir(join(folder, 'other'));
  await writeFile(join(folder, 'other', 'tokenizer.json'), JSON.stringify(otherTokenizer));
  const trainer = new Trainer(await engine(), drawnTasks.addition, DEFAULTS.addition);
  const zip = zipOf(modelFiles(trainer, DEFAULTS.addition), 'addition-0');
  await writeFile(join(folder, 'addition.zip'), new Uint8Array(await zip.arrayBuffer()));
});

after(async () => {
  model.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** @param {Page} page @param {string[]} names */
const openModel = (page, names = FILES) =>
  reread(page, () => choose(page, ...names.map((name) => join(folder, name))));

/** @param {Page} page */
const shown = (page) =>
  page.$$eval('#explore-text [role=option]', (all) => all.map((one) => Number(one.textContent)));

filesTest(
  'without a tokenizer a model reads ids, continues them and is muted',
  '',
  async (page) => {
    await openModel(page);
    await says(page, '#explore-opened', /no tokenizer\.json .* text is therefore token ids/);
    const sample = await shown(page);
    assert.ok(sample.length > 2 && sample.every((id) => id < small.vocabSize), String(sample));
    await page.click('#explore-edit');
    assert.match(await textOf(page, 'label[for=explore-input]'), /^Token ids/);
    const edited = await page.$eval(
      '#explore-input',
      (input) => /** @type {HTMLTextAreaElement} */ (input).value,
    );
    assert.equal(edited, sample.join(' '));
    await reread(page, () => write(page, REPEATED.join(' ')));
    assert.deepEqual(await shown(page), REPEATED);
    const likeliest = await page.$eval('.next-tokens tbody .token', (one) =>
      Number(one.textContent),
    );
    assert.deepEqual([likeliest], [...model.generate(REPEATED, { maxTokens: 1, temperature: 0 })]);
    await page.$eval('#explore-continue summary', (how) =>
      /** @type {HTMLElement} */ (how).click(),
    );
    await page.select('#explore-decoding', 'greedy');
    await reread(page, () => page.click('#explore-continue button[type=submit]'));
    // As many as there is room for.
    const written = [...model.generate(REPEATED, { maxTokens: 15, temperature: 0 })];
    assert.deepEqual(await shown(page), [...REPEATED, ...written]);
    await reread(page, () => page.click('#explore-mute'));
    await says(page, '#explore-next', /Without head L0H0/);

    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /text=5\+6\+7\+5\+6&added=/);
    await page.reload();
    await page.waitForSelector('#explore-message.error');
    await choose(page, ...FILES.map((name) => join(folder, name)));
    await scored(page);
    assert.deepEqual(await shown(page), [...REPEATED, ...written]);
    assert.equal(await page.evaluate(() => location.hash), hash);
  },
);

filesTest('what is no id is named, and can be mended', '', async (page) => {
  await openModel(page);
  const sample = await shown(page);
  await page.click('#explore-edit');
  await write(page, '1 two 3');
  await says(
    page,
    '#explore-message',
    /^“two” is not a token id .* from 0 to 30, .* is still shown/,
  );
  await write(page, '1 2 31');
  await says(page, '#explore-message', /^“31” is not a token id/);
  assert.deepEqual(await shown(page), sample);
  await reread(page, () => write(page, '1 2 30'));
  assert.equal(await textOf(page, '#explore-message'), '');
});

filesTest('a tokenizer that cannot be read is one that is missing', '', async (page) => {
  await openModel(page, [...FILES, 'tokenizer.json']);
  await says(
    page,
    '#explore-opened',
    /tokenizer\.json has no model\.vocab; expected an object of ids\. The text is therefore token ids/,
  );
  assert.ok((await shown(page)).length > 2);
  await openModel(page, [...FILES, join('other', 'tokenizer.json')]);
  await says(
    page,
    '#explore-opened',
    /not belong to this model: 0 of its 2 tokens .* from 0 to 30\. The text is therefore token ids/,
  );
  assert.ok((await shown(page)).length > 2);
  // A model of the page reads text again.
  await reread(page, () => page.select('#explore-model', 'austen'));
  assert.match(await textOf(page, '#explore-text'), /^It was not/);
  assert.equal(await textOf(page, 'label[for=explore-input]'), 'Your text');
});

filesTest('what was trained on sums brings the sum that it was watched on', '', async (page) => {
  await openModel(page, ['addition.zip']);
  assert.match(await textOf(page, '#explore-text'), /^\d{4}\+\d{4}=\d+/);
  assert.equal(await textOf(page, '#explore-message'), '');
});
