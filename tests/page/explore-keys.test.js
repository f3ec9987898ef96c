// Keys that work anywhere in the Explore room, where what has the focus goes or is drawn anew under them: the focus goes to what
// is nearest, and is not lost.
import assert from 'node:assert/strict';
import { FIELD, hasFocus, reread, roomTest, scored } from './explore-room.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {string} selector until it has the focus, and keeps it when all is drawn */
async function keepsFocus(page, selector) {
  await hasFocus(page, selector);
  await scored(page);
  await hasFocus(page, selector);
}

const WHY = '?model=names&mode=why&head=L2H2&key=3';
const TEXTS =
  '?model=names&mode=why&corrupted=when+mary+and+john+went+to+the+store%2C+mary+gave+a+drink+to';

for (const [what, query, selector, keys, next] of [
  ['a map that stays', '', FIELD, ['c', ']'], '.zoom-map:first-child attention-map'],
  [
    'a map that goes, the first one',
    '?head=L0H7&with=L1H1',
    '.zoom-map:nth-child(2) attention-map >>> .map-field',
    ['c'],
    '.zoom-map:only-child attention-map',
  ],
  ['the sum’s table', WHY, '#explore-sum button', ['m'], '#explore-sum-title'],
  ['the keys of a head', WHY, '#explore-keys button', [']'], '#explore-keys-title'],
  ['the parts of a score', WHY, '#explore-score-key button', ['m'], '#explore-score-title'],
  ['the logit lens', WHY, '.lens-table button', ['m'], '#explore-lens-summary'],
  ['the shares of patching', TEXTS, '.shares button', ['m'], '#explore-patching-title'],
  ['Compare', '', '#explore-compare', ['m'], '#explore-mute'],
  ['Before/after', '?mute=L1H1', '#explore-before', ['m'], '#explore-mute'],
  [
    'a head’s lines',
    '?head=L2H0&lines=L2H1',
    '.overlay span > button',
    [']'],
    '#explore-overlay-add',
  ],
])
  roomTest(`${what} has the focus, or hands it on, under ${keys}`, String(query), async (page) => {
    await page.waitForSelector(String(selector));
    await page.focus(String(selector));
    for (const key of keys) await page.keyboard.press(/** @type {any} */ (key));
    await keepsFocus(page, String(next));
  });

roomTest('a head of a score that is gone to leads to that head’s own score', WHY, async (page) => {
  const selector = '#explore-score-query button';
  await page.waitForSelector(selector);
  await page.focus(selector);
  await page.keyboard.press('Enter');
  await keepsFocus(page, '#explore-score-title');
});

roomTest('a chosen small map hands the focus on to one of another model’s', '', async (page) => {
  await page.focus('#explore-grid [tabindex="0"]');
  await reread(page, () =>
    page.evaluate(() => void (location.hash = '#explore?model=induction&head=L1H2')),
  );
  await keepsFocus(page, '#explore-grid [title="Layer 1, head 2"]');
});

roomTest(
  'where a token is explained every id is one element’s, those of dialogs too',
  WHY,
  async (page) => {
    await page.waitForSelector('#explore-keys tfoot');
    const ids = await page.$$eval('[id]', (all) => all.map(({ id }) => id));
    assert.deepEqual(
      ids.filter((id, i) => ids.indexOf(id) !== i),
      [],
    );
  },
);
