// The Explore room with a model whose tokenizer reads texts without end: another model, and Cancel, lead out.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { serveFiles } from '../file-server.js';
import { isMeant, says, scored } from './explore-room.js';
import { pageTest, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const INDUCTION = new URL('../../web/page/models/induction/', import.meta.url);

/** For a text of many letters and a sign it takes time that doubles with each letter. */
const ENDLESS = {
  ...{ type: 'Split', behavior: 'Isolated', invert: false },
  pattern: { Regex: '([a-zA-Z ]+)+$|(.*)*~' },
};
const TEXT = `${'a'.repeat(60)}!`;

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;

before(async () => {
  const read = (/** @type {string} */ name) => readFile(new URL(name, INDUCTION));
  const tokenizer = JSON.parse(String(await read('tokenizer.json')));
  server = await serveFiles({
    '/endless/config.json': await read('config.json'),
    '/endless/model.safetensors': await read('model.safetensors'),
    '/endless/tokenizer.json': JSON.stringify({ ...tokenizer, pre_tokenizer: ENDLESS }),
  });
});

after(() => server?.close());

/** Goes to the model. @param {Page} page @param {string} [more] of the address */
async function openEndless(page, more = '') {
  const hash = `#explore?model=${encodeURIComponent(`${server.origin}/endless`)}${more}`;
  await page.evaluate((address) => void (location.hash = address), hash);
  await page.reload();
  await isReading(page);
}

/** @param {Page} page until its text is read, without end */
const isReading = (page) =>
  says(page, '#explore-waiting:not([hidden])', /^Reading the text Cancel$/);

/** @param {Page} page until nothing is waited for */
async function isThere(page) {
  await scored(page);
  await page.waitForSelector('#explore-waiting[hidden]');
  assert.equal(await textOf(page, '#explore-message'), '');
}

/** @param {string} title @param {(page: Page) => Promise<void>} body */
const endlessTest = (title, body) =>
  pageTest(title, '#bench', body, { ready: async () => {}, isMeant });

endlessTest('another model that is chosen while a text is read without end opens', async (page) => {
  await openEndless(page, `&text=${TEXT}`);
  await page.evaluate(() => void (location.hash = '#explore?model=induction'));
  await isThere(page);
  assert.equal(await page.evaluate(() => location.hash), '#explore?model=induction');
});

endlessTest(
  'Cancel of a text that is read without end leads to the sample, and of that to the first model',
  async (page) => {
    await openEndless(page, `&text=${TEXT}`);
    await page.click('#explore-waiting button');
    await page.waitForFunction(() => !location.hash.includes('text='));
    await isReading(page);
    await page.click('#explore-waiting button');
    await isThere(page);
    assert.equal(await page.evaluate(() => location.hash), '#explore');
  },
);

endlessTest('Cancel of the next model leaves the room ready for another one', async (page) => {
  await openEndless(page);
  await page.evaluate(() => void (location.hash = '#explore?model=induction'));
  await says(page, '#explore-waiting:not([hidden])', /^Loading the model Cancel$/);
  await page.click('#explore-waiting button');
  await says(page, '#explore-message', /^Cancelled\.$/);
  await page.evaluate(() => void (location.hash = '#explore?model=austen&head=L0H0'));
  await isThere(page);
});
