// headwise/view as an embedder has it: the element, and the function behind it, without the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colours } from './harness.js';
import { hover, isColour, tip, viewTest } from './view-page.js';

viewTest('drawWeights draws a matrix in the colours of its values', async (page) => {
  await page.evaluate(`{
    const canvas = document.createElement('canvas');
    canvas.id = 'plain';
    canvas.style.cssText = 'width: 90px; height: 90px';
    document.body.append(canvas);
    view.drawWeights(canvas, headwise.tensor([[1, 0.5, 0], [0.25, 0.75, 2], [0, 0.1, 0.9]]));
  }`);
  const seen = await colours(page, '#plain', 3);
  [1, 0.5, 0, 0.25, 0.75, 1, 0, 0.1, 0.9].forEach((share, i) =>
    isColour(seen[i], Math.min(share, 0.999)),
  );
  await page.evaluate(`view.drawWeights(document.getElementById('plain'),
    headwise.tensor([[0.5, 0, 0], [0.1, 0.2, 0], [0.1, 0.2, 0.4]]), { max: 'row', causal: true })`);
  const rows = await colours(page, '#plain', 3);
  await page.evaluate(`view.drawWeights(document.getElementById('plain'),
    [Float32Array.of(1, 0.1, 0.01), [0.001, 0.0001, 0.00001], [0, 2, 0.5]], { scale: 'log' })`);
  const decades = await colours(page, '#plain', 3);
  [0.999, 0.75, 0.5, 0.25, 0, 0, 0, 0.999, 0.925].forEach((share, i) =>
    isColour(decades[i], share),
  );
  isColour(rows[0], 0.999);
  isColour(rows[3], 0.5);
  isColour(rows[8], 0.999);
  for (const i of [1, 2, 5]) {
    assert.ok(Math.max(...rows[i]) - Math.min(...rows[i]) < 16, `masked is grey: ${rows[i]}`);
    assert.ok(Math.min(...rows[i]) > 150, `masked is light: ${rows[i]}`);
  }
});

viewTest('drawWeights hatches a canvas that is in no document yet', async (page) => {
  const masked = await page.evaluate(`(() => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 60;
    view.drawWeights(canvas, headwise.tensor([[1, 0], [0.5, 0.5]]), { causal: true });
    return [...canvas.getContext('2d').getImageData(45, 15, 1, 1).data];
  })()`);
  assert.ok(Math.min(.../** @type {number[]} */ (masked)) > 150, `masked is ${masked}`);
});

viewTest(
  'an option that there is not is named, by the element and by drawWeights',
  async (page) => {
    const known = 'queries, keys, causal, max, scale, signed';
    const viewed = `weights, trace, cells, batch, head, tokens, queryTokens, name, noun, ${known}`;
    for (const [call, message] of [
      ['map.show({ weights, casual: true })', `show: unknown option casual; expected ${viewed}`],
      [
        'map.show({ weights, label: [], Max: 1 })',
        `show: unknown option label, Max; expected ${viewed}`,
      ],
      ['map.show(weights)', `view is a Tensor of shape [1, 1]; expected an object of ${viewed}`],
      [
        'view.drawWeights(map.canvas, weights, { tokens: [] })',
        `drawWeights: unknown option tokens; expected ${known}`,
      ],
      ['view.drawWeights(null, weights)', 'canvas is null; expected a canvas element'],
      [
        'view.drawWeights(weights, map.canvas)',
        'canvas is a Tensor of shape [1, 1]; expected a canvas element',
      ],
    ]) {
      const error = await page.evaluate(`(() => {
      const weights = headwise.tensor([[1]]);
      try { ${call}; } catch ({ code, message }) { return code + ' ' + message; }
    })()`);
      assert.equal(error, `ERR_VALUE ${message}`);
    }
    await page.evaluate('map.show({ weights: headwise.tensor([[1]]), max: undefined })');
  },
);

viewTest('what is no end and no kind of the colour scale is named', async (page) => {
  for (const [given, message] of /** @type {const} */ ([
    ["{ max: 'rows' }", /^ERR_VALUE max is "rows"; expected \S/],
    ['{ max: NaN }', /^ERR_VALUE max is NaN; expected \S/],
    ["{ scale: 'ln' }", /^ERR_VALUE scale is "ln"; expected \S/],
  ])) {
    const error = await page.evaluate(`(() => {
      try {
        const canvas = document.createElement('canvas');
        view.drawWeights(canvas, headwise.tensor([[1]]), ${given});
      } catch ({ code, message }) { return code + ' ' + message; }
    })()`);
    assert.match(String(error), message);
  }
});

viewTest(
  'the element draws weights of fewer queries than keys, and reads them out',
  async (page) => {
    await page.evaluate(`map.show({
    weights: headwise.tensor([[0.2, 0.8, 0, 0], [0.1, 0.2, 0.3, 0.4]]),
    tokens: ['a', 'b', 'c', 'd'],
    causal: true,
  })`);
    await hover(page, 0.3, 0.3);
    await tip(page, '“c” (1) → “b” (2): 0.8000');
    await hover(page, 0.9, 0.3);
    await tip(page, '“c” (1) → “d” (4): masked, a later token');
    await hover(page, 0.6, 0.3);
    await tip(page, '“c” (1) → “c” (3): 0');
    const side = await page.$eval('attention-map >>> .map-field', (field) => [
      field.clientWidth,
      field.clientHeight,
    ]);
    assert.ok(Math.abs(side[0] - 2 * side[1]) <= 1, `cells are square: ${side}`);
  },
);

viewTest(
  'the element draws a head of a trace, pooled where it is larger than the screen',
  async (page) => {
    const sizes = /** @type {string[]} */ (
      await page.evaluate(`(async () => {
      const hw = await headwise.load();
      hw.manualSeed(1);
      const options = { dIn: 8, dOut: 8, contextLength: 1000, numHeads: 2 };
      const mha = new hw.MultiHeadAttention(options);
      const sizes = [];
      for (const n of [5, 1000]) {
        const { trace } = mha.forward(hw.randn([n, 8]), { trace: true });
        await map.show({ trace, head: 1, causal: true });
        sizes.push(map.canvas.dataset.size);
        globalThis.first = trace.weights({ head: 1, rows: [3, 4] }).data[0];
      }
      return sizes;
    })()`)
    );
    assert.equal(sizes[0], '5');
    assert.ok(Number(sizes[1]) > 100 && Number(sizes[1]) < 300, sizes[1]);
    await hover(page, 0.001, 0.999);
    const words = await page.$eval('attention-map >>> .map-tip', (el) => el.textContent);
    assert.match(
      String(words),
      /^tokens 99\d to 1,000 → tokens 1 to \d: largest weight 0\.00\d\d$/,
    );
  },
);

viewTest(
  'keys move the cell; a click and Enter pin its row, brackets ask for another head',
  async (page) => {
    await page.evaluate(`{
    globalThis.heard = [];
    map.show({ weights: headwise.tensor([[1, 0], [0.5, 0.5]]) });
    for (const name of ['pin', 'head']) {
      map.addEventListener(name, ({ detail }) => heard.push([name, detail]));
    }
  }`);
    await page.keyboard.press('Tab');
    await tip(page, '“1” (1) → “1” (1): 1.0000');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press(']');
    await page.keyboard.press('[');
    assert.deepEqual(await page.evaluate('heard'), [
      ['pin', 1],
      ['head', 1],
      ['head', -1],
    ]);
  },
);

viewTest('an element that was taken out does not listen to the page any more', async (page) => {
  const counts = await page.evaluate(`(() => {
    const heard = new Set();
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    Object.assign(MediaQueryList.prototype, {
      addEventListener(...args) { heard.add(this); add.apply(this, args); },
      removeEventListener(...args) { heard.delete(this); remove.apply(this, args); },
    });
    const element = document.createElement('attention-map');
    document.body.append(element);
    const before = heard.size;
    element.remove();
    return [before, heard.size];
  })()`);
  assert.deepEqual(counts, [1, 0], 'to the screen’s pixels');
});

viewTest('an element works where a page is only imitated, as by jsdom', async (page) => {
  const words = await page.evaluate(`(async () => {
    globalThis.matchMedia = globalThis.ResizeObserver = undefined;
    delete CSSStyleSheet.prototype.replaceSync;
    const element = document.createElement('attention-map');
    document.body.append(element);
    await element.show({ weights: [[1, 0], [0.5, 0.5]], tokens: ['one', 'two'] });
    element.place = { query: 1, key: 0 };
    element.remove();
    return element.shadowRoot.querySelector('[role=status]').textContent;
  })()`);
  assert.equal(words, '“two” (2) → “one” (1): 0.5000');
});

viewTest('what cannot be drawn is refused in words', async (page) => {
  const refused = (/** @type {string} */ call) =>
    page.evaluate(
      `(async () => { try { await ${call}; } catch (error) { return error.code + ' ' + error.message; } })()`,
    );
  assert.match(
    String(await refused('map.show({})')),
    /^ERR_VALUE neither weights nor trace nor cells is given/,
  );
  assert.match(
    String(await refused('map.show({ weights: [[1]], cells: () => {} })')),
    /^ERR_VALUE weights and cells are given/,
  );
  assert.match(
    String(await refused('map.show({ cells: () => {} })')),
    /^ERR_VALUE .*tokens or keys/,
  );
  assert.match(String(await refused('map.show({ trace: false })')), /^ERR_VALUE trace is false/);
  assert.match(String(await refused('map.show({ cells: 0 })')), /^ERR_VALUE cells is 0/);
  assert.match(
    String(await refused('map.show({ weights: headwise.zeros([2, 3, 4]) })')),
    /^ERR_SHAPE weights is a Tensor of shape \[2, 3, 4\]; expected \S/,
  );
  assert.match(
    String(await refused("map.show({ weights: headwise.zeros([2, 2]), tokens: ['a'] })")),
    /^ERR_SHAPE tokens has 1 labels; expected .*2 tokens/,
  );
});

test('where there are no elements, as on a server, importing the view is harmless', async () => {
  const view = await import('headwise/view');
  assert.equal(typeof view.AttentionMap, 'function');
  assert.match(view.gradient(), /^linear-gradient\(to right, #440154, .*#fde725\)$/);
});
