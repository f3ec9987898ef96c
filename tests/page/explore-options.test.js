// The Explore room when choices come in an odd order or out of their bounds, and its keys turned off.
import assert from 'node:assert/strict';
import {
  FIELD,
  addressHas,
  hold,
  isHeld,
  letGo,
  openMenu,
  reread,
  roomTest,
  says,
  scored,
  write,
} from './explore-room.js';
import { model, run } from './explore-run.js';
import { fill, textOf } from './harness.js';

roomTest(
  'what was typed just now is read before the model writes on',
  '?count=3&decoding=greedy',
  async (page) => {
    await hold(page, 'run');
    await write(page, 'She was');
    await isHeld(page);
    await page.click('#explore-write');
    await letGo(page);
    const ids = model.text.encode('She was');
    const expected = [...model.decoder.generate(ids, { maxTokens: 3, temperature: 0 })];
    await addressHas(page, `added=${expected.join('_')}`);
  },
);

roomTest(
  'an option out of its bounds is put back with the reason, and the model still writes',
  '?count=3&temperature=0.33',
  async (page) => {
    const valueOf = (/** @type {string} */ id) =>
      page.$eval(id, (field) => /** @type {HTMLInputElement} */ (field).value);
    // Where the fields are: the menu covers what is below it.
    await openMenu(page, 'explore-continue-how');
    await fill(page, '#explore-count', '500');
    await says(
      page,
      '#explore-continue-how [role=status]',
      /^“Tokens” must be a whole number from 1 to 200; it is still 3\.$/,
    );
    assert.equal(await valueOf('#explore-count'), '3');
    const isSeen = await page.$eval('#explore-continue-how [role=status]', (told) => {
      const { left, top, width, height } = told.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) === told;
    });
    assert.ok(isSeen);
    // The reason goes with the next change of anything.
    await page.select('#explore-decoding', 'greedy');
    await says(page, '#explore-continue-how [role=status]', /^$/);
    await page.select('#explore-decoding', 'sample');
    await fill(page, '#explore-count', '2');
    assert.equal(await valueOf('#explore-temperature'), '0.33');
    await reread(page, () => page.click('#explore-write'));
    assert.equal((await page.$$('#explore-text .written')).length, 2);
  },
);

roomTest('Enter in an option takes it, and writes nothing', '?count=3', async (page) => {
  await openMenu(page, 'explore-continue-how');
  await page.click('#explore-count');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await addressHas(page, 'count=4');
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
  assert.equal((await page.$$('#explore-text .written')).length, 0);
  assert.equal(await textOf(page, '#explore-write'), 'Continue');
});

roomTest('nothing is written while another model is opened', '?count=3', async (page) => {
  await hold(page, 'open');
  await reread(page, async () => {
    await page.select('#explore-model', 'induction');
    await isHeld(page);
    await page.click('#explore-write');
    await letGo(page);
  });
  assert.doesNotMatch(await page.evaluate(() => location.hash), /added/);
});

roomTest('nothing is written after a text that could not be read', '?count=3', async (page) => {
  await write(page, 'She was '.repeat(2000));
  await says(page, '#explore-message', /The last text that could be read is still shown/);
  await page.click('#explore-write');
  await says(page, '#explore-write', /^Continue$/);
  assert.doesNotMatch(await page.evaluate(() => location.hash), /added/);
  assert.match(await textOf(page, '#explore-message'), /^This text has/);
});

roomTest('nothing is said of what was written once it is removed', '?count=3', async (page) => {
  await reread(page, () => page.click('#explore-write'));
  await says(page, '#explore-written', /^3 tokens, .* per second$/);
  await reread(page, () => page.click('#explore-take-back'));
  await says(page, '#explore-written', /^$/);
  await page.click('#explore-why');
  await addressHas(page, 'mode=why');
  await reread(page, () => page.click('#explore-write'));
  await says(page, '#explore-written', /^3 tokens/);
  await reread(page, () => page.evaluate(() => history.back()));
  await says(page, '#explore-written', /^$/);
});

roomTest('what is removed while the model writes on is gone', '?count=40', async (page) => {
  await reread(page, () => page.click('#explore-write'));
  await page.evaluate(async () => {
    const button = (/** @type {string} */ id) =>
      /** @type {HTMLElement} */ (document.getElementById(id));
    const written = () => document.querySelectorAll('#explore-text .written').length;
    button('explore-write').click();
    for (let i = 0; i < 2000 && written() <= 41; i++)
      await new Promise((resolve) => setTimeout(resolve));
    button('explore-take-back').click();
  });
  await page.waitForFunction(() => !location.hash.includes('added'));
  await says(page, '#explore-write', /^Continue$/);
  await says(page, '#explore-text', /speak\.$/);
  assert.equal((await page.$$('#explore-text .written')).length, 0);
});

roomTest(
  'of ids in an address that the model does not have nothing is to be removed',
  '?added=999999',
  async (page) => {
    assert.equal(
      await page.$eval('#explore-take-back', (button) => button.hasAttribute('hidden')),
      true,
    );
  },
);

roomTest('a place that a shorter text does not have is not asked about', '?pins=', async (page) => {
  await page.focus(FIELD);
  for (let i = 0; i < 3; i++) await page.keyboard.press('PageDown');
  await says(page, '#explore-pins', new RegExp(`${run.source.n} attends to`));
  await reread(page, () => write(page, 'She was'));
  await says(page, '#explore-pins', /was2 attends to/);
  assert.equal(await textOf(page, '#explore-message'), '');
});

roomTest('a text of one token is said to have no losses', '?tint=loss', async (page) => {
  await says(page, '#explore-text-note', /^The stronger a token’s tint/);
  await write(page, 'She');
  await says(page, '#explore-text-note', /^This text has no losses/);
});

roomTest('single keys can be turned off, and stay so', '', async (page) => {
  const turn = async () => {
    await openMenu(page, 'explore-files');
    await page.click('#explore-help');
    await page.click('#explore-keys-on');
    await page.click('#explore-help-dialog button');
  };
  const hash = () => page.evaluate(() => location.hash);
  await turn();
  await page.keyboard.press('m');
  await page.reload();
  await scored(page);
  await page.keyboard.press('m');
  await turn();
  assert.doesNotMatch(await hash(), /mute/);
  await page.keyboard.press('m');
  await addressHas(page, 'mute=');
});
