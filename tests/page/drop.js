// Files that are dropped on the page, which only Chromium can be told to do.
import { browser } from './harness.js';

/** @import { CDPSession, Page } from 'puppeteer-core' */

/** @param {Page} page @param {readonly string[]} files their paths */
export async function dropFiles(page, files) {
  const session = /** @type {CDPSession} */ (await page.createCDPSession());
  const drag = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of /** @type {const} */ (['dragEnter', 'dragOver', 'drop'])) {
    await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data: drag });
  }
  await session.detach();
}

/** @returns {Promise<number>} how many pages are open: what no page takes opens in one of its own */
export const pageCount = async () => (await browser.pages()).length;
