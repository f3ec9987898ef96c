// The Train room: a run begins, pauses, goes step by step, is looked back at; another run stands beside it; a link shows the
// same run. How long anything takes is not tested.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { engine } from '../browsers/engines.js';
import {
  contentWidth,
  pageTest,
  schemes,
  textOf,
  useScheme,
  violations,
  widths,
} from './harness.js';
import { isSaid, pause, reached, resting, ROOM, roomTest, stepOf, trainOn } from './train-room.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {Page} page until the run has done all its steps */
async function finished(page) {
  await page.select('#train-speed', 'Infinity');
  await resting(page);
}

/** All that is seen of a run: answers, scores, accuracy. @param {Page} page */
const seen = async (page) => ({
  step: await stepOf(page),
  answers: await textOf(page, '.train-answers'),
  heads: await textOf(page, '.train-heads'),
  numbers: await page.$$eval('.train-number', (all) => all.map((one) => one.textContent)),
});

roomTest('beside the speed stands that a hidden tab pauses', '#train', async (page) => {
  assert.match(await textOf(page, '.train-how .note'), /pauses while its tab is hidden/);
  if (!engine.hasCdp) return;
  const other = await page.browser().newPage();
  try {
    await other.bringToFront();
    await page.waitForFunction(() => document.hidden, { polling: 100 });
    await setTimeout(500);
    const hidden = await stepOf(page);
    await setTimeout(1000);
    assert.equal(await stepOf(page), hidden);
  } finally {
    await other.close();
  }
  await page.bringToFront();
  await reached(page, (await stepOf(page)) + 1);
});

roomTest('a run begins at once, pauses, and goes on by single steps', '#train', async (page) => {
  assert.match(await textOf(page, `${ROOM} h1`), /heads form/);
  assert.equal((await page.$$('.train-heads canvas')).length, 4);
  await pause(page);
  const paused = await stepOf(page);
  await page.click('#train-once');
  await reached(page, paused + 1);
  assert.equal(await stepOf(page), paused + 1);
  await page.click('#train-play');
  await reached(page, paused + 3);
});

roomTest('the slider looks back, and play goes on from the latest step', '#train', async (page) => {
  await reached(page, 20);
  await pause(page);
  const last = await stepOf(page);
  const label = '.train-history label';
  assert.match(await textOf(page, label), new RegExp(`^Step ${last} of 1,200$`));
  await page.focus('#train-step');
  await page.keyboard.press('Home');
  assert.match(await textOf(page, label), /^Step 0 of/);
  assert.equal(await stepOf(page), last);
  const blur = await textOf(page, '[data-head=L0H0]');
  assert.match(blur, /entropy (0\.9|1\.0)/);
  // Beyond the history it stays at its end.
  const pulled = await page.$eval('#train-step', (field) => {
    const slider = /** @type {HTMLInputElement} */ (field);
    slider.value = '900';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    return slider.value;
  });
  assert.equal(pulled, String(last));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  assert.equal(await textOf(page, '#train-from-here'), 'Go on from step 1');
  await page.click('#train-from-here');
  await page.waitForFunction(() => !document.getElementById('train-from-here'));
  await page.waitForSelector('#train-play:focus');
  await reached(page, last);
  await pause(page);
  await page.focus('#train-step');
  await page.keyboard.press('Home');
  assert.match(await textOf(page, label), /^Step 1 of/);
  const again = await stepOf(page);
  await page.click('#train-play');
  await reached(page, again + 1);
  assert.doesNotMatch(await textOf(page, label), /^Step 1 of/);
});

roomTest(
  'reversal is learnt: the change is marked, heads look at the answers, and the link shows the same run',
  '#train?task=reversal&seed=3',
  async (page) => {
    await finished(page);
    const first = await seen(page);
    assert.equal(first.step, 400);
    assert.match(
      await textOf(page, '#train-change'),
      /^By step \d+ half of the answers were right\.$/,
    );
    assert.ok(await page.$('.train-track i'));
    assert.match(first.heads, /L0H\d answer/);
    assert.equal(await textOf(page, '.train-count'), '16 of 16');
    await page.reload();
    await reached(page, 1);
    await finished(page);
    assert.deepEqual(await seen(page), first);
  },
);

roomTest('a head can be muted while the model learns, and heard again', '#train', async (page) => {
  await pause(page);
  await page.focus('[data-head=L1H0]');
  await page.keyboard.press('ArrowRight');
  assert.match(await textOf(page, '.train-large h2'), /L1H1/);
  await page.click('#train-mute');
  const muted = '[data-head=L1H1].muted';
  await page.waitForSelector(muted);
  assert.match(await textOf(page, muted), /muted/);
  // Its words say what it does next: pressed as well, it would say the opposite.
  assert.equal(await textOf(page, '#train-mute:not([aria-pressed])'), 'Unmute');
  await page.click('#train-mute');
  await page.waitForFunction(() => !document.querySelector('[data-head=L1H1].muted'));
});

roomTest('what was trained opens in Explore, and the run waits', '#train', async (page) => {
  await pause(page);
  const example = await page.$$eval('.train-answers .token', (all) =>
    all.map((one) => one.textContent).join(''),
  );
  await page.click('#train-explore');
  await page.waitForFunction(() => document.querySelectorAll('#explore-grid canvas').length === 4, {
    timeout: 60_000,
  });
  const shown = await page.$eval('#explore-room', (room) => room.textContent?.replace(/\s/g, ''));
  assert.ok(shown?.includes(example), 'it reads the example');
  assert.match(await page.evaluate(() => location.hash), /^#explore\?model=opened/);
  const step = await page.$eval(ROOM, (room) => Number(/** @type {any} */ (room).dataset.step));
  await page.click('#rooms a[href^="#train"]');
  await page.click('#train-once');
  await reached(page, step + 1);
  // Explore has another model open by now.
  const run = await page.$eval('#explore-room', (room) => /** @type {any} */ (room).dataset.run);
  await page.evaluate(() => (location.hash = '#explore?model=induction'));
  await page.waitForFunction(
    (/** @type {string} */ before) => {
      const room = document.getElementById('explore-room');
      return room?.dataset.run !== before && !room?.hasAttribute('aria-busy');
    },
    { timeout: 60_000 },
    run,
  );
  await page.click('#rooms a[href^="#train"]');
  await page.click('#train-explore');
  await page.waitForFunction(
    (/** @type {string} */ text) => {
      const room = document.getElementById('explore-room');
      return room?.hidden === false && room.textContent?.replace(/\s/g, '').includes(text);
    },
    { timeout: 60_000 },
    example,
  );
});

roomTest('Back leads from Explore to the run that was opened there', '#train', async (page) => {
  await pause(page);
  const step = await stepOf(page);
  await page.click('#train-explore');
  await page.waitForFunction(() => location.hash.includes('model=opened'), { timeout: 60_000 });
  await page.goBack();
  await page.waitForFunction(() => document.getElementById('train-room')?.hidden === false);
  assert.equal(await page.evaluate(() => location.hash), '#train');
  assert.equal(await stepOf(page), step);
  await page.click('#train-once');
  await reached(page, step + 1);
});

roomTest('on a phone all heads come before the large one, for Tab too', '#train', async (page) => {
  const order = () =>
    page.$$eval('.train-main > :is(.train-large, .train-all)', (parts) =>
      parts.map(({ className }) => className),
    );
  assert.deepEqual(await order(), ['train-large', 'train-all']);
  await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
  await page.waitForFunction(() =>
    document.querySelector('.train-main > .train-all + .train-large'),
  );
  await page.waitForSelector('.train-large attention-map');
  assert.deepEqual(await order(), ['train-all', 'train-large']);
});

roomTest('a run that is kept goes on later, from its step', '#train?seed=4', async (page) => {
  await pause(page);
  const step = await stepOf(page);
  // Each is done, in turn.
  await page.evaluate(() => {
    const [save, keep] = ['train-save', 'train-keep'].map((id) => document.getElementById(id));
    HTMLAnchorElement.prototype.click = function () {
      document.title = this.download;
    };
    save?.click();
    keep?.click();
  });
  await page.waitForSelector('#train-resume');
  assert.match(await page.title(), /^induction-\d+\.zip$/);
  await page.reload();
  await reached(page, 1);
  await page.waitForSelector('#train-resume');
  assert.match(
    await textOf(page, '#train-resume'),
    new RegExp(`induction, seed 4, after ${step === 1 ? '1 step' : `${step} steps`}\\b`),
  );
  await page.click('#train-resume');
  await reached(page, step);
  await pause(page);
  await page.focus('#train-step');
  await page.keyboard.press('Home');
  assert.match(await textOf(page, '.train-history label'), new RegExp(`^Step ${step} of`));
});

roomTest('two runs stand side by side at the same step', '#train', async (page) => {
  await page.select('#train-other', 'layers');
  await page.waitForFunction(() => document.querySelectorAll('.train-heads').length === 2);
  await reached(page, 5);
  await pause(page);
  const heads = await page.$$eval('.train-heads', (grids) =>
    grids.map((grid) => grid.querySelectorAll('canvas').length),
  );
  assert.deepEqual(heads, [4, 2]);
  assert.match(await textOf(page, '.train-name.second'), /one layer$/);
  assert.match(await textOf(page, '#train-known'), /One layer cannot do induction/);
  const hash = await page.evaluate(() => location.hash);
  assert.equal(new URLSearchParams(hash.split('?')[1]).get('beside'), 'layers=1');
  await page.select('#train-other', 'none');
  await page.waitForFunction(() => document.querySelectorAll('.train-heads').length === 1);
});

roomTest(
  'Tab reaches a head of each run, also where the second has no such head',
  '#train?beside=layers%3D1%26heads%3D1',
  async (page) => {
    await page.waitForFunction(() => document.querySelectorAll('.train-heads').length === 2);
    await pause(page);
    const stops = () =>
      page.$$eval('.train-heads [tabindex="0"]', (all) =>
        all.map((one) => one.getAttribute('data-head')),
      );
    assert.deepEqual(await stops(), ['L1H0', 'L0H0']);
    await page.click('[data-head=L1H1]');
    await page.keyboard.press('ArrowUp');
    assert.deepEqual(await stops(), ['L0H1', 'L0H0']);
  },
);

roomTest('another task or setting begins anew, and the address has it', '#train', async (page) => {
  await page.select('#train-task', 'sorting');
  await page.waitForFunction(() => document.querySelectorAll('.train-heads canvas').length === 4);
  assert.equal(await page.evaluate(() => location.hash), '#train?task=sorting');
  await page.select('#train-heads', '1');
  await page.waitForFunction(() => document.querySelectorAll('.train-heads canvas').length === 1);
  assert.equal(await page.evaluate(() => location.hash), '#train?task=sorting&heads=1');
  await reached(page, 1);
});

roomTest('a text is written by its model', '#train?task=austen', async (page) => {
  await pause(page);
  assert.match(await textOf(page, '.train-written'), /^She was ./);
});

pageTest(
  'an own text has to be long enough, and is then learnt from',
  '#train?task=own',
  async (page) => {
    assert.match(await textOf(page, '#train-message'), /at least 400 characters/);
    assert.doesNotMatch(await textOf(page, '#train-room'), /The history holds/);
    const isDead = (/** @type {Element} */ button) => button.matches(':disabled');
    assert.ok(await page.$eval('#train-play', isDead), 'nothing to play');
    await trainOn(page, 'the cat sat on the mat. '.repeat(40));
    await reached(page, 1);
    assert.match(await textOf(page, '.train-written'), /^the cat/);
    assert.equal(await textOf(page, '#train-message'), '');
    assert.ok(!(await page.$eval('#train-play', isDead)));
  },
  { ready: isSaid },
);

pageTest(
  'an own text that is too long for the address is there after a reload, and the page says so',
  '#train?task=own',
  async (page) => {
    const text = 'the cat sat on the mat. '.repeat(200);
    assert.match(await textOf(page, '#train-link'), /^The address holds/);
    await trainOn(page, text);
    await reached(page, 1);
    assert.match(await textOf(page, '#train-link'), /^Your text is too long for the address/);
    await page.reload();
    await reached(page, 1);
    const found = await page.$eval('#train-text', (field) => /** @type {any} */ (field).value);
    assert.equal(found, text);
    await page.evaluate(() => localStorage.clear());
  },
  { ready: isSaid },
);

if (engine.hasCdp) {
  pageTest('where nothing is to move, the run is shown in stills', '', async (page) => {
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    await page.evaluate(() => {
      const stills = /** @type {{ step: number, at: number }[]} */ ([]);
      Object.assign(globalThis, { stills });
      const room = /** @type {HTMLElement} */ (document.getElementById('train-room'));
      const look = () => stills.push({ step: Number(room.dataset.step), at: performance.now() });
      new MutationObserver(look).observe(room, { attributeFilter: ['data-step'] });
    });
    await page.click('#rooms a[href^="#train"]');
    /** Of all steps that were shown: each stays for two seconds. @param {number} steps between two stills, unless they take longer */
    const areStills = async (steps) => {
      const stills = /** @type {{ step: number, at: number }[]} */ (await page.evaluate('stills'));
      assert.ok(stills.length > 1);
      for (const [i, { step, at }] of stills.slice(1).entries()) {
        const before = stills[i];
        assert.ok(step - before.step <= steps && at - before.at > 1500, JSON.stringify(stills));
      }
    };
    await reached(page, 100);
    await areStills(50);
    await pause(page);
    await page.select('#train-speed', '100');
    await page.evaluate('stills.splice(0)');
    await page.click('#train-restart');
    await reached(page, 400);
    await areStills(200);
  });
}

roomTest(
  'the Train room fits every window, and axe finds nothing to complain about',
  '#train',
  async (page) => {
    await pause(page);
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      assert.deepEqual(await violations(page), [], scheme);
    }
    for (const width of widths) {
      await page.setViewport({ width, height: 800 });
      assert.ok((await contentWidth(page)) <= width, `${width}`);
    }
    await page.select('#train-other', 'seed');
    await page.waitForFunction(() => document.querySelectorAll('.train-heads').length === 2);
    await pause(page);
    assert.deepEqual(await violations(page), []);
    for (const width of widths) {
      await page.setViewport({ width, height: 800 });
      assert.ok((await contentWidth(page)) <= width, `${width} beside`);
    }
  },
);
