// The header of a lesson: it keeps its height when code changes, and says what a link has changed.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { pageTest, textOf, violations } from './harness.js';
import { ended, lessonTest, runInstead } from './lessons-room.js';
import { packCode } from '../../web/page/lessons/share.js';

// No window of WebKitGTK is as narrow as a phone.
for (const width of engine.leastWidth > 0 ? [1440] : [1440, 360]) {
  lessonTest(
    `the first change moves nothing in a window of ${width}`,
    'two-forms',
    async (page) => {
      const top = () =>
        page.$eval('.step:nth-of-type(1) .editor', (editor) => {
          const { top: y } = editor.getBoundingClientRect();
          return y + scrollY;
        });
      await page.setViewport({ width, height: 900 });
      const before = await top();
      await page.focus('.step:nth-of-type(1) .editor pre');
      await page.waitForSelector('.step:nth-of-type(1) .cm-focused');
      await page.keyboard.press('x');
      await page.waitForSelector('.share-link button:not([hidden])');
      assert.ok(Math.abs((await top()) - before) < 1.5, `${before}, then ${await top()}`);
    },
  );
}

const brought = await packCode({
  'Several heads at once': 'no step is called so',
  'Two heads of two numbers': '// changed',
  'Heads times width': '// changed too',
});

pageTest(
  'a link with changed code says which steps it changes, and leads to them',
  `#lessons?lesson=wrapper&code=${brought}`,
  async (page) => {
    assert.equal(
      await textOf(page, '.lesson header [role=status]'),
      'The link brings changed code in steps 2 and 4. It has not run yet: read it, then press Run.',
    );
    assert.deepEqual(await violations(page), []);
    await page.click('.lesson header [role=status] a:nth-of-type(2)');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'step-4');
    assert.ok(await page.evaluate(() => location.hash.includes('code=')), 'the code stays there');
    await ended(page, 'unrun');
  },
  { ready: async (page) => void (await ended(page, 'unrun')) },
);

lessonTest(
  'on the smallest phone marks and links to steps are large enough to hit',
  'by-hand',
  async (page) => {
    const least = (/** @type {string} */ links) =>
      page.$$eval(links, (all) => {
        const sizes = all.map((link) => link.getBoundingClientRect());
        return Math.min(...sizes.flatMap(({ width, height }) => [width, height]));
      });
    await page.setViewport({ width: Math.max(320, engine.leastWidth), height: 740 });
    assert.ok((await least('.marks a')) >= 24, `marks: ${await least('.marks a')}`);
    await page.click('.lesson-bar .all');
    await page.waitForSelector('.documents');
    assert.ok((await least('.documents dd a')) >= 24, `links: ${await least('.documents dd a')}`);
  },
);

lessonTest(
  'the status of a run has its line from the start, and on a phone its bar keeps its height',
  'wrapper',
  async (page) => {
    await page.$eval('.lesson header [role=status]', (status) => (status.textContent = ''));
    const heightOf = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => element.getBoundingClientRect().height);
    assert.ok((await heightOf('.lesson header [role=status]')) > 15);
    await runInstead(page, 1, 'for (;;);');
    await page.waitForSelector('.lesson .busy:not([hidden])');
    await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
    const before = await heightOf('.busy:not([hidden])');
    await page.$eval('.lesson .busy span', (label) => (label.textContent = 'long '.repeat(40)));
    assert.equal(await heightOf('.busy:not([hidden])'), before);
    assert.equal(await heightOf('.lesson .busy kbd'), 0, 'a phone has no Escape');
    await page.click('.lesson .busy button');
    await ended(page, 'stopped');
  },
);
