// Where the keyboard's focus is in the Explore room when a button that was pressed goes away.
import assert from 'node:assert/strict';
import {
  addressHas,
  goBackAfter,
  hasFocus,
  hold,
  isHeld,
  letGo,
  reread,
  roomTest,
  runOf,
  scored,
} from './explore-room.js';

/** @import { Page } from 'puppeteer-core' */

/** Presses an element by the keyboard. @param {Page} page @param {string} selector */
async function press(page, selector) {
  await page.focus(selector);
  await page.keyboard.press('Enter');
}

/** @param {number} at */
const token = (at) => `#explore-text [data-at="${at}"]`;

roomTest('each button of the tour leads on to the next', '', async (page) => {
  await press(page, '#explore-tour-offer button:last-child');
  await hasFocus(page, '#explore-tour');
  await page.keyboard.press('Enter');
  for (const step of [1, 2]) {
    await addressHas(page, `induction.${step}`);
    await hasFocus(page, '#explore-tour-next');
    await page.keyboard.press('Enter');
  }
  await addressHas(page, 'induction.3');
  await hasFocus(page, '#explore-tour-end');
  for (const step of [2, 1]) {
    await press(page, '.tour-buttons button:nth-child(2)');
    await addressHas(page, `induction.${step}`);
  }
  await hasFocus(page, '#explore-tour-next');
  await press(page, '#explore-tour-end');
  await hasFocus(page, '#explore-tour');
});

for (const id of ['explore-open', 'explore-export', 'explore-help']) {
  roomTest(`Escape leads back to the menu that opened ${id}`, '', async (page) => {
    await press(page, '#explore-files summary');
    await press(page, `#${id}`);
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog[open]'));
    await hasFocus(page, '#explore-files summary');
  });
}

for (const id of ['explore-open', 'explore-export', 'explore-help']) {
  roomTest(`Back closes the dialog of ${id} with its room`, '', async (page) => {
    await goBackAfter(page, async () => {
      await press(page, '#explore-files summary');
      await press(page, `#${id}`);
      await page.waitForSelector('dialog[open]');
    });
    await hasFocus(page, '#lessons-room h1');
    assert.equal(await page.$$eval(':modal', (all) => all.length), 0);
    await page.click('#rooms [data-room=explore]');
    await page.waitForFunction(() => location.hash === '#explore');
    assert.equal(await page.$$eval('dialog[open]', (all) => all.length), 0);
  });
}

roomTest('after Back a dialog gives no focus to its room', '', async (page) => {
  await goBackAfter(page, async () => {
    await press(page, '#explore-files summary');
    await press(page, '#explore-help');
    // As a press beside its controls does.
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    });
  });
  await hasFocus(page, '#lessons-room h1');
});

roomTest('Back closes a menu with its room', '', async (page) => {
  await goBackAfter(page, () => press(page, '#explore-more summary'));
  assert.deepEqual(await openMenus(page), []);
});

/** @param {Page} page */
const openMenus = (page) => page.$$eval('details.menu[open]', (menus) => menus.map(({ id }) => id));

roomTest('a menu closes where Tab leaves it, and none lies over another', '', async (page) => {
  await press(page, '#explore-more summary');
  await page.$eval('#explore-more :is(input, button, select)', (control) => control.focus());
  await page.keyboard.press('Tab');
  for (let i = 0; i < 20 && (await openMenus(page)).length > 0; i++) {
    assert.deepEqual(await openMenus(page), ['explore-more']);
    assert.ok(await page.evaluate(() => document.activeElement?.closest('#explore-more') !== null));
    await page.keyboard.press('Tab');
  }
  assert.deepEqual(await openMenus(page), []);
  assert.ok(await page.evaluate(() => document.activeElement?.closest('#explore-more') === null));
});

roomTest(
  'a press in a menu, beside its controls and on their words, leaves it open',
  '',
  async (page) => {
    await page.click('#explore-more summary');
    const places = await page.$eval('#explore-more .menu-panel', (panel) => {
      const box = panel.getBoundingClientRect();
      const words = /** @type {Element} */ (panel.querySelector('label')).getBoundingClientRect();
      return [
        [box.right - 4, box.top + 4],
        [words.right - 8, words.top + words.height / 2],
      ];
    });
    for (const [x, y] of places) {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.up();
      assert.deepEqual(await openMenus(page), ['explore-more']);
    }
    await page.click('#explore-more summary');
    assert.deepEqual(await openMenus(page), []);
  },
);

roomTest('what was taken back can be written again', '?added=3_4', async (page) => {
  await reread(page, () => press(page, '#explore-take-back'));
  await hasFocus(page, '#explore-continue [type=submit]');
});

roomTest('a pin that is let go leads to the next one, at last to its token', '', async (page) => {
  await page.evaluate(() => void (location.hash = '#explore?pins=q2_q4_q6'));
  const cards = (/** @type {number} */ count) =>
    page.waitForFunction(
      (wanted) => document.querySelectorAll('#explore-pins .pin-card').length === wanted,
      {},
      count,
    );
  const button = (/** @type {number} */ i) =>
    `#explore-pins .pin-card:nth-of-type(${i}) [aria-label^=Unpin]`;
  await cards(3);
  await press(page, button(1));
  await addressHas(page, 'pins=q4_q6');
  await cards(2);
  await hasFocus(page, button(1));
  await press(page, button(2));
  await addressHas(page, 'pins=q4');
  await cards(1);
  await hasFocus(page, button(1));
  await page.keyboard.press('Enter');
  await hasFocus(page, token(3));
  await page.keyboard.press('ArrowRight');
  await hasFocus(page, token(4));
});

roomTest('Clear pins leads to the last one’s token', '?pins=q2_q4', async (page) => {
  await press(page, '#explore-unpin');
  await hasFocus(page, token(3));
});

roomTest('Close leads back to what compares texts', '?mode=why&corrupted=one+two', async (page) => {
  await press(page, '#explore-unpatch');
  await hasFocus(page, '#explore-patch');
});

roomTest('Unmute leads to the head that is shown', '?mute=L0H1', async (page) => {
  await reread(page, () => press(page, '#explore-unmute'));
  await hasFocus(page, '#explore-grid [aria-pressed=true]');
});

roomTest('Cancel leads back to what began the wait', '', async (page) => {
  await hold(page, 'run');
  await press(page, '#explore-mute');
  await isHeld(page);
  await page.waitForSelector('#explore-waiting:not([hidden])');
  await press(page, '#explore-waiting button');
  await hasFocus(page, '#explore-mute');
  await letGo(page);
});

roomTest('Cancel leads to the page where nothing on it began the wait', '', async (page) => {
  const old = await runOf(page);
  await hold(page, 'thumbs');
  await page.evaluate(() => void (location.hash = '#explore?text=four+five+six+four'));
  await isHeld(page);
  await page.waitForSelector('#explore-surveying:not([hidden])');
  await press(page, '#explore-surveying button');
  await hasFocus(page, '#main');
  await letGo(page);
  await press(page, '#explore-go-on');
  await hasFocus(page, '#main');
  await scored(page, old);
  assert.equal((await page.$$('#explore-skipped')).length, 0);
});

/** Lets a wait end by itself while its button has the focus. @param {Page} page @param {string} bar @param {string} to what has the focus then */
async function endsBehindFocus(page, bar, to) {
  await isHeld(page);
  await page.waitForSelector(`${bar}:not([hidden]) button`);
  await page.focus(`${bar} button`);
  await letGo(page);
  await page.waitForFunction(
    (/** @type {string} */ selector) => !document.querySelector(`${selector}:not([hidden])`),
    {},
    bar,
  );
  await hasFocus(page, to);
}

roomTest('where reading ends by itself, the focus goes back to what began it', '', async (page) => {
  await hold(page, 'run');
  await press(page, '#explore-mute');
  await endsBehindFocus(page, '#explore-waiting', '#explore-mute');
});

roomTest('where drawing ends by itself, the focus is not lost', '', async (page) => {
  await hold(page, 'thumbs');
  await page.evaluate(() => void (location.hash = '#explore?text=four+five+six+four'));
  await endsBehindFocus(page, '#explore-surveying', '#main');
});

roomTest('where ablation ends by itself, the focus goes beside its bar', '', async (page) => {
  await hold(page, 'effects');
  await press(page, '#explore-effects');
  await endsBehindFocus(page, '#explore-ablating', '#explore-all');
});
