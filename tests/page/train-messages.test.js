// What the Train room says and takes: texts with many characters, seeds, files; and where the focus stays.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { unzipSync } from 'fflate';
import { load } from 'headwise';
import { modelFiles } from '../../web/page/train/files.js';
import { zipOf } from '../../web/page/train/saved.js';
import { DEFAULTS } from '../../web/page/train/settings.js';
import { drawnTasks } from '../../web/page/train/tasks/tasks.js';
import { Trainer } from '../../web/page/train/trainer.js';
import { engine } from '../browsers/engines.js';
import { dropFiles, pageCount } from './drop.js';
import { pageTest, textOf } from './harness.js';
import { isSaid, pause, reached, roomTest, stepOf, trainOn } from './train-room.js';

/** @import { ElementHandle, Page } from 'puppeteer-core' */

/** @type {string} */
let folder;
const at = (/** @type {string} */ name) => join(folder, name);

/** Of a run of three steps. */
async function savedFolder() {
  const hw = await load({ simd: 'simd128' });
  const settings = { ...DEFAULTS.reversal, seed: 9 };
  const trainer = new Trainer(hw, drawnTasks.reversal, settings);
  for (let i = 0; i < 3; i++) trainer.train();
  const zip = zipOf(modelFiles(trainer, settings), 'reversal-3');
  hw.dispose();
  return new Uint8Array(await zip.arrayBuffer());
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-train-'));
  await writeFile(at('broken.zip'), 'PK and nothing else');
  const zip = await savedFolder();
  await writeFile(at('saved.zip'), zip);
  for (const [path, bytes] of Object.entries(unzipSync(zip))) {
    await mkdir(join(at(path), '..'), { recursive: true });
    await writeFile(at(path), bytes);
  }
});
after(() => rm(folder, { recursive: true, force: true }));

/** Different characters. @param {number} count */
const different = (count) =>
  Array.from({ length: count }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');

/** @param {Page} page @param {string} id @param {RegExp} words waits until it says them */
const says = (page, id, words) =>
  page.waitForFunction(
    (/** @type {string} */ name, /** @type {string} */ pattern) =>
      new RegExp(pattern).test(document.getElementById(name)?.textContent ?? ''),
    { timeout: 60_000 },
    id,
    words.source,
  );

pageTest(
  'a text of many characters is learnt with a sign for the rare ones, or it is said what remains',
  '#train?task=own',
  async (page) => {
    await trainOn(page, different(2000));
    await says(
      page,
      'train-message',
      /^Only the 96 commonest .* 96 of its 2,000 characters remain/,
    );
    assert.equal((await page.$$('#train-message.error')).length, 0);
    assert.equal(await textOf(page, '#train-left-out'), '');
    await trainOn(page, `${different(420)}${'the cat sat on the mat. '.repeat(40)}`);
    await reached(page, 1);
    assert.equal(await textOf(page, '#train-message'), '');
    assert.match(
      await textOf(page, '#train-left-out'),
      /of its 1,380 characters remain\. \ufffd stands for each of the others/,
    );
    await trainOn(page, 'the cat sat on the mat. '.repeat(40));
    await says(page, 'train-left-out', /^$/);
    await reached(page, 1);
    assert.equal(await textOf(page, '#train-left-out'), '');
  },
  { ready: isSaid },
);

pageTest(
  'a text that is too short is answered with its length, each time',
  '#train?task=own',
  async (page) => {
    await trainOn(page, 'a'.repeat(390));
    await says(page, 'train-message', /^This text has 390 characters; at least 400 are needed\.$/);
    assert.ok(await page.$('#train-message[role=status]'));
    await page.evaluate(() => {
      const said = /** @type {string[]} */ ([]);
      Object.assign(globalThis, { said });
      const message = /** @type {HTMLElement} */ (document.getElementById('train-message'));
      new MutationObserver(() => said.push(message.textContent ?? '')).observe(message, {
        childList: true,
      });
    });
    await page.click('.train-own button');
    await page.waitForFunction(() => /390/.test(/** @type {any} */ (globalThis).said.at(-1)));
  },
  { ready: isSaid },
);

/** @param {Page} page @param {string} seed types it in place of the one before */
async function typeSeed(page, seed) {
  await page.focus('#train-seed');
  await page.$eval('#train-seed', (field) => /** @type {HTMLInputElement} */ (field).select());
  await page.keyboard.press('Backspace');
  if (seed !== '') await page.type('#train-seed', seed);
}

roomTest('a wrong seed is said, and the old one is there again', '#train?seed=7', async (page) => {
  await pause(page);
  const step = await stepOf(page);
  for (const seed of ['-1', '1.5', '', '99999999999']) {
    await typeSeed(page, seed);
    await page.keyboard.press('Tab');
    await says(
      page,
      'train-message',
      /^The seed must be .* from 0 to 4,294,967,295; it is still 7\.$/,
    );
    assert.equal(await page.$eval('#train-seed', (one) => /** @type {any} */ (one).value), '7');
    await page.click('#train-once');
    await says(page, 'train-message', /^$/);
  }
  await reached(page, step + 4);
  assert.equal(await page.evaluate(() => location.hash), '#train?seed=7');
});

roomTest('the focus goes on from a new seed to the heads', '#train', async (page) => {
  await typeSeed(page, '5');
  await page.keyboard.press('Tab');
  await reached(page, 1);
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'train-mute');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.train-heads .muted');
});

/** @param {Page} page @param {string} name */
async function chooseFile(page, name) {
  const field = /** @type {ElementHandle<HTMLInputElement>} */ (await page.$('#train-file'));
  await field.uploadFile(at(name));
}

/** @param {Page} page */
const state = (page) => page.$eval('#train-play', (play) => play.textContent?.trim());

/** WebKit's driver chooses no files. @type {typeof roomTest} */
const fileTest = (...args) => {
  if (engine.hasEvents) roomTest(...args);
};

/** Keeps another seed in place of the run that is kept, as another tab may. @param {number} seed */
function keepAnother(seed) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('headwise-train', 1);
    opening.onerror = reject;
    opening.onsuccess = () => {
      const store = opening.result.transaction('runs', 'readwrite').objectStore('runs');
      const read = store.get('latest');
      read.onsuccess = () => {
        read.result.settings.seed = seed;
        store.put(read.result, 'latest').onsuccess = () => resolve(opening.result.close());
      };
    };
  });
}

roomTest('what was kept is said until another tab keeps another run', '#train', async (page) => {
  await reached(page, 2);
  await page.click('#train-keep');
  await says(page, 'train-kept', /^Kept: induction, seed 1, /);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await says(page, 'train-resume', /^Go on with induction, seed 1, /);
  await says(page, 'train-kept', /^Kept: induction, seed 1, /);
  await page.evaluate(keepAnother, 77);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await says(page, 'train-resume', /^Go on with induction, seed 77, /);
  await says(page, 'train-kept', /^$/);
});

fileTest(
  'a file that is no saved folder is named beside the buttons, and the run goes on',
  '#train',
  async (page) => {
    await chooseFile(page, 'broken.zip');
    await says(page, 'train-kept', /^broken\.zip cannot be unpacked: /);
    assert.equal(await textOf(page, '#train-message'), '');
    assert.equal(await state(page), 'Pause');
    await reached(page, (await stepOf(page)) + 2);
    await page.click('#train-keep');
    await says(page, 'train-kept', /^Kept: induction/);
    assert.equal((await page.$$('#train-kept.error')).length, 0);
    await chooseFile(page, 'broken.zip');
    await says(page, 'train-kept', /^broken\.zip cannot /);
    await page.click('#train-restart');
    await says(page, 'train-kept', /^$/);
    await chooseFile(page, 'saved.zip');
    await says(page, 'train-kept', /^$/);
    await page.waitForFunction(() => location.hash === '#train?task=reversal&seed=9');
    await reached(page, 3);
  },
);

if (engine.hasCdp) {
  roomTest(
    'a folder that was unzipped goes on, and of two runs none is taken',
    '#train',
    async (page) => {
      await dropFiles(page, [at('saved.zip'), at('broken.zip')]);
      await says(
        page,
        'train-kept',
        /^There are 2 saved runs \(saved\.zip, broken\.zip\)\. Open one/,
      );
      assert.equal(await page.evaluate(() => location.hash), '#train');
      await dropFiles(page, [at('reversal-3')]);
      await page.waitForFunction(() => location.hash === '#train?task=reversal&seed=9');
      await reached(page, 3);
      assert.equal(await textOf(page, '#train-kept'), '');
    },
  );

  roomTest('a .zip that is dropped on the room goes on', '#train', async (page) => {
    const pages = await pageCount();
    await dropFiles(page, [at('broken.zip')]);
    await says(page, 'train-kept', /^broken\.zip cannot /);
    await dropFiles(page, [at('saved.zip')]);
    await page.waitForFunction(() => location.hash === '#train?task=reversal&seed=9');
    await reached(page, 3);
    assert.equal(await pageCount(), pages);
  });
}
