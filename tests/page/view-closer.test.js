// What <attention-map> can be given beside a matrix, and a closer look at it.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { colours, schemes, useScheme } from './harness.js';
import { hover, isColour, tip, viewTest } from './view-page.js';

viewTest(
  'nested arrays are weights, and what is no number has a colour of its own',
  async (page) => {
    await page.evaluate('map.show({ weights: [[1, 0.5], [NaN, 0]] })');
    const seen = await colours(page, 'attention-map >>> canvas', 2);
    isColour(seen[0], 0.999);
    isColour(seen[1], 0.5);
    assert.deepEqual(seen[2], [214, 39, 108]);
    isColour(seen[3], 0);
  },
);

for (const scheme of schemes)
  viewTest(`differences have a colour for each side of zero, in ${scheme}`, async (page) => {
    await useScheme(page, scheme);
    await page.evaluate(`{
      document.documentElement.style.colorScheme = 'light dark';
      map.show({ weights: [[0.5, -0.5], [0, 0.05]], signed: true, max: 'map', noun: 'difference' });
    }`);
    const ends = {
      light: ['179,88,6', '84,39,136', '244,245,247'],
      dark: ['253,184,99', '178,171,210', '40,45,54'],
    }[scheme];
    const seen = await colours(page, 'attention-map >>> canvas', 2);
    assert.deepEqual(seen.slice(0, 3).map(String), ends);
    await hover(page, 0.75, 0.25);
    await tip(page, '“1” (1) → “2” (2): −0.5000');
    await hover(page, 0.75, 0.75);
    await tip(page, '“2” (2) → “2” (2): +0.0500');
    const gradient = await page.evaluate(
      '(map.style.background = view.gradient({ signed: true }), getComputedStyle(map).backgroundImage)',
    );
    const [from, ...more] = [...String(gradient).matchAll(/rgb\(([\d, ]+)\)/g)];
    assert.deepEqual(
      [more.at(-1)?.[1], from[1], more[7][1]].map((rgbs) => rgbs?.replaceAll(' ', '')),
      ends,
    );
  });

/** A bright cell in 800 × 800 others: row 500, column 20. */
const LARGE = `{
  const data = Float32Array.from({ length: 800 * 800 }, (_, i) => (i % 800) / 1e4);
  data[500 * 800 + 20] = 1;
  globalThis.large = { shape: [800, 800], data };
}`;

viewTest('more weights than pixels are pooled, and exact where one looks closer', async (page) => {
  await page.evaluate(LARGE);
  await page.evaluate('map.show({ weights: large })');
  await page.evaluate('map.place = { query: 500, key: 20 }');
  const pooled = await page.$eval('attention-map >>> .map-tip', (el) => el.textContent);
  assert.match(String(pooled), /^tokens \d+ to \d+ → tokens \d+ to \d+: largest weight 1\.0000$/);
  assert.equal(await page.evaluate('map.largest'), 1);
  await page.evaluate('map.view = { query: 495, key: 15, span: 10 }');
  await hover(page, 0.55, 0.55);
  await tip(page, '“501” (501) → “21” (21): 1.0000');
  await hover(page, 0.65, 0.55);
  await tip(page, '“501” (501) → “22” (22): 0.0021');
  await page.waitForFunction('map.cells.height < 30');
  const seen = await colours(page, 'attention-map >>> canvas', 10);
  isColour(seen[55], 0.999);
  isColour(seen[54], 0);
});

viewTest('a trace is recomputed where one looks closer', async (page) => {
  const expected = await page.evaluate(`(async () => {
    const hw = await headwise.load();
    const mha = new hw.MultiHeadAttention({ dIn: 8, dOut: 8, contextLength: 1000, numHeads: 2 });
    const { trace } = mha.forward(hw.randn([1000, 8]), { trace: true });
    map.zoomable = true;
    await map.show({ trace, head: 1, causal: true });
    map.view = { query: 700, key: 300, span: 10 };
    await new Promise((resolve) => { map.addEventListener('drawn', resolve); });
    return trace.weights({ head: 1, rows: [705, 706] }).data[305];
  })()`);
  await hover(page, 0.55, 0.55);
  await tip(page, `“706” (706) → “306” (306): ${Number(expected).toFixed(4)}`);
});

viewTest('what zooms does so only with the attribute zoomable', async (page) => {
  await page.evaluate(`{
    globalThis.views = [];
    map.addEventListener('view', ({ detail }) => views.push(detail));
  }`);
  await page.evaluate(LARGE);
  const axis = () => page.$eval('attention-map >>> .key-axis', (el) => el.textContent);
  const zooms = async () => {
    await page.focus('attention-map >>> .map-field');
    await page.keyboard.press('+');
    await page.$eval('attention-map >>> .map-field', (field) =>
      field.dispatchEvent(new MouseEvent('dblclick', { clientX: 99, clientY: 99 })),
    );
    return page.evaluate('views.length');
  };
  await page.evaluate('map.show({ weights: large })');
  assert.equal(await zooms(), 0);
  assert.equal(await axis(), 'key (attended to)');
  await page.evaluate('map.zoomable = true');
  assert.equal(await page.evaluate("map.getAttribute('zoomable')"), '');
  assert.equal(await axis(), 'key →\nquery ↓');
  assert.equal(await zooms(), 2);
  const { span } = /** @type {any} */ (await page.evaluate('map.view'));
  assert.equal(span, 200);
});

viewTest('a map of few queries over many keys zooms along its keys', async (page) => {
  await page.evaluate(`{
    const data = Float32Array.from({ length: 2 * 500 }, (_, i) => (i % 500) / 1000);
    map.zoomable = true;
    map.show({ weights: { shape: [2, 500], data }, causal: true });
    map.view = { query: 0, key: 490, span: 10 };
  }`);
  await hover(page, 0.85, 0.25);
  await tip(page, '“499” (1) → “499” (499): 0.4980');
  await hover(page, 0.95, 0.25);
  await tip(page, '“499” (1) → “500” (500): masked, a later token');
  await page.focus('attention-map >>> .map-field');
  await page.keyboard.press('End');
  await tip(page, '“499” (1) → “499” (499): 0.4980');
  await page.keyboard.press('Home');
  await tip(page, '“499” (1) → “1” (1): 0');
  assert.deepEqual(await page.evaluate('map.view'), { query: 0, key: 0, span: 10 });
});

viewTest('pointer and keyboard say where they are, with Shift they pin a column', async (page) => {
  await page.evaluate(`{
    globalThis.heard = [];
    map.show({ weights: headwise.zeros([4, 4]) });
    for (const name of ['point', 'pin', 'pin-key']) {
      map.addEventListener(name, ({ detail }) => heard.push([name, detail]));
    }
    map.place = { query: 3, key: -1 };
  }`);
  await hover(page, 0.4, 0.6);
  await page.mouse.move(799, 599);
  await page.focus('attention-map >>> .map-field');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.down('Shift');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Shift');
  const heard = /** @type {[string, unknown][]} */ (await page.evaluate('heard'));
  assert.deepEqual(heard.slice(0, 2), [
    ['point', { query: 2, key: 1 }],
    ['point', null],
  ]);
  assert.deepEqual(heard.at(-1), ['pin-key', 0]);
  // Marks are drawn with the next frame.
  await page.waitForFunction("map.shadowRoot.querySelectorAll('.cell-cursor').length === 2", {
    timeout: 5000,
  });
});

viewTest('what is no view or place is refused, null is none, and the map goes on', async (page) => {
  const said = await page.evaluate(`(async () => {
    const said = [];
    map.addEventListener('error', ({ message }) => said.push('event ' + message));
    await map.show({ weights: headwise.zeros([9, 9]) });
    for (const view of [{ query: 1, key: 1 }, { query: NaN, key: 0, span: 6 }, 'x', false, 0])
      try { map.view = view; } catch ({ code, message }) { said.push(code + ': ' + message); }
    const early = document.createElement('attention-map');
    early.view = { query: 1, key: 2, span: 3 };
    said.push(JSON.stringify(early.view));
    map.place = { query: 1, key: 1 };
    map.place = null;
    said.push(map.view, map.place.query);
    map.focus();
    said.push(map.shadowRoot.activeElement === map.shadowRoot.querySelector('.map-field'));
    const cells = () => { throw new Error('boom'); };
    await map.show({ cells, tokens: Array(9).fill('t') })
      .then(() => said.push('shown'), ({ message }) => said.push(message));
    await map.show({ weights: headwise.zeros([9, 9]) });
    return said.map(String);
  })()`);
  const none = 'expected { query, key, span } with finite numbers, or null';
  const refused = [
    'view.span is undefined; expected a finite number',
    'view.query is NaN; expected a finite number',
    ...['"x"', 'false', '0'].map((view) => `view is ${view}; ${none}`),
  ].map((words) => `ERR_VALUE: ${words}`);
  const early = '{"query":0,"key":0,"span":0}';
  assert.deepEqual(said, [...refused, early, 'null', '-1', 'true', 'boom']);
});

if (engine.hasCdp)
  viewTest(
    'what is shown before it is in a dark page has that page’s colours there',
    async (page) => {
      await useScheme(page, 'dark');
      const pixels = await page.evaluate(`(async () => {
      document.documentElement.style.colorScheme = 'dark';
      document.documentElement.style.color = 'white';
      const view = { weights: headwise.tensor([[0.5, -1], [1, 0.25]]), signed: true };
      const colours = [];
      for (const isFirst of [true, false]) {
        const one = document.createElement('attention-map');
        if (isFirst) one.show(view);
        document.body.append(one);
        if (!isFirst) one.show(view);
        for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
        const { canvas } = one;
        const [x, y] = [canvas.width / 4, canvas.height / 4];
        colours.push([...canvas.getContext('2d').getImageData(x, y, 1, 1).data].join());
        one.remove();
      }
      return colours;
    })()`);
      const [before, after] = /** @type {string[]} */ (pixels);
      assert.equal(before, after);
    },
  );

viewTest(
  'a cell is read aloud where it is pointed at, not where it is only marked',
  async (page) => {
    const live = () =>
      page.$eval('attention-map >>> .map-tip', (el) => el.getAttribute('aria-live'));
    await page.evaluate(`{
    map.addEventListener('point', ({ detail }) => (map.place = detail ?? { query: -1, key: -1 }));
    map.show({ weights: headwise.zeros([4, 4]) });
    map.place = { query: 3, key: 1 };
  }`);
    assert.equal(await live(), 'off');
    await hover(page, 0.4, 0.6);
    assert.equal(await live(), 'polite');
    await page.evaluate('map.place = { query: 3, key: 2 }');
    assert.equal(await live(), 'off');
  },
);

viewTest(
  'pins are marks and labels in their colours, and one of no token is none',
  async (page) => {
    const seen = await page.evaluate(`(async () => {
    const all = (of) => [...map.shadowRoot.querySelectorAll(of)];
    const drawn = async () => {
      for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    };
    map.show({ weights: headwise.zeros([4, 4]), tokens: ['a', 'b', 'c', 'd'] });
    await drawn();
    map.pinned = 3;
    await drawn();
    const first = all('.row-pin').length;
    map.pins = [
      { side: 'query', token: 1, colour: 'rgb(1, 2, 3)' },
      { side: 'key', token: 2 },
      { side: 'key', token: 9 },
    ];
    await drawn();
    const marks = all('.row-pin').map(({ className, style }) => className + style.getPropertyValue('--accent'));
    const labels = all('.labels .strong').map(({ textContent, style }) => textContent + style.color);
    map.show({ weights: headwise.zeros([60, 60]), tokens: Array.from({ length: 60 }, (_, i) => 't' + i) });
    map.pins = [{ side: 'query', token: 9 }];
    await drawn();
    const rows = all('.rows.numbers span').map(({ textContent }) => textContent);
    return { first, marks, labels, rows, thin: all('.row-pin.thin').length };
  })()`);
    const { first, marks, labels, rows, thin } = /** @type {any} */ (seen);
    assert.equal(first, 1);
    assert.deepEqual(marks, ['row-pin row', 'row-pin rowrgb(1, 2, 3)', 'row-pin column']);
    assert.deepEqual(labels, ['c', 'brgb(1, 2, 3)', 'd']);
    assert.equal(thin, 2);
    assert.ok(rows.includes('t9') && rows.includes('20') && !rows.includes('10'), `${rows}`);
  },
);

viewTest(
  'who comes back to a map by keys is at the cell that was left, if it is in view',
  async (page) => {
    await page.evaluate(`{
    globalThis.heard = [];
    map.addEventListener('point', ({ detail }) => heard.push(detail && [detail.query, detail.key]));
    const other = document.createElement('button');
    document.body.append(other);
    globalThis.leave = () => other.focus();
    map.zoomable = true;
    map.show({ weights: headwise.zeros([60, 60]) });
  }`);
    await page.keyboard.press('Tab');
    for (const key of /** @type {const} */ (['Home', 'PageUp', 'ArrowRight']))
      await page.keyboard.press(key);
    const back = async () => {
      await page.evaluate('(leave(), heard.length = 0)');
      await page.keyboard.down('Shift');
      await page.keyboard.press('Tab');
      await page.keyboard.up('Shift');
      return page.evaluate('heard');
    };
    assert.deepEqual(await back(), [[49, 1]]);
    await page.evaluate('map.view = { query: 20, key: 20, span: 10 }');
    assert.deepEqual(await back(), [[29, 29]]);
    await page.evaluate('leave()');
    assert.deepEqual(await page.evaluate('heard.at(-1)'), null);
  },
);

viewTest(
  'a cell is said once, to a click without a pointer too, and keys keep it',
  async (page) => {
    await page.evaluate(`{
    globalThis.heard = [];
    map.show({ weights: headwise.zeros([4, 4]) });
    for (const name of ['point', 'pin'])
      map.addEventListener(name, ({ detail }) => heard.push([name, detail]));
    const field = map.shadowRoot.querySelector('.map-field');
    const { left, top, width, height } = field.getBoundingClientRect();
    const at = { clientX: left + 0.9 * width, clientY: top + 0.1 * height };
    field.dispatchEvent(new MouseEvent('click', at));
  }`);
    for (const x of [0.4, 0.42, 0.44]) await hover(page, x, 0.6);
    const cells = [
      { query: 0, key: 3 },
      { query: 2, key: 1 },
    ];
    assert.deepEqual(await page.evaluate('heard'), [
      ['point', cells[0]],
      ['pin', 0],
      ['point', cells[1]],
    ]);
    await page.keyboard.press('Tab');
    await page.mouse.move(790, 590);
    assert.deepEqual(await page.evaluate('map.place'), cells[1]);
  },
);

viewTest('a map that is hidden asks for the cells of a new view when it is seen', async (page) => {
  const asked = await page.evaluate(`(async () => {
    const asked = [];
    const cells = ({ height, width, ...region }) => {
      asked.push(region.keys[0]);
      return { values: new Float32Array(height * width) };
    };
    const drawn = async () => {
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    };
    map.show({ cells, keys: 5000 });
    map.hidden = true;
    await drawn();
    map.view = { query: 2000, key: 2000, span: 20 };
    const before = [...asked];
    map.hidden = false;
    await drawn();
    const after = [...asked];
    map.hidden = true;
    map.view = { query: 3000, key: 3000, span: 20 };
    map.hidden = false;
    await drawn();
    return [before, after, asked];
  })()`);
  assert.deepEqual(asked, [[0], [0, 1995], [0, 1995, 2995]]);
});

viewTest('keys go from cell to cell of a pooled map', async (page) => {
  await page.evaluate(LARGE);
  await page.evaluate('map.show({ weights: large })');
  await page.focus('attention-map >>> .map-field');
  for (const key of /** @type {const} */ (['ArrowDown', 'ArrowDown', 'ArrowRight']))
    await page.keyboard.press(key);
  const { query, key } = /** @type {any} */ (await page.evaluate('map.place'));
  const cells = /** @type {number} */ (await page.evaluate('map.cells.height'));
  assert.deepEqual([query, key], [Math.floor((2 * 800) / cells), Math.floor(800 / cells)]);
});

viewTest(
  'cells may be there at once, and are asked for again when there are more pixels',
  async (page) => {
    await page.evaluate(`{
    globalThis.asked = [];
    const cells = ({ height, width, ...region }) => {
      asked.push([height, width]);
      return { values: new Float32Array(height * width).fill(0.5) };
    };
    map.style.width = '200px';
    map.style.maxWidth = 'none';
    map.show({ cells, keys: 5000, max: 'row' });
  }`);
    isColour((await colours(page, 'attention-map >>> canvas', 1))[0], 0.999);
    const [[before]] = /** @type {number[][]} */ (await page.evaluate('asked'));
    await page.evaluate("map.style.width = '600px'");
    await page.waitForFunction('asked.length > 1');
    const [, [after]] = /** @type {number[][]} */ (await page.evaluate('asked'));
    assert.ok(after > 3 * before, `${before}, ${after}`);
    assert.equal(await page.evaluate('map.canvas.dataset.size'), String(after));
  },
);

viewTest(
  'cells that fail reject what shows them, and are an event where one looks closer',
  async (page) => {
    const heard = await page.evaluate(`(async () => {
    const heard = [];
    map.addEventListener('error', ({ error }) => heard.push(error.message));
    const failing = async () => { throw new Error('no whole'); };
    await map.show({ cells: failing, keys: 9 }).catch(({ message }) => heard.push(message));
    const few = async () => ({ values: [1] });
    await map.show({ cells: few, keys: 9 }).catch(({ code }) => heard.push(code));
    const whole = async ({ keys: [start], height, width }) => {
      if (start > 0) throw new Error('no part');
      return { values: new Float32Array(height * width) };
    };
    await map.show({ cells: whole, keys: 5000 });
    map.view = { query: 2000, key: 2000, span: 50 };
    for (let i = 0; i < 100 && heard.length < 3; i++) await new Promise(requestAnimationFrame);
    return heard;
  })()`);
    assert.deepEqual(heard, ['no whole', 'ERR_SHAPE', 'no part']);
  },
);

viewTest('a failure is told once, however often the view changes meanwhile', async (page) => {
  const heard = await page.evaluate(`(async () => {
    const heard = [];
    map.addEventListener('error', ({ error }) => heard.push('event: ' + error.message));
    const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const cellsOf = (first) => async ({ keys: [start], height, width }) => {
      await later(100);
      if (start >= first) throw new Error('from ' + first);
      return { values: new Float32Array(height * width) };
    };
    const move = async () => {
      for (const key of [2000, 2001, 2002]) {
        map.view = { query: 2000, key, span: 50 };
        await later(5);
      }
    };
    const shown = map.show({ cells: cellsOf(0), keys: 5000 });
    await move();
    await shown.catch(({ message }) => heard.push('shown: ' + message));
    map.view = null;
    await map.show({ cells: cellsOf(1), keys: 5000 });
    await move();
    await later(200);
    return heard;
  })()`);
  assert.deepEqual(heard, ['shown: from 0', 'event: from 1']);
});

viewTest('without a canvas the weights are read out all the same', async (page) => {
  await page.evaluate(`{
    HTMLCanvasElement.prototype.getContext = () => null;
    map.show({ weights: [[1, 0], [0.25, 0.75]] });
  }`);
  await page.focus('attention-map >>> .map-field');
  await page.keyboard.press('ArrowDown');
  await tip(page, '“2” (2) → “1” (1): 0.2500');
});
