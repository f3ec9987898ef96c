// Editing a lesson is rewarded: comparisons are neutral, the console shows, errors have a line, edits last and travel.
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
  typeIn,
} from './lessons-room.js';
import { test } from 'node:test';
import { packCode } from '../../web/page/lessons/share.js';
import { engine } from '../browsers/engines.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page @param {number} step */
const stepTitle = (page, step) =>
  page.$eval(`.step:nth-of-type(${step}) h2`, (heading) =>
    (heading.textContent ?? '').replace(/^\s*\d+\s*/, '').trim(),
  );

/** Three heads instead of two, in the lesson on the wrapper. @param {Page} page */
async function takeThreeHeads(page) {
  const code = await codeOf(page, 2);
  await runInstead(page, 2, code.replace('numHeads: 2', 'numHeads: 3'));
  await page.waitForSelector('.step:nth-of-type(2) .after-change');
  await ended(page);
}

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

if (engine.hasEvents) {
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
      const link = `#lessons?lesson=wrapper&code=${await packCode({
        [await stepTitle(page, 2)]: '// of a friend',
      })}`;
      await note(page, 1);
      await note(page, 2);
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
}

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
