// The visitor's own text: tokens, long texts, cancelling, errors.
import assert from 'node:assert/strict';
import { cells, colours, fill, pageTest, rerun, settled, textOf, widths } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** Puts another text in the place of the visitor's own. @param {Page} page @param {string} text */
const enter = (page, text) => fill(page, '#text', text);

pageTest("the visitor's own sentence becomes GPT-2's tokens and maps", '', async (page) => {
  await rerun(page, () => page.click('#source input[value="own"]'));
  await rerun(page, async () => {
    await page.$eval('#text', (box) => /** @type {HTMLTextAreaElement} */ (box).select());
    await page.type('#text', 'The quick brown fox jumps over the lazy dog');
    await page.waitForFunction(() =>
      document.getElementById('token-count')?.textContent?.startsWith('9 tokens'),
    );
  });
  const tokens = await page.$$eval('#tokens li .token', (items) =>
    items.map((item) => item.textContent),
  );
  const space = '\u2423';
  const words = ['quick', 'brown', 'fox', 'jumps', 'over', 'the', 'lazy', 'dog'];
  assert.deepEqual(tokens, ['The', ...words.map((word) => space + word)]);
  assert.equal((await page.$$('#grid [data-mode=fused] button')).length, 4);
  assert.match(await textOf(page, '#wrapper-table'), /\[9, 64\]/);
  assert.deepEqual(await cells(page, '#wrapper-table'), await cells(page, '#fused-table'));
  assert.match(await textOf(page, '#untrained-note:not([hidden])'), /Nothing here is trained/);

  await rerun(page, () => page.click('#gpt2'));
  assert.equal((await page.$$('#grid [data-mode=fused] button')).length, 12);
  assert.match(await textOf(page, '#fused-table'), /\[9, 768\]/);
  await rerun(page, () => page.select('#heads', '3'));
  assert.equal((await page.$$('#grid [data-mode=fused] button')).length, 3);
  await rerun(page, () => page.click('#causal'));
  assert.doesNotMatch(await textOf(page, '#legend'), /masked/);
});

pageTest(
  'parts of characters are shown as bytes',
  '#compare?source=own&text=%F0%9F%A6%9C!',
  async (page) => {
    const tokens = await page.$$eval('#tokens li .token', (items) =>
      items.map((item) => item.textContent),
    );
    assert.equal(tokens.at(-1), '!');
    assert.match(tokens[0] ?? '', /^‹f0 9f/);
    assert.equal(
      await textOf(page, '#token-signs'),
      `${tokens[0]} holds part of a character, written in bytes.`,
    );
    await rerun(page, () => enter(page, 'a b\u{1f99c}'));
    assert.match(
      await textOf(page, '#token-signs'),
      /^␣ is a space; ‹[\da-f ]+› holds part of a character, written in bytes\.$/,
    );
    await rerun(page, () => enter(page, 'one two'));
    assert.equal(await textOf(page, '#token-signs'), '␣ is a space.');
    await rerun(page, () => enter(page, 'one\ntwo\tthree'));
    assert.equal(await textOf(page, '#token-signs'), '↵ is a line break; ⇥ is a tab.');
  },
);

pageTest(
  'an address shows the view that it was taken from',
  '#compare?source=own&text=one+two+three&heads=2&width=8&mode=difference&head=H1&row=2',
  async (page) => {
    assert.match(await textOf(page, '#token-count'), /^3 tokens/);
    assert.match(await textOf(page, '#map-title'), /^Head H1: wrapper - fused/);
    assert.match(await textOf(page, '#row-title'), /two differs by/);
    assert.equal((await page.$$('#grid [data-mode=fused] button')).length, 2);
  },
);

pageTest(
  'a long text is drawn from pooled maps while the page stays responsive',
  '#compare?source=own&heads=12&width=768',
  async (page) => {
    await page.evaluate(() => {
      const state = /** @type {{ ticks?: number }} */ (globalThis);
      state.ticks = 0;
      setInterval(() => (state.ticks = Number(state.ticks) + 1), 10);
    });
    // A click that leaves the focus in the field, as in Safari.
    await page.focus('#text');
    await rerun(page, () =>
      page.$eval('#sample', (button) => /** @type {HTMLElement} */ (button).click()),
    );
    const shown = await page.$eval(
      '#text',
      (box) => /** @type {HTMLTextAreaElement} */ (box).value,
    );
    assert.match(shown, /^A sentence is a row of words/);
    assert.ok(Number.parseInt(await textOf(page, '#token-count'), 10) > 300);
    const pooled = await page.$$eval('#grid [data-mode=wrapper] canvas', (maps) =>
      maps.map((map) => /** @type {HTMLCanvasElement} */ (map).dataset.pooled),
    );
    assert.deepEqual(pooled, Array(12).fill('true'));
    const ticks = await page.evaluate(() => /** @type {{ ticks?: number }} */ (globalThis).ticks);
    assert.ok(Number(ticks) > 10, `the page's own clock ticked ${ticks} times during the work`);
    // The first token attends to itself alone: the brightest colour of all.
    const scale = await page.select('#scale', 'unit');
    assert.deepEqual(scale, ['unit']);
    await page.waitForFunction(() =>
      document.getElementById('legend')?.textContent?.startsWith('attention weight0'),
    );
    const size = await page.$eval('#map >>> canvas', (map) =>
      Number(/** @type {HTMLCanvasElement} */ (map).dataset.size),
    );
    const [first] = await colours(page, '#map >>> canvas', size);
    assert.deepEqual(first, [0xfd, 0xe7, 0x25]);
  },
);

pageTest(
  'long work can be cancelled, and the last result stays',
  '#compare?source=own&heads=12&width=768',
  async (page) => {
    await enter(page, 'word '.repeat(1000));
    await page.waitForSelector('#busy:not([hidden])');
    // Not page.click, which scrolls and moves first: in some browsers for longer than the work takes.
    await page.$eval('#cancel', (button) => /** @type {HTMLElement} */ (button).click());
    await page.waitForFunction(() => document.getElementById('busy')?.hidden);
    assert.match(
      await textOf(page, '#message'),
      /^Cancelled\. The last result is still shown below\./,
    );
    assert.equal((await page.$$('#message.error')).length, 0, 'it is what was wanted');
    assert.equal(await textOf(page, '#token-count'), '', 'nobody has counted this text');
    await rerun(page, () => page.click('#again'));
    assert.match(await textOf(page, '#token-count'), /^1,001 tokens/);
    assert.ok(await page.$('#again[hidden]'));
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'text');
    // And the engine works on.
    await rerun(page, () => page.select('#heads', '4'));
    assert.equal(await textOf(page, '#message'), '');
  },
);

pageTest(
  'the focus goes from Cancel to what started the run, or to the sentence',
  '#compare?source=own&heads=12&width=768',
  async (page) => {
    /** Waits for the progress, and cancels. @returns what has the focus then */
    const cancel = async () => {
      await page.waitForSelector('#busy:not([hidden])');
      await page.$eval('#cancel', (button) => {
        const cancelling = /** @type {HTMLElement} */ (button);
        cancelling.focus();
        cancelling.click();
      });
      await page.waitForSelector('#busy[hidden]');
      return page.evaluate(() => document.activeElement?.id);
    };
    await page.focus('#longest');
    await page.keyboard.press('Enter');
    assert.equal(await cancel(), 'longest');
    await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).blur());
    await enter(page, 'word '.repeat(1000));
    assert.equal(await cancel(), 'text');
  },
);

pageTest('what cannot be run is said in words', '#compare?source=own', async (page) => {
  /** @param {RegExp} words */
  const said = (words) =>
    page.waitForFunction(
      (/** @type {string} */ pattern) =>
        new RegExp(pattern).test(document.getElementById('message')?.textContent ?? ''),
      {},
      words.source,
    );
  await enter(page, ' word'.repeat(1100));
  await said(/1,100 tokens: at most 1,024 tokens fit, as in GPT-2\. Shorten it by 76\./);
  await enter(page, 'x'.repeat(200_000));
  await said(/too long \(200,000 characters\)/);
  await enter(page, '');
  await said(/no text yet/);
  await enter(page, 'fine');
  await said(/^$/);
  await page.$eval('#seed', (box) => {
    /** @type {HTMLInputElement} */ (box).value = '-1';
    box.dispatchEvent(new Event('input'));
  });
  await said(/seed must be a whole number/);
});

pageTest(
  'a text that is too long for the address is there after a reload, and the page says so',
  '#compare?source=own',
  async (page) => {
    await rerun(page, () => page.click('#longest'));
    const isKept = /^1,024 tokens, .* too long for the address: this browser keeps it/;
    assert.match(await textOf(page, '#token-count'), isKept);
    const text = await page.$eval('#text', (box) => /** @type {any} */ (box).value);
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, '#token-count'), isKept);
    assert.equal(await page.$eval('#text', (box) => /** @type {any} */ (box).value), text);
    const isLost = () => page.$eval('#compare-kept', (note) => note.checkVisibility());
    assert.equal(await isLost(), false);
    // As in another browser.
    await page.evaluate(() => localStorage.clear());
    const hash = await page.evaluate(() => location.hash);
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, '#token-count'), /^10 tokens, \d+ distinct\.$/);
    assert.equal(await isLost(), true);
    assert.equal(await page.evaluate(() => location.hash), hash);
    await rerun(page, () => page.click('#sample'));
    assert.equal(await isLost(), false);
  },
);

pageTest(
  'a long text of a link is there after a reload and after Back, and leaves those that were typed',
  '#compare?source=own',
  async (page) => {
    await rerun(page, () => page.click('#longest'));
    const textThere = () => page.$eval('#text', (box) => /** @type {any} */ (box).value);
    const typed = await textThere();
    const typedHash = await page.evaluate(() => location.hash);
    // A hundred others, as many as are kept.
    const links = Array.from({ length: 100 }, (_, i) => `${'word '.repeat(900)}${i}`);
    await page.evaluate(async (texts) => {
      for (const text of texts) {
        location.hash = `#compare?source=own&text=${encodeURIComponent(text)}`;
        await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
      }
    }, links);
    const isSeen = (/** @type {string} */ text) =>
      page.waitForFunction(
        (/** @type {string} */ wanted) =>
          /** @type {any} */ (document.getElementById('text')).value === wanted,
        {},
        text,
      );
    await isSeen(links[99]);
    await page.reload();
    await settled(page);
    assert.equal(await textThere(), links[99]);
    await page.goBack();
    await isSeen(links[98]);
    await page.evaluate((hash) => void (location.hash = hash), typedHash);
    await isSeen(typed);
  },
);

pageTest('a sentence that is read from right to left is written so', '', async (page) => {
  await rerun(page, () => page.click('#source input[value="own"]'));
  const direction = () => page.$eval('#text', (box) => getComputedStyle(box).direction);
  assert.equal(await direction(), 'ltr');
  await rerun(page, async () => {
    await page.$eval('#text', (box) => /** @type {HTMLTextAreaElement} */ (box).select());
    await page.type('#text', '\u05e9\u05dc\u05d5\u05dd');
  });
  assert.equal(await direction(), 'rtl');
});

pageTest(
  'where nothing could be computed yet, nothing says that it is being computed',
  `#compare?source=own&text=${encodeURIComponent('a '.repeat(1100).trim())}`,
  async (page) => {
    assert.match(await textOf(page, '#message'), /^This text has 1,1\d\d tokens/);
    assert.equal(await textOf(page, '#verdict-note'), 'Nothing has been computed yet.');
    assert.ok(await page.$('#again[hidden]'), 'the text is to be another');
    await rerun(page, () => enter(page, 'a b'));
    assert.match(await textOf(page, '#verdict-note'), /^All \d+ weights/);
  },
  {
    ready: async (page) =>
      void (await page.waitForFunction(() => document.getElementById('message')?.textContent, {
        timeout: 60_000,
      })),
  },
);

pageTest(
  'no button beside the text moves sideways when its note grows',
  '#compare?source=own',
  async (page) => {
    const places = () =>
      page.$$eval('#own button', (buttons) =>
        buttons.map((button) => {
          const own = /** @type {Element} */ (document.getElementById('own'));
          const { left, top } = button.getBoundingClientRect();
          return [left, top - own.getBoundingClientRect().top].map(Math.round);
        }),
      );
    for (const width of widths) {
      await page.setViewport({ width, height: 900 });
      const before = await places();
      await rerun(page, () => page.click('#longest'));
      assert.match(await textOf(page, '#token-count'), /too long for the address/);
      assert.deepEqual(await places(), before);
      await rerun(page, () => enter(page, `A window of ${width} pixels`));
    }
  },
);
