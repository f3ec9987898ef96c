// Changed code travels in links: it does not run before the visitor says so, and takes the place of no code of their own.
import assert from 'node:assert/strict';
import { packCode } from '../../web/page/lessons/share.js';
import { engine } from '../browsers/engines.js';
import { browser, site, textOf, violations } from './harness.js';
import {
  codeOf,
  ended,
  lessonTest,
  openLesson,
  resultOf,
  runInstead,
  takeThreeHeads,
  typeIn,
} from './lessons-room.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {number} step */
const stepTitle = (page, step) =>
  page.$eval(`.step:nth-of-type(${step}) h2`, (heading) =>
    (heading.textContent ?? '').replace(/^\s*\d+\s*/, '').trim(),
  );

lessonTest('changes of a link that cannot be read are said to be so', 'wrapper', async (page) => {
  const code = await codeOf(page, 1);
  await page.evaluate(() => (location.hash = '#lessons?lesson=wrapper&code=garbage'));
  await page.waitForSelector('.lesson header .message.error');
  assert.match(await textOf(page, '.lesson header .message.error'), /could not be read/);
  await page.reload();
  await page.waitForSelector('.lesson header .message.error');
  await ended(page);
  assert.equal(await codeOf(page, 1), code);
  await page.click('.step:nth-of-type(1) .row button');
  await page.waitForFunction(() => !document.querySelector('.lesson header .message.error'));
  await ended(page);
});

// Another visitor is another context, which WebKitGTK's driver does not have.
if (engine.hasEvents)
  lessonTest(
    'changes travel in an address, and do not run before the visitor says so',
    'wrapper',
    async (page) => {
      assert.equal(await page.$eval('.share-link button', ({ hidden }) => hidden), true);
      await takeThreeHeads(page);
      await page.$eval('.share-link button', (share) => /** @type {HTMLElement} */ (share).click());
      await page.waitForFunction(() => location.hash.includes('code='));
      const address = await page.evaluate(() => location.href);
      assert.ok(address.length < 1500, `${address.length}`);

      const context = await browser.createBrowserContext();
      const other = await context.newPage();
      try {
        await other.goto(address);
        await ended(other, 'unrun');
        assert.match(await codeOf(other, 2), /numHeads: 3/);
        assert.match(await textOf(other, '.lesson [role=status]'), /has not run yet/);
        assert.equal(await resultOf(other, 2), '');
        await other.$eval('.step:nth-of-type(1) .row button', (run) =>
          /** @type {HTMLElement} */ (run).click(),
        );
        await ended(other);
        assert.match(await resultOf(other, 2), /first 4 columns equal/);
        await other.reload();
        await ended(other, 'unrun');
        assert.match(await codeOf(other, 2), /numHeads: 3/);
      } finally {
        await context.close();
      }
    },
  );

lessonTest(
  'code of a link that has not run waits for Run on later visits too, whatever else was edited',
  'wrapper',
  async (page) => {
    const packed = await packCode({ [await stepTitle(page, 5)]: "show('of a link', 1);" });
    await page.evaluate((code) => (location.hash = `#lessons?lesson=wrapper&code=${code}`), packed);
    await ended(page, 'unrun');
    await typeIn(page, '.step:nth-of-type(1)', `${await codeOf(page, 1)} `);
    await page.waitForFunction(() => !location.hash.includes('code='));
    for (let visit = 0; visit < 2; visit++) {
      await page.reload();
      await ended(page, 'unrun', 'done', 'error');
      assert.equal(
        await page.$eval('article.lesson', (one) => one.getAttribute('data-state')),
        'unrun',
      );
      assert.match(await codeOf(page, 5), /of a link/);
      assert.match(
        await textOf(page, '.lesson [role=status]'),
        /^A link brought changed code in step 5\. It has not run yet/,
      );
      // Nor does it run with a step that is reset, or once it was edited.
      if (visit === 0) await page.click('.step:nth-of-type(1) .row button:nth-of-type(2)');
      else await typeIn(page, '.step:nth-of-type(5)', `${await codeOf(page, 5)} // read`);
      assert.equal(
        await page.$eval('article.lesson', (one) => one.getAttribute('data-state')),
        'unrun',
      );
    }
    await page.reload();
    await ended(page, 'unrun');
    await page.click('.step:nth-of-type(1) .row button');
    await ended(page);
    assert.match(await resultOf(page, 5), /of a link/);
    await page.reload();
    await ended(page);
    assert.match(await resultOf(page, 5), /of a link/, 'it is the visitor’s own from now on');
  },
);

/** A page in the same browser that has a lesson open. @param {string} hash @param {(page: Page) => Promise<void>} body */
async function inAnotherTab(hash, body) {
  const tab = await browser.newPage();
  try {
    await tab.goto(site.url + hash);
    await ended(tab, 'done', 'unrun');
    await body(tab);
  } finally {
    await tab.close();
  }
}

/** @param {Page} page @param {number} step */
const note = async (page, step) =>
  runInstead(page, step, `${await codeOf(page, step)}\n// a note in step ${step}`);

/** Notes in steps 1 and 2, and a link that brings other code for step 2. @param {Page} page */
async function friendsLink(page) {
  const packed = await packCode({ [await stepTitle(page, 2)]: '// of a friend' });
  await note(page, 1);
  await note(page, 2);
  return `#lessons?lesson=wrapper&code=${packed}`;
}

if (engine.hasEvents) {
  lessonTest('the list of lessons follows what is done in other tabs', 'wrapper', async (page) => {
    await page.evaluate(() => {
      localStorage.clear();
      location.hash = '#lessons';
    });
    await page.waitForSelector('#lessons-room .start');
    const says = (/** @type {string} */ words) =>
      page.waitForFunction(
        (/** @type {string} */ wanted) => {
          const start = document.querySelector('#lessons-room .start');
          return start?.textContent?.replace(/\s+/g, ' ').trim().startsWith(wanted);
        },
        { timeout: 5000 },
        words,
      );
    await says('Begin with lesson 1:');
    await inAnotherTab('#lessons?lesson=fused', async (tab) => {
      await tab.$eval('#step-2', (heading) => heading.scrollIntoView());
      await tab.waitForFunction(() => localStorage.getItem('headwise.lessons')?.includes('fused'));
    });
    await page.bringToFront();
    await says('Go on with lesson');
  });

  lessonTest('two tabs keep what is changed in each', 'wrapper', async (page) => {
    await inAnotherTab('#lessons?lesson=wrapper', async (tab) => {
      await inAnotherTab('#lessons?lesson=fused', (third) => note(third, 1));
      await note(tab, 1);
    });
    await page.bringToFront();
    await note(page, 2);
    await page.reload();
    await ended(page);
    assert.match(await codeOf(page, 1), /a note in step 1/);
    assert.match(await codeOf(page, 2), /a note in step 2/);
    await openLesson(page, 'fused');
    assert.match(await codeOf(page, 1), /a note in step 1/);
  });

  lessonTest(
    'code of a link stands in place of one’s own when it is edited, and of its steps alone',
    'wrapper',
    async (page) => {
      const link = await friendsLink(page);
      await inAnotherTab(link, async (tab) => {
        await tab.click('.step:nth-of-type(1) .row button');
        await ended(tab, 'done', 'error');
      });
      await page.reload();
      await ended(page);
      assert.match(await codeOf(page, 2), /a note in step 2/, 'running keeps nothing');
      await inAnotherTab(link, (tab) => runInstead(tab, 2, '// of a friend, edited'));
      await page.reload();
      await ended(page, 'done', 'error');
      assert.match(await codeOf(page, 1), /a note in step 1/);
      assert.match(await codeOf(page, 2), /of a friend, edited/);
    },
  );

  lessonTest(
    'one’s own code is kept where a link’s is edited in its place, and comes back at a click',
    'wrapper',
    async (page) => {
      const link = await friendsLink(page);
      const way = '.lesson header .own-code';
      await inAnotherTab(link, async (tab) => {
        assert.equal(
          await textOf(tab, way),
          'Your own code of steps 1 and 2 is kept. Bring it back',
        );
        assert.deepEqual(await violations(tab), []);
        await runInstead(tab, 2, '// of a friend, edited');
        await runInstead(tab, 2, '// of a friend, edited again');
      });
      await page.reload();
      await ended(page, 'done', 'error');
      assert.match(await codeOf(page, 2), /of a friend, edited again/);
      assert.equal(
        await textOf(page, way),
        'Your own code of step 2 is kept. Bring it back Forget it',
      );
      await page.click(`${way} button`);
      await page.waitForFunction((it) => !document.querySelector(it), {}, way);
      await ended(page);
      assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
      for (let visit = 0; visit < 2; visit++) {
        assert.match(await codeOf(page, 1), /a note in step 1/);
        assert.match(await codeOf(page, 2), /a note in step 2/);
        await page.reload();
        await ended(page);
      }
      // A link's code that nobody has edited is left as it came, and forgotten code does not come back.
      await inAnotherTab(link, async (tab) => {
        await tab.click(`${way} button`);
        await ended(tab);
        assert.match(await codeOf(tab, 2), /a note in step 2/);
        assert.ok(!(await tab.evaluate(() => location.hash)).includes('code='));
      });
      await inAnotherTab(link, (tab) => runInstead(tab, 2, '// of a friend, edited'));
      await page.reload();
      await ended(page, 'done', 'error');
      await page.click(`${way} button:nth-of-type(2)`);
      await page.reload();
      await ended(page, 'done', 'error');
      assert.deepEqual(await page.$$(way), []);
      assert.match(await codeOf(page, 2), /of a friend, edited/);
    },
  );
}
