// The Explore room behind addresses that name what is not there.
import assert from 'node:assert/strict';
import { hold, isHeld, letGo, roomTest, says, scored } from './explore-room.js';
import { contentWidth, pageTest, textOf } from './harness.js';

/** @param {Element} element */
const isHidden = (element) => /** @type {HTMLElement} */ (element).hidden;

for (const [what, query] of [
  ['a token that the model has not', 'target=999999'],
  ['another one to compare with', 'against=999999'],
  ['one token twice', 'target=3&against=3'],
]) {
  roomTest(`an address that asks about ${what} is answered`, `?mode=why&${query}`, async (page) => {
    await says(page, '#explore-sum .sum tfoot', /\d/);
    assert.equal(await textOf(page, '#explore-message'), '');
    assert.equal(
      await page.$eval(
        '#explore-against',
        (select) => /** @type {HTMLSelectElement} */ (select).selectedIndex,
      ),
      0,
    );
  });
}

roomTest(
  'only what the model could have written is marked so',
  '?model=induction&added=1999',
  async (page) => {
    assert.equal((await page.$$('#explore-text .written')).length, 0);
    await page.evaluate(() => void (location.hash = '#explore?model=induction&added=3_1999_4'));
    await page.waitForFunction(
      () => document.querySelectorAll('#explore-text .written').length === 2,
    );
  },
);

roomTest('what cannot be read leaves the last text, and says so', '', async (page) => {
  await page.evaluate(() => void (location.hash = '#explore?text='));
  await says(
    page,
    '#explore-message',
    /type something\. The last text that could be read is still shown\.$/,
  );
});

roomTest('an address of what was opened or trained leads to both', '', async (page) => {
  await page.evaluate(() => void (location.hash = '#explore?model=opened'));
  await page.reload();
  await says(page, '#explore-message', /from a disk, or for a model from Train.* train again/);
  await page.click('#explore-to-train a');
  await page.waitForSelector('#explore-room[hidden]');
  await page.goBack();
  await page.select('#explore-model', 'induction');
  await scored(page);
  assert.equal(await page.$eval('#explore-to-train', isHidden), true);
});

for (const [model, words] of /** @type {const} */ ([
  ['who', /^There is no model “who” here\./],
  ['opened', /^This address is for files that were opened/],
]))
  pageTest(
    `an address of a model that is not here, “${model}”, leads to one that is, and to the tour`,
    `#explore?model=${model}`,
    async (page) => {
      await says(page, '#explore-message', words);
      assert.equal((await page.$$('#explore-tour')).length, 0);
      await page.click('#explore-open-first');
      await scored(page);
      assert.equal(await textOf(page, '#explore-message'), '');
      assert.equal(await page.$eval('#explore-open-first', isHidden), true);
      await page.click('#explore-tour');
      await page.click('#explore-tour-next');
      await says(page, '#explore-tour-card', /, 2 of 3:/);
    },
    { ready: async (page) => void (await page.waitForSelector('#explore-message.error')) },
  );

pageTest(
  'a model whose name is long is said in lines that fit a phone',
  `#explore?model=${'who'.repeat(300)}`,
  async (page) => {
    await page.setViewport({ width: 390, height: 800 });
    const width = await page.evaluate(() => innerWidth);
    assert.ok((await contentWidth(page)) <= width);
  },
  { ready: async (page) => void (await page.waitForSelector('#explore-message.error')) },
);

for (const [what, model] of [
  ['name', 'who'.repeat(100_000)],
  ['address', `https://127.0.0.1:9/${'a'.repeat(300_000)}/config.json`],
])
  pageTest(
    `of a model’s very long ${what} the message has the beginning and the end`,
    `#explore?model=${encodeURIComponent(model)}`,
    async (page) => {
      const words = await textOf(page, '#explore-message');
      assert.ok(words.length < 2000, `${words.length} characters`);
      assert.match(words, /(whowho.*….*whowho|\/\/127\.0\.0\.1:9\/aaa.*….*aaa\/config\.json)/);
    },
    {
      ready: async (page) => void (await page.waitForSelector('#explore-message.error')),
      isMeant: /127\.0\.0\.1:9/,
    },
  );

roomTest('heads that the model has not are said, and go out of the address', '', async (page) => {
  const goTo = (/** @type {string} */ hash) =>
    page.evaluate((address) => void (location.hash = address), hash);
  const isAddress = (/** @type {string} */ hash) =>
    page.waitForFunction((/** @type {string} */ wanted) => location.hash === wanted, {}, hash);
  const many = Array.from({ length: 20 }, (_, i) => `L9H${i}`);
  for (const [query, words] of [
    ['head=L99H99', 'L99H99'],
    ['head=L1H2&with=L99H99', 'L99H99'],
    ['head=L1H2&mute=L1H4_L9H9&lines=L0H77', 'L9H9 or L0H77'],
    [`head=L1H2&mute=L1H4_${many.join('_')}`, `${many.slice(0, 8).join(' or ')} or 12 others`],
    ['head=L1H2&mute=L1H4_L9H9', 'L9H9'],
  ]) {
    await goTo(`#explore?${query}`);
    await says(page, '#explore-message', new RegExp(`^This model has no head ${words}\\.$`));
    assert.equal(await textOf(page, '#explore-compare-note'), '');
  }
  await isAddress('#explore?head=L1H2&mute=L1H4');
  // Until something else is chosen.
  await page.click('#explore-grid button[title^="Layer 0, head 1"]');
  await says(page, '#explore-message', /^$/);
  await page.evaluate(() => void (location.hash = '#explore?model=induction&head=L3H7'));
  await says(page, '#explore-message', /^This model has no head L3H7\.$/);
  await page.reload();
  await scored(page);
  assert.equal(await textOf(page, '#explore-message'), '');
  // One that there is stays: another one is to be chosen.
  await goTo('#explore?head=L1H2&with=L1H2');
  await says(page, '#explore-compare-note', /^L1H2 is kept: choose another head\.$/);
  await isAddress('#explore?head=L1H2&with=L1H2');
});

roomTest('Back and Forward lead from the maps to what asks why, and back', '', async (page) => {
  const isSeen = (/** @type {string} */ selector, /** @type {string} */ hash) =>
    page.waitForFunction(
      (/** @type {string} */ wanted, /** @type {string} */ address) =>
        document.querySelector(wanted)?.checkVisibility() && location.hash === address,
      {},
      selector,
      hash,
    );
  const go = (/** @type {number} */ by) => page.evaluate((steps) => history.go(steps), by);
  await page.click('#explore-why');
  await isSeen('#explore-sum', '#explore?mode=why');
  // What is chosen there is of the same entry.
  await page.click('#explore-grid button[title^="Layer 1, head 2"]');
  await isSeen('#explore-sum', '#explore?head=L1H2&mode=why');
  await go(-1);
  await isSeen('#explore-why', '#explore');
  await go(1);
  await isSeen('#explore-sum', '#explore?head=L1H2&mode=why');
  await page.click('#explore-maps-back');
  await isSeen('#explore-why', '#explore?head=L1H2');
  await go(-1);
  await isSeen('#explore-sum', '#explore?head=L1H2&mode=why');
});

roomTest(
  'Back leads to the model before, with its text and in the same mode',
  '?text=one+two+three',
  async (page) => {
    const reads = (/** @type {string} */ hash, /** @type {RegExp} */ text) =>
      Promise.all([
        page.waitForFunction((wanted) => location.hash === wanted, {}, hash),
        says(page, '#explore-text', text),
      ]);
    await page.click('#explore-why');
    await page.select('#explore-model', 'induction');
    await reads('#explore?model=induction&mode=why', /^kT7/);
    await page.evaluate(() => history.back());
    await reads('#explore?text=one+two+three&mode=why', /^one/);
    await page.evaluate(() => history.back());
    await reads('#explore?text=one+two+three', /^one/);
    await page.evaluate(() => history.go(2));
    await reads('#explore?model=induction&mode=why', /^kT7/);
  },
);

roomTest('Cancel makes no step of its own', '', async (page) => {
  const length = () => page.evaluate(() => history.length);
  const before = await length();
  await hold(page, 'open');
  await page.select('#explore-model', 'induction');
  await isHeld(page);
  await page.waitForSelector('#explore-waiting:not([hidden])');
  await page.click('#explore-waiting button');
  await page.waitForFunction(() => location.hash === '#explore');
  assert.equal(await length(), before + 1);
  await letGo(page);
});

roomTest('the tour’s last step tells of no loss', '?tour=induction.3', async (page) => {
  await says(page, '#explore-tour-card', /% becomes/);
  // It is known by then, and said when the tour has ended.
  await page.waitForFunction(() => !document.querySelector('#explore-surveying'));
  assert.equal(await textOf(page, '#explore-loss'), '');
  await page.click('#explore-tour-end');
  await says(page, '#explore-loss', /^Loss: /);
});
