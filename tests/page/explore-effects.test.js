// What every head does for a prediction, the prediction that is asked about, and how well the text was predicted, against
// the same model in Node.
import assert from 'node:assert/strict';
import { addressHas, hold, letGo, roomTest, says } from './explore-room.js';
import { firstPin, model, run } from './explore-run.js';
import { textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */

/** @param {number[]} ids @param {number[][]} [headMask] @returns {number[]} in nats, of every token */
function logProbabilities(ids, headMask) {
  const logits = Array.from(model.decoder.forward(ids, { headMask }).logits.data);
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return logits.map((logit) => logit - most - Math.log(sum));
}

/** @param {(logs: number[]) => number} score @returns {number[]} what is lost without each head, layer after layer */
function effects(score) {
  const { layers, heads } = run.source;
  const read = run.ids.slice(0, firstPin + 1);
  const before = score(logProbabilities(read));
  return Array.from({ length: layers * heads }, (_, i) => {
    const mask = Array.from({ length: layers }, (__, layer) =>
      Array.from({ length: heads }, (___, head) => Number(layer * heads + head !== i)),
    );
    return before - score(logProbabilities(read, mask));
  });
}

/** The numbers at the heads, by the heads' places. @param {Page} page @returns {Promise<number[]>} */
const numbers = (page) =>
  page.$$eval('#explore-grid button', (buttons) =>
    buttons
      .map((button) => ({
        at: button.getAttribute('title')?.match(/\d+/g)?.map(Number) ?? [],
        value: Number(button.querySelector('b')?.textContent?.replace('−', '-')),
      }))
      .sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1])
      .map(({ value }) => value),
  );

/** @param {Page} page @param {number[]} expected */
async function shows(page, expected) {
  await page.waitForSelector('#explore-grid[data-measure=effect] b');
  await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
  const found = await numbers(page);
  assert.equal(found.length, expected.length);
  for (const [i, value] of found.entries()) {
    assert.ok(Math.abs(value - expected[i]) < 0.011, `head ${i}: ${value}, ${expected[i]}`);
  }
}

roomTest('a click shows what every head does for the next token', '', async (page) => {
  const next = run.ids[firstPin + 1];
  const name = model.text.token(next).text;
  assert.match(await textOf(page, '#explore-effects'), new RegExp(`matter for “${name}”`));
  await page.click('#explore-effects');
  assert.ok(await page.$('#explore-by:focus'), 'the button has gone: the focus goes on');
  const expected = effects((logs) => logs[next]);
  await shows(page, expected);
  await addressHas(page, 'by=effect');
  await says(page, '#explore-measure-legend', new RegExp(`log-probability of “${name}”`));
  // Sorted by how much they change.
  await page.click('#explore-sort');
  await page.waitForSelector('#explore-grid[data-sort=effect]');
  const sizes = await page.$$eval('#explore-grid b', (found) =>
    found.map((one) => Math.abs(Number(one.textContent?.replace('−', '-')))),
  );
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  );
  const strongest = expected.reduce(
    (best, value, i) => (Math.abs(value) > Math.abs(expected[best]) ? i : best),
    0,
  );
  const title = await page.$eval('#explore-grid button', (button) => button.title);
  const { heads } = run.source;
  assert.equal(title, `Layer ${Math.floor(strongest / heads)}, head ${strongest % heads}`);
});

roomTest(
  'any token can be asked about, and be compared with another',
  '?by=effect',
  async (page) => {
    await page.click('.other-token summary');
    await page.type('#explore-token', ' that');
    await page.click('.other-token button[value=target]');
    const that = model.text.encode(' that')[0];
    await addressHas(page, `target=${that}`);
    await says(page, '.next-tokens tr.target', /␣that/);
    await shows(
      page,
      effects((logs) => logs[that]),
    );
    const to = model.text.encode(' to')[0];
    await page.keyboard.down('Shift');
    await page.$eval('.next-tokens button', (button) =>
      button.dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: true })),
    );
    await page.keyboard.up('Shift');
    await addressHas(page, `against=${to}`);
    await says(page, '#explore-measure-legend', /minus that of “␣to”/);
    await shows(
      page,
      effects((logs) => logs[that] - logs[to]),
    );
    await page.click('.other-token button[type=button]');
    await page.waitForFunction(() => !location.hash.includes('target'));
  },
);

roomTest(
  'the target is not compared with itself, also where nobody has chosen it',
  '?pins=q3',
  async (page) => {
    const target = await page.$eval(
      '.next-tokens tr.target .token',
      (one) => one.textContent ?? '',
    );
    await page.$eval('.next-tokens tr.target button', (button) =>
      button.dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: true })),
    );
    await page.click('.other-token summary');
    await page.type('#explore-token', target.replace('␣', ' '));
    await page.click('.other-token button[value=against]');
    await says(page, '.other-token [role=status]', /^“.+” is the target: type another token/);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /against/);
  },
);

roomTest('the token that comes next is marked, wherever it stands', '?pins=q3', async (page) => {
  const logs = logProbabilities(run.ids.slice(0, 3));
  const actual = run.ids[3];
  const marked = await page.$$eval('.next-tokens tr', (rows) =>
    rows
      .filter((row) => row.querySelector('.mark'))
      .map((row) => [
        row.querySelector('.token')?.textContent,
        Number.parseFloat(row.querySelectorAll('td')[1]?.textContent ?? ''),
      ]),
  );
  assert.equal(marked.length, 1);
  assert.equal(marked[0][0], model.text.token(actual).text);
  assert.ok(Math.abs(Number(marked[0][1]) - 100 * Math.exp(logs[actual])) < 0.06);
});

roomTest('tokens that begin alike can be told apart', '?mute=L0H0', async (page) => {
  const titles = await page.$$eval('.next-tokens button.token', (buttons) =>
    buttons.map(({ title, textContent }) => [title, `${textContent}: ask about`]),
  );
  for (const [title, start] of titles) assert.ok(title.startsWith(start), title);
  /** Puts a token into the list. @param {string} token */
  const draw = (token) =>
    page.$eval(
      '.next-tokens tr:has(.mark) button.token',
      (button, text) => {
        button.textContent = text;
        const room = /** @type {HTMLElement} */ (button.closest('#explore-next'));
        const isCut = button.scrollWidth > button.clientWidth;
        return { isCut, isTooWide: room.scrollWidth > room.clientWidth };
      },
      token,
    );
  assert.deepEqual(await draw('[unused123]'), { isCut: false, isTooWide: false });
  assert.deepEqual(await draw('[unused123]'.repeat(5)), { isCut: true, isTooWide: false });
});

roomTest('the text is tinted by how badly it was predicted', '', async (page) => {
  const losses = run.ids.slice(1).map((id, at) => -logProbabilities(run.ids.slice(0, at + 1))[id]);
  const mean = losses.reduce((a, b) => a + b) / losses.length;
  await says(page, '#explore-loss', /^Loss: /);
  const [, said, among] =
    /([\d.]+) nats, like a guess among ([\d.]+)\./.exec(await textOf(page, '#explore-loss')) ?? [];
  assert.ok(Math.abs(Number(said) - mean) < 0.006, `${said}, ${mean}`);
  assert.ok(Math.abs(Number(among) / Math.exp(mean) - 1) < 0.05, `${among}, ${mean}`);
  await page.select('#explore-tint', 'loss');
  await page.waitForSelector('#explore-text [data-at="1"][title^=loss]');
  const tokens = await page.$$eval('#explore-text [data-at]', (found) =>
    found.map((one) => ({
      tint: Number.parseFloat(/** @type {HTMLElement} */ (one).style.getPropertyValue('--tint')),
      loss: Number(/loss ([\d.]+)/.exec(one.getAttribute('title') ?? '')?.[1] ?? 0),
    })),
  );
  for (const [i, { loss, tint }] of tokens.entries()) {
    const own = i === 0 ? 0 : losses[i - 1];
    assert.ok(Math.abs(loss - own) < 0.006, `token ${i}: ${loss}, ${own}`);
    assert.equal(tint, Math.round(45 * Math.min(1, own / 8)));
  }
  // Muted heads change it, and both are told.
  await page.keyboard.press('m');
  await says(page, '#explore-loss', new RegExp(`${mean.toFixed(2)} with all heads`));
});

roomTest(
  'a sweep that fails says so and leaves no bar, and the next one works',
  '',
  async (page) => {
    await page.evaluate(() => {
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (/** @type {any} */ message) {
        if (message.path?.[0] !== 'effects') return post.call(this, message);
        Worker.prototype.postMessage = post;
        return post.call(this, { ...message, path: ['nothing'] });
      };
    });
    await page.select('#explore-by', 'mean-effect');
    await page.waitForSelector('#explore-message.error');
    await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
    await page.select('#explore-by', 'effect');
    await page.waitForSelector('#explore-grid[data-measure=effect] b');
  },
);

roomTest('a sweep over many heads can be cancelled', '?sort=effect', async (page) => {
  await page.waitForSelector('#explore-grid[data-measure=effect] b');
  await page.select('#explore-by', 'none');
  await page.waitForFunction(() => !location.hash.includes('effect'));
  assert.equal((await page.$$('#explore-grid b')).length, 0);
  await hold(page, 'effects');
  await page.select('#explore-by', 'mean-effect');
  await page.click('#explore-ablating button');
  await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
  assert.ok(await page.$('#explore-all:focus'));
  await letGo(page);
  await page.click('#explore-effects');
  await page.waitForSelector('#explore-grid[data-measure=effect] b');
});

roomTest(
  'effects that are all small have digits that tell them apart, and a scale of zeros is none',
  '?model=names&mode=why&sort=effect&by=effect&pins=q11',
  async (page) => {
    await page.waitForSelector('#explore-grid[data-sort=effect] b');
    await page.waitForFunction(() => !document.querySelector('#explore-ablating'));
    const sizes = (await numbers(page)).map(Math.abs);
    const most = Math.max(...sizes);
    assert.ok(most > 0 && most < 0.005, `${most}`);
    assert.ok(new Set(sizes).size > sizes.length / 2, `${sizes}`);
    assert.match(
      await textOf(page, '#explore-measure-legend'),
      new RegExp(`^-${most} \\+${most} The drop in the log-probability`),
    );
    // The mean over a single token is the head's own output.
    await page.evaluate(() => {
      location.hash = '#explore?model=names&mode=why&by=mean-effect&pins=q1';
    });
    await says(
      page,
      '#explore-measure-legend',
      /^0 for every head\. The drop in the log-probability/,
    );
    assert.deepEqual(new Set(await numbers(page)), new Set([0]));
  },
);

roomTest(
  'a loss that is worse than a guess is not said to be like one',
  `?model=austen&text=${encodeURIComponent('<b>x</b> &amp; "q" <script>')}`,
  async (page) => {
    const words = /^Loss: 1\d\.\d+ nats, worse than a guess among all 2,048 tokens\.$/;
    await says(page, '#explore-loss', words);
  },
);
