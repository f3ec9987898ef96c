// <attention-map> as pages embed it: in narrow and in right-to-left places, set before it is defined, moved, restyled.
import assert from 'node:assert/strict';
import { viewTest } from './view-page.js';

/** Weights of so many rows and columns, and a label for each column. */
const OF = `{ globalThis.of = (rows, columns) => ({
  weights: { shape: [rows, columns], data: Float32Array.from({ length: rows * columns }, (_, i) => (i % 7) / 7) },
  tokens: Array.from({ length: columns }, (_, i) => 't' + i),
});
globalThis.boxOf = (selector) => map.shadowRoot.querySelector(selector).getBoundingClientRect();
globalThis.boxesOf = (selector) => [...map.shadowRoot.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
globalThis.frames = async (count = 3) => {
  for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
}; }`;

viewTest('labels of rows stand in the middle of their rows, however low a map is', async (page) => {
  await page.evaluate(OF);
  for (const [rows, columns, width] of [
    [2, 12, 300],
    [1, 9, 300],
    [4, 4, 160],
    [9, 9, 300],
  ]) {
    const places = await page.evaluate(`(async () => {
      map.style.width = '${width}px';
      await map.show(of(${rows}, ${columns}));
      await frames();
      const { top, height } = boxOf('canvas');
      return boxesOf('.rows span').map((box) => ((box.top + box.bottom) / 2 - top) / (height / ${rows})).sort((a, b) => a - b);
    })()`);
    const all = /** @type {number[]} */ (places);
    assert.ok(all.length > 0);
    for (const [i, place] of all.entries())
      assert.ok(Math.abs(place - i - 0.5) < 0.1, `${rows} × ${columns} at ${width}: ${all}`);
  }
});

viewTest('its width is of CSS pixels, wherever its parent shrinks to fit it', async (page) => {
  await page.evaluate(OF);
  const widths = await page.evaluate(`(async () => {
    const parent = document.createElement('div');
    document.body.append(parent);
    parent.append(map);
    map.style.width = '';
    await map.show(of(6, 6));
    const widths = [];
    for (const style of ['display: flex', 'display: inline-grid', 'float: left'])
      for (const ratio of [0.5, 1, 2]) {
        parent.style.cssText = style;
        Object.defineProperty(globalThis, 'devicePixelRatio', { value: ratio, configurable: true });
        await map.show(of(6, 6));
        await frames(5);
        widths.push(map.getBoundingClientRect().width);
      }
    return widths;
  })()`);
  const [first, ...others] = /** @type {number[]} */ (widths);
  assert.ok(first > 250, String(widths));
  for (const width of others) assert.ok(Math.abs(width - first) < 1, String(widths));
});

viewTest('however the page lays the element out, its parts stand as ever', async (page) => {
  await page.evaluate(OF);
  const places = await page.evaluate(`(async () => {
    const laidOut = async (style, parent = '') => {
      map.style.cssText = 'width: 20rem; ' + style;
      map.parentElement.style.cssText = parent;
      await map.show(of(6, 6));
      await frames(5);
      const { left, top, width } = map.getBoundingClientRect();
      const boxes = [boxOf('canvas'), boxOf('.rows'), boxOf('.columns'), ...boxesOf('.labels span')];
      return { width, boxes: boxes.map((box) => [box.left - left, box.top - top, box.width, box.height].map(Math.round)) };
    };
    return {
      usual: await laidOut(''),
      block: await laidOut('display: block'),
      inline: await laidOut('display: inline-block'),
      flex: await laidOut('display: flex'),
      centred: await laidOut('display: flex; align-items: center; justify-content: center'),
      grid: await laidOut('display: grid; grid-template-columns: 1fr; gap: 20px; place-items: center'),
      vertical: await laidOut('', 'writing-mode: vertical-rl'),
      spaced: await laidOut('letter-spacing: 4px; text-transform: uppercase'),
    };
  })()`);
  const { usual, ...others } = /** @type {Record<string, { width: number, boxes: number[][] }>} */ (
    places
  );
  assert.equal(usual.width, 320);
  assert.ok(usual.boxes.length > 8 && usual.boxes[0][2] > 200, JSON.stringify(usual));
  for (const [how, place] of Object.entries(others)) assert.deepEqual(place, usual, how);
});

viewTest('in a right-to-left page marks are where their keys are', async (page) => {
  await page.evaluate(OF);
  const places = await page.evaluate(`(async () => {
    document.documentElement.dir = 'rtl';
    await map.show(of(4, 4));
    map.place = { query: 0, key: 0 };
    map.pins = [{ side: 'key', token: 1 }];
    await frames();
    const { left, width } = boxOf('canvas');
    return boxesOf('.marks .column').map((box) => Math.round(((box.left - left) / width) * 4));
  })()`);
  assert.deepEqual(places, [1, 0]);
});

viewTest('right-to-left tokens leave what follows them where it is read', async (page) => {
  const places = await page.evaluate(`(async () => {
    ${OF}
    await map.show({ ...of(2, 2), tokens: ['שלום', 'سلام'] });
    map.place = { query: 0, key: 1 };
    await frames();
    const text = map.shadowRoot.querySelector('.map-tip').firstChild;
    const leftOf = (part) => {
      const range = document.createRange();
      range.setStart(text, text.data.indexOf(part));
      range.setEnd(text, range.startOffset + part.length);
      return range.getBoundingClientRect().left;
    };
    return ['שלום', '(1)', '→', 'سلام', '(2)', '0.1429'].map(leftOf);
  })()`);
  const all = /** @type {number[]} */ (places);
  assert.deepEqual(
    all,
    all.toSorted((a, b) => a - b),
  );
});

viewTest('long names of few columns do not run into each other', async (page) => {
  const boxes = await page.evaluate(`(async () => {
    ${OF}
    map.style.width = '320px';
    await map.show({ ...of(3, 3), tokens: ['understanding', 'representation', 'transformers'] });
    await frames();
    return boxesOf('.columns span').map(({ left, right }) => [left, right]).sort((a, b) => a[0] - b[0]);
  })()`);
  const all = /** @type {[number, number][]} */ (boxes);
  assert.equal(all.length, 3);
  assert.ok(
    all.every(([left], i) => i === 0 || left >= all[i - 1][1]),
    JSON.stringify(all),
  );
});

viewTest('what was set before the element is defined counts', async (page) => {
  const seen = await page.evaluate(`(async () => {
    ${OF}
    const later = document.createElement('later-map');
    later.style.width = '200px';
    const set = { zoomable: true, pinned: 1, pins: [{ side: 'key', token: 2 }], place: { query: 3, key: 1 } };
    Object.assign(later, set, { view: { query: 0, key: 0, span: 6 } });
    document.body.append(later);
    customElements.define('later-map', class extends view.AttentionMap {});
    await later.show(of(9, 9));
    await frames();
    const marks = later.shadowRoot.querySelectorAll('.row-pin').length;
    return [Object.keys(later).length, later.hasAttribute('zoomable'), later.pinned, later.view.span, marks, later.place];
  })()`);
  assert.deepEqual(seen, [0, true, 1, 6, 2, { query: 3, key: 1 }]);
});

viewTest(
  'what was set early and is refused is an error of the page, and the element works',
  async (page) => {
    const seen = await page.evaluate(`(async () => {
    ${OF}
    const errors = [];
    addEventListener('error', (event) => {
      event.preventDefault();
      errors.push(event.error.message);
    });
    const early = document.createElement('early-map');
    early.style.width = '200px';
    early.pinned = 'x';
    document.body.append(early);
    customElements.define('early-map', class extends view.AttentionMap {});
    await early.show(of(3, 3));
    early.style.width = '400px';
    await frames();
    const { canvas } = early;
    return [errors, early.pinned, early.matches(':defined'), canvas.width / canvas.clientWidth / devicePixelRatio];
  })()`);
    assert.deepEqual(seen, [['pinned is "x"; expected an integer, −1 for none'], -1, true, 1]);
  },
);

viewTest('in another document it keeps its style', async (page) => {
  const displays = await page.evaluate(`(async () => {
    ${OF}
    const frame = document.createElement('iframe');
    document.body.append(frame);
    await map.show(of(3, 3));
    const displays = [];
    for (const body of [frame.contentDocument.body, document.body]) {
      body.append(map);
      await frames();
      displays.push(body.ownerDocument.defaultView.getComputedStyle(map).display);
    }
    return displays;
  })()`);
  assert.deepEqual(displays, ['block', 'block']);
});

viewTest('in a frame that is removed it raises no errors', async (page) => {
  const errors = await page.evaluate(`(async () => {
    ${OF}
    const errors = [];
    addEventListener('error', ({ message }) => errors.push(message));
    const frame = document.createElement('iframe');
    document.body.append(frame);
    frame.contentDocument.body.append(map);
    await map.show(of(3, 3));
    await frames();
    frame.remove();
    for (let i = 0; i < 5; i++) await frames();
    document.body.append(map);
    await map.show(of(3, 3));
    return errors;
  })()`);
  assert.deepEqual(errors, []);
});

viewTest('on a page with a Promise of its own it shows traces', async (page) => {
  const shown = await page.evaluate(`(async () => {
    ${OF}
    const { Promise } = globalThis;
    globalThis.Promise = class extends Promise {};
    try {
      const weights = { shape: [3, 3], data: new Float32Array(9).fill(1 / 3) };
      await map.show({ trace: { shape: [1, 1, 3, 3], weights: () => weights, map: () => weights } });
    } finally {
      globalThis.Promise = Promise;
    }
    return map.canvas.width > 0;
  })()`);
  assert.ok(shown);
});

viewTest('an empty text takes away what null takes away', async (page) => {
  const none = await page.evaluate(`(async () => {
    ${OF}
    await map.show(of(3, 3));
    map.view = { query: 0, key: 0, span: 1 };
    map.place = { query: 1, key: 1 };
    map.pinned = 1;
    map.pins = [{ side: 'key', token: 0 }];
    map.view = map.place = map.pinned = map.pins = '';
    return [map.view, map.place, map.pinned, map.pins];
  })()`);
  assert.deepEqual(none, [null, { query: -1, key: -1 }, -1, []]);
});

viewTest('a style that the page writes anew leaves labels their room', async (page) => {
  const [before, after] = /** @type {number[]} */ (
    await page.evaluate(`(async () => {
      ${OF}
      await map.show({ ...of(3, 3), tokens: ['elephant', 'hippopotamus', 'x'] });
      await frames();
      const before = boxOf('.rows').width;
      map.style.cssText = 'width: 300px; color: red';
      await frames();
      return [before, boxOf('.rows').width];
    })()`)
  );
  assert.ok(before > 40);
  assert.equal(after, before);
});

viewTest('a map of few keys comes to exact weights along its many queries', async (page) => {
  const seen = await page.evaluate(`(async () => {
    ${OF}
    await map.show({ weights: of(2000, 6).weights });
    map.toggleAttribute('zoomable', true);
    map.place = { query: 1000, key: 3 };
    for (let i = 0; i < 15; i++) map.zoomBy(0.5);
    await frames();
    map.place = { query: 1000, key: 3 };
    const { queries, keys, height } = map.cells;
    return [map.shadowRoot.querySelector('.map-tip').textContent, height === queries[1] - queries[0], keys];
  })()`);
  const [words, ...exact] = /** @type {any[]} */ (seen);
  assert.match(String(words), /^“1001” \(1,001\) → “4” \(4\): 0\.\d{4}$/);
  assert.deepEqual(exact, [true, [0, 6]]);
});

viewTest('zooming keeps cells square, where the whole map has square cells', async (page) => {
  const seen = await page.evaluate(`(async () => {
    ${OF}
    map.toggleAttribute('zoomable', true);
    const spans = [];
    for (const [rows, columns] of [[200, 100], [150, 100], [100, 100], [20, 100]]) {
      await map.show({ weights: of(rows, columns).weights });
      for (let i = 0; i < 15; i++) map.zoomBy(0.5);
      spans.push(map.view.span);
      map.view = null;
    }
    return spans;
  })()`);
  assert.deepEqual(seen, [6, 6, 6, 6]);
});

viewTest(
  'an empty map, and one that could not be read, leave no picture of others',
  async (page) => {
    const seen = await page.evaluate(`(async () => {
    ${OF}
    const said = [];
    for (const name of ['pin', 'point']) map.addEventListener(name, () => said.push(name));
    const { canvas } = map;
    const isBlank = () =>
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.every((value) => value === 0);
    const look = () => [isBlank(), map.shadowRoot.querySelectorAll('.labels span').length, map.largest];
    const tip = getComputedStyle(map.shadowRoot.querySelector('.map-tip')).visibility;
    const label = map.shadowRoot.querySelector('.map-field').getAttribute('aria-label');
    const looks = [];
    await map.show(of(4, 4));
    map.pinned = 1;
    await map.show({ weights: headwise.zeros([0, 0]) });
    await frames();
    looks.push(look());
    map.shadowRoot.querySelector('.map-field').click();
    await map.show(of(4, 4));
    for (const cells of [() => { throw new Error('boom'); }, async () => { throw new Error('boom'); }]) {
      await map.show({ cells, tokens: ['a', 'b', 'c', 'd'] }).catch(() => {});
      await frames();
      looks.push(look());
      await map.show(of(4, 4));
    }
    return { looks, said, tip, label };
  })()`);
    const blank = [true, 0, 0];
    const before = {
      tip: 'hidden',
      label: 'Attention weights. Arrow keys move the cell, Enter chooses its row.',
    };
    assert.deepEqual(seen, { looks: [blank, blank, blank], said: [], ...before });
  },
);

viewTest('masked scores are no end of a scale', async (page) => {
  const largest = await page.evaluate(`(async () => {
    const weights = [[2, -Infinity, -Infinity], [1, -3, -Infinity], [0.5, 1, -1]];
    await map.show({ weights, signed: true, causal: true, max: 'map' });
    return map.largest;
  })()`);
  assert.equal(largest, 3);
});

viewTest('it is as sharp as the screen, though that changes alone', async (page) => {
  await page.evaluate(OF);
  // No driver changes the screen as a browser's zoom does.
  const widths = await page.evaluate(`(async () => {
    const queries = [];
    const { matchMedia } = globalThis;
    globalThis.matchMedia = (query) => {
      const list = /resolution/.test(query) ? new EventTarget() : matchMedia(query);
      if (/resolution/.test(query)) queries.push([query, list]);
      return list;
    };
    const one = document.createElement('attention-map');
    map.replaceWith(one);
    await one.show(of(4, 4));
    await frames();
    const widths = [];
    for (const ratio of [2, 3]) {
      Object.defineProperty(globalThis, 'devicePixelRatio', { value: ratio, configurable: true });
      queries.at(-1)[1].dispatchEvent(new Event('change'));
      widths.push(one.canvas.width / one.canvas.clientWidth, queries.at(-1)[0]);
    }
    return widths;
  })()`);
  assert.deepEqual(widths, [2, '(resolution: 2dppx)', 3, '(resolution: 3dppx)']);
});
