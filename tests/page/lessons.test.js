// The Lessons room: every lesson, editing, errors, loops without end, keys, everyone.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { engine } from '../browsers/engines.js';
import {
  browser,
  cells,
  contentWidth,
  options,
  pageTest,
  schemes,
  settled,
  site,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';
import {
  ended,
  lessonTest,
  openLesson,
  resultOf,
  resultSays,
  runIn,
  runInstead,
} from './lessons-room.js';

/** @import { HTTPRequest, Page } from 'puppeteer-core' */

/** WebDriver cannot withhold a file whose name is not known. */
const interception = engine.hasEvents ? options : { skip: `${engine.name} cannot intercept` };
const FILES = new URL('../../web/page/lessons/files/', import.meta.url);
const ids = (await readdir(FILES)).sort().map((name) => name.replace(/^\d+-|\.js$/g, ''));

/** That a lesson is no wider than a window of any width. @param {Page} page @param {string} id */
async function fitsItsWindow(page, id) {
  for (const width of widths) {
    await page.setViewport({ width, height: 740 });
    const wide = await contentWidth(page);
    assert.ok(wide <= width, `${id} in a window of ${width} pixels: ${wide}`);
  }
}

for (const id of ids) {
  lessonTest(`the lesson ${id} opens by its address and comes out equal`, id, async (page) => {
    assert.match(
      await textOf(page, '.lesson [role=status]'),
      /All \d+ known results .* the same here/,
    );
    assert.deepEqual(await page.$$eval('.differs', (marks) => marks.map((m) => m.outerHTML)), []);
    assert.ok((await page.$$('.mark')).length > 0);
    const title = await textOf(page, '.lesson h1');
    assert.equal(await page.title(), `${title} – Lessons – Headwise`);
    assert.ok((await page.$$('.picture svg, .picture .value-bars')).length > 0, 'it has a picture');
    assert.deepEqual(await violations(page), []);
    await fitsItsWindow(page, id);
  });
}

lessonTest(
  'what is shown is what runs: another seed gives other numbers',
  'wrapper',
  async (page) => {
    const before = await cells(page, '.step:nth-of-type(2) .table-room');
    assert.equal(before[0][0], '-0.4519');
    const code = await page.$eval('.step:nth-of-type(2) .editor pre', ({ textContent }) =>
      String(textContent),
    );
    await runInstead(page, 2, code.replace('123', '7'));
    await page.waitForSelector('.step:nth-of-type(2) .mark.changed');
    await ended(page);
    const after = await cells(page, '.step:nth-of-type(2) .table-room');
    assert.notEqual(after[0][0], before[0][0]);
    assert.match(await resultOf(page, 2), /48 of 48 differ/);
    assert.match(
      await textOf(page, '.lesson [role=status]'),
      /With your change, \d+ of \d+ known results differ/,
    );
    // And back.
    await page.click('.step:nth-of-type(2) .row button:nth-of-type(2)');
    await page.waitForFunction(() => !document.querySelector('.changed, td.differs'));
    await ended(page);
    assert.match(await resultOf(page, 2), /all 48 equal/);
    assert.equal(
      await page.evaluate(() => document.activeElement?.textContent),
      'Run',
      'the focus is not lost with the Reset button',
    );
  },
);

lessonTest(
  'an error is told beside its step, with its line',
  'wrapper',
  async (page) => {
    await runInstead(page, 3, "const fine = 1;\nhw.matmul(batch, 'no tensor');");
    await ended(page, 'error');
    assert.match(await resultOf(page, 3), /^Line 2: b is /);
    assert.match(await textOf(page, '.step:nth-of-type(3) .failed-line'), /hw\.matmul/);
    assert.match(await resultOf(page, 2), /all 48 equal/);
    assert.match(await resultOf(page, 4), /did not get this far/);
    assert.match(await textOf(page, '.lesson [role=status]'), /ended in step 3 of 5/);

    await runInstead(page, 3, 'const = 1;');
    await resultSays(page, 3, 'SyntaxError');
    await runInstead(page, 3, "Promise.reject(new Error('nobody waits for me'));");
    await page.waitForFunction(() =>
      document
        .querySelector('.lesson [data-state="failed"]')
        ?.textContent?.includes('nobody waits'),
    );
    await runInstead(page, 3, "import { nothing } from 'elsewhere';");
    await resultSays(page, 3, 'elsewhere');
  },
  /nobody waits for me/,
);

lessonTest(
  'an import in a comment or a text is none, and one that goes on for lines is one',
  'wrapper',
  async (page) => {
    const code = [
      "// In Python: from 'numpy' import array",
      'import {',
      "  tensor as asTensor, // not from 'numpy' either",
      '} from "headwise";',
      "const { add } = await import('../tools.js');",
      "show('told', \"import np from 'numpy'\");",
      "show('sum', add(asTensor([1]), asTensor([2])));",
    ];
    await runInstead(page, 3, code.join('\n'));
    await resultSays(page, 3, 'told');
    await ended(page);
    assert.match(await resultOf(page, 3), /told.*import np from 'numpy'.*sum.*3/);
    await runInstead(page, 3, "import { nothing } from 'constructor';");
    await resultSays(page, 3, "'constructor' cannot be imported here");
  },
);

lessonTest('a loop without end can be stopped, and the page works on', 'wrapper', async (page) => {
  await runInstead(page, 3, "show('before', 1);\nfor (;;);");
  // The steps before it run first.
  await page.waitForFunction(() =>
    document.querySelector('.lesson .busy:not([hidden])')?.textContent?.includes('Running step 3'),
  );
  await page.click('.lesson .busy button');
  await ended(page, 'stopped');
  assert.match(await resultOf(page, 3), /before.*1.*Stopped before it finished/);
  await page.click('.share-link button');
  await page.waitForFunction(() => location.hash.includes('code='));
  // A run would begin at once.
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await ended(page, 'stopped');
  await runInstead(page, 3, "for (;;) show('again and again', 1);");
  await ended(page, 'error');
  assert.match(await resultOf(page, 3), /more than 200 things were shown/);
  await page.click('.step:nth-of-type(3) .row button:nth-of-type(2)');
  await ended(page);
  assert.match(await textOf(page, '.lesson [role=status]'), /All \d+ known results/);
});

/** @param {Page} page what has the focus, and in which section */
const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return `${element?.textContent?.trim()} of ${element?.closest('section')?.getAttribute('aria-labelledby')}`;
  });

lessonTest(
  'Escape stops a run, and Stop leaves the focus at the step that ran',
  'wrapper',
  async (page) => {
    await runInstead(page, 1, 'for (;;);');
    await page.waitForSelector('.lesson .busy:not([hidden])');
    assert.equal(await textOf(page, '.lesson header [role=status]'), 'Running …');
    await page.keyboard.press('Escape');
    await ended(page, 'stopped');
    assert.ok(await page.$('.step:nth-of-type(1) .cm-focused'), 'the editor keeps the focus');

    await page.click('.step:nth-of-type(1) .row button');
    await page.waitForSelector('.lesson .busy:not([hidden])');
    await page.focus('.lesson .busy button');
    await page.keyboard.press('Enter');
    await ended(page, 'stopped');
    assert.equal(await focused(page), 'Run of step-1');

    await runIn(page, '#exercise', 'for (;;);');
    const stop = '#exercise .stop';
    await page.waitForSelector(`${stop}:not([hidden])`);
    await page.focus(stop);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${stop}[hidden]`);
    assert.equal(await focused(page), 'Check of exercise-title');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${stop}:not([hidden])`);
    await page.keyboard.press('Escape');
    await page.waitForSelector(`${stop}[hidden]`);
  },
);

lessonTest('edits stay while the visitor looks at another lesson', 'wrapper', async (page) => {
  await runInstead(page, 5, "show('mine', 42);");
  await resultSays(page, 5, '42');
  await ended(page);
  assert.match(await resultOf(page, 5), /Its shape.*not shown.*missing/);
  await page.click('.next a');
  await page.waitForFunction(
    () => document.querySelector('.lesson h1')?.textContent === 'All heads at once',
  );
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'All heads at once');
  await page.goBack();
  await page.waitForFunction(
    () => document.querySelector('.lesson h1')?.textContent === 'Several heads, one after another',
  );
  await ended(page);
  assert.match(await resultOf(page, 5), /mine.*42/);
});

for (const focus of ['gives it the focus', 'leaves the focus']) {
  lessonTest(
    `a link leads to the beginning of a lesson where a click ${focus}, and Back to where one was`,
    'wrapper',
    async (page) => {
      if (focus.startsWith('leaves')) {
        await page.evaluate(() => addEventListener('mousedown', (event) => event.preventDefault()));
      }
      const top = () => page.evaluate(() => Math.round(scrollY));
      const isAt = (/** @type {string} */ title) =>
        page.waitForFunction(
          (wanted) => document.querySelector('.lesson h1')?.textContent === wanted,
          {},
          title,
        );
      await page.$eval('.next a', (link) => link.scrollIntoView());
      const before = await top();
      assert.ok(before > 1000, `${before}`);
      await page.click('.next a');
      await isAt('All heads at once');
      assert.equal(await top(), 0);
      assert.match(await focused(page), /^All heads at once/);
      await ended(page);
      await page.goBack();
      await isAt('Several heads, one after another');
      assert.match(await focused(page), /^Several heads/);
      // Near the end: the results that the page had are not there yet.
      await page.waitForFunction((/** @type {number} */ y) => scrollY > y, {}, before - 600);
    },
  );
}

pageTest(
  'rooms are changed by links, address and history, each as it was left',
  '',
  async (page) => {
    const room = () =>
      page.evaluate(() => ({
        hash: location.hash,
        title: document.title.split(' ')[0],
        current: document.querySelector('#rooms [aria-current]')?.textContent,
        shown: [...document.querySelectorAll('.room:not([hidden])')].map(({ id }) => id),
      }));
    const compare = { title: 'Headwise:', current: 'Compare', shown: ['compare-room'] };
    const lessons = { title: 'Lessons', current: 'Lessons', shown: ['lessons-room'] };
    assert.deepEqual(await room(), { hash: '', ...compare });
    await page.click('#causal');

    const header = () =>
      page.$eval('header.site', (bar) => JSON.stringify(bar.getBoundingClientRect()));
    await page.evaluate(() => scrollTo(0, 0));
    const before = await header();
    await page.focus('#rooms a[href^="#lessons"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.contents');
    assert.deepEqual(await room(), { hash: '#lessons', ...lessons });
    assert.equal(await header(), before, 'the navigation stays where it is');
    await page.click('.lesson-list a[href$="causal"]');
    await page.waitForFunction(() =>
      document.querySelector('.lesson h1')?.textContent?.startsWith('The causal mask'),
    );
    await ended(page);

    await page.click('#rooms a[href^="#compare"]');
    assert.deepEqual(await room(), { hash: '#compare?causal=0', ...compare });
    assert.equal(
      await page.$eval('#causal', (input) => /** @type {HTMLInputElement} */ (input).checked),
      false,
    );
    await page.goBack();
    assert.deepEqual(await room(), {
      hash: '#lessons?lesson=causal',
      ...lessons,
      title: 'The',
    });
    assert.match(await textOf(page, '.lesson h1'), /^The causal mask/);
  },
);

lessonTest('with keys alone: into the code, out of it, run', 'causal', async (page) => {
  await page.focus('.lesson-bar .all');
  const inside = () => page.evaluate(() => document.activeElement?.className ?? '');
  for (let i = 0; i < 30 && !(await inside()).includes('cm-content'); i++) {
    await page.keyboard.press('Tab');
  }
  assert.match(await inside(), /cm-content/);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Run');
  await page.$eval(
    '.lesson',
    (lesson) => delete (/** @type {HTMLElement} */ (lesson).dataset.state),
  );
  await page.keyboard.press('Enter');
  await ended(page);
});

lessonTest(
  'a lesson that is opened in a narrow window fits it, and wider ones',
  'by-hand',
  async (page) => {
    for (const id of ids) {
      await page.setViewport({ width: widths[0], height: 740 });
      await openLesson(page, id);
      await fitsItsWindow(page, id);
    }
  },
);

for (const scheme of schemes) {
  lessonTest(
    `axe finds nothing to complain about in lessons that ran and failed (${scheme})`,
    'wrapper',
    async (page) => {
      await useScheme(page, scheme);
      // Light, every lesson's own test looks at it; colours apart, both schemes show the same.
      if (scheme === 'dark') {
        for (const id of ['wrapper', 'sentence']) {
          await openLesson(page, id);
          assert.deepEqual(await violations(page), [], id);
        }
      }
      await openLesson(page, ids[0]);
      await runInstead(page, 2, "show('wrong', 1);\nthrow new Error('on purpose');");
      await ended(page, 'error');
      assert.deepEqual(await violations(page), []);
      await page.setViewport({ width: widths[0], height: 740 });
      assert.deepEqual(await violations(page), []);
    },
  );
}

test(
  'a room that cannot be loaded says so and opens at another try, and Compare works on',
  interception,
  async () => {
    // Where no other test's service worker has kept the room.
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const refuse = (/** @type {HTTPRequest} */ request) =>
      /lessons-.*\.js$/.test(request.url()) ? request.abort() : request.continue();
    await page.setRequestInterception(true);
    page.on('request', refuse);
    try {
      await page.goto(`${site.url}#lessons`);
      await page.waitForSelector('#lessons-room .message.error');
      const says = (/** @type {string} */ end) =>
        page.waitForFunction(
          (/** @type {string} */ words) =>
            document.querySelector('#lessons-room')?.textContent?.trim().endsWith(words),
          { timeout: 30_000 },
          end,
        );
      assert.match(await textOf(page, '#lessons-room'), /could not be opened: /);
      await says('Try again');
      await page.click('#lessons-room button');
      await says('Reload the page');
      assert.equal((await page.$$('#lessons-room .message.error')).length, 1);
      // Under load puppeteer forgets a Worker's requests.
      page.off('request', refuse);
      await page.setRequestInterception(false);
      await page.click('#rooms a[href^="#compare"]');
      await settled(page);
      assert.equal((await cells(page, '#wrapper-table')).length, 6);
      await page.click('#rooms a[href^="#lessons"]');
      await page.waitForSelector('#lessons-room :is(h1, button)');
      // Firefox needs the reload.
      if (!engine.hasCdp) await page.click('#lessons-room button');
      await page.waitForSelector('#lessons-room h1');
      assert.equal((await page.$$('#lessons-room .message.error')).length, 0);
    } finally {
      await context.close();
    }
  },
);
