// What a visitor sees where the page's script, or that of a Worker, does not come.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '../browser.js';
import { engine } from '../browsers/engines.js';
import {
  browser,
  contentWidth,
  options,
  says,
  settled,
  site,
  textOf,
  violations,
} from './harness.js';

/** @import { Page } from 'puppeteer-core' */

const WORDS = 'This page’s script could not be loaded. Check the connection, then reload the page.';

/** @param {string} room */
const messageIn = (room) => `#${room}-room > .not-opened`;

/** The modules that the page begins with: main.js, and what it imports. @param {string} url */
async function modulesOf(url) {
  const html = await (await fetch(url)).text();
  const scripts = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]*\.js)"/g)];
  return scripts.map(([, file]) => file).filter((file) => !file.includes('early-'));
}

/** @param {Page} page @param {string} room the words are seen there, and nothing says that it waits */
async function isSaid(page, room) {
  await page.waitForSelector(`${messageIn(room)} button`, { visible: true });
  assert.equal(await textOf(page, `${messageIn(room)} [role=alert]`), WORDS);
  assert.equal(await page.evaluate(() => document.querySelectorAll('.opening').length), 0);
  assert.doesNotMatch(await textOf(page, '#verdict-note'), /Computing/);
}

/**
 * @param {string} title
 * @param {string} room
 * @param {number} which of the modules is missing
 * @param {(page: Page) => Promise<void>} [then] it comes
 */
const missingTest = (title, room, which, then) =>
  test(title, options, async () => {
    // Of its own: browsers keep modules of an address that they know.
    const server = await serve(site.root);
    const page = await browser.newPage();
    try {
      const missing = (await modulesOf(server.url))[which];
      server.withhold([missing, 'service-worker.js']);
      await page.goto(`${server.url}#${room}`);
      await isSaid(page, room);
      server.withhold('service-worker.js');
      await then?.(page);
    } finally {
      await page.close();
      server.close();
    }
  });

missingTest(
  'a script that does not come is said, and a reload mends it',
  'compare',
  0,
  async (page) => {
    assert.deepEqual(await violations(page), []);
    await page.setViewport({ width: 390, height: 740 });
    const width = await page.evaluate(() => innerWidth);
    assert.ok((await contentWidth(page)) <= width);
    await page.click(`${messageIn('compare')} button`);
    await settled(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll('.not-opened').length), 0);
  },
);

missingTest('it is said in the room of the address, and in others', 'explore', 0, async (page) => {
  await page.click('#rooms a[href="#train"]');
  await isSaid(page, 'train');
  assert.equal(await textOf(page, '#rooms [aria-current]'), 'Train');
});

missingTest('what the script imports may be missing too', 'lessons', 1);

if (engine.hasEvents)
  test('a frame without an origin may not read the script, and says so', options, async () => {
    const server = await serve(site.root);
    const page = await browser.newPage();
    try {
      // Any file: a page to hold the frame.
      await page.goto(`${server.url}service-worker.js`);
      await page.evaluate(() => {
        document.body.innerHTML = '<iframe sandbox="allow-scripts" src="./index.html"></iframe>';
      });
      const frame = await page.waitForFrame((one) => one.url().endsWith('index.html'));
      await frame.waitForSelector(`${messageIn('compare')} button`);
      const words = await frame.$eval(`${messageIn('compare')} p`, (one) => one.textContent);
      assert.equal(words, WORDS);
    } finally {
      await page.close();
      server.close();
    }
  });

/** Explore is opened on a page where something was done to the browser. @type {[string, () => void, RegExp][]} */
const WITHOUT = [
  [
    'a browser without Workers',
    () => void Object.assign(globalThis, { Worker: undefined }),
    /could not be started \(this browser has no Web Workers, or blocks them\)/,
  ],
  [
    'a machine that is offline',
    () => void Object.defineProperty(navigator, 'onLine', { value: false }),
    /could not be started \(this machine is offline\)/,
  ],
];

for (const [what, change, words] of WITHOUT)
  test(`${what} is named where the engine cannot be started`, options, async () => {
    const server = await serve(site.root);
    const page = await browser.newPage();
    try {
      await page.goto(server.url);
      await settled(page);
      const files = await readdir(join(site.root, 'assets'));
      server.withhold(files.filter((file) => file.startsWith('explore-worker')));
      await page.evaluate(change);
      await page.click('#rooms a[href^="#explore"]');
      await page.waitForSelector('#explore-again', { visible: true });
      await says(page, '#explore-message', words);
    } finally {
      await page.close();
      server.close();
    }
  });

test(
  'a first model that was cancelled while it loaded can be opened after all',
  options,
  async () => {
    let isStalled = true;
    const arrives = async () => {
      while (isStalled) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const server = await serve(site.root, {
      async headersOf(path) {
        if (/\.safetensors$/.test(path)) await arrives();
        return {};
      },
    });
    const page = await browser.newPage();
    try {
      await page.goto(`${server.url}#explore`);
      await page.waitForSelector('#explore-waiting:not([hidden]) button', { visible: true });
      await page.click('#explore-waiting button');
      await says(page, '#explore-message', /^Cancelled\.$/);
      isStalled = false;
      await page.click('#explore-again');
      await page.waitForSelector('#explore-grid canvas', { timeout: 60_000 });
      assert.equal(await textOf(page, '#explore-message'), '');
    } finally {
      isStalled = false;
      await page.close();
      server.close();
    }
  },
);
