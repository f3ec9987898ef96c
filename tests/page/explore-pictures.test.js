// Pictures that are exported from the Explore room show what is seen, and take the visitor's wishes.
import assert from 'node:assert/strict';
import { hold, isHeld, letGo, openMenu, roomTest, says } from './explore-room.js';
import { addressMade, parsed, QUERY, saved } from './explore-saving.js';
import { contentWidth, schemes, useScheme, violations, widths } from './harness.js';

roomTest('pins have their own in the picture', `${QUERY}&pins=q4_k2`, async (page) => {
  const own = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('span'));
    const context = /** @type {CanvasRenderingContext2D} */ (
      document.createElement('canvas').getContext('2d')
    );
    return [0, 1].map((i) => {
      probe.style.color = `var(--pin-${i})`;
      context.fillStyle = getComputedStyle(probe).color;
      return String(context.fillStyle);
    });
  });
  const map = Buffer.from((await saved(page, 'map', 'svg')).bytes).toString();
  assert.deepEqual(
    [...map.matchAll(/stroke="(#\w+)" stroke-width="2"/g)].map(([, colour]) => colour),
    own,
  );
  const lines = Buffer.from((await saved(page, 'lines', 'svg')).bytes).toString();
  for (const colour of own) {
    assert.match(lines, new RegExp(`font-weight="bold" fill="${colour}"`));
  }
  const text = Buffer.from((await saved(page, 'text', 'svg')).bytes).toString();
  assert.match(text, new RegExp(`height="2" fill="${own[1]}"`));
});

roomTest(
  'the text is exported with the tint that is seen, of losses too',
  `${QUERY}&tint=loss`,
  async (page) => {
    await page.waitForSelector('#explore-text [data-at="1"][title^=loss]');
    const tints = await page.$$eval('#explore-text [data-at]', (all) =>
      all.map((one) =>
        Number.parseFloat(/** @type {HTMLElement} */ (one).style.getPropertyValue('--tint')),
      ),
    );
    assert.ok(Math.max(...tints) > 10);
    const { bytes } = await saved(page, 'text', 'svg');
    const found = [
      ...Buffer.from(bytes)
        .toString()
        .matchAll(/fill-opacity="([\d.]+)"/g),
    ];
    assert.deepEqual(
      found.map(([, opacity]) => Math.round(100 * Number(opacity))),
      tints,
    );
    const svg = await parsed(page, bytes);
    assert.match(svg.title ?? '', /how badly each token was predicted/);
    for (const words of ['loss, in nats', '8 or more']) assert.ok(svg.texts.includes(words), words);
  },
);

roomTest(
  'lines of heads that are kept are in the picture, in their colours and with their names',
  `${QUERY}&pins=`,
  async (page) => {
    const strokesIn = async () => {
      const { bytes } = await saved(page, 'lines', 'svg');
      const svg = Buffer.from(bytes).toString();
      const strokes = [...svg.matchAll(/<path[^>]* fill="none" stroke="(#\w+)"/g)];
      return { strokes: strokes.map(([, stroke]) => stroke), ...(await parsed(page, bytes)) };
    };
    const alone = await strokesIn();
    await page.keyboard.press('Escape');
    await page.click('#explore-overlay-add');
    await page.click('#explore-grid button[title="Layer 0, head 1"]');
    const both = await strokesIn();
    assert.equal(new Set(alone.strokes).size, 1);
    assert.equal(new Set(both.strokes).size, 2);
    const kept = both.strokes.filter((stroke) => stroke !== alone.strokes[0]);
    assert.equal(kept.length, alone.strokes.length);
    for (const words of ['Head L0H1', 'L1H2']) assert.ok(both.texts.includes(words), words);
  },
);

roomTest(
  'two heads that are compared are in one picture with their difference',
  `${QUERY}&with=L0H1&scale=row`,
  async (page) => {
    const svg = await parsed(page, (await saved(page, 'map', 'svg')).bytes);
    assert.equal(svg.hasError, false);
    assert.equal(svg.images, 3);
    assert.deepEqual(svg.stops, [17, 17]);
    for (const words of ['Head L1H2', 'Head L0H1', 'Difference, L1H2 − L0H1']) {
      assert.ok(svg.texts.includes(words), words);
    }
    for (const words of ['−largest: more in L0H1', '0', '+largest: more in L1H2']) {
      assert.ok(svg.texts.includes(words), words);
    }
    assert.equal(svg.settings.with, 'L0H1');
  },
);

roomTest(
  'a picture takes a title, a caption, a width and a size of its labels',
  QUERY,
  async (page) => {
    const plain = await parsed(page, (await saved(page, 'map', 'svg')).bytes);
    assert.equal(plain.title, 'Head L1H2');
    const labels = async () => {
      const svg = Buffer.from((await saved(page, 'map', 'svg')).bytes).toString();
      const width = Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1]);
      const inner = Number(/viewBox="0 0 ([\d.]+)/.exec(svg)?.[1]);
      return { width, label: (11 * width) / inner, svg };
    };
    for (const [name, value] of [
      ['title', 'Who looks at whom'],
      ['caption', 'Figure 3'],
      ['width', '900'],
      ['font', '20'],
    ]) {
      const last = await addressMade(page);
      await page.type(`#export-wish-${name}`, value);
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        (/** @type {string | null} */ address) =>
          ![null, undefined, address].includes(
            document.querySelector('#export-save')?.getAttribute('href'),
          ),
        {},
        last,
      );
    }
    await page.waitForFunction(() => document.querySelector('.export-preview')?.clientWidth);
    const { width, label, svg } = await labels();
    assert.equal(width, 900);
    assert.ok(Math.abs(label - 20) < 0.5, `${label}`);
    assert.match(svg, />Who looks at whom</);
    assert.match(svg, />Figure 3</);
    assert.doesNotMatch(svg, />Induction: letters/);
  },
);

roomTest(
  'the export dialog fits every width and has no accessibility violations',
  '?model=induction',
  async (page) => {
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      for (const width of widths) {
        await page.setViewport({ width, height: 800 });
        await openMenu(page, 'explore-files');
        await page.click('#explore-export');
        await says(page, '#export-told', /iB/);
        assert.deepEqual(await violations(page), [], `${width} ${scheme}`);
        assert.ok((await contentWidth(page)) <= width, `${width} ${scheme}`);
        const over = await page.$eval(
          '.explore-files[open]',
          (dialog) => dialog.scrollWidth - dialog.clientWidth,
        );
        assert.equal(over, 0, `${width} ${scheme}`);
        await page.keyboard.press('Escape');
      }
    }
  },
);

roomTest('Save is a disabled link while no file is there', '?model=induction', async (page) => {
  // A file that cannot be made.
  await page.evaluate(() => {
    const create = URL.createObjectURL;
    URL.createObjectURL = () => {
      URL.createObjectURL = create;
      throw new Error('no room for it');
    };
  });
  await openMenu(page, 'explore-files');
  await page.click('#explore-export');
  await says(page, '#export-told', /no room for it/);
  const save = () =>
    page.$eval('#export-save', (link) =>
      ['href', 'role', 'aria-disabled'].map((name) => link.getAttribute(name)),
    );
  assert.deepEqual(await save(), [null, 'link', 'true']);
  assert.deepEqual(await violations(page), []);
  await page.select('#export-format', 'png');
  await says(page, '#export-told', /iB/);
  const [address, ...rest] = await save();
  assert.match(address ?? '', /^blob:/);
  assert.deepEqual(rest, [null, null]);
});

roomTest('a file waits until the text is read that it is of', QUERY, async (page) => {
  await hold(page, 'run');
  await page.click('#explore-mute');
  await isHeld(page);
  await openMenu(page, 'explore-files');
  await page.click('#explore-export');
  await says(page, '#export-told', /^Being made …$/);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  assert.equal(await addressMade(page), null);
  await letGo(page);
  const { texts } = await parsed(page, (await saved(page, 'map', 'svg')).bytes);
  assert.match(texts.join(' '), /; muted: L1H2;/);
  // And where the text is read once more behind the dialog.
  const made = await addressMade(page);
  await page.evaluate((hash) => void (location.hash = hash), `#explore${QUERY}`);
  await page.waitForFunction(
    (before) => {
      const address = document.querySelector('#export-save')?.getAttribute('href');
      return address && address !== before;
    },
    {},
    made,
  );
  const later = await parsed(page, (await saved(page, 'map', 'svg')).bytes);
  assert.doesNotMatch(later.texts.join(' '), /muted/);
});
