// The Explore room before anything is read, and where nothing can be: what needs a run is not there.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { isMeant, says, scored } from './explore-room.js';
import { pageTest, textOf, violations } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const NEEDING_RUN = [
  '#explore-edit',
  '#explore-text',
  '#explore-continue button',
  '#explore-heads',
  '#explore-topp',
  '#explore-lines',
  '#explore-table',
];

/** Those that are seen. @param {Page} page @param {string[]} selectors */
const seen = (page, selectors) =>
  page.evaluate(
    (all) =>
      all.filter((selector) =>
        document
          .querySelector(selector)
          ?.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }),
      ),
    selectors,
  );

/** @param {string} title @param {string} query @param {(page: Page) => Promise<void>} body */
const emptyTest = (title, query, body) =>
  pageTest(title, `#explore${query}`, body, {
    ready: async (page) => void (await page.waitForSelector('#explore-message.error')),
    isMeant,
  });

emptyTest(
  'an unknown model in the address leaves the choice of another, and nothing else',
  '?model=nobody&head=L1H1&pins=q3',
  async (page) => {
    await says(page, '#explore-message', /no model “nobody” here\. Choose one .* or open files\.$/);
    assert.deepEqual(await seen(page, NEEDING_RUN), []);
    const staying = ['#explore-model', '#explore-files'];
    assert.deepEqual(await seen(page, staying), staying);
    assert.deepEqual(await violations(page), []);
    // Keys of what is not there leave what the address says.
    const hash = await page.evaluate(() => location.hash);
    for (const key of /** @type {const} */ (['}', ']', 'x', 'm'])) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => location.hash), hash);
    await page.select('#explore-model', 'induction');
    await scored(page);
    assert.deepEqual(await seen(page, NEEDING_RUN), NEEDING_RUN);
    assert.equal(await textOf(page, '#explore-message'), '');
  },
);

for (const name of ['constructor', '__proto__', 'toString']) {
  emptyTest(
    `a model named "${name}" in the address is said, and leaves the page whole`,
    `?model=${name}`,
    async (page) => {
      await says(page, '#explore-message', new RegExp(`no model “${name}” here`));
      await page.select('#explore-model', 'induction');
      await scored(page);
      assert.deepEqual(await seen(page, NEEDING_RUN), NEEDING_RUN);
    },
  );
}

emptyTest(
  'an address of opened files asks for them, and shows nothing until they are there',
  '?model=opened&head=L1H1',
  async (page) => {
    await says(
      page,
      '#explore-message',
      /Open them again, train again, or choose one of the page’s models\.$/,
    );
    assert.deepEqual(await seen(page, NEEDING_RUN), []);
    await page.select('#explore-model', 'austen');
    await scored(page);
    assert.deepEqual(await seen(page, NEEDING_RUN), NEEDING_RUN);
  },
);

emptyTest(
  'a text of the address that the model cannot read is in the editor',
  '?text=',
  async (page) => {
    await says(page, '#explore-message', /^There is no text yet: type something\.$/);
    const staying = ['#explore-model', '#explore-files', '#explore-edit', '#explore-editor'];
    const others = NEEDING_RUN.filter((selector) => !staying.includes(selector));
    assert.deepEqual(await seen(page, others), []);
    assert.deepEqual(await seen(page, staying), staying);
    await page.click('#explore-sample');
    await scored(page);
    assert.deepEqual(await seen(page, NEEDING_RUN), NEEDING_RUN);
  },
);

if (engine.hasEvents) {
  pageTest(
    'while the first model loads, nothing is seen that needs it',
    '#compare',
    async (page) => {
      await page.evaluateOnNewDocument((selectors) => {
        /** @type {Set<string>} */
        const early = new Set();
        let frames = 0;
        const look = () => {
          const room = document.querySelector('#explore-text');
          if (room && room.childElementCount === 0) {
            frames++;
            for (const selector of selectors) {
              const element = document.querySelector(selector);
              if (element?.checkVisibility({ checkVisibilityCSS: true })) early.add(selector);
            }
          }
          Object.assign(globalThis, { early: [...early], frames });
          requestAnimationFrame(look);
        };
        look();
      }, NEEDING_RUN);
      await page.evaluate(() => (location.hash = '#explore'));
      await page.reload();
      await scored(page);
      const { early, frames } = await page.evaluate(() => {
        const { early: found, frames: count } = /** @type {any} */ (globalThis);
        return { early: found, frames: count };
      });
      assert.ok(frames > 0);
      assert.deepEqual(early, []);
    },
    // What the reload ends; Firefox says so in other words where the service worker is asked.
    { isMeant: /^failed: .*$|A ServiceWorker intercepted the request/ },
  );
}
