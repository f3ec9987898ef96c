// The Compare room: what its first screen says, the drawing of what is fused, and the plots.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { crash, focusInSight, pageTest, rerun, settled, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

pageTest(
  'the first screen shows both modules’ heads, that they agree, and where to go on',
  '',
  async (page) => {
    await page.setViewport({ width: 1440, height: 900 });
    assert.equal(await textOf(page, '#verdict'), 'Wrapper = fused, bit for bit');
    assert.equal(await textOf(page, '#verdict-note'), 'All 42 weights and 24 outputs are equal.');
    const parts = [
      'h1',
      '#tokens',
      '#verdict',
      '#map',
      '#grid',
      '#row',
      '#legend',
      '.ways a:last-child',
    ];
    for (const part of parts) {
      const bottom = await page.$eval(part, (element) => element.getBoundingClientRect().bottom);
      assert.ok(bottom <= 800, `${part} ends at ${bottom}`);
    }
    for (const mode of ['wrapper', 'fused', 'difference']) {
      assert.equal((await page.$$(`#grid [data-mode=${mode}] canvas[data-size="6"]`)).length, 2);
    }
    const ways = await page.$$eval('.ways a', (links) =>
      links.map((link) => link.getAttribute('href')),
    );
    assert.deepEqual(ways, ['#explore', '#train', '#lessons?lesson=fused', '#bench']);
  },
);

/** How much of what is seen moves while the page loads, as Chromium counts it. @param {Page} page */
async function shiftOnLoad(page) {
  await page.evaluateOnNewDocument(() => {
    const counted = /** @type {{ shift: number }} */ (/** @type {unknown} */ (globalThis));
    counted.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        counted.shift += /** @type {{ value: number }} */ (/** @type {unknown} */ (entry)).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.reload();
  await settled(page);
  return page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return /** @type {{ shift: number }} */ (/** @type {unknown} */ (globalThis)).shift;
  });
}

if (engine.hasCdp)
  for (const [width, height] of [
    [1440, 900],
    [1280, 800],
    [390, 844],
  ])
    pageTest(`nothing moves while a window of ${width} × ${height} loads`, '', async (page) => {
      await page.setViewport({ width, height });
      const shift = await shiftOnLoad(page);
      assert.ok(shift <= 0.05, `${shift}`);
    });

pageTest(
  'agreement comes first, and the example’s tables are named as other draws',
  '',
  async (page) => {
    const order = await page.$$eval('#compare-room h2', (titles) => titles.map(({ id }) => id));
    assert.deepEqual(order, ['verdict', 'why-title', 'time-title', 'outputs-title']);
    assert.equal(await textOf(page, '#outputs-title'), 'The example’s own two tables');
    assert.match(await textOf(page, '#outputs-note'), /draws weights of its own from seed 123/);
    assert.match(await textOf(page, '#printed-note'), /documents that the lessons follow print/);
    const isPrinted = () => page.$eval('#printed-note', (note) => note.checkVisibility());
    assert.ok(await isPrinted());
    await rerun(page, () => page.click('#causal'));
    assert.equal(await isPrinted(), false, 'other numbers than theirs');
  },
);

pageTest(
  'a seed that is none is said before a text that is too long, and marked',
  '',
  async (page) => {
    await page.evaluate(() => {
      const text = Array.from({ length: 1500 }, () => 'a').join(' ');
      location.hash = `#compare?${new URLSearchParams({ source: 'own', text })}`;
    });
    const says = (/** @type {string} */ words) =>
      page.waitForFunction(
        (part) => document.getElementById('message')?.textContent?.includes(part),
        {},
        words,
      );
    const type = (/** @type {string} */ value) =>
      page.$eval(
        '#seed',
        (field, typed) => {
          /** @type {HTMLInputElement} */ (field).value = typed;
          field.dispatchEvent(new Event('input', { bubbles: true }));
        },
        value,
      );
    const isMarked = () => page.$eval('#seed', (field) => field.getAttribute('aria-invalid'));
    const describedBy = () =>
      page.$eval('#seed', (field) => field.getAttribute('aria-describedby'));
    await says('1,500 tokens');
    for (const wrong of ['-1', '1.5', '', '4294967296']) {
      await type(wrong);
      await says('The seed must be a whole number');
      assert.equal(await isMarked(), 'true', wrong);
      assert.equal(await describedBy(), 'message');
      await type('4');
      await says('1,500 tokens');
      assert.equal(await isMarked(), 'false');
      assert.equal(await describedBy(), null);
    }
  },
);

pageTest('what a run came to is read aloud anew when it has ended', '', async (page) => {
  await page.$eval('#told', (told) => {
    const said = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { said });
    new MutationObserver(() => {
      const isBusy = document.querySelector('#main')?.hasAttribute('aria-busy');
      said.push(`${told.textContent}${told.textContent && isBusy ? ' while busy' : ''}`);
    }).observe(told, { childList: true });
  });
  assert.equal(await page.$eval('#told', (told) => told.getAttribute('role')), 'status');
  await rerun(page, () => page.click('#causal'));
  await rerun(page, () => page.click('#causal'));
  const words = 'Wrapper = fused, bit for bit';
  assert.deepEqual(await page.evaluate('said'), ['', words, '', words]);
});

pageTest('the foot names the module in this room alone', '', async (page) => {
  const foot = '#engine-note';
  const isNamed = () => page.$eval('#engine-simd', (name) => name.checkVisibility());
  assert.match(
    await textOf(page, foot),
    /on this machine \(WebAssembly, (relaxed|simd128)\); your/,
  );
  assert.ok(await isNamed());
  await page.click('#rooms [data-room=bench]');
  await page.waitForSelector('#bench-room:not([hidden])');
  assert.equal(await isNamed(), false);
});

pageTest(
  'beside many heads the map is as large as their side, and the row as wide',
  '#compare?source=own&heads=16',
  async (page) => {
    await page.setViewport({ width: 1440, height: 900 });
    const boxOf = (/** @type {string} */ selector) =>
      page.$eval(selector, (element) => {
        const { left, right, bottom } = element.getBoundingClientRect();
        return { left, right, bottom };
      });
    const [map, side, row] = [
      await boxOf('#map'),
      await boxOf('.agreement-side'),
      await boxOf('#row'),
    ];
    assert.ok(Math.abs(row.left - side.left) < 2 && Math.abs(row.right - side.right) < 2);
    assert.ok(side.bottom - map.bottom < 80, `${map.bottom} of ${side.bottom}`);
    const grid = await page.$eval('#grid', (all) => all.scrollWidth - all.clientWidth);
    assert.equal(grid, 0, 'all heads are in sight');
  },
);

pageTest(
  'on a phone arrows go to heads that are in sight beside the names of the rows',
  '#compare?source=own&heads=16',
  async (page) => {
    await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
    await page.focus('#grid [aria-pressed=true]');
    for (let i = 0; i < 16; i++) {
      await page.keyboard.press('ArrowLeft');
      assert.equal(await focusInSight(page), true, `${i}`);
    }
  },
);

pageTest('on a phone the map is above all heads, as for Tab', '', async (page) => {
  await page.setViewport({ width: Math.max(390, engine.leastWidth), height: 844 });
  const tops = await page.$$eval(':is(#map, #grid button, #scale)', (all) =>
    all.map((each) => each.getBoundingClientRect().top),
  );
  assert.ok(tops.length > 3);
  assert.deepEqual(
    tops,
    tops.toSorted((a, b) => a - b),
  );
});

pageTest('a choice after the engine has stopped starts it again', '', async (page) => {
  const choose = (/** @type {string} */ mode) => page.click(`#grid [data-mode=${mode}] button`);
  await crash(page, () => choose('fused'));
  await page.waitForFunction(() =>
    document.getElementById('message')?.textContent?.startsWith('The engine stopped (crashed)'),
  );
  await rerun(page, () => choose('difference'));
  assert.equal(await textOf(page, '#message'), '');
  assert.match(await textOf(page, '#map-title'), /wrapper − fused|wrapper - fused/);
});

pageTest(
  'a colour scale that is taken back at once leaves no map in the other one',
  '#compare?source=own',
  async (page) => {
    const mixed = await page.evaluate(async () => {
      const scale = /** @type {HTMLSelectElement} */ (document.getElementById('scale'));
      const pictures = () =>
        [...document.querySelectorAll('#grid canvas')].map((one) =>
          /** @type {HTMLCanvasElement} */ (one).toDataURL(),
        );
      const until = async (/** @type {() => boolean} */ isSo) => {
        for (let i = 0; i < 3000 && !isSo(); i++) await new Promise((next) => setTimeout(next));
      };
      const choose = (/** @type {string} */ value) => {
        scale.value = value;
        scale.dispatchEvent(new Event('change', { bubbles: true }));
      };
      const before = pictures();
      choose('row');
      await until(() => pictures()[0] !== before[0]);
      const isPart = pictures().some((one, i) => one === before[i]);
      choose('unit');
      await until(() => pictures().every((one, i) => one === before[i]));
      return { isPart, others: pictures().filter((one, i) => one !== before[i]).length };
    });
    assert.deepEqual(mixed, { isPart: true, others: 0 });
  },
);

/** The numbers of the drawing that are seen, by their class, each with its place. @param {Page} page */
const drawnCells = (page) =>
  page.$$eval('.drawn-cell', (cells) =>
    cells
      .filter((cell) => /** @type {SVGElement} */ (cell).style.opacity === '1')
      .map((cell) => ({
        of: cell.getAttribute('class')?.replace('drawn-cell of-', '') ?? '',
        value: Number(cell.textContent?.trim().replace('\u2212', '-')),
        place: /** @type {SVGElement} */ (cell).style.transform.match(/-?\d+/g)?.map(Number) ?? [],
      })),
  );

pageTest(
  'Back and Next of the drawing say where its steps end, and keep the focus',
  '',
  async (page) => {
    const said = () =>
      page.$$eval('.stepper .row button', (buttons) =>
        buttons.slice(0, 2).map((button) => button.ariaDisabled),
      );
    assert.deepEqual(await said(), ['true', 'false']);
    await page.focus('.stepper .row button:nth-of-type(2)');
    for (let i = 0; i < 6; i++) await page.keyboard.press('Enter');
    assert.deepEqual(await said(), ['false', 'true']);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Next');
    assert.match(await textOf(page, '.stepper-steps [aria-current=step]'), /^5 /);
  },
);

pageTest(
  'the drawing steps by keyboard from a product per head to one, and back to the same queries',
  '',
  async (page) => {
    await page.focus('.stepper-steps button[aria-current=step]');
    const count = async () => (await drawnCells(page)).length;
    const step = () => textOf(page, '.stepper-steps [aria-current=step]');
    // Twice x, two matrices, two results.
    const first = await drawnCells(page);
    assert.equal(first.length, 2 * 18 + 2 * 6 + 2 * 12);
    await page.keyboard.press('ArrowRight');
    assert.equal(await step(), '2 Stack the matrices');
    assert.equal(await count(), 18 + 2 * 6);
    await page.keyboard.press('ArrowRight');
    assert.equal(await step(), '3 Multiply once');
    const one = await drawnCells(page);
    assert.equal(one.length, 18 + 12 + 24);
    // The product is right: its first number is the first row of x by the first column of W_q.
    const [x, w, q] = ['x', 'h0', 'h0'].map((of) => one.filter((cell) => cell.of === of));
    const row = x.slice(0, 3).map(({ value }) => value);
    const column = w
      .slice(0, 6)
      .filter((_, i) => i % 2 === 0)
      .map(({ value }) => value);
    const product = row.reduce((sum, value, i) => sum + value * column[i], 0);
    assert.ok(Math.abs(product - q[6].value) < 0.02, `${product} and ${q[6].value}`);
    await page.keyboard.press('ArrowRight');
    const inMemory = await drawnCells(page);
    assert.equal(
      inMemory
        .map(({ of }) => of)
        .join(' ')
        .slice(0, 23),
      'h0 h0 h1 h1 h0 h0 h1 h1',
    );
    await page.keyboard.press('End');
    assert.equal(await step(), '5 The same queries');
    const last = await drawnCells(page);
    assert.deepEqual(last, first.slice(-24));
    assert.equal(
      await page.evaluate(() => document.activeElement?.textContent?.includes('The same')),
      true,
    );
    await page.keyboard.press('Home');
    assert.equal(await step(), '1 Wrapper: a product per head');
  },
);

if (engine.hasCdp)
  pageTest('the drawing does not move where less movement is asked for', '', async (page) => {
    const duration = () =>
      page.$eval('.drawn-cell', (cell) => getComputedStyle(cell).transitionDuration);
    assert.notEqual(await duration(), '0s');
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    assert.equal(await duration(), '0s');
  });

pageTest(
  'time and memory are plotted for both, and the crossover of memory is marked',
  '',
  async (page) => {
    await page.$eval('#time-room', (room) => room.scrollIntoView());
    await page.waitForSelector('.plots .chart-mark', { timeout: 60_000 });
    assert.match(
      await textOf(page, '.plots > :last-child .plot-verdict'),
      /^From \d+ tokens on, the maps take more memory/,
    );
    await page.waitForFunction(
      () => document.querySelectorAll('.plots > :first-child .of-fused circle').length >= 2,
      { timeout: 60_000 },
    );
    const names = await page.$$eval('.plots > :last-child .chart-name', (all) =>
      all.map(({ textContent }) => textContent),
    );
    assert.deepEqual(names, ['maps, n × n', 'wrapper', 'fused']);
    assert.match(
      await textOf(page, '#current-time'),
      /^The sentence above: (Too close to call|(Fused|The wrapper) is [\d.]+ times as fast) wrapper [\d.]+ µs to [\d.]+ µs/,
    );
  },
);

pageTest('what was measured again is read aloud when all of it is there', '', async (page) => {
  const isDone = () => {
    const verdicts = [...document.querySelectorAll('.plot-verdict')];
    return verdicts.length === 3 && verdicts.every((one) => !/^\s*Measuring/.test(one.textContent));
  };
  await page.waitForSelector('#measure-again');
  await page.$eval('.plots', (plots) => plots.scrollIntoView());
  await page.waitForFunction(isDone, { timeout: 90_000 });
  assert.equal(await textOf(page, '#plots-told'), '', 'nobody asked for it');
  await page.click('#measure-again');
  await page.waitForFunction(isDone, { timeout: 90_000 });
  const verdicts = await page.$$eval('.plot-verdict', (all) =>
    all.map((one) => one.textContent.trim()),
  );
  const words = `By tokens: ${verdicts[0]} By heads: ${verdicts[1]}`;
  assert.equal(await textOf(page, '#plots-told'), words);
});

pageTest('each plot says what it holds fixed, as the menus have it', '', async (page) => {
  const held = () => page.$$eval('.plot-held', (all) => all.map(({ textContent }) => textContent));
  await page.waitForSelector('#plot-tokens');
  assert.deepEqual(await held(), ['64 wide, 16 heads', '64 wide, 32 tokens', '64 wide, 16 heads']);
  await page.select('#plot-tokens', '8');
  await page.select('#plot-heads', '2');
  assert.deepEqual(await held(), ['64 wide, 2 heads', '64 wide, 8 tokens', '64 wide, 2 heads']);
});

pageTest(
  'the menus reach 64 wide with 16 heads, and 1,024 tokens',
  '#compare?source=own',
  async (page) => {
    await rerun(page, () => page.click('#many-heads'));
    assert.equal(await page.evaluate(() => location.hash), '#compare?source=own&heads=16');
    assert.equal((await page.$$('#grid [data-mode=fused] button')).length, 16);
    await rerun(page, () => page.click('#longest'));
    assert.match(await textOf(page, '#token-count'), /^1,024 tokens/);
    assert.match(await textOf(page, '#verdict'), /^Wrapper = fused/);
  },
);

pageTest('the table behind the map is named by what it shows', '', async (page) => {
  const caption = () => page.$eval('#map-table caption', (one) => one.textContent);
  await page.click('#table-details summary');
  await page.waitForSelector('#map-table caption');
  assert.equal(await caption(), 'A row is a query, a column a key; – is masked.');
  await rerun(page, () => page.click('#causal'));
  assert.equal(await caption(), 'A row is a query, a column a key.');
  await page.click('#grid [data-mode=difference] button');
  await page.waitForFunction(
    () =>
      document.querySelector('#table-title')?.textContent ===
      'The differences of this head as a table',
  );
});
