// The visitor's own text in Explore: it stays at hand, and what a text says is in sight.
import assert from 'node:assert/strict';
import { reread, ROOM, roomTest, says, scored, write } from './explore-room.js';
import { pageTest } from './harness.js';
import { pause, reached } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const OWN = 'Mine was a good text.';

/** @param {Page} page the text that is open, as it is in its editor */
const textIn = (page) =>
  page.$eval('#explore-input', (field) => /** @type {HTMLTextAreaElement} */ (field).value);

/** @param {Page} page @param {string} menu @param {string} value */
const choose = (page, menu, value) => page.select(`#explore-${menu}`, value);

roomTest(
  'an own text is in the menu again after another text and another model',
  '',
  async (page) => {
    await reread(page, () => write(page, OWN));
    await reread(page, () => choose(page, 'texts', ''));
    await reread(page, () => choose(page, 'texts', 'own'));
    assert.equal(await textIn(page), OWN);
    await reread(page, () => choose(page, 'model', 'induction'));
    await reread(page, () => choose(page, 'model', 'austen'));
    await reread(page, () => choose(page, 'texts', 'own'));
    assert.equal(await textIn(page), OWN);
  },
);

roomTest('who skips the tour is back at what was seen before it', '', async (page) => {
  await reread(page, () => write(page, OWN));
  await page.click('#explore-grid button:nth-child(3)');
  const before = await page.evaluate(() => location.hash);
  await reread(page, () => page.click('#explore-tour'));
  await page.click('#explore-tour-next');
  await reread(page, () => page.click('#explore-tour-end'));
  assert.equal(await page.evaluate(() => location.hash), before);
  assert.equal(await textIn(page), OWN);
});

roomTest('a text that is too long has its editor open after a reload', '', async (page) => {
  const long = 'word '.repeat(9000);
  await write(page, long);
  await says(page, '#explore-message', /Shorten it/);
  await page.reload();
  await says(page, '#explore-message', /Shorten it/);
  await page.waitForSelector('#explore-input', { visible: true, timeout: 10_000 });
  assert.equal(await textIn(page), long);
});

pageTest(
  'the editor stays closed after a model that could not be opened',
  '#explore?model=none',
  async (page) => {
    await says(page, '#explore-message', /There is no model “none” here/);
    await choose(page, 'model', 'austen');
    await scored(page);
    assert.equal((await page.$$('#explore-edit[aria-expanded=true]')).length, 0);
  },
  { ready: async (page) => void (await page.waitForSelector('#explore-message.error')) },
);

roomTest('of a long text the token is in sight that its tints are about', '', async (page) => {
  await reread(page, () => write(page, `${'the house was large. '.repeat(30)}It was very`));
  await says(page, '#explore-text-note', /^Tinted: “␣very”/);
  const isSeen = () => {
    const text = /** @type {HTMLElement} */ (document.getElementById('explore-text'));
    const last = [...text.querySelectorAll('[data-at]')].at(-1)?.getBoundingClientRect();
    const room = text.getBoundingClientRect();
    return text.scrollTop > 0 && last && last.top >= room.top && last.bottom <= room.bottom + 1;
  };
  await page.waitForFunction(isSeen, { timeout: 10_000 });
});

/** @param {Page} page whose run of Train is opened in Explore */
async function openRun(page) {
  await pause(page);
  await page.focus('#train-explore');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (/** @type {string} */ room) => /** @type {any} */ (document.querySelector(room))?.dataset.run,
    { timeout: 60_000 },
    ROOM,
  );
}

const afterStep = {
  ready: async (/** @type {Page} */ page) => void (await reached(page, 1)),
  // The model that Explore was reading when another was opened.
  isMeant: /^failed: .*\.safetensors$/,
};

pageTest(
  'who opens a run of Train in Explore is at the heading there',
  '#train?task=reversal',
  async (page) => {
    await openRun(page);
    await page.waitForFunction(() => document.activeElement?.matches('#explore-room h1'), {
      timeout: 10_000,
    });
  },
  afterStep,
);

pageTest(
  'characters that a trained model has no token for are named, also where no other is there',
  '#train?task=addition',
  async (page) => {
    await openRun(page);
    if (await page.$eval('#explore-editor', (editor) => /** @type {HTMLElement} */ (editor).hidden))
      await page.click('#explore-edit');
    await reread(page, () => write(page, '12a+34é'));
    await says(
      page,
      '#explore-unknown',
      /^This model’s vocabulary lacks “a” and “é”: they are left out\.$/,
    );
    await write(page, 'twelve plus one');
    await says(
      page,
      '#explore-message',
      /^This model’s vocabulary has none of this text’s characters/,
    );
  },
  afterStep,
);
