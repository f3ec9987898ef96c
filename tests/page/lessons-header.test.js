// The header of a lesson: it keeps its height when code changes.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { lessonTest } from './lessons-room.js';

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
