// headwise/view in pages of others: their themes, their CSS, their font's size, elements and arrays that come and go.
import assert from 'node:assert/strict';
import { colours } from './harness.js';
import { hover, isColour, tip, viewTest } from './view-page.js';

/** @import { Page } from 'puppeteer-core' */

/** Lets transitions of no time, observers and the next drawing pass. @param {Page} page */
const settle = (page) =>
  page.evaluate(
    `new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100))`,
  );

/** @param {Page} page @param {string} css */
const addCss = (page, css) =>
  page.evaluate(`{
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(css)});
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }`);

/** What a masked cell is drawn in. @param {Page} page @returns {Promise<number>} its largest channel */
async function maskOf(page) {
  const [, masked] = await colours(page, 'attention-map >>> canvas', 2);
  return Math.max(...masked);
}

viewTest(
  'a map follows the page’s color-scheme and its own properties of colours',
  async (page) => {
    await page.evaluate(`map.show({ weights: [[1, 0], [0.5, 0.5]], causal: true })`);
    assert.ok((await maskOf(page)) > 200);
    await page.evaluate(`document.documentElement.style.colorScheme = 'dark'`);
    await settle(page);
    assert.ok((await maskOf(page)) < 90);
    await page.evaluate(`map.show({ weights: [[0, 0], [0, 0]], signed: true })`);
    assert.ok((await maskOf(page)) < 90, 'zero of a dark page');
    await page.evaluate(`document.documentElement.style.colorScheme = 'light'`);
    await settle(page);
    assert.ok((await maskOf(page)) > 200, 'zero of a light page');
    await page.evaluate(`map.show({ weights: [[1, 0], [0.5, 0.5]], causal: true })`);
    await page.evaluate(`{
    map.style.setProperty('--attention-mask', 'rgb(0, 0, 60)');
    map.style.setProperty('--attention-mask-line', 'rgb(0, 0, 60)');
  }`);
    await settle(page);
    assert.equal(await maskOf(page), 60);
  },
);

viewTest(
  'drawWeights takes the colours of its place, whatever the page’s CSS does',
  async (page) => {
    const mask = async () => {
      await page.evaluate(`{
      const canvas = document.createElement('canvas');
      canvas.id = 'plain';
      canvas.style.cssText = 'width: 90px; height: 90px; color: red';
      document.body.replaceChildren(canvas);
      canvas.getBoundingClientRect();
      view.drawWeights(canvas, [[1, 0], [0.5, 0.5]], { causal: true });
    }`);
      return (await colours(page, '#plain', 2))[1];
    };
    const plain = await mask();
    assert.ok(Math.min(...plain) > 150);
    await addCss(page, '* { transition: all 0.4s } canvas { color: red !important }');
    assert.deepEqual(await mask(), plain);
    const after = await page.evaluate(`(() => {
    const { style } = document.getElementById('plain');
    return [style.color, style.transitionProperty, style.cssText.includes('important')];
  })()`);
    assert.deepEqual(after, ['red', '', false], 'the canvas’s own style is as it was');
    const moving = await page.evaluate(`document.getElementById('plain').getAnimations().length`);
    assert.equal(moving, 0, 'nothing was set in motion');
  },
);

viewTest('a canvas without a size in CSS keeps its own at every drawing', async (page) => {
  const sizes = await page.evaluate(`(() => {
    Object.defineProperty(globalThis, 'devicePixelRatio', { value: 2 });
    const canvas = document.createElement('canvas');
    document.body.append(canvas);
    return [1, 2, 3].flatMap(() => {
      view.drawWeights(canvas, [[1, 0], [0.5, 0.5]]);
      return [canvas.width, canvas.height];
    });
  })()`);
  assert.deepEqual(sizes, [300, 150, 300, 150, 300, 150]);
  const wide = await page.evaluate(`(() => {
    const canvas = document.createElement('canvas');
    canvas.style.width = '400px';
    document.body.append(canvas);
    view.drawWeights(canvas, [[1, 0], [0.5, 0.5]]);
    return [canvas.width, canvas.height, canvas.clientWidth, canvas.clientHeight];
  })()`);
  assert.deepEqual(wide, [800, 400, 400, 200], 'one with a width alone keeps its shape');
});

viewTest(
  'labels have room at any size of the font, and are numbers where they have not',
  async (page) => {
    /** @returns {Promise<{ texts: string[], overlap: number, axis: boolean }>} */
    const rows = () =>
      page.evaluate(() => {
        const root = document.querySelector('attention-map')?.shadowRoot;
        const labels = [...(root?.querySelectorAll('.rows span') ?? [])];
        const boxes = labels.map((label) => label.getBoundingClientRect());
        const overlaps = boxes.slice(1).map(({ top }, i) => boxes[i].bottom - top);
        const axis = /** @type {HTMLElement} */ (root?.querySelector('.query-axis'));
        return {
          texts: labels.map((label) => label.textContent ?? ''),
          overlap: Math.max(...overlaps),
          axis: axis.scrollHeight <= axis.clientHeight,
        };
      });
    await page.evaluate(`map.show({
    weights: Array.from({ length: 12 }, () => new Float32Array(12).fill(1 / 12)),
    tokens: 'It was the best of times it was the worst of them'.split(' '),
  })`);
    const usual = await rows();
    assert.deepEqual(usual.texts.slice(0, 3), ['It', 'was', 'the']);
    assert.ok(usual.overlap <= 2, `overlap by ${usual.overlap}`);
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
    await settle(page);
    const large = await rows();
    assert.match(large.texts.join(' '), /^(5 )?10$/);
    assert.ok(large.overlap <= 0, `overlap by ${large.overlap}`);
    assert.ok(large.axis, 'the name of the axis is whole');
  },
);

viewTest(
  'labels of columns are names or numbers with room for both, at any width',
  async (page) => {
    const seen = await page.evaluate(`(async () => {
    const names = 'Understanding was not in her power to speak of him to her sister , for she was not able to speak'.split(' ');
    const failures = [];
    let named = 0;
    let numbered = 0;
    for (const width of [220, 260, 300, 340]) {
      map.style.width = width + 'px';
      for (let n = 11; n <= names.length; n++) {
        const tokens = names.slice(0, n);
        await map.show({ weights: tokens.map(() => new Float32Array(n).fill(1 / n)), tokens });
        map.place = { query: n - 1, key: n - 1 };
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const box = map.shadowRoot.querySelector('.columns');
        const labels = [...box.querySelectorAll('span:not(.strong)')].map((label) => label.getBoundingClientRect());
        const isApart = labels.slice(1).every(({ left }, i) => left > labels[i].right - 4);
        if (box.classList.contains('numbers')) numbered++;
        else named++;
        const isLow = !box.classList.contains('numbers') && labels[0].height < 40;
        if (!isApart || isLow) failures.push([width, n]);
        const row = map.shadowRoot.querySelector('.rows .strong');
        if (row.scrollWidth > row.clientWidth && names[n - 1].length < 7) failures.push([width, n, 'row']);
      }
    }
    return { failures, named, numbered };
  })()`);
    const { failures, named, numbered } = /** @type {Record<string, any>} */ (seen);
    assert.deepEqual(failures, []);
    assert.ok(named > 10 && numbered > 10, `${named} with names, ${numbered} with numbers`);
  },
);

viewTest('tokens look as they are where the page changes its text', async (page) => {
  await addCss(page, 'body { text-transform: uppercase; letter-spacing: 2px; text-indent: 2em }');
  await page.evaluate(`map.show({ weights: [[1, 0], [0.5, 0.5]], tokens: ['polish', 'Polish'] })`);
  const seen = await page.evaluate(() => {
    const label = document.querySelector('attention-map')?.shadowRoot?.querySelector('.rows span');
    const { textTransform, letterSpacing, textIndent } = getComputedStyle(
      /** @type {Element} */ (label),
    );
    return [textTransform, letterSpacing, textIndent];
  });
  assert.deepEqual(seen, ['none', 'normal', '0px']);
});

viewTest('a narrow map is cells alone', async (page) => {
  const widths = await page.evaluate(`(async () => {
    const found = [];
    for (const width of [40, 60, 90, 110, 110]) {
      map.style.width = width + 'px';
      await map.show({ weights: [[1, 0], [0.5, 0.5]], tokens: ['a token', 'another'] });
      found.push(map.shadowRoot.querySelector('.map-field').clientWidth);
    }
    return found;
  })()`);
  const [wider, again] = /** @type {number[]} */ (widths).splice(3);
  assert.deepEqual(widths, [40, 60, 90]);
  assert.ok(wider < 90, 'a wider one has labels');
  assert.equal(again, wider);
});

viewTest('what is shown stays when its array changes or goes to a Worker', async (page) => {
  await page.evaluate(`{
    globalThis.weights = headwise.tensor(new Float32Array(400 * 400).fill(0.5), [400, 400]);
    map.zoomable = true;
    map.show({ weights });
    weights.data.fill(1);
    structuredClone(weights.data, { transfer: [weights.data.buffer] });
    map.view = { query: 0, key: 0, span: 12 };
    map.place = { query: 1, key: 1 };
  }`);
  await settle(page);
  await tip(page, '“2” (2) → “2” (2): 0.5000');
  isColour((await colours(page, 'attention-map >>> canvas', 2))[0], 0.5);
});

viewTest('the readout of a cell out of view is not shown', async (page) => {
  const isShown = () =>
    page.$eval('attention-map >>> .map-tip', (el) => getComputedStyle(el).visibility === 'visible');
  await page.evaluate(`{
    map.zoomable = true;
    map.show({ weights: Array.from({ length: 60 }, () => new Float32Array(60).fill(1 / 60)) });
    map.place = { query: 50, key: 10 };
  }`);
  assert.equal(await isShown(), true);
  await page.evaluate(`map.view = { query: 0, key: 0, span: 8 }`);
  assert.equal(await isShown(), false);
  await page.evaluate(`map.view = { query: 46, key: 6, span: 8 }`);
  assert.equal(await isShown(), true);
});

viewTest('the readout goes with the pointer, and with one side of its cell', async (page) => {
  const isShown = () =>
    page.$eval('attention-map >>> .map-tip', (el) => getComputedStyle(el).visibility === 'visible');
  await page.evaluate(
    `map.show({ weights: Array.from({ length: 60 }, () => Array(60).fill(0.1)) })`,
  );
  await hover(page, 0.5, 0.5);
  assert.equal(await isShown(), true);
  await page.mouse.move(790, 590);
  assert.equal(await isShown(), false);
  await page.evaluate('map.place = { query: 5, key: 50 }');
  await page.evaluate('map.view = { query: 0, key: 0, span: 8 }');
  assert.equal(await isShown(), false);
});

viewTest('other tokens take the marked cell away, and the same ones do not', async (page) => {
  const places = await page.evaluate(`(() => {
    const weights = headwise.zeros([2, 2]);
    const places = [];
    map.show({ weights, tokens: ['a', 'b'] });
    map.place = { query: 1, key: 0 };
    for (const tokens of [['a', 'b'], ['a', 'c']]) {
      map.show({ weights, tokens });
      places.push(map.place.query);
    }
    return places;
  })()`);
  assert.deepEqual(places, [1, -1]);
});

viewTest('a trace that arrives after what was shown since is dropped', async (page) => {
  const words = await page.evaluate(`(async () => {
    let arrive;
    const shape = new Promise((resolve) => (arrive = resolve));
    const weights = () => ({ shape: [1, 1], data: [0.75] });
    const late = map.show({ trace: { shape, weights, map: weights } });
    map.show({ weights: [[0.25]] });
    arrive([1, 1, 1, 1]);
    await late;
    map.place = { query: 0, key: 0 };
    return map.shadowRoot.querySelector('.map-tip').textContent;
  })()`);
  assert.equal(words, '“1” (1) → “1” (1): 0.2500');
});

viewTest('cells that arrive or fail after others were shown are dropped', async (page) => {
  const words = await page.evaluate(`(async () => {
    let arrive, fail;
    map.show({ weights: [[0.5]] });
    const arriving = map.show({ cells: () => new Promise((done) => (arrive = done)), keys: 1 });
    const failing = map.show({ cells: () => new Promise((_, no) => (fail = no)), keys: 1 });
    await map.show({ cells: async () => ({ values: [0.25] }), keys: 1 });
    arrive({ values: [0.75] });
    fail(new Error('too late'));
    await Promise.all([arriving, failing]);
    map.place = { query: 0, key: 0 };
    return map.shadowRoot.querySelector('.map-tip').textContent;
  })()`);
  assert.equal(words, '“1” (1) → “1” (1): 0.2500');
});

viewTest('over an empty map pointers say nothing', async (page) => {
  await page.evaluate(`{
    globalThis.heard = [];
    for (const name of ['point', 'pin']) map.addEventListener(name, () => heard.push(name));
  }`);
  await hover(page, 0.5, 0.5);
  await page.$eval('attention-map >>> .map-field', (field) =>
    field.dispatchEvent(new MouseEvent('click')),
  );
  assert.deepEqual(await page.evaluate('heard'), []);
});

viewTest('fingers move a map that is looked at closer, and else the page', async (page) => {
  const actions = await page.evaluate(`(() => {
    const field = map.shadowRoot.querySelector('.map-field');
    map.zoomable = true;
    map.show({ weights: headwise.zeros([60, 60]) });
    return [null, { query: 0, key: 0, span: 8 }, null].map((view) => {
      map.view = view;
      return getComputedStyle(field).touchAction;
    });
  })()`);
  assert.deepEqual(actions, ['pan-y', 'none', 'pan-y']);
});

viewTest('zoomable is a boolean, as a framework sets it', async (page) => {
  const seen = await page.evaluate(`[true, undefined, undefined, null, false, 1].map((value) => {
    map.zoomable = value;
    return map.zoomable;
  })`);
  assert.deepEqual(seen, [true, false, false, false, false, true]);
});

viewTest('a map that is taken out while it is dragged is not dragged on', async (page) => {
  await page.evaluate(`{
    globalThis.heard = [];
    map.zoomable = true;
    map.show({ weights: Array.from({ length: 60 }, () => new Float32Array(60).fill(1 / 60)) });
    map.view = { query: 20, key: 20, span: 12 };
    for (const name of ['view', 'pin']) map.addEventListener(name, () => heard.push(name));
  }`);
  const box = await (await page.$('attention-map >>> .map-field'))?.boundingBox();
  assert.ok(box);
  const at = (/** @type {number} */ by) => /** @type {const} */ ([box.x + 100 + by, box.y + 100]);
  await page.mouse.move(...at(0));
  await page.mouse.down();
  await page.mouse.move(...at(20));
  await page.evaluate(`{ globalThis.dragged = heard.length; map.remove(); }`);
  await page.mouse.up();
  await page.evaluate(`{ document.body.append(map); heard.length = 0; }`);
  await page.mouse.move(...at(40));
  await page.mouse.move(...at(60));
  assert.ok(Number(await page.evaluate('dragged')) > 0, 'it was dragged');
  assert.deepEqual(await page.evaluate('heard'), []);
  await page.evaluate(
    `map.shadowRoot.querySelector('.map-field').dispatchEvent(new MouseEvent('click'))`,
  );
  assert.deepEqual(await page.evaluate('heard'), ['pin'], 'a click without a pointer');
});

viewTest('a map without tokens has its own name', async (page) => {
  const names = await page.evaluate(`(() => {
    const field = map.shadowRoot.querySelector('.map-field');
    map.show({ weights: [[1]], name: 'First' });
    const first = field.getAttribute('aria-label');
    map.show({ weights: headwise.zeros([0, 0]), name: 'Second' });
    const second = field.getAttribute('aria-label');
    map.show({ weights: [[1]], name: '' });
    return [first, second, field.getAttribute('aria-label')];
  })()`);
  assert.match(String(names), /^First\. .*,Second\. .*,Arrow keys/);
});
