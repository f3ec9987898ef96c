// The Explore room with files of one's own: chosen and dropped, models and tensors.
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { zipSync } from 'fflate';
import { tensor } from 'headwise';
import { writeNpy, writeSafetensors } from 'headwise/formats';
import { engine } from '../browsers/engines.js';
import { data } from '../helpers.js';
import { dropFiles } from './drop.js';
import {
  openMenu,
  choose,
  filesTest,
  hold,
  isHeld,
  letGo,
  reread,
  roomTest,
  runOf,
  says,
  scored,
  write,
  numberOf,
} from './explore-room.js';
import { contentWidth, schemes, textOf, useScheme, violations, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const LAYERS = 2;
const HEADS = 3;
const N = 5;
const LABELS = ['The', ' cat', ' saw', ' the', ' cat'];

/** @type {string} */
let folder;
/** @param {string} name */
const at = (name) => join(folder, name);

/** Causal rows that sum to 1. */
const weights = tensor(
  Float32Array.from({ length: LAYERS * HEADS * N * N }, (_, i) => {
    const query = Math.floor(i / N) % N;
    const key = i % N;
    const share = (1 + key + Math.floor(i / (N * N))) % 4;
    const row = [...Array(query + 1).keys()].map((k) => (1 + k + Math.floor(i / (N * N))) % 4);
    return key > query ? 0 : share / (row.reduce((a, b) => a + b) || 1);
  }),
  [LAYERS, HEADS, N, N],
);

/** A checkpoint of GPT-2's 124M-parameter size: a header, and zeros that take no place on the disk. */
async function writeLargeModel() {
  const config = {
    model_type: 'gpt2',
    vocab_size: 50257,
    n_positions: 1024,
    n_embd: 768,
    n_layer: 12,
    n_head: 12,
  };
  await mkdir(at('large'));
  await writeFile(at('large/config.json'), JSON.stringify(config));
  await copyFile(new URL('induction/tokenizer.json', MODELS), at('large/tokenizer.json'));
  const [d, ff] = [config.n_embd, 4 * config.n_embd];
  /** @type {[string, number[]][]} */
  const block = [
    ['ln_1.weight', [d]],
    ['ln_1.bias', [d]],
    ['attn.c_attn.weight', [d, 3 * d]],
    ['attn.c_attn.bias', [3 * d]],
    ['attn.c_proj.weight', [d, d]],
    ['attn.c_proj.bias', [d]],
    ['ln_2.weight', [d]],
    ['ln_2.bias', [d]],
    ['mlp.c_fc.weight', [d, ff]],
    ['mlp.c_fc.bias', [ff]],
    ['mlp.c_proj.weight', [ff, d]],
    ['mlp.c_proj.bias', [d]],
  ];
  /** @type {[string, number[]][]} */
  const shapes = [
    ['wte.weight', [config.vocab_size, d]],
    ['wpe.weight', [config.n_positions, d]],
    ...Array.from({ length: config.n_layer }, (_, layer) =>
      block.map(
        ([name, shape]) => /** @type {[string, number[]]} */ ([`h.${layer}.${name}`, shape]),
      ),
    ).flat(),
    ['ln_f.weight', [d]],
    ['ln_f.bias', [d]],
  ];
  let end = 0;
  const header = JSON.stringify(
    Object.fromEntries(
      shapes.map(([key, shape]) => {
        const start = end;
        end += 4 * shape.reduce((product, size) => product * size, 1);
        return [key, { dtype: 'F32', shape, data_offsets: [start, end] }];
      }),
    ),
  );
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);
  const file = await open(at('large/model.safetensors'), 'w');
  await file.writev([length, new TextEncoder().encode(padded)]);
  await file.truncate(8 + padded.length + end);
  await file.close();
}

const MODELS = new URL('../../web/page/models/', import.meta.url);

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-open-'));
  await writeFile(at('attn.npy'), writeNpy(weights));
  await writeFile(at('tokens.json'), JSON.stringify(LABELS));
  await writeFile(at('oblong.npy'), writeNpy(data(1, [2, 3, 5, 6])));
  const [q, k] = [data(1, [1, 2, 9, 4], 2), data(2, [1, 2, 9, 4], 2)];
  await writeFile(at('qk.safetensors'), writeSafetensors({ q, k }));
  await mkdir(at('my-model'));
  /** @type {Record<string, Uint8Array>} */
  const packed = {};
  for (const name of ['config.json', 'model.safetensors', 'tokenizer.json']) {
    await copyFile(new URL(`induction/${name}`, MODELS), at(`my-model/${name}`));
    packed[`my-model/${name}`] = await readFile(at(`my-model/${name}`));
  }
  // Large enough to be unpacked in a Worker.
  packed['my-model/notes.txt'] = new Uint8Array(2 ** 20);
  const zip = zipSync(packed);
  await writeFile(at('my-model.zip'), zip);
  await writeFile(at('half.zip'), zip.subarray(0, zip.length / 2));
  await writeLargeModel();
});

after(() => rm(folder, { recursive: true, force: true }));

/** @param {Page} page @param {string[]} names */
const chooseFiles = (page, ...names) => choose(page, ...names.map(at));

/**
 * Drops from outside the browser, as a person does. Where that cannot be done, files are chosen.
 *
 * @param {Page} page
 * @param {string[]} names
 */
async function drop(page, ...names) {
  if (!engine.hasCdp) {
    await chooseFiles(page, ...names);
    return;
  }
  await dropFiles(page, names.map(at));
}

/** Only a drop brings a folder. @type {typeof roomTest} */
const dropTest = (...args) => {
  if (engine.hasCdp) roomTest(...args);
};

/** @param {Page} page @param {string} selector */
const isSeen = (page, selector) =>
  page.$eval(selector, (element) => element.getClientRects().length > 0);

/** @param {Page} page the weights of the whole map, as the table has them */
async function table(page) {
  await page.$eval('#explore-table', (details) => {
    /** @type {HTMLDetailsElement} */ (details).open = true;
  });
  await page.waitForSelector('#explore-table td');
  return page.$$eval('#explore-table tbody tr', (rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
}

filesTest('weights from a file are drawn, with the tokens that came along', '', async (page) => {
  await reread(page, () => chooseFiles(page, 'attn.npy', 'tokens.json'));
  assert.equal(await isSeen(page, '.explore-files'), false);
  assert.match(await textOf(page, '#explore-cost'), /^5 tokens, 2 × 3 heads\./);
  assert.match(
    await textOf(page, '#explore-opened'),
    /attn\.npy: attention weights, .* sent nowhere/,
  );
  assert.deepEqual(
    await page.$$eval('#explore-text [role=option]', (all) => all.map((one) => one.textContent)),
    LABELS.map((label) => label.trim()),
  );
  await page.click('#explore-grid button:nth-child(6)');
  await says(page, '.map-title', /Head L1H2/);
  const head = weights.data.subarray(5 * N * N);
  const right = Array.from({ length: N }, (_, query) =>
    Array.from({ length: N }, (__, key) => {
      const weight = head[query * N + key];
      return key > query ? '–' : weight === 0 ? '0' : weight.toFixed(4);
    }),
  );
  await says(page, '#explore-pins', /cat/);
  assert.deepEqual(await table(page), right);
});

filesTest('what needs a model is gone with the model, and says why', '', async (page) => {
  const needing = ['#explore-edit', '#explore-continue', '#explore-next', '#explore-mute'];
  for (const selector of needing) assert.ok(await isSeen(page, selector), selector);
  await reread(page, () => chooseFiles(page, 'attn.npy'));
  for (const selector of needing) assert.equal(await isSeen(page, selector), false, selector);
  assert.match(
    await textOf(page, '#explore-opened'),
    /come without a model, so there is nothing to type, mute/,
  );
  await page.keyboard.press('m');
  assert.doesNotMatch(await page.evaluate(() => location.hash), /mute/);
  await reread(page, () => page.select('#explore-model', 'austen'));
  for (const selector of needing) assert.ok(await isSeen(page, selector), selector);
  assert.equal(await isSeen(page, '#explore-opened'), false);
  await reread(page, () => page.select('#explore-model', 'opened'));
  assert.match(await textOf(page, '#explore-cost'), /^5 tokens/);
});

filesTest(
  'opened files are never in the address, and its choices wait for them',
  '',
  async (page) => {
    await reread(page, () => chooseFiles(page, 'attn.npy', 'tokens.json'));
    await page.click('#explore-grid button:nth-child(5)');
    await page.waitForFunction(() => location.hash.includes('head=L1H1'));
    const hash = await page.evaluate(() => location.hash);
    assert.deepEqual([...new URLSearchParams(hash.split('?')[1]).keys()].sort(), ['head', 'model']);
    assert.doesNotMatch(decodeURIComponent(hash), /cat|attn/);
    await page.reload();
    await says(page, '#explore-message', /does not contain them\. Open them again/);
    assert.equal(await isSeen(page, '#explore-heads'), false);
    await chooseFiles(page, 'attn.npy');
    await scored(page);
    await says(page, '.map-title', /Head L1H1/);
    assert.equal(await page.evaluate(() => location.hash), hash);
  },
);

filesTest('queries and keys are causal or not, as the switch says', '', async (page) => {
  await reread(page, () => chooseFiles(page, 'qk.safetensors'));
  assert.match(await textOf(page, '#explore-cost'), /^9 tokens, 1 × 2 heads/);
  assert.equal((await table(page))[0][8], '–');
  await reread(page, () => page.click('#explore-causal'));
  await page.waitForFunction(
    () => document.querySelector('#explore-table td:last-child')?.textContent !== '–',
  );
  const rows = (await table(page)).map((row) => row.map(numberOf));
  for (const row of rows) {
    const sum = row.reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-3, String(sum));
    assert.ok(row.every((weight) => weight > 0));
  }
});

dropTest('a folder that is dropped is a model that reads and predicts', '', async (page) => {
  await reread(page, () => drop(page, 'my-model'));
  assert.match(await textOf(page, '#explore-opened'), /^my-model: a model/);
  assert.equal(
    await page.$eval('#explore-model option:checked', (option) => option.textContent),
    'my-model',
  );
  const type = async () => {
    if (await page.$eval('#explore-editor', (editor) => /** @type {HTMLElement} */ (editor).hidden))
      await page.click('#explore-edit');
    await write(page, 'a b c d e f a b c d e');
  };
  const predicted = async () => {
    await reread(page, type);
    const [n] = (await textOf(page, '#explore-cost')).split(' ');
    await says(page, '#explore-next h3', new RegExp(`${n}$`));
    return textOf(page, '#explore-next');
  };
  const own = await predicted();
  await reread(page, () => page.select('#explore-model', 'induction'));
  assert.equal(await predicted(), own);
  assert.match(own, /%/);
});

filesTest('a .zip of a model’s folder is opened, and a broken one refused', '', async (page) => {
  await reread(page, () => drop(page, 'my-model.zip'));
  assert.match(await textOf(page, '#explore-opened'), /^my-model: a model/);
  await chooseFiles(page, 'half.zip');
  await says(page, '#explore-open-dialog .message.error', /half\.zip cannot be unpacked/);
});

filesTest(
  'a file that does not fit is refused by name and axis, and nothing is lost',
  '',
  async (page) => {
    const old = await runOf(page);
    await drop(page, 'oblong.npy');
    await says(
      page,
      '#explore-open-dialog .message.error',
      /oblong\.npy has shape \[2, 3, 5, 6\]: axis 2 \(queries\) has 5 and axis 3 \(keys\) 6/,
    );
    await page.keyboard.press('Escape');
    assert.equal(await isSeen(page, '.explore-files'), false);
    assert.equal(await runOf(page), old);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /opened/);
    await page.click('#explore-mute');
    await says(page, '#explore-next', /Without head L\dH\d/);
  },
);

filesTest(
  'on a phone the buttons are in sight at once, and so is what is wrong with a file',
  '',
  async (page) => {
    await page.setViewport({ width: 390, height: 844 });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    /** @param {string} selector */
    const isInSight = (selector) =>
      page.$eval(selector, (element) => {
        const [box, room] = [element, element.closest('dialog')].map((one) =>
          /** @type {Element} */ (one).getBoundingClientRect(),
        );
        return box.height > 0 && box.top >= room.top && box.bottom <= room.bottom;
      });
    await openMenu(page, 'explore-files');
    await page.click('#explore-open');
    assert.equal(await focused(), 'Choose files…');
    assert.ok(await isInSight(':focus'));
    await page.keyboard.press('Escape');
    await chooseFiles(page, 'oblong.npy');
    await says(page, '#explore-open-dialog .message.error', /oblong\.npy has shape/);
    assert.equal(await focused(), 'Choose files…');
    assert.ok(await isInSight(':focus'));
    assert.ok(await isInSight('#explore-open-dialog .message.error'));
  },
);

filesTest(
  'a file that does not fit does not end the loading of the page’s model',
  '',
  async (page) => {
    const old = await runOf(page);
    await hold(page, 'open');
    await page.evaluate(() => void (location.hash = '#explore?model=induction'));
    await isHeld(page);
    await chooseFiles(page, 'oblong.npy');
    await page.waitForFunction('waiting.length === 2');
    await letGo(page);
    await says(page, '#explore-open-dialog .message.error', /oblong\.npy has shape/);
    await page.keyboard.press('Escape');
    await scored(page, old);
    assert.equal(await textOf(page, '#explore-message'), '');
    assert.match(await page.evaluate(() => location.hash), /model=induction/);
  },
);

filesTest(
  'reading a large checkpoint shows how far it is, and can be cancelled',
  '',
  async (page) => {
    await chooseFiles(
      page,
      ...['config.json', 'model.safetensors', 'tokenizer.json'].map((name) => `large/${name}`),
    );
    await says(page, '.open-working', /Loading … [1-9]/);
    await page.keyboard.press('Enter'); // Cancel has the focus
    await says(
      page,
      '#explore-open-dialog .message',
      /Cancelled\. What was open before stays open/,
    );
    assert.equal(await isSeen(page, '.open-working'), false);
    await page.keyboard.press('Escape');
    await reread(page, () => page.click('#explore-mute'));
  },
);

roomTest('the dialog fits every width and has no accessibility violations', '', async (page) => {
  for (const scheme of schemes) {
    await useScheme(page, scheme);
    for (const width of widths) {
      await page.setViewport({ width, height: 800 });
      await openMenu(page, 'explore-files');
      await page.click('#explore-open');
      assert.deepEqual(await violations(page), [], `${width} ${scheme}`);
      assert.ok((await contentWidth(page)) <= width, `${width} ${scheme}`);
      const box = await page.$eval(
        '.explore-files',
        (dialog) => dialog.getBoundingClientRect().width,
      );
      assert.ok(box <= width, `${width} ${scheme}`);
      await page.keyboard.press('Escape');
    }
  }
});
