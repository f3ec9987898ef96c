// The page where the system forces its own few colours on it, as Windows does in high contrast, or asks for more contrast.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { colours, pageTest, schemes, settled, violations } from './harness.js';

/** @import { CDPSession, Page } from 'puppeteer-core' */

/** Where a room is ready, what of it means something by its colour, and what says which one is chosen. */
const ROOMS = [
  {
    hash: '#compare',
    ready: '#row .bar',
    coloured: [
      ['#row .bar', 'background-color'],
      ['#legend .legend-bar', 'background-image'],
      ['#legend .legend-mask', 'background-image'],
      ['.chart-name::before', 'background-color'],
    ],
    chosen: [
      '#rooms [aria-current]',
      '#grid [aria-pressed="true"]',
      '.stepper [aria-current=step]',
    ],
  },
  {
    hash: '#explore',
    ready: '.next-tokens .bar',
    coloured: [
      ['#explore-pins .bar', 'background-color'],
      ['.next-tokens .bar', 'background-color'],
      ['#explore-legend .legend-bar', 'background-image'],
      ['#explore-text [style*=tint]', 'background-color'],
      ['#explore-text [aria-selected="true"]', 'box-shadow'],
    ],
    chosen: ['#rooms [aria-current]', '#explore-grid [aria-pressed="true"]'],
  },
  {
    hash: '#explore?mode=why',
    ready: '#explore-keys .sum-bar',
    coloured: [
      ['.sum-bar', 'background-color'],
      ['.sum-cell', 'background-image'],
      ['.signed-bar', 'background-image'],
      ['#explore-grid button', 'background-color'],
    ],
    chosen: ['#explore-grid [aria-pressed="true"]', '#explore-keys [aria-pressed="true"]'],
  },
  {
    hash: '#train',
    ready: '.train-heads canvas',
    coloured: [
      ['.train-key .previous::before', 'border-top-color'],
      ['.legend-bar', 'background-image'],
    ],
    chosen: ['#rooms [aria-current]', '.train-heads [aria-pressed="true"]'],
  },
  {
    hash: '#lessons?lesson=fused',
    ready: '.scale i',
    coloured: [
      ['.marks a::before', 'background-color'],
      ['.scale i', 'background-image'],
      ['.grids .of-head', 'border-left-color'],
      ['.grids .of-head rect', 'fill'],
      ['.arrows i', 'border-top-color'],
    ],
    chosen: ['#rooms [aria-current]'],
  },
  {
    hash: '#bench',
    ready: '.peers .bar',
    coloured: [
      ['.peers .own .bar', 'background-color'],
      ['.peers tr:not(.own) .bar', 'background-color'],
    ],
    chosen: ['#rooms [aria-current]'],
  },
];

/** @param {CDPSession} session whose end ends it @param {string} scheme @param {boolean} isForced */
const useColours = (session, scheme, isForced) =>
  session.send('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'forced-colors', value: isForced ? 'active' : 'none' },
    ],
  });

/** The values of properties, and the system's colour for what is chosen. @param {Page} page @param {string[][]} list */
const valuesOf = (page, list) =>
  page.evaluate(
    (all) =>
      all.map(([where, property]) => {
        const [selector, pseudo] = where.split('::');
        const element = document.querySelector(selector);
        if (!element) return `no ${selector}`;
        const style = getComputedStyle(element, pseudo && `::${pseudo}`);
        return `${where} ${property}: ${style.getPropertyValue(property)}`;
      }),
    list,
  );

/** @param {Page} page */
const highlight = (page) =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'Highlight';
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  });

for (const { hash, ready, coloured, chosen } of engine.hasCdp ? ROOMS : []) {
  pageTest(
    `in forced colours ${hash} shows what its colours say, and what is chosen`,
    hash,
    async (page) => {
      const session = await page.createCDPSession();
      for (const scheme of schemes) {
        await useColours(session, scheme, false);
        const usual = await valuesOf(page, coloured);
        assert.deepEqual(
          usual.filter((value) => /^no |: (none|rgba\(0, 0, 0, 0\))$/.test(value)),
          [],
        );
        await useColours(session, scheme, true);
        assert.deepEqual(await valuesOf(page, coloured), usual);
        const outlines = chosen.flatMap((one) => [
          [one, 'outline-style'],
          [one, 'outline-color'],
        ]);
        const colour = await highlight(page);
        assert.deepEqual(
          await valuesOf(page, outlines),
          chosen.flatMap((one) => [
            `${one} outline-style: solid`,
            `${one} outline-color: ${colour}`,
          ]),
        );
      }
    },
    { ready: async (page) => void (await page.waitForSelector(ready, { timeout: 60_000 })) },
  );
}

if (engine.hasCdp)
  pageTest(
    'in forced colours a lesson’s steps that are not read have marks with a line around',
    '#lessons?lesson=fused',
    async (page) => {
      const session = await page.createCDPSession();
      await useColours(session, 'dark', true);
      const [shadow] = await valuesOf(page, [['.marks li:nth-child(5) a::before', 'box-shadow']]);
      assert.match(shadow, /rgb\(255, 255, 255\) .*inset/);
    },
    { ready: async (page) => void (await page.waitForSelector('.scale i', { timeout: 60_000 })) },
  );

for (const scheme of engine.hasCdp ? schemes : []) {
  pageTest(
    `in forced colours maps have the pixels they always have (${scheme})`,
    '',
    async (page) => {
      const session = await page.createCDPSession();
      const maps = ['#map >>> canvas', '#grid [data-mode=wrapper] canvas'];
      const pixels = async () => [await colours(page, maps[0], 6), await colours(page, maps[1], 6)];
      /** @param {boolean} isForced */
      const pixelsIn = async (isForced) => {
        await useColours(session, scheme, isForced);
        await page.reload();
        await settled(page);
        return pixels();
      };
      assert.deepEqual(await pixelsIn(true), await pixelsIn(false));
      await useColours(session, scheme, true);
      // The frame of the row, which each drawing makes anew.
      await page.waitForFunction(
        () => {
          const frame = document.getElementById('map')?.shadowRoot?.querySelector('.row-pin');
          return frame && getComputedStyle(frame).boxShadow.includes('3.5px');
        },
        { timeout: 5000 },
      );
      const checked = '#source input:checked + span';
      assert.deepEqual(await valuesOf(page, [[checked, 'background-color']]), [
        `${checked} background-color: ${await highlight(page)}`,
      ]);
    },
  );
}

// Of others colours cannot be forced: that they understand the rules is all that can be told.
if (!engine.hasCdp)
  pageTest('the rules for forced colours are there', '', async (page) => {
    const kept = await page.evaluate(() => {
      const all = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
      const forced = all.filter((rule) => rule.cssText.includes('forced-colors: active'));
      return forced.map((rule) => rule.cssText).join('\n');
    });
    assert.match(kept, /\.segmented input:checked/);
    assert.match(kept, /highlight/i);
  });

// The words in the cells of Why stand on the colours of values.
for (const { hash, ready } of engine.hasCdp ? ROOMS.filter((room) => !/why/.test(room.hash)) : []) {
  pageTest(
    `where more contrast is asked for, the words of ${hash} have 7 to 1`,
    hash,
    async (page) => {
      const session = await page.createCDPSession();
      for (const scheme of schemes) {
        const features = [
          { name: 'prefers-color-scheme', value: scheme },
          { name: 'prefers-contrast', value: 'more' },
        ];
        await session.send('Emulation.setEmulatedMedia', { features });
        assert.deepEqual(await violations(page, ['color-contrast-enhanced']), [], scheme);
      }
    },
    { ready: async (page) => void (await page.waitForSelector(ready)) },
  );
}
