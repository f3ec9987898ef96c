// The Explore room's colours while maps are still on their way: they are the chosen scale's, whenever a map arrives.
import assert from 'node:assert/strict';
import { hold, isHeld, letGo, reread, roomTest, says } from './explore-room.js';

/** @import { Page } from 'puppeteer-core' */

/** What canvases show, as short names of their pixels. @param {Page} page @param {string} selector @returns {Promise<string[]>} */
const pictures = (page, selector) =>
  page.evaluate(async (which) => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    const all = /** @type {NodeListOf<any>} */ (document.querySelectorAll(which));
    // Of an attention-map its canvas.
    const pixels = [...all].map((one) => new TextEncoder().encode((one.canvas ?? one).toDataURL()));
    const digests = pixels.map((bytes) => crypto.subtle.digest('SHA-1', bytes));
    return (await Promise.all(digests)).map((digest) => new Uint32Array(digest)[0].toString(16));
  }, selector);

roomTest(
  'another colour scale colours every map, also of layers that arrive after it is chosen',
  '?text=one+two+three+one+two+three',
  async (page) => {
    await hold(page, 'thumbs');
    await reread(page, async () => {
      await page.evaluate(() => (location.hash = '#explore?text=four+five+six+four+five+six'));
      await isHeld(page);
      await page.select('#explore-scale', 'row');
      await says(page, '#explore-legend', /as a share of its row’s largest/);
      await letGo(page);
    });
    const arrived = await pictures(page, '#explore-grid canvas');
    await page.select('#explore-scale', 'unit');
    const others = await pictures(page, '#explore-grid canvas');
    await page.select('#explore-scale', 'row');
    assert.deepEqual(await pictures(page, '#explore-grid canvas'), arrived);
    assert.ok(arrived.every((picture, i) => picture !== others[i]));
  },
);

roomTest(
  'where each map has its own scale, a difference has its own from its first picture on',
  '?scale=head&with=L0H0&text=one+two+three+one+two+three',
  async (page) => {
    for (const nth of [3, 10, 6]) {
      const map = '.zoom-map:nth-child(3)';
      const canvas = `${map} attention-map`;
      const before = await page.$eval(
        map,
        (room) => /** @type {HTMLElement} */ (room).dataset.drawn,
      );
      await page.click(`#explore-grid button:nth-child(${nth})`);
      await page.waitForFunction(
        (/** @type {string} */ old) =>
          /** @type {HTMLElement} */ (document.querySelector('.zoom-map:nth-child(3)')).dataset
            .drawn !== old,
        {},
        before ?? '',
      );
      const [arrived] = await pictures(page, canvas);
      await page.select('#explore-scale', 'unit');
      await page.select('#explore-scale', 'head');
      assert.deepEqual(await pictures(page, canvas), [arrived], `head ${nth}`);
    }
  },
);
