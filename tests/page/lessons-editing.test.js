// Editing a lesson is rewarded: comparisons are neutral, the console shows, errors have a line, edits last.
import assert from 'node:assert/strict';
import {
  browser,
  cells,
  contentWidth,
  options,
  pageTest,
  site,
  textOf,
  violations,
} from './harness.js';
import {
  codeOf,
  ended,
  lessonTest,
  openLesson,
  resultOf,
  runInstead,
  takeThreeHeads,
} from './lessons-room.js';
import { test } from 'node:test';
import { engine } from '../browsers/engines.js';

/** @import { Page } from 'puppeteer-core' */

lessonTest(
  'a change of shape is told as a table, without a mark of failure',
  'wrapper',
  async (page) => {
    await takeThreeHeads(page);
    const words = await resultOf(page, 2);
    assert.match(
      words,
      /shape differs: \[2, 6, 6\] here, \[2, 6, 4\] there; first 4 columns equal/,
    );
    assert.doesNotMatch(words, /✗/);
    assert.deepEqual(await page.$$('.step:nth-of-type(2) .mark.differs'), []);
    const tables = await cells(page, '.step:nth-of-type(2) .table-room');
    assert.deepEqual(tables[0].slice(0, 4), ['-0.4519', '0.2216', '0.4772', '0.1063']);
    assert.equal(tables[0].length, 6);
    const theirs = await cells(page, '.step:nth-of-type(2) .theirs');
    assert.deepEqual(theirs[0], tables[0].slice(0, 4), 'the document’s table stands beside it');
    assert.deepEqual(
      await page.$$('.step:nth-of-type(2) td.differs'),
      [],
      'what both have is equal',
    );
  },
);

lessonTest('a long word that is shown breaks, and a number does not', 'wrapper', async (page) => {
  const width = 450;
  await runInstead(
    page,
    5,
    "show('a word', 'w'.repeat(300));\nshow('n'.repeat(300), 1);\nshow('a number', 28348416);",
  );
  await page.waitForSelector('.step:nth-of-type(5) .facts tr:nth-child(3)');
  await ended(page);
  await page.setViewport({ width, height: 800 });
  assert.ok((await contentWidth(page)) <= width);
  const lines = await page.$$eval('.step:nth-of-type(5) .facts tr:nth-child(3) td', ([cell]) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return { words: cell.textContent, count: range.getClientRects().length };
  });
  assert.deepEqual(lines, { words: '28,348,416', count: 1 });
});

lessonTest(
  'console.log shows beside its step',
  'wrapper',
  async (page) => {
    await runInstead(
      page,
      1,
      "console.log('shape', [2, 3]);\nconsole.warn({ a: 1 });\nconst hw = 1;",
    );
    await page.waitForSelector('.console .warn');
    assert.match(await textOf(page, '.step:nth-of-type(1) .console'), /shape \[2, 3\].*\{ a: 1 \}/);
  },
  /\[object Object\]|JSHandle|a: 1/,
);

lessonTest(
  'what is no JavaScript has a line, and so has a name that is declared twice',
  'wrapper',
  async (page) => {
    await runInstead(page, 3, 'const fine = 1;\nconst = 2;\nconst more = 3;');
    await ended(page, 'error');
    assert.match(await resultOf(page, 3), /^Line 2: SyntaxError/);
    assert.match(await textOf(page, '.step:nth-of-type(3) .failed-line'), /const = 2/);
    await runInstead(page, 3, 'const one = 1;\nconst two = 2;\nlet one = 3;');
    await page.waitForFunction(() =>
      /Line 3: SyntaxError/.test(
        document.querySelector('.step:nth-of-type(3) .results')?.textContent ?? '',
      ),
    );
  },
);

lessonTest('on a phone what a run gave comes into sight', 'wrapper', async (page) => {
  const message = '.step:nth-of-type(2) .message.error';
  const isSeen = (/** @type {string} */ selector) => {
    const { top, bottom } =
      document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
    return top > 0 && bottom <= innerHeight;
  };
  // Code that is longer than the screen is high, below what it gives.
  await runInstead(page, 2, `${await codeOf(page, 2)}${'\n'.repeat(60)}(`);
  await ended(page, 'error');
  await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
  await page.$eval('.step:nth-of-type(2) .row', (row) => row.scrollIntoView({ block: 'end' }));
  assert.ok(!(await page.evaluate(isSeen, message)));
  await page.click('.step:nth-of-type(2) .row button');
  await page.waitForFunction(isSeen, {}, message);
});

lessonTest('edits and progress survive a reload, and can be forgotten', 'wrapper', async (page) => {
  await takeThreeHeads(page);
  await page.reload();
  await ended(page);
  assert.match(await codeOf(page, 2), /numHeads: 3/);
  assert.match(await resultOf(page, 2), /first 4 columns equal/);
  await page.$eval('.step:nth-of-type(2) .row', (row) => row.scrollIntoView());
  await page.waitForSelector('.marks li:nth-child(2) .done');

  await page.click('.lesson-bar .all');
  await page.waitForSelector('.contents');
  const entry = '.lesson-list li:has([href$="wrapper"])';
  assert.match(await textOf(page, entry), /[1-5] of 5 steps/);
  assert.match(await textOf(page, '.start'), /Go on with lesson/);
  /** Presses the button, and answers its question. @param {boolean} answer */
  const forget = async (answer) => {
    await page.evaluate((is) => (globalThis.confirm = () => is), answer);
    await page.click('.contents button');
    return textOf(page, entry);
  };
  assert.match(await forget(false), /[1-5] of 5 steps/);
  assert.match(await forget(true), /0 of 5 steps/);
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
  await openLesson(page, 'wrapper');
  assert.doesNotMatch(await codeOf(page, 2), /numHeads: 3/);
});

lessonTest(
  'an exercise says what is still wrong, shows its solution and knows when it is solved',
  'wrapper',
  async (page) => {
    await page.click('.exercise .row button');
    await page.waitForSelector('.exercise .checks');
    assert.match(
      await textOf(page, '.exercise .results'),
      /2 of 3 right so far.*It has 4: 2 heads of 2/,
    );
    assert.deepEqual(await page.$$('.exercise .message.error'), []);
    await page.click('.exercise details:nth-of-type(1) summary');
    assert.match(await textOf(page, '.exercise details[open]'), /is the width of one head/);
    await page.click('.exercise details:nth-of-type(2) summary');
    await page.click(
      '.exercise details:nth-of-type(2) + button, .exercise details:nth-of-type(2) button',
    );
    await page.waitForSelector('.exercise .verdict.solved');
    assert.match(await codeOf(page, 6), /dOut: 1/);
    await page.waitForSelector('.marks .task.done');
    assert.deepEqual(await violations(page), []);

    await runInstead(page, 6, 'const = 1;');
    await page.waitForSelector('.exercise .message.error');
    assert.match(await resultOf(page, 6), /^Line 1: SyntaxError/);
    await runInstead(page, 6, 'for (;;);');
    await page.waitForSelector('.exercise .stop:not([hidden])');
    await page.click('.exercise .stop');
    await page.waitForFunction(() =>
      document.querySelector('.exercise .results')?.textContent?.includes('Stopped'),
    );
  },
);

lessonTest('all code and all solutions can be found and printed', 'shapes', async (page) => {
  // An editor draws what is near the window; these texts are whole before anybody goes into them.
  const code = await codeOf(page, 2);
  assert.match(code, /const qkvProj/);
  assert.match(code, /After the output projection/);
  assert.ok((await page.$$('.cm-editor')).length === 0);
  assert.ok((await page.$$eval('.editor pre span[class^=tok]', (spans) => spans.length)) > 200);
  const hidden = await page.$$eval('.lesson :is(p, pre, td, th, h2, li, summary)', (all) =>
    all
      .filter(
        (one) =>
          one.textContent &&
          getComputedStyle(one).display === 'none' &&
          !one.closest('details, [hidden]'),
      )
      .map((one) => one.outerHTML),
  );
  assert.deepEqual(hidden, [], 'the browser finds what is not display: none, and opens <details>');
  if (!engine.hasCdp) return;
  await page.emulateMediaType('print');
  const printed = await page.evaluate(() => ({
    bar: getComputedStyle(document.querySelector('.lesson-bar') ?? document.body).display,
    code:
      document.querySelector('.step:nth-of-type(2) .editor')?.getBoundingClientRect().height ?? 0,
    wide: document.documentElement.scrollWidth <= innerWidth,
  }));
  assert.ok(printed.code > 800 && printed.wide);
  assert.equal(printed.bar, 'none');
});

pageTest(
  'the list of lessons leads to lessons, to places in documents, and says what has been read',
  '#lessons',
  async (page) => {
    assert.equal((await page.$$('.lesson-list li')).length, 17);
    assert.equal(await page.title(), 'Lessons – Headwise');
    const text = await textOf(page, '.documents');
    for (const title of [
      'Seeing the World from Multiple Perspectives',
      'Attention Is All You Need',
    ]) {
      assert.ok(text.includes(title), title);
    }
    assert.doesNotMatch(text, /\b00\d\b/, 'documents have titles, not numbers');
    assert.deepEqual(await violations(page), []);
    await page.click('.documents a[href*="lesson=wrapper"][href*="to=step-5"]');
    await page.waitForSelector('.lesson');
    await ended(page);
    const top = await page.$eval('#step-5', (heading) => heading.getBoundingClientRect().top);
    assert.ok(top > 40 && top < 300, `step 5 is at ${top}, below the bar`);
    await page.click('.step:nth-of-type(5) .source a');
    await page.waitForSelector('.contents');
    const place = await page.$eval('#document-002', (one) => one.getBoundingClientRect().top);
    assert.ok(place > -1 && place < 700, `the document is at ${place}`);
  },
  { ready: async (page) => void (await page.waitForSelector('.contents')) },
);

test('a page without storage keeps edits until it is closed', options, async () => {
  const page = await browser.newPage();
  try {
    await page.goto(site.url);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
      location.hash = '#lessons?lesson=wrapper';
    });
    await ended(page);
    await takeThreeHeads(page);
    await openLesson(page, 'fused');
    await openLesson(page, 'wrapper');
    assert.match(await codeOf(page, 2), /numHeads: 3/);
  } finally {
    await page.close();
  }
});

lessonTest('Shift and Tab bring nothing behind the bar', 'causal', async (page) => {
  await page.focus('.step:nth-of-type(2) .row button');
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  let reached = 0;
  await page.keyboard.down('Shift');
  for (;;) {
    await page.keyboard.press('Tab');
    const { top, bar, kind } = await page.evaluate(() => {
      const lessonBar = document.querySelector('.lesson-bar');
      const element = document.activeElement;
      const isCode = element?.matches('.cm-content');
      return {
        top: element?.getBoundingClientRect().top ?? NaN,
        bar: lessonBar?.getBoundingClientRect().bottom ?? NaN,
        kind: lessonBar?.contains(element) ? 'bar' : isCode ? 'code' : 'other',
      };
    });
    if (kind === 'bar') break;
    // Of code, which may be longer than the window, the line with the cursor is in sight.
    if (kind !== 'code') assert.ok(top >= bar, `begins at ${top}, the bar ends at ${bar}`);
    reached++;
  }
  await page.keyboard.up('Shift');
  assert.ok(reached > 3, `${reached} were reached`);
});

lessonTest(
  'a reset is undone with the keys, also where nobody was in the editor since the lesson opened',
  'wrapper',
  async (page) => {
    await runInstead(page, 1, '// mine');
    await ended(page, 'done', 'error');
    await openLesson(page, 'by-hand');
    await page.evaluate(() => (location.hash = '#lessons?lesson=wrapper'));
    const step = '.step:nth-of-type(1)';
    await page.waitForFunction(
      (/** @type {string} */ editor) => document.querySelector(editor)?.textContent === '// mine',
      {},
      `${step} .editor pre`,
    );
    await page.click(`${step} .row button:nth-of-type(2)`);
    await ended(page);
    await page.focus(`${step} .editor pre`);
    await page.waitForSelector(`${step} .cm-focused`);
    await page.keyboard.down('Control');
    await page.keyboard.press('z');
    await page.keyboard.up('Control');
    assert.equal(await textOf(page, `${step} .cm-content`), '// mine');
    await page.waitForSelector(`${step} .row button:nth-of-type(2):not([hidden])`);
  },
);
