// The page without a network, after its first visit; and before anything has arrived.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '../browser.js';
import { engine } from '../browsers/engines.js';
import { browser, options, settled, site, textOf } from './harness.js';

/** @import { Page } from 'puppeteer-core' */
/** @typedef {{ page: Page, root: string, server: Awaited<ReturnType<typeof serve>> }} Visit */

/** Driven by WebDriver, WebKitGTK has no contexts: tests that need one are not made. */
const contextTest = engine.hasEvents ? test : () => {};

/**
 * A visitor's first visit to a copy of the page, on a server of its own.
 * @param {(visit: Visit) => Promise<void>} body
 * @param {Parameters<typeof serve>[1]} [how] it serves
 */
async function visit(body, how) {
  const root = await mkdtemp(join(tmpdir(), 'headwise-offline-'));
  await cp(site.root, root, { recursive: true });
  const server = await serve(root, how);
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    await page.goto(server.url);
    await settled(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 60_000 });
    await body({ page, root, server });
  } finally {
    await context.close();
    server.close();
    await rm(root, { recursive: true, force: true });
  }
}

contextTest('after its first visit every room of the page works without a network', options, () =>
  visit(async ({ page, server }) => {
    server.close();
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, '#verdict'), /^Wrapper = fused/);
    await page.click('#rooms a[href^="#explore"]');
    // A trained model was read, and its heads are drawn.
    await page.waitForSelector('#explore-room canvas', { timeout: 60_000 });
    await page.click('#rooms a[href^="#lessons"]');
    await page.waitForSelector('#lessons-room :is(h1, h2)', { timeout: 60_000 });
    await page.click('#rooms a[href^="#bench"]');
    await page.waitForSelector('#bench-run');
    // A lesson that is left early says that it was stopped; nothing else is said.
    const alerts = await page.$$eval('.message.error[role=alert]', (all) =>
      all.map(({ textContent }) => textContent?.trim()).filter(Boolean),
    );
    assert.deepEqual(
      alerts.filter((words) => !words?.startsWith('Stopped')),
      [],
    );
  }),
);

contextTest(
  'a host that leads from index.html to its folder leaves a page that opens too',
  options,
  () =>
    visit(
      async ({ page, server }) => {
        server.close();
        await page.reload();
        await settled(page);
        assert.match(await textOf(page, '#verdict'), /^Wrapper = fused/);
      },
      { redirects: { '/index.html': '/' } },
    ),
);

contextTest('what is kept is never shown where the network has something newer', options, () =>
  visit(async ({ page, root, server }) => {
    const index = join(root, 'index.html');
    const html = await readFile(index, 'utf8');
    await writeFile(index, html.replace('<h1>', '<h1>Newer: '));
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, 'h1'), /^Newer: /);
    // The other build has not been installed: what is kept is whole, and older.
    server.close();
    await page.reload();
    await settled(page);
    assert.doesNotMatch(await textOf(page, 'h1'), /Newer/);
  }),
);

contextTest('a server that fails is as good as no network', options, () =>
  visit(async ({ page, server }) => {
    server.withhold('index.html', 503);
    await page.reload();
    await settled(page);
    assert.match(await textOf(page, '#verdict'), /^Wrapper = fused/);
    // A page that is gone is no failure: it is said.
    server.withhold('index.html', 404);
    const gone = await page.reload();
    assert.equal(gone?.status(), 404);
  }),
);

contextTest('a page that a host answers in place of a file is not kept', options, async () => {
  // From when the worker comes: the page fetches its rooms before that.
  let isWell = false;
  let isWrong = false;
  /** @param {string} path @returns {Record<string, string>} */
  const headersOf = (path) => {
    isWrong ||= path.endsWith('service-worker.js');
    const isPage = isWrong && !isWell && /\/lessons-.*\.js$/.test(path);
    return isPage ? { 'content-type': 'text/html' } : {};
  };
  const server = await serve(site.root, { headersOf });
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    // What becomes of the worker that is installed: its state when it is no longer that.
    await page.evaluateOnNewDocument(() => {
      const { register } = ServiceWorkerContainer.prototype;
      ServiceWorkerContainer.prototype.register = async function (...args) {
        const registration = await register.apply(this, args);
        const worker = registration.installing;
        worker?.addEventListener('statechange', () => {
          if (worker.state !== 'installing') Object.assign(globalThis, { installed: worker.state });
        });
        return registration;
      };
    });
    await page.goto(server.url);
    await settled(page);
    const ended = await page.waitForFunction('globalThis.installed', { timeout: 60_000 });
    assert.equal(await ended.jsonValue(), 'redundant');
    isWell = true;
    await page.reload();
    await settled(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 60_000 });
    await page.click('#rooms a[href^="#lessons"]');
    await page.waitForSelector('#lessons-room :is(h1, h2)', { timeout: 60_000 });
  } finally {
    await context.close();
    server.close();
  }
});

contextTest('rooms that were not opened are fetched when the page is idle', options, async () => {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    /** @type {string[]} */
    const files = [];
    page.on('request', (request) => files.push(new URL(request.url()).pathname));
    await page.goto(site.url);
    await settled(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 60_000 });
    assert.ok(files.filter((file) => /\/room-.*\.js$/.test(file)).length >= 2, files.join(' '));
    assert.ok(files.some((file) => /\/lessons-.*\.js$/.test(file)));
  } finally {
    await context.close();
  }
});

test('the service worker names every file of the build', options, async () => {
  const source = await readFile(join(site.root, 'service-worker.js'), 'utf8');
  const { files } = JSON.parse(/self\.headwiseBuild = (.*);\n/.exec(source)?.[1] ?? '');
  assert.ok(files.includes('index.html'));
  for (const file of files) {
    await readFile(join(site.root, file));
    // A name is the same only where the content is.
    assert.ok(file === 'index.html' || /-[\w-]{8}\.\w+$/.test(file), file);
  }
});

if (engine.hasCdp)
  test('without JavaScript the page says what it is and what it needs', options, async () => {
    const page = await browser.newPage();
    try {
      await page.setJavaScriptEnabled(false);
      await page.goto(site.url);
      assert.match(await textOf(page, '.no-script'), /^This page needs JavaScript\./);
      const seen = await page.$$eval('#compare-room > *', (parts) =>
        parts.filter((part) => part.getClientRects().length > 0).map(({ className }) => className),
      );
      assert.deepEqual(seen, ['lead']);
    } finally {
      await page.close();
    }
  });
