// Texts of every script in the Explore room: their direction, and characters that are split over tokens.
import assert from 'node:assert/strict';
import { roomTest } from './explore-room.js';
import { textOf } from './harness.js';

const TEXT = 'שלום é 日本 👍 ab';

roomTest(
  'each token that is part of a character says of which',
  `?text=${encodeURIComponent(TEXT)}`,
  async (page) => {
    const tokens = await page.$$eval('#explore-text [role=option]', (all) =>
      all.map((one) => [one.textContent, one.getAttribute('title')]),
    );
    const parts = tokens.filter(([words]) => words?.startsWith('‹'));
    const told = new Set(parts.map(([, title]) => title?.replace('part of ', '')));
    assert.ok(parts.length > told.size);
    for (const character of TEXT.replace(/[ab ]/g, '')) assert.ok(told.has(character), character);
    for (const [words, title] of tokens)
      if (!words?.startsWith('‹')) assert.equal(title, null, String(words));
    assert.equal(
      await textOf(page, '#explore-sign'),
      `␣ is a space; ${parts[0][0]} holds part of a character, written in bytes.`,
    );
    await page.select('#explore-tint', 'loss');
    await page.waitForSelector('#explore-text [title^="part of é; loss"]');
  },
);

roomTest(
  'no token is broken over two lines, and none leaves the text',
  `?text=${encodeURIComponent('well-known—日本語'.repeat(12))}`,
  async (page) => {
    for (const width of [360, 417, 800]) {
      await page.setViewport({ width, height: 800 });
      const broken = await page.$$eval('#explore-text [role=option]', (all) =>
        all.filter((one) => one.getClientRects().length > 1).map((one) => one.textContent),
      );
      assert.deepEqual(broken, [], String(width));
      assert.ok(
        await page.$eval('#explore-text', (text) => text.scrollWidth <= text.clientWidth),
        String(width),
      );
    }
  },
);

roomTest(
  'text is typed in the direction of its script',
  `?mode=why&text=${encodeURIComponent('שלום')}`,
  async (page) => {
    for (const id of ['explore-input', 'explore-corrupted'])
      assert.equal(
        await page.$eval(`#${id}`, (field) => getComputedStyle(field).direction),
        'rtl',
        id,
      );
  },
);
