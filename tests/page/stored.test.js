// What the page finds stored may be of another version, or of another script of the host: it opens all the same.
import assert from 'node:assert/strict';
import { pageTest, settled, textOf } from './harness.js';
import { ended } from './lessons-room.js';
import { reached } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

const ready = () => Promise.resolve();

for (const [words, stored] of [
  ['no code', '{"by-hand":{"code":null,"seen":7,"exercise":{},"unrun":"a"}}'],
  ['code that is no text', '{"by-hand":{"code":{"Six tokens, and nothing between them":{}}}}'],
  ['a text', '"by-hand"'],
]) {
  pageTest(
    `a lesson opens where ${words} is kept of it`,
    '#bench',
    async (page) => {
      try {
        await page.evaluate((text) => localStorage.setItem('headwise.lessons', text), stored);
        await page.evaluate(() => void (location.hash = '#lessons?lesson=by-hand'));
        await ended(page);
        await page.reload();
        await ended(page);
        const kept = await page.evaluate(() => localStorage.getItem('headwise.lessons'));
        assert.doesNotThrow(() => JSON.parse(String(kept)));
      } finally {
        await page.evaluate(() => localStorage.clear());
      }
    },
    { ready },
  );
}

pageTest('places that are none are passed over', '#compare', async (page) => {
  await page.evaluate(() => {
    // After the page's own, which keeps them when it is left.
    for (const event of ['pagehide', 'visibilitychange']) {
      addEventListener(event, () => sessionStorage.setItem('headwise-places', 'null'));
    }
  });
  await page.reload();
  await settled(page);
  assert.notEqual(await page.evaluate(() => history.state?.entry), undefined);
});

/** Keeps something in place of a run. @param {Page} page @param {object} run */
const keepRun = (page, run) =>
  page.evaluate(
    (kept) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('headwise-train', 1);
        opening.onerror = reject;
        opening.onupgradeneeded = () => opening.result.createObjectStore('runs');
        opening.onsuccess = () => {
          const transaction = opening.result.transaction('runs', 'readwrite');
          transaction.objectStore('runs').put(kept, 'latest');
          transaction.oncomplete = () => {
            opening.result.close();
            resolve(undefined);
          };
        };
      }),
    run,
  );

pageTest(
  'a kept run of a task that is not there, or of no step, is not offered',
  '#bench',
  async (page) => {
    const runs = [
      { settings: { task: 'gone', seed: 1 }, saved: { step: 10 } },
      { settings: { task: 'induction', seed: 1 }, saved: { step: null } },
      { settings: { task: 'induction' }, saved: { step: 10 } },
    ];
    for (const run of runs) {
      await page.evaluate(() => void (location.hash = '#bench'));
      await keepRun(page, run);
      await page.reload();
      await page.evaluate(() => void (location.hash = '#train'));
      await reached(page, 1);
      assert.doesNotMatch(await textOf(page, '.train-keep'), /Go on with/);
    }
  },
  { ready },
);
