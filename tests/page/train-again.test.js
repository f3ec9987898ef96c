// What stays in the Train room and what goes: maps in their sizes, the speed, a text that was typed, and what was
// muted at a step that is looked back at.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { browser, contentWidth, site, textOf } from './harness.js';
import { framesDuring, neverRose } from './frames.js';
import { pause, reached, resting, roomTest, stepOf, trainOn } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

/** Of each small map: whether it has a pixel for each that is seen, and the colour of its masked corner. @param {Page} page */
const smallMaps = (page) =>
  page.$$eval('.train-heads canvas', (all) =>
    all.map((one) => {
      const canvas = /** @type {HTMLCanvasElement} */ (one);
      const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      copy?.drawImage(canvas, 1 - canvas.width, 0);
      const corner = copy?.getImageData(0, 0, 1, 1).data;
      const isSized = canvas.width === Math.round(canvas.clientWidth * devicePixelRatio);
      return { isSized, corner: [...(corner ?? [])] };
    }),
  );

/** @param {Page} page */
async function areDrawn(page) {
  const maps = await smallMaps(page);
  assert.equal(maps.length, 4);
  for (const { isSized, corner } of maps) {
    assert.ok(isSized);
    assert.ok(corner[0] > 100 && corner[3] === 255, `a masked cell is ${corner}`);
  }
}

/** Until the page, which hears of it with the next frame, stands in it. @param {Page} page @param {{ width: number, height: number }} size */
async function resize(page, size) {
  await page.setViewport(size);
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

roomTest('a run that rests has its maps in every width of the window', '#train', async (page) => {
  await pause(page);
  await page.setViewport({ width: 1280, height: 800 });
  for (const width of [Math.max(500, engine.leastWidth), 1280, 900]) {
    await resize(page, { width, height: 800 });
    await areDrawn(page);
  }
});

roomTest('a speed stays for its task, whatever else is chosen', '#train', async (page) => {
  const speed = () =>
    page.$eval('#train-speed', (menu) => /** @type {HTMLSelectElement} */ (menu).value);
  await page.select('#train-speed', '1');
  await page.click('#train-restart');
  await page.select('#train-heads', '4');
  await page.waitForFunction(() => location.hash.includes('heads=4'));
  await reached(page, 0);
  assert.equal(await speed(), '1');
  await page.select('#train-task', 'reversal');
  assert.equal(await speed(), '10', 'reversal’s own');
});

roomTest('a text that was typed stays while another task is chosen', '#train', async (page) => {
  const typed = () =>
    page.$eval('#train-text', (field) => /** @type {HTMLTextAreaElement} */ (field).value);
  await page.select('#train-task', 'own');
  await page.type('#train-text', 'not yet');
  await page.select('#train-task', 'reversal');
  await page.select('#train-task', 'own');
  assert.equal(await typed(), 'not yet');
  await page.type('#train-text', '!');
  assert.match(await typed(), /!/);
});

roomTest('a text that was trained on is there again with its address', '#train', async (page) => {
  const texts = ['the cat sat on the mat. ', 'one two three four. '].map((text) => text.repeat(40));
  const shows = (/** @type {string} */ text) =>
    page.waitForFunction(
      (/** @type {string} */ wanted) =>
        /** @type {HTMLTextAreaElement} */ (document.querySelector('#train-text'))?.value ===
        wanted,
      {},
      text,
    );
  /** @type {string[]} */
  const addresses = [];
  await page.select('#train-task', 'own');
  for (const text of texts) {
    await trainOn(page, text);
    await page.waitForFunction(
      (/** @type {string} */ word) => location.hash.includes(word),
      {},
      text.split(' ', 1)[0],
    );
    addresses.push(await page.evaluate(() => location.hash));
  }
  await page.evaluate((hash) => (location.hash = hash), addresses[0]);
  await shows(texts[0]);
});

roomTest('a run that goes on from a step begins with that step', '#train', async (page) => {
  await reached(page, 20);
  await pause(page);
  await page.focus('#train-step');
  await page.keyboard.press('Home');
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  await page.evaluate(() => {
    const said = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { said });
    const bar = /** @type {HTMLElement} */ (document.querySelector('.train-bar'));
    const say = () => said.push(bar.querySelector('.train-history label')?.textContent ?? '');
    new MutationObserver(say).observe(bar, { childList: true, characterData: true, subtree: true });
  });
  await page.click('#train-from-here');
  await reached(page, 5);
  const said = await page.evaluate(() => /** @type {any} */ (globalThis).said);
  const steps = said.map((/** @type {string} */ words) => Number(/Step\s+(\d+)/.exec(words)?.[1]));
  assert.ok(Math.min(...steps) >= 3, steps.join());
});

roomTest('a step that is looked back at shows what was muted then', '#train', async (page) => {
  await reached(page, 5);
  await pause(page);
  await page.click('#train-mute');
  await page.waitForSelector('[data-head=L1H0].muted');
  assert.equal(await textOf(page, '#train-mute'), 'Unmute');
  await page.focus('#train-step');
  await page.keyboard.press('Home');
  assert.equal((await page.$$('.train-heads .muted')).length, 0);
  assert.match(await textOf(page, '#train-mute'), /^Unmute it from step \d+ on$/);
  await page.click('#train-play');
  await page.waitForSelector('[data-head=L1H0].muted');
  await pause(page);
});

roomTest(
  'of two runs it is said which one is opened, kept or gone on with',
  '#train?task=reversal&beside=seed%3D2',
  async (page) => {
    await page.waitForSelector('.train-main.beside');
    await pause(page);
    assert.equal(await textOf(page, '#train-explore'), 'Open this run in Explore');
    await page.focus('#train-step');
    await page.keyboard.press('Home');
    assert.equal(await textOf(page, '#train-from-here'), 'Go on from step 0, with this run alone');
    const tops = await page.$$eval('.train-all .train-heads', (all) =>
      all.map((grid) => grid.getBoundingClientRect().top),
    );
    assert.equal(tops.length, 2);
    assert.equal(tops[0], tops[1], 'both begin at the same height');
  },
);

roomTest(
  'a run beside that is none of the choices is chosen in its own words',
  '#train?task=reversal&layers=3&beside=layers%3D2',
  async (page) => {
    const chosen = () =>
      page.$eval('#train-other', (menu) => {
        const [option] = /** @type {HTMLSelectElement} */ (menu).selectedOptions;
        return option.textContent;
      });
    assert.equal(await chosen(), '2 layers');
    await page.select('#train-other', 'layers');
    assert.equal(await chosen(), 'One layer');
    await page.select('#train-layers', '2');
    assert.equal(await chosen(), 'One layer');
    await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
    const beside = encodeURIComponent('seed=4294967295&heads=2&width=128&lr=0.0003&only=0');
    await page.evaluate((hash) => (location.hash = hash), `#train?task=reversal&beside=${beside}`);
    await page.waitForSelector('.train-main:not([aria-busy=true]) .train-heads[style*="heads: 2"]');
    assert.match(await chosen(), /^Seed 4294967295, 2 heads, width 128, .* with feed-forward$/);
    assert.ok((await contentWidth(page)) <= Math.max(390, engine.leastWidth));
  },
);

/** Where the heads and the curves begin, in windows and fonts of several widths. @param {Page} page */
async function placesOfCurves(page) {
  const places = [];
  for (const width of [1440, 1280, 1024, Math.max(390, engine.leastWidth)]) {
    await resize(page, { width, height: 900 });
    for (const letterSpacing of ['-0.05em', '0', '0.05em']) {
      const tops = await page.evaluate((spacing) => {
        document.body.style.letterSpacing = spacing;
        const topOf = (/** @type {Element | null | undefined} */ one) =>
          one?.getBoundingClientRect().top ?? NaN;
        const charts = [...document.querySelectorAll('.train-curve svg')];
        // Where they stand below the heads, the model's answers are above them too.
        const start = topOf(charts[0].closest('figure')?.parentElement);
        const place = [topOf(document.querySelector('.train-main')) + scrollY];
        return [...place, ...charts.map((chart) => topOf(chart) - start)].map(Math.round);
      }, letterSpacing);
      places.push({ width, letterSpacing, tops });
    }
  }
  return places;
}

roomTest(
  'the curves stay where they are when all answers are right',
  '#train?task=reversal&beside=seed%3D2',
  async (page) => {
    await page.waitForSelector('.train-main.beside');
    await pause(page);
    const before = await placesOfCurves(page);
    await page.select('#train-speed', 'Infinity');
    await page.click('#train-play');
    await resting(page);
    assert.equal(await textOf(page, '.train-number'), '100 % · 100 %');
    assert.deepEqual(await placesOfCurves(page), before);
  },
);

roomTest(
  'the same link shows the same curves and the same change at every speed',
  '#train?task=reversal&seed=3',
  async (page) => {
    /** @param {string} speed */
    const shownAt = async (speed) => {
      await page.select('#train-speed', speed);
      await resting(page);
      return {
        change: await textOf(page, '#train-change'),
        curves: await page.$$eval('.train-curve path', (all) =>
          all.map((one) => one.getAttribute('d')),
        ),
      };
    };
    const fast = await shownAt('Infinity');
    assert.match(fast.change, /^By step \d+0 half of the answers were right\.$/);
    await page.reload();
    await reached(page, 1);
    assert.deepEqual(await shownAt('100'), fast);
  },
);

roomTest('a single step that is asked for while a run starts is done', '#train', async (page) => {
  await pause(page);
  await page.evaluate(() => {
    document.getElementById('train-restart')?.click();
    document.getElementById('train-once')?.click();
  });
  await page.waitForFunction(
    () => /** @type {any} */ (document.getElementById('train-room')).dataset.step === '1',
  );
  await resting(page);
  assert.equal(await stepOf(page), 1);
  assert.equal(await textOf(page, '#train-play'), 'Play');
});

roomTest(
  'who leaves before a run is opened in Explore stays there, and it opens later',
  '#train',
  async (page) => {
    await pause(page);
    await page.evaluate(() => {
      document.getElementById('train-explore')?.click();
      location.hash = '#bench';
    });
    await page.waitForFunction(() =>
      document.getElementById('train-kept')?.textContent?.includes('Open Explore to see it.'),
    );
    assert.equal(await page.evaluate(() => location.hash), '#bench');
    await page.click('#rooms a[data-room=explore]');
    await page.waitForFunction(() => location.hash.includes('model=opened'), { timeout: 60_000 });
  },
);

// WebKitWebDriver has one page at a time.
if (engine.hasEvents)
  roomTest(
    'a run that another tab has kept is there to be gone on with',
    '#train',
    async (page) => {
      await reached(page, 1);
      assert.equal(await page.$('#train-resume'), null);
      const other = await browser.newPage();
      try {
        await other.goto(`${site.url}#train?task=reversal`);
        await reached(other, 1);
        await pause(other);
        await other.click('#train-keep');
        await other.waitForSelector('#train-resume');
        const kept = await textOf(other, '#train-resume');
        assert.match(kept, /^Go on with reversal, /);
        // As a browser says it of a tab that is chosen.
        await page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')));
        await page.waitForSelector('#train-resume');
        assert.equal(await textOf(page, '#train-resume'), kept);
      } finally {
        await other.close();
      }
    },
  );

roomTest(
  'settings stay in their place on a phone while another run begins',
  '#train',
  async (page) => {
    await resize(page, { width: Math.max(390, engine.leastWidth), height: 844 });
    await pause(page);
    const begin = async () => {
      const step = await stepOf(page);
      await page.click('#train-restart');
      await page.waitForFunction(
        (/** @type {number} */ before) =>
          Number(document.getElementById('train-room')?.dataset.step) < before,
        {},
        step,
      );
      await reached(page, 1);
    };
    neverRose(await framesDuring(page, 'train-lr', begin));
  },
);

roomTest(
  'nothing says that a head is missing while the run that has it begins',
  '#train?task=reversal',
  async (page) => {
    const frames = await framesDuring(page, 'train-explore', async () => {
      await page.evaluate(() => void (location.hash = '#train?task=induction'));
      await page.waitForSelector('.train-heads [data-head=L1H0]');
      await reached(page, 1);
    });
    neverRose(frames);
  },
);
