// <attention-map zoomable> with cells that the test computes: 2,000 tokens, zoomed and moved. That it is smooth is shown by
// what it does not do: nothing is computed for a frame.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../browser.js';
import { engine } from '../browsers/engines.js';
import { browser, options } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const ROOT = fileURLToPath(new URL('../../web/', import.meta.url));
const N = 2000;
const FIELD = 'attention-map >>> .map-field';
const TIP = 'attention-map >>> .map-tip';

/** What the page runs: weight (q, k) is (q · 7 + k · 3) mod 1000 / 1000 below the diagonal. */
const SETUP = `(async () => {
  await import('./headwise/view.js');
  const { poolRegion } = await import('./headwise/view/pool.js');
  const weightsOf = (start, end) => {
    const weights = new Float32Array((end - start) * ${N});
    for (let q = start; q < end; q++) {
      for (let k = 0; k <= q; k++) weights[(q - start) * ${N} + k] = ((q * 7 + k * 3) % 1000) / 1000;
    }
    return weights;
  };
  globalThis.asked = [];
  globalThis.pinned = [];
  globalThis.views = [];
  globalThis.map = document.createElement('attention-map');
  map.zoomable = true;
  map.addEventListener('pin', ({ detail: token }) => pinned.push({ side: 'query', token }));
  map.addEventListener('pin-key', ({ detail: token }) => pinned.push({ side: 'key', token }));
  map.addEventListener('view', ({ detail }) => views.push(detail));
  map.addEventListener('error', ({ error }) => { throw error; });
  map.style.width = '400px';
  document.body.replaceChildren(map);
  globalThis.cellsOf = (rows) => (region) => {
    asked.push(region);
    return poolRegion(rows, ${N}, region, async () => {});
  };
  const cells = cellsOf(weightsOf);
  const tokens = Array.from({ length: ${N} }, (_, i) => 't' + i);
  globalThis.show = (more) => map.show({ cells, tokens, causal: true, ...more });
  await show();
})()`;

/** @param {string} title @param {(page: Page) => Promise<void>} body @param {object} [more] options */
function mapTest(title, body, more) {
  test(title, { ...options, ...more }, async () => {
    const server = await serve(ROOT);
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    try {
      await page.setViewport({ width: 800, height: 700 });
      // Any file that is served: a page without anything of its own.
      await page.goto(`${server.url}headwise/checks/error.js`);
      await page.evaluate(SETUP.replaceAll("'./headwise", `'${server.url}headwise`));
      await body(page);
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
      server.close();
    }
  });
}

/** @param {Page} page @param {string} name @returns {Promise<any>} */
const read = (page, name) => page.evaluate(name);

/** @param {Page} page @returns {Promise<import('../../web/headwise/view.js').Region[]>} */
const asked = (page) => read(page, 'asked');

/** @param {Page} page until what was asked for is drawn */
const drawn = (page) =>
  page.evaluate(`(async () => {
    for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
  })()`);

/** @param {Page} page @param {number} x @param {number} y shares of the field */
async function at(page, x, y) {
  const box = await (await page.$(FIELD))?.boundingBox();
  assert.ok(box);
  return /** @type {[number, number]} */ ([box.x + x * box.width, box.y + y * box.height]);
}

/** @param {Page} page */
const tip = (page) => page.$eval(TIP, (element) => element.textContent);

mapTest('the map is never empty while its size changes', async (page) => {
  // An observer that is called after the map's own, before anything of the frame is seen.
  const inked = await page.$eval('attention-map', (map) => {
    const { canvas, clientWidth, style } = map;
    style.width = `${clientWidth - 40}px`;
    return new Promise((resolve) => {
      new ResizeObserver(() => {
        const middle = [canvas.width / 2, canvas.height / 2];
        const pixel = canvas.getContext('2d')?.getImageData(middle[0], middle[1], 1, 1);
        resolve((pixel?.data[3] ?? 0) > 0);
      }).observe(map);
    });
  });
  assert.equal(inked, true);
});

mapTest('a long text is pooled to the pixels, and a closer look is exact', async (page) => {
  const [whole, ...more] = await asked(page);
  assert.deepEqual(more, []);
  assert.deepEqual(whole.queries, [0, N]);
  assert.ok(whole.height <= 400 && whole.height > 300, `${whole.height}`);
  await page.mouse.move(...(await at(page, 0.1, 0.5)));
  const pooled = /^tokens ([\d,]+) to ([\d,]+) → tokens (\d+) to (\d+): largest weight (0\.\d+)$/;
  const found = pooled.exec(String(await tip(page)))?.slice(1) ?? [];
  const [firstQuery, lastQuery, firstKey, lastKey, largest] = found.map((number) =>
    Number(number.replace(',', '')),
  );
  // A pixel is six tokens, and some browsers round to pixels.
  assert.ok(firstQuery <= 1008 && lastQuery >= 994 && firstKey <= 208 && lastKey >= 194);
  let expected = 0;
  for (let query = firstQuery - 1; query < lastQuery; query++) {
    for (let key = firstKey - 1; key < lastKey; key++) {
      expected = Math.max(expected, ((query * 7 + key * 3) % 1000) / 1000);
    }
  }
  assert.equal(largest, expected);

  await page.evaluate('map.view = { query: 1000, key: 200, span: 20 }');
  await drawn(page);
  const [, part] = await asked(page);
  assert.deepEqual(part, { queries: [995, 1025], keys: [195, 225], height: 30, width: 30 });
  await page.mouse.move(...(await at(page, 0.525, 0.125)));
  // Query 1002, key 210: (7014 + 630) mod 1000.
  assert.equal(await tip(page), '“t1002” (1,003) → “t210” (211): 0.6440');
});

mapTest('moving within what is there, hovering and another scale compute nothing', async (page) => {
  await page.evaluate('map.view = { query: 1000, key: 200, span: 40 }');
  await drawn(page);
  const before = (await asked(page)).length;
  assert.equal(before, 2);
  const [x, y] = await at(page, 0.5, 0.5);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 30; i++) await page.mouse.move(x + i, y + i);
  await page.mouse.up();
  for (let i = 0; i < 40; i++) await page.mouse.move(x - 5 * i, y - 3 * i);
  for (const how of ["max: 'row'", "max: 'map'", "scale: 'log'", 'signed: true', ''])
    await page.evaluate(`show({ ${how} })`);
  await page.evaluate("map.pins = [{ side: 'query', token: 1005 }]");
  await drawn(page);
  assert.equal((await asked(page)).length, before);
  const [last] = (await read(page, 'views')).slice(-1);
  assert.ok(last.query < 999 && last.key < 199, JSON.stringify(last));
});

mapTest('a long way is computed a few times, not once a frame', async (page) => {
  await page.evaluate(`(async () => {
    globalThis.frames = 0;
    for (let i = 0; i < 120; i++) {
      map.view = { query: 3 * i, key: 2 * i, span: 100 + i };
      await new Promise(requestAnimationFrame);
      frames++;
    }
  })()`);
  await drawn(page);
  const count = (await asked(page)).length;
  assert.ok(count < 30, `${count} computations for 120 frames`);
  const end = (await asked(page))[count - 1];
  assert.ok(end.queries[0] <= 357 && end.queries[1] >= 357 + 219, JSON.stringify(end));
});

mapTest('what is shown now does not wait for what was asked for before', async (page) => {
  await page.evaluate(`show({ cells: () => new Promise(() => {}) }), undefined`);
  await drawn(page);
  await page.evaluate('show()');
  assert.equal((await asked(page)).length, 2);
});

mapTest('a click pins a query, with Shift a key; a drag pins nothing', async (page) => {
  await page.evaluate('map.view = { query: 100, key: 50, span: 10 }');
  await drawn(page);
  const place = await at(page, 0.25, 0.35);
  await page.mouse.click(...place);
  await page.keyboard.down('Shift');
  await page.mouse.click(...place);
  await page.keyboard.up('Shift');
  assert.deepEqual(await read(page, 'pinned'), [
    { side: 'query', token: 103 },
    { side: 'key', token: 52 },
  ]);
  await page.mouse.move(...place);
  await page.mouse.down();
  await page.mouse.move(place[0] + 60, place[1] + 60);
  await page.mouse.up();
  assert.equal((await read(page, 'pinned')).length, 2);
});

mapTest('a click on a low map pins, whose pointer trembles by a pixel', async (page) => {
  await page.evaluate(
    `map.show({ weights: Array.from({ length: 10 }, () => Array(80).fill(0.1)) })`,
  );
  const aspect = await page.$eval(FIELD, (field) => field.clientWidth / field.clientHeight);
  assert.ok(aspect > 7, `${aspect}`);
  const [x, y] = await at(page, 0.5, 0.55);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y + 1);
  await page.mouse.up();
  assert.deepEqual(await read(page, 'pinned'), [{ side: 'query', token: 5 }]);
});

/** WebDriver's wheel turns without Ctrl. */
const wheel = engine.hasEvents ? options : { skip: `${engine.name} is driven without Ctrl` };

mapTest(
  'Ctrl and the wheel zoom where the pointer is',
  async (page) => {
    await page.mouse.move(...(await at(page, 0.5, 0.75)));
    await page.keyboard.down('Control');
    await page.mouse.wheel({ deltaY: -300 });
    await page.waitForFunction('views.length > 0');
    await page.keyboard.up('Control');
    await drawn(page);
    const [view] = (await read(page, 'views')).slice(-1);
    assert.ok(view.span < 0.4 * N, JSON.stringify(view));
    assert.ok(Math.abs(view.key + view.span / 2 - N / 2) < 10, 'x stays');
    assert.ok(Math.abs(view.query + 0.75 * view.span - 0.75 * N) < 10, 'y stays');
  },
  wheel,
);

/** Fingers, which puppeteer has one of. @param {Page} page @param {number[][][]} moves places of each finger, of the map */
async function touch(page, moves) {
  const session = await page.createCDPSession();
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  const send = (/** @type {any} */ type, /** @type {any[]} */ touchPoints) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints });
  for (const [i, places] of moves.entries()) {
    const points = places.map(async ([x, y], id) => {
      const place = await at(page, x, y);
      return { x: place[0], y: place[1], id };
    });
    await send(i === 0 ? 'touchStart' : 'touchMove', await Promise.all(points));
  }
  await send('touchEnd', []);
}

if (engine.hasCdp)
  mapTest('a finger that is held on a map is told the cell, and chooses nothing', async (page) => {
    const session = await page.createCDPSession();
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    for (const [x, y] of [
      [0.21, 0.71],
      [0.41, 0.61],
    ]) {
      const place = await at(page, x, y);
      const touchPoints = [{ x: place[0], y: place[1], id: 0 }];
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
      await drawn(page);
      assert.match(
        String(await tip(page)),
        new RegExp(`tokens 1,[0-9]{3} to 1,[0-9]{3} → tokens ${Math.floor(20 * x)}[0-9]{2} to`),
      );
      assert.deepEqual(await read(page, 'pinned'), []);
      await session.send('Input.dispatchTouchEvent', { type: 'touchCancel', touchPoints: [] });
    }
  });

if (engine.hasCdp)
  mapTest('two fingers zoom where they are, and then one moves', async (page) => {
    const steps = [0, 1, 2, 3, 4, 5];
    const last = async () => (await read(page, 'views')).slice(-1)[0];
    await touch(
      page,
      steps.map((i) => [
        [0.45 - 0.01 * i, 0.7],
        [0.55 + 0.01 * i, 0.7],
      ]),
    );
    await page.waitForFunction('views.length > 0');
    const { span, query, key } = await last();
    // From a tenth of the map to a fifth; the first move is another finger's than the last.
    assert.ok(Math.abs(span - N / 2) < N / 50, `${span}`);
    assert.ok(Math.abs(key + span / 2 - N / 2) < N / 50, `${key}`);
    assert.ok(Math.abs(query + 0.7 * span - 0.7 * N) < N / 50, `${query}`);
    await touch(
      page,
      steps.map((i) => [[0.5 + 0.02 * i, 0.5 + 0.04 * i]]),
    );
    await page.waitForFunction(`views.at(-1).key !== ${key}`);
    const moved = await last();
    assert.equal(moved.span, span);
    assert.ok(Math.abs(key - moved.key - 0.1 * span) < N / 50, `${moved.key}`);
    assert.ok(Math.abs(query - moved.query - 0.2 * span) < N / 50, `${moved.query}`);
  });

mapTest('plus, minus and 0 zoom by keys', async (page) => {
  await page.evaluate('map.view = { query: 1000, key: 200, span: 40 }');
  await page.focus(FIELD);
  // Focus that comes by the keyboard goes to the last query, and the view with it; browsers differ in what they take for that.
  const before = (await read(page, 'views')).length;
  const spans = async () =>
    (await read(page, 'views')).slice(before).map((/** @type {any} */ view) => view?.span);
  await page.keyboard.press('+');
  assert.deepEqual(await spans(), [20]);
  await page.keyboard.press('-');
  await page.keyboard.press('0');
  assert.deepEqual(await spans(), [20, 40, undefined]);
});

/** Half of each row on the first key, the rest even, but for one cell that says something. */
const SINK = `show({ cells: cellsOf((start, end) => {
  const weights = new Float32Array((end - start) * ${N});
  for (let q = start; q < end; q++) {
    const row = weights.subarray((q - start) * ${N}, (q - start + 1) * ${N});
    row.fill(0.5 / (q + 1), 0, q + 1);
    row[0] += 0.5;
    if (q === 1500) row[700] = 0.3;
  }
  return weights;
}) })`;

/** @param {Page} page @param {number} query @param {number} key where a cell is on the screen, in shares */
const placeIn = async (page, query, key) => {
  const [view] = (await read(page, 'views')).slice(-1);
  return [query, key].map((token, i) => (token - (i ? view.key : view.query)) / view.span);
};

mapTest('plus goes to the cell in focus, else to pins, else to what says most', async (page) => {
  await page.evaluate(SINK);
  const closer = async () => {
    for (let i = 0; i < 6; i++) {
      await page.evaluate('map.zoomBy(0.5)');
      await drawn(page);
    }
    const [view] = (await read(page, 'views')).slice(-1);
    assert.ok(view.span < 40, JSON.stringify(view));
  };
  /** @param {number} query @param {number} key */
  const stays = async (query, key) => {
    const found = await placeIn(page, query, key);
    [query, key].forEach((token, i) =>
      assert.ok(Math.abs(found[i] - token / N) < 0.1, `${found}, expected ${token / N}`),
    );
    await page.evaluate('map.view = null');
    await drawn(page);
  };
  await closer();
  await stays(1500, 700);
  await page.evaluate("map.pins = [{ side: 'query', token: 300 }, { side: 'key', token: 100 }]");
  await closer();
  await stays(300, 100);
  await page.evaluate('map.place = { query: 1800, key: 900 }');
  await closer();
  await stays(1800, 900);
  // A pinned key alone: the query that reads it most.
  await page.evaluate('map.place = { query: -1, key: -1 }');
  await page.evaluate("map.pins = [{ side: 'key', token: 700 }]");
  await closer();
  await stays(1500, 700);
});

mapTest('where all is zero plus goes to the last query at itself', async (page) => {
  await page.evaluate(`show({ cells: async ({ height, width }) => ({
    values: new Float32Array(height * width),
  }) })`);
  await page.evaluate('map.zoomBy(0.5)');
  assert.deepEqual((await read(page, 'views')).slice(-1), [
    { query: 0.5 * (N - 0.5), key: 0.5 * (N - 0.5), span: N / 2 },
  ]);
});

mapTest('arrow keys move the cell and take the view along', async (page) => {
  await page.evaluate('map.view = { query: 100, key: 50, span: 10 }');
  await page.evaluate('map.place = { query: 109, key: 59 }');
  await page.focus(FIELD);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await drawn(page);
  assert.deepEqual(await page.evaluate('map.place'), { query: 110, key: 60 });
  assert.deepEqual((await read(page, 'views')).slice(-1), [{ query: 101, key: 51, span: 10 }]);
  // Query 110, key 60: (770 + 180) mod 1000.
  assert.equal(await tip(page), '“t110” (111) → “t60” (61): 0.9500');
  await page.keyboard.press('End');
  await drawn(page);
  assert.match(String(await tip(page)), /→ “t110” \(111\)/);
  await page.keyboard.press('ArrowRight');
  await drawn(page);
  assert.match(String(await tip(page)), /: masked, a later token$/);
  await page.keyboard.press('Enter');
  assert.deepEqual(await read(page, 'pinned'), [{ side: 'query', token: 110 }]);
});
