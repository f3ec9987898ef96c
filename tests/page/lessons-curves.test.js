// Curves and matrices that a lesson draws: they are told apart, and their names are read.
import assert from 'node:assert/strict';
import { engine } from '../browsers/engines.js';
import { contentWidth, schemes, useScheme } from './harness.js';
import { lessonTest } from './lessons-room.js';

/** @import { Page } from 'puppeteer-core' */

/** The curves of a picture, each with its name. @param {Page} page @param {string} picture */
const curvesOf = (page, picture) =>
  page.$eval(picture, (svg) => {
    const frame = svg.getBoundingClientRect();
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const luminance = (/** @type {string} */ colour) => {
      if (!context) throw new Error('no canvas');
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((byte) =>
        byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const ground = luminance(getComputedStyle(document.documentElement).backgroundColor);
    return [...svg.querySelectorAll('g')].map((curve) => {
      const [line, name] = ['polyline', 'text'].map(
        (part) => /** @type {SVGElement} */ (curve.querySelector(part)),
      );
      const { top, bottom, right } = name.getBoundingClientRect();
      const { fill } = getComputedStyle(name);
      const ratio = luminance(fill) / ground;
      return {
        name: name.textContent?.trim(),
        top,
        bottom,
        isInside: top >= frame.top && bottom <= frame.bottom && right <= frame.right,
        stroke: getComputedStyle(line).stroke,
        dashes: line.getAttribute('stroke-dasharray'),
        fill,
        contrast: Math.max(ratio, 1 / ratio),
        dots: curve.querySelectorAll('circle').length,
      };
    });
  });

lessonTest(
  'five curves differ in colour and dashes, and each name is seen in its curve’s colour',
  'train-a-head',
  async (page) => {
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      const curves = await curvesOf(page, '.step:nth-of-type(4) .line-chart');
      const names = curves.map(({ name }) => name);
      assert.deepEqual(names, ['V1', 'V2', 'causal', 'wrapper', 'fused']);
      assert.equal(new Set(curves.map(({ stroke }) => stroke)).size, 5);
      assert.equal(new Set(curves.map(({ dashes }) => dashes)).size, 5);
      for (const { name, isInside, stroke, fill, contrast, dots } of curves) {
        assert.ok(isInside, `${name} lies outside its picture`);
        assert.equal(fill, stroke, name);
        assert.ok(contrast >= 4.5, `${name} in ${scheme}: ${contrast}`);
        assert.equal(dots, 0, 'dots of 300 points hide the dashes');
      }
      const order = curves.toSorted((a, b) => a.top - b.top);
      for (let i = 1; i < order.length; i++) {
        assert.ok(order[i - 1].bottom <= order[i].top + 3, `${order[i].name} covers another name`);
      }
    }
  },
);

lessonTest(
  'on a phone the words of a chart are as large as elsewhere, and its numbers stand apart',
  'pre-and-post',
  async (page) => {
    for (const narrow of [390, 320].map((each) => Math.max(each, engine.leastWidth))) {
      await page.setViewport({ width: narrow, height: 844 });
      // What is drawn for a width is drawn a frame later.
      await page.waitForFunction(() => {
        const chart = /** @type {SVGSVGElement | null} */ (document.querySelector('.line-chart'));
        const { width = 0 } = chart?.getBoundingClientRect() ?? {};
        const drawn = chart?.viewBox.baseVal.width ?? 0;
        return width > 0 && width < innerWidth && Math.abs(width - drawn) < 0.1 * drawn;
      });
      const words = await page.$eval('.line-chart', (svg) => {
        const chart = /** @type {SVGSVGElement} */ (svg);
        const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
        return [...chart.querySelectorAll('text')].map((text) => {
          const { left, right } = text.getBoundingClientRect();
          const word = text.textContent?.trim() ?? '';
          const isBelow = text.matches('.tick-x') && /^\d+$/.test(word);
          const size = Number.parseFloat(getComputedStyle(text).fontSize) * scale;
          return { word, size, left, right, isBelow };
        });
      });
      assert.ok(words.length > 10);
      for (const { word, size } of words) assert.ok(size >= 11, `${word} at ${narrow}: ${size}`);
      const below = words.filter(({ isBelow }) => isBelow);
      for (const [i, { word, left }] of below.entries()) {
        assert.ok(i === 0 || below[i - 1].right < left, `${word} at ${narrow}`);
      }
      const curves = await curvesOf(page, '.line-chart');
      for (const { name, isInside } of curves) assert.ok(isInside, `${name} at ${narrow}`);
      assert.ok((await contentWidth(page)) <= narrow);
    }
  },
);

lessonTest(
  'a picture that writes its numbers names them for screen readers, row after row',
  'which-head',
  async (page) => {
    const pictures = await page.$$eval('.chain-picture svg[role=img]', (all) =>
      all.map((svg) => ({
        name: svg.getAttribute('aria-label') ?? '',
        written: [...svg.querySelectorAll('text:not(.name, .column)')].map(
          ({ textContent }) => textContent,
        ),
      })),
    );
    assert.equal(new Set(pictures.map(({ name }) => name)).size, pictures.length, 'all differ');
    for (const { name, written } of pictures) {
      assert.ok(written.length > 0);
      const numbers = name.replace(/^.*?\], /, '').match(/(?<= )[−\d.]+(?=[ ;]|$)/g);
      assert.deepEqual(numbers, written, name);
    }
    assert.match(pictures[0].name, /^layers × heads \[2, 8\], L0: .*; L1: /);
  },
);
