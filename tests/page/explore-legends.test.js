// What the Explore room says of its colours is what they show, in a light and in a dark page.
import assert from 'node:assert/strict';
import { roomTest, says } from './explore-room.js';
import { schemes, textOf, useScheme } from './harness.js';

roomTest(
  'the tint of surprise and the bars of muted heads are called what they are in both schemes',
  '?model=names&mute=L2H2&tint=loss',
  async (page) => {
    await page.waitForSelector('#explore-text [data-at="1"][title^=loss]');
    const tokens = await page.$$eval('#explore-text [title^=loss]', (all) =>
      all.map((one) => {
        const { title, style } = /** @type {HTMLElement} */ (one);
        const tint = Number.parseFloat(style.getPropertyValue('--tint'));
        return { loss: Number.parseFloat(title.slice('loss '.length)), tint };
      }),
    );
    tokens.sort((a, b) => a.loss - b.loss);
    assert.ok(tokens.every(({ tint }, i) => i === 0 || tint >= tokens[i - 1].tint));
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      assert.equal(
        await textOf(page, '#explore-text-note'),
        'The stronger a token’s tint, the lower its predicted probability.',
      );
      assert.match(
        await textOf(page, '#explore-next'),
        /Without head L2H2\. The upper, fainter bars are with it\./,
      );
      const [upper, lower] = await page.$$eval(
        '.next-tokens tr:first-child .bar-cell .bar',
        (all) =>
          all.map((one) => ({
            isBefore: one.classList.contains('before'),
            opacity: Number(getComputedStyle(one).opacity),
            top: one.getBoundingClientRect().top,
          })),
      );
      assert.ok(upper.isBefore && !lower.isBefore);
      assert.ok(upper.top < lower.top && upper.opacity < lower.opacity, scheme);
    }
  },
);

roomTest(
  'the bar of the logit lens ends in the colour of a certain cell, and both frames are told',
  '?model=names&mode=why',
  async (page) => {
    const cell = '#explore-lens .lens-table tbody button';
    await page.waitForSelector(cell);
    for (const scheme of schemes) {
      await useScheme(page, scheme);
      const [end, bar] = await page.evaluate((selector) => {
        const button = /** @type {HTMLElement} */ (document.querySelector(selector));
        button.style.setProperty('--share', '100%');
        const legend = /** @type {Element} */ (document.querySelector('.lens-note .measure-bar'));
        return [getComputedStyle(button).backgroundColor, getComputedStyle(legend).backgroundImage];
      }, cell);
      assert.ok(bar.endsWith(`, ${end})`), `${scheme}: ${bar} ends in ${end}`);
    }
    assert.match(
      await textOf(page, '.lens-note'),
      /Thin frame: it ranks first\. Thick frame: the cell that is listed\.$/,
    );
  },
);

roomTest(
  'a score that the text has not is said to be none',
  '?model=induction&text=kT7eWm&by=induction',
  async (page) => {
    await says(page, '#explore-measure-legend', /^Induction: no token repeats\./);
  },
);

roomTest(
  'of the largest weights of several heads lines carry a share of the row',
  '?model=induction&of=max&topP=0.5',
  async (page) => {
    await says(page, '#explore-lines p.note', /at least 50 % of its row; \d\d?\.\d % is not shown/);
  },
);
