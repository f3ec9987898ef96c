// Every room in a browser that translates the page: whatever is done there, each word is the one that an untranslated page
// shows at that moment. What is no prose stays as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { browser, fill, literally, options, rerun, settled, site, textOf } from './harness.js';
import { runOf, scored } from './explore-room.js';
import { ended, openLesson, runIn } from './lessons-room.js';
import { reached, resting } from './train-room.js';
import { translate } from './translate.js';

/** @import { Page } from 'puppeteer-core' */

/** A moment: what was done before, and the words of each element then. @typedef {[what: string, words: string[]]} Moment */
/** @typedef {(what: string, act?: () => Promise<unknown>) => Promise<void>} Step */

/** The words of a room, element by element, without marks of the translation. @param {Page} page @param {string} room */
const wordsOf = (page, room) =>
  page.$eval(room, (place) =>
    [...place.querySelectorAll('*')]
      .filter((element) => !element.matches('font, script, style'))
      .map((element) =>
        [...element.childNodes]
          .filter((node) => node instanceof Text || node.nodeName === 'FONT')
          .map((node) => node.textContent)
          .join('')
          .replace(/[«»]/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .filter(Boolean),
  );

/** Waits until an element says something, in whatever language. @param {Page} page @param {string} selector @param {RegExp} words */
const says = (page, selector, words) =>
  page.waitForFunction(
    (/** @type {string} */ where, /** @type {string} */ pattern) => {
      const text = document.querySelector(where)?.textContent ?? '';
      return new RegExp(pattern).test(text.replace(/[«»]/g, '').replace(/\s+/g, ' ').trim());
    },
    { timeout: 60_000 },
    selector,
    words.source,
  );

/** How long anything took differs from run to run. @param {string} words */
const timeless = (words) =>
  words
    .replace(/[\d.,]+ (?:ns|µs|ms|s|MB\/s|per second)(?![a-z])/g, 'TIME')
    .replace(/less than TIME/g, 'TIME');

/** What stays the same for a while: answers of Workers have all come. @param {() => Promise<string[]>} wordsNow */
async function rested(wordsNow) {
  let before = '';
  for (let i = 0; i < 100; i++) {
    const words = await wordsNow();
    if (String(words) === before) return words;
    before = String(words);
    await setTimeout(300);
  }
  throw new Error(`the words do not rest: ${before}`);
}

/** The words that are translated although they are tokens, code or numbers that change. @param {Page} page @param {string} kept */
const translatedOf = (page, kept) =>
  page.$$eval(kept, (all) =>
    all.map((one) => one.textContent ?? '').filter((words) => words.includes('«')),
  );

/**
 * @param {string} room
 * @param {object} use
 * @param {(page: Page) => Promise<unknown>} use.ready when the page is translated
 * @param {(page: Page, step: Step) => Promise<void>} use.act
 * @param {string} use.prose something that is translated
 * @param {string} use.kept what is not
 * @param {(words: string[]) => string[]} [use.compared] what two runs have in common
 */
function translationTest(room, { ready, act, prose, kept, compared = (words) => words }) {
  /** @param {boolean} isTranslated @returns {Promise<Moment[]>} */
  const used = async (isTranslated) => {
    const page = await browser.newPage();
    try {
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(`${site.url}#${room}`);
      await ready(page);
      if (isTranslated) await page.evaluate(translate);
      /** @type {Moment[]} */
      const moments = [];
      const wordsNow = async () => compared((await wordsOf(page, `#${room}-room`)).map(timeless));
      await act(page, async (what, doIt) => {
        await doIt?.();
        const words = await rested(wordsNow);
        assert.ok(words.length > 0, what);
        moments.push([what, words]);
      });
      if (isTranslated) {
        assert.match(await textOf(page, prose), /^«.*»$/);
        assert.deepEqual(await translatedOf(page, kept), []);
      }
      return moments;
    } finally {
      await page.evaluate(() => localStorage.clear());
      await page.close();
    }
  };
  test(`${room}: a translated page says what an untranslated one does`, options, async () => {
    const expected = await used(false);
    const found = await used(true);
    for (const [i, [what, words]] of expected.entries())
      assert.deepEqual(found[i], [what, words], what);
  });
}

/** Without what is measured: how long both took, in Compare. @param {string[]} words */
const untimed = (words) =>
  words.filter((one) => !/TIME|measur|times? (?:faster|as)|faster|slower|equally fast/i.test(one));

translationTest('compare', {
  ready: settled,
  prose: '.lead h1',
  kept: '#tokens li, .row-list .token, .row-list td, table.matrix tbody :is(th, td)',
  compared: untimed,
  async act(page, step) {
    await step('a sentence of one’s own', () =>
      rerun(page, () => page.click('#source input[value="own"]')),
    );
    await step('causal', () => rerun(page, () => page.click('#causal')));
    await step('another seed', () =>
      rerun(page, () =>
        page.$eval('#seed', (field) => {
          /** @type {HTMLInputElement} */ (field).value = '7';
          field.dispatchEvent(new Event('input', { bubbles: true }));
          field.dispatchEvent(new Event('change', { bubbles: true }));
        }),
      ),
    );
    await step('16 heads', () => rerun(page, () => page.click('#many-heads')));
  },
});

translationTest('explore', {
  ready: async (page) => void (await scored(page)),
  prose: '#explore-details-title',
  kept: '.token, .at, #explore-text, .explore-grid .words, .heading, .sum td, .bars td, kbd, #explore-target option',
  async act(page, step) {
    const tokensOfMap = await page.$eval('attention-map', (map) =>
      [...(map.shadowRoot?.querySelectorAll('.labels, .map-tip') ?? [])].map((part) =>
        part.getAttribute('translate'),
      ),
    );
    assert.deepEqual(tokensOfMap, ['no', 'no', 'no']);
    const ran = async (/** @type {() => Promise<unknown>} */ act) => {
      const old = await runOf(page);
      await act();
      await scored(page, old);
      await says(page, '#explore-loss', /nats/);
      await says(page, '#explore-text-note', /Head/);
      await page.waitForSelector('.score-list');
    };
    const press = (/** @type {string} */ id) =>
      page.$eval(id, (button) => /** @type {HTMLElement} */ (button).click());
    await step('another model', () => ran(() => page.select('#explore-model', 'names')));
    await step('another text', () =>
      ran(() => fill(page, '#explore-input', 'when john and mary went')),
    );
    await step('the next head', async () => {
      await page.evaluate(() => (location.hash += '&head=L1H2'));
      await says(page, '.map-title', /L1H2/);
      await says(page, '#explore-text-note', /L1H2/);
      await says(page, '.score-list caption', /L1H2/);
    });
    await step('its mute', () => ran(() => press('#explore-mute')));
    await step('with all heads again', () => ran(() => press('#explore-unmute')));
    await step('the surprise', async () => {
      await page.select('#explore-tint', 'loss');
      await says(page, '#explore-text-note', /probability/);
      await says(page, '#explore-loss', /nats/);
    });
    await step('why', async () => {
      await press('#explore-why');
      await says(page, '#explore-sum-told', /adds up/);
      await says(page, '#explore-score-told', /largest part/);
      await page.waitForSelector('.lens-list h4');
    });
    await step('another target', async () => {
      const token = await page.$eval('.next-tokens tr:not(.target) .token', (button) => {
        /** @type {HTMLElement} */ (button).click();
        return button.textContent;
      });
      await says(page, '#explore-sum-title', new RegExp(`“${literally(token ?? '')}”`));
      await says(page, '#explore-score-told', /largest part/);
      await says(page, '.lens-list p', new RegExp(`“${literally(token ?? '')}”`));
    });
  },
});

translationTest('train', {
  ready: async (page) => void (await reached(page, 1)),
  prose: '#train-settings-title',
  kept: '[for=train-step], .train-number, .train-answers, .train-tile-head b',
  // Of which steps it has snapshots depends on how many were done at once.
  compared: (words) => words.filter((one) => !one.startsWith('The history holds')),
  async act(page, step) {
    const over = (/** @type {string} */ words) => async () => {
      await resting(page);
      await says(page, '[for=train-step]', new RegExp(words));
    };
    const press = (/** @type {string} */ id) => page.click(id);
    // A run that has come to its end is the same in any browser, however often its steps were drawn.
    await page.evaluate(() => (location.hash = '#train?task=reversal&layers=1&heads=2&width=16'));
    await says(page, '[for=train-step]', /of 400/);
    await step('playing', () =>
      says(page, '#train-play', /Pause/)
        .then(() => page.select('#train-speed', 'Infinity'))
        .then(over('Step 400 of 400')),
    );
    await step('one more step', () => press('#train-once').then(over('Step 401 of 800')));
    await step('the mute of a head', async () => {
      await press('#train-mute');
      await says(page, '#train-mute', /Unmute/);
      await says(page, '.train-role', /muted/);
    });
    await step('another head', async () => {
      await press('[data-head=L0H1]');
      await says(page, '.train-large h2', /L0H1/);
    });
    await step('looking back', async () => {
      await page.$eval('#train-step', (slider) => {
        /** @type {HTMLInputElement} */ (slider).value = '0';
        slider.dispatchEvent(new Event('input'));
      });
      await over('Step 0 of 800')();
    });
    await step('another task', async () => {
      await page.select('#train-task', 'sorting');
      await says(page, '[for=train-step]', /of 600/);
      await reached(page, 1);
      await press('#train-play');
      await resting(page);
      await press('#train-restart');
      await page.select('#train-speed', 'Infinity');
      await over('Step 600 of 600')();
    });
  },
});

translationTest('lessons', {
  ready: (page) => page.waitForSelector('#lessons-room h1'),
  prose: '.lesson h1',
  kept: '.editor, .step-code code, .step-code kbd, .facts td.unbroken, .grids-label, .results code',
  async act(page, step) {
    await step('the contents');
    await step('a lesson', () => openLesson(page, 'fused'));
    await step('code of one’s own', async () => {
      await runIn(page, '.step:nth-of-type(1)', 'throw new Error("no");');
      await ended(page, 'error');
    });
    await step('another lesson', () => openLesson(page, 'causal'));
  },
});

translationTest('bench', {
  ready: (page) => page.waitForSelector('#bench-run'),
  prose: '#bench-title',
  kept: '.peers tr, .bench-results tr:has(meter) td, code',
  // What it measured, and how much of it until it was stopped, are others each time.
  compared: (words) =>
    words
      .filter((one) => /benchmark|^Stop|Measur|ceiling: $|Threads/.test(one))
      .map((one) => one.replace(/^Stopped: \d+ results?\.$/, 'Stopped: RESULTS.')),
  async act(page, step) {
    await step('nothing measured');
    await step('running', async () => {
      await page.click('#bench-run');
      await page.waitForSelector('.bench-results meter');
      await says(page, '#bench-run', /Stop/);
    });
    await step('stopped', async () => {
      await page.click('#bench-run');
      await says(page, '#bench-run', /Run the benchmark/);
    });
  },
});
