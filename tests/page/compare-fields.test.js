// Compare's fields say what is computed, also while they have the focus, and keys stay in the choice that they change.
import assert from 'node:assert/strict';
import { fill, pageTest, rerun, valueOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {string} hash that is pasted into the address bar */
const goTo = (page, hash) =>
  rerun(page, () => page.evaluate((address) => void (location.hash = address), hash));

pageTest(
  'a field that has the focus shows what another address brings, and what is typed stays',
  '#compare?source=own&text=first+words',
  async (page) => {
    await page.focus('#text');
    await goTo(page, '#compare?source=own&text=other+words&seed=5');
    assert.equal(await valueOf(page, '#text'), 'other words');
    // A change of something else leaves what is typed and not taken yet.
    await page.$eval('#text', (field) => {
      /** @type {HTMLTextAreaElement} */ (field).value = 'other words, typed on';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      document.getElementById('causal')?.click();
    });
    assert.equal(await valueOf(page, '#text'), 'other words, typed on');
    await page.waitForFunction(() => location.hash.includes('typed+on'));

    await page.focus('#seed');
    await page.keyboard.press('9');
    await page.waitForFunction(() => /seed=(59|95)/.test(location.hash));
    await goTo(page, '#compare?seed=7');
    assert.equal(await valueOf(page, '#seed'), '7');
    // No number is no seed, and is not taken away from who types one.
    await fill(page, '#seed', '', 'input');
    assert.equal(await valueOf(page, '#seed'), '');
    await page.waitForSelector('#seed[aria-invalid=true]');
    // Who has left it sees the seed of what is shown, which the address has.
    await rerun(page, () => fill(page, '#seed', '', 'change'));
    assert.equal(await valueOf(page, '#seed'), '7');
    assert.match(await page.evaluate(() => location.hash), /seed=7/);
    await page.waitForSelector('#seed[aria-invalid=false]');
  },
);

pageTest(
  'an arrow key stays in the choice of a sentence, a click leads to its field',
  '',
  async (page) => {
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('value'));
    await page.focus('#source input[value=example]');
    await rerun(page, () => page.keyboard.press('ArrowRight'));
    assert.equal(await focused(), 'own');
    await rerun(page, () => page.keyboard.press('ArrowLeft'));
    assert.equal(await focused(), 'example');
    await rerun(page, () => page.click('#source input[value=own]'));
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'text');
  },
);
