// The Explore room with encoders: special tokens, masked-token prediction, maps in which every token sees all.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { loadModel } from 'headwise/models';
import { percent } from '../../web/page/explore/next-token.js';
import { likeliest, softmaxOf } from '../../web/page/explore/worker/predict.js';
import { byteLevel, wordPieces } from '../encoder-tokenizers.js';
import { serveFiles } from '../file-server.js';
import { engine } from '../helpers.js';
import { choose, filesTest, openMenu, reread, roomTest, says } from './explore-room.js';
import { literally, textOf } from './harness.js';

/** @import { Encoder } from 'headwise/models' */
/** @import { Page } from 'puppeteer-core' */

const MODELS = new URL('../fixtures/models/', import.meta.url);
const TOKENIZERS = {
  ...{ bert: wordPieces(), 'bert-plain': wordPieces(), distilbert: wordPieces() },
  roberta: byteLevel(),
};
const TEXT = 'the cats sat on a mat.';
const LIKELIEST = 10;

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {string} */
let folder;
/** @type {Record<string, Encoder>} */
const encoders = {};

before(async () => {
  /** @type {Record<string, Uint8Array | string>} */
  const files = {};
  for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
    for (const file of await readdir(new URL(`${name}/`, MODELS))) {
      files[`/${name}/${file}`] = await readFile(new URL(`${name}/${file}`, MODELS));
    }
    files[`/${name}/tokenizer.json`] = JSON.stringify(tokenizer);
    /** @type {Encoder} */
    encoders[name] = await loadModel(await engine(), {
      config: files[`/${name}/config.json`],
      weights: files[`/${name}/model.safetensors`],
    });
  }
  server = await serveFiles(files);
  folder = await mkdtemp(join(tmpdir(), 'headwise-encoder-'));
  for (const file of ['config.json', 'model.safetensors', 'tokenizer.json']) {
    await writeFile(join(folder, file), files[`/bert/${file}`]);
  }
});

after(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** @param {Page} page @param {string} name @param {string} [more] of the address */
const open = (page, name, more = '') =>
  reread(page, () =>
    page.evaluate(
      (hash) => void (location.hash = hash),
      `#explore?model=${encodeURIComponent(`${server.origin}/${name}`)}&text=${encodeURIComponent(TEXT)}${more}`,
    ),
  );

/** The tokens of the text, as they are shown, and which of them are special. @param {Page} page */
const shown = (page) =>
  page.$$eval('#explore-text [role=option]', (all) =>
    all.map((one) => [one.textContent ?? '', one.classList.contains('special')]),
  );

/** The list of predictions: token, mark, probability. @param {Page} page */
const predictions = (page) =>
  page.$$eval('.next-tokens tbody tr', (rows) =>
    rows.map((row) => [
      row.querySelector('.token')?.textContent ?? '',
      row.querySelector('.mark')?.textContent ?? '',
      row.querySelector('.bar-cell + td')?.textContent ?? '',
    ]),
  );

/**
 * What the engine says in Node of a place in which the mask stands.
 *
 * @param {string} name
 * @param {number[]} ids
 * @param {number} at
 * @param {number[][]} [headMask]
 */
function predicted(name, ids, at, headMask) {
  const { vocab } = TOKENIZERS[/** @type {keyof typeof TOKENIZERS} */ (name)].model;
  const pieces = Object.keys(vocab);
  const hidden = ids.with(
    at,
    pieces.findIndex((piece) => /^(\[MASK\]|<mask>)$/.test(piece)),
  );
  const shares = (/** @type {number[][] | undefined} */ mask) => {
    const { logits } = encoders[name].forward(hidden, { headMask: mask });
    return softmaxOf(logits?.data.slice(at * pieces.length, (at + 1) * pieces.length) ?? []);
  };
  const [heard, now] = [shares(undefined), shares(headMask)];
  const ranked = likeliest(heard, now, LIKELIEST);
  const rows = ranked.includes(ids[at]) ? ranked : [...ranked, ids[at]];
  return rows.map((id) => [
    pieces[id].replace('Ġ', '␣'),
    id === ids[at] ? 'actual' : '',
    percent(now[id]),
  ]);
}

/** @param {Page} page @param {number} at clicks a token, and waits for what is said of its place */
async function ask(page, at) {
  const tokens = await shown(page);
  await page.click(`#explore-text [data-at="${at}"]`);
  const words = literally(String(tokens[at][0]));
  await says(page, '#explore-next h3', new RegExp(`^If ␣?${words}\\s*${at + 1} were masked$`));
}

for (const [name, ids] of Object.entries({
  bert: [2, 5, 7, 27, 12, 21, 6, 9, 30, 3],
  distilbert: [2, 5, 7, 27, 12, 21, 6, 9, 30, 3],
}))
  roomTest(
    `${name}: a click on a token shows what would stand in its place, had it been masked`,
    '',
    async (page) => {
      await open(page, name);
      assert.deepEqual(await shown(page), [
        ['[CLS]', true],
        ...['the', 'cat', '##s', 'sat', 'on', 'a', 'mat', '.'].map((word) => [word, false]),
        ['[SEP]', true],
      ]);
      // First of all the text's last own token is asked about.
      await says(page, '#explore-next h3', /^If \.\s*9 were masked$/);
      await ask(page, 2);
      assert.deepEqual(await predictions(page), predicted(name, ids, 2));
      await ask(page, 0);
      assert.deepEqual(await predictions(page), predicted(name, ids, 0));
    },
  );

roomTest('roberta: its special tokens and its mask are the tokenizer’s', '', async (page) => {
  await open(page, 'roberta');
  const tokens = await shown(page);
  assert.deepEqual(
    [tokens[0], tokens.at(-1)],
    [
      ['<s>', true],
      ['</s>', true],
    ],
  );
  await ask(page, 1);
  const { vocab } = TOKENIZERS.roberta.model;
  const pieces = [
    '<s>',
    'the',
    'Ġc',
    'at',
    's',
    'Ġ',
    's',
    'at',
    'Ġ',
    'o',
    'n',
    'Ġ',
    'a',
    'Ġ',
    'm',
    'at',
    '.',
  ];
  const ids = [...pieces, '</s>'].map((piece) => vocab[piece]);
  assert.deepEqual(await predictions(page), predicted('roberta', ids, 1));
});

roomTest(
  'an encoder’s rows look at all tokens; what it cannot do is not offered',
  '',
  async (page) => {
    await open(page, 'bert');
    assert.match(await textOf(page, '#explore-read'), /it looks at all tokens\./);
    assert.doesNotMatch(await textOf(page, '#explore-legend'), /masked/);
    assert.match(await textOf(page, '#explore-opened'), /An encoder: .* nothing to continue/);
    const isSeen = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => element.getClientRects().length > 0);
    assert.equal(await isSeen('#explore-continue'), false);
    assert.equal(await isSeen('#explore-text-note'), true);
    const measures = () =>
      page.$$eval('#explore-by option', (all) => all.map((one) => one.textContent?.trim()));
    assert.equal((await measures()).includes('next token'), true);
    assert.equal((await measures()).includes('induction'), false);
    assert.match(await textOf(page, '#explore-scores'), /Previous token.*Next token.*Distance/);
    // What an address of another model asked for is left out.
    await page.evaluate(() => void (location.hash += '&by=induction'));
    await page.waitForFunction(
      () =>
        /** @type {HTMLSelectElement} */ (document.querySelector('#explore-by')).value === 'none',
    );
    // So it is where the text has no tokens.
    await page.evaluate(
      () => void (location.hash = location.hash.replace(/&text=[^&]*/, '&text=')),
    );
    await page.reload();
    await says(page, '#explore-opened', /An encoder: /);
    assert.equal((await measures()).includes('next token'), true);
    assert.equal((await measures()).includes('induction'), false);
  },
);

roomTest(
  'muting a head changes what is predicted of a masked token, and every head’s effect is told',
  '',
  async (page) => {
    const ids = [2, 5, 7, 27, 12, 21, 6, 9, 30, 3];
    await open(page, 'bert', '&pins=q5&head=L1H2');
    await page.click('#explore-effects');
    await page.waitForFunction(
      () => document.querySelectorAll('#explore-grid button b').length === 6,
      { timeout: 20_000 },
    );
    assert.match(
      await textOf(page, '#explore-measure-legend'),
      /log-probability of “sat” in the place of “sat”, masked, without the head\./,
    );
    const heard = [
      [1, 1, 1],
      [1, 1, 0],
    ];
    await reread(page, () => page.click('#explore-mute'));
    await says(page, '#explore-next', /Without head L1H2/);
    assert.deepEqual(await predictions(page), predicted('bert', ids, 4, heard));
    // A token that is the mask itself need not be masked.
    await reread(page, () =>
      page.evaluate(() => {
        const [room, choices] = location.hash.split('?');
        const params = new URLSearchParams(choices);
        params.set('text', 'the cats sat on a [MASK].');
        params.delete('pins');
        location.hash = `${room}?${params}`;
      }),
    );
    await says(page, '#explore-measure-legend', /in the place of “\[MASK\]” without the head\./);
  },
);

roomTest('a file without a head has maps, and says that it predicts nothing', '', async (page) => {
  await open(page, 'bert-plain');
  await says(page, '#explore-next', /^The file has no masked-language-model head/);
  assert.match(await textOf(page, '#explore-cost'), /2 × 3 heads/);
  const isShown = await page.$eval(
    '#explore-effects',
    (button) => !(/** @type {HTMLElement} */ (button).hidden),
  );
  assert.equal(isShown, false);
});

roomTest('a report is not exported of what has none', '?mode=why', async (page) => {
  const openDialog = async () => {
    await openMenu(page, 'explore-files');
    await page.click('#explore-export');
    await says(page, '#export-told', /iB$/);
    const chosen = await page.$eval('#export-what', (menu) => /** @type {any} */ (menu).value);
    await page.keyboard.press('Escape');
    return chosen;
  };
  assert.equal(await openDialog(), 'report');
  await open(page, 'bert');
  assert.equal(await openDialog(), 'map');
});

filesTest('an encoder is opened from its files', '?tint=loss', async (page) => {
  const files = ['config.json', 'model.safetensors', 'tokenizer.json'];
  await reread(page, () => choose(page, ...files.map((file) => join(folder, file))));
  await says(page, '#explore-opened', /a model, read in this tab.*An encoder/);
  // The sample is longer than the model reads; the special tokens are there.
  const tokens = await shown(page);
  assert.deepEqual(
    [tokens.length, tokens[0], tokens.at(-1)],
    [20, ['[CLS]', true], ['[SEP]', true]],
  );
  // It has no losses, and the menu that chose them is gone.
  await says(page, '#explore-text-note', /^Tinted: /);
});
