// What the tests of exporting from the Explore room share: choosing in the dialog, and reading what would be saved.
import assert from 'node:assert/strict';
import { openMenu } from './explore-room.js';

/** @import { Page } from 'puppeteer-core' */

export const QUERY = '?model=induction&head=L1H2';

/**
 * Chooses in the dialog, and reads what would be saved.
 *
 * @param {Page} page
 * @param {string} what
 * @param {string} format
 */
export async function saved(page, what, format) {
  const isOpen = await page.evaluate(() => document.querySelector('.explore-files[open]') !== null);
  if (!isOpen) {
    await openMenu(page, 'explore-files');
    await page.click('#explore-export');
  }
  await page.select('#export-what', what);
  await page.select('#export-format', format);
  await page.waitForFunction(
    (/** @type {string} */ ending) =>
      document.querySelector('#export-save')?.getAttribute('download')?.endsWith(`.${ending}`) &&
      document.querySelector('#export-save')?.hasAttribute('href') &&
      document.querySelector('#export-told')?.textContent?.includes('iB'),
    { timeout: 60_000 },
    format,
  );
  const { text, name, said } = await page.evaluate(async () => {
    const link = /** @type {HTMLAnchorElement} */ (document.querySelector('#export-save'));
    const bytes = new Uint8Array(await (await fetch(link.href)).arrayBuffer());
    return {
      text: Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''),
      name: link.download,
      said: document.querySelector('#export-told')?.textContent ?? '',
    };
  });
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const [, size] = /: ([\d.]+) KiB$/.exec(said) ?? [];
  assert.ok(Math.abs(Number(size) - bytes.length / 1024) <= 0.051, `${said}, ${bytes.length}`);
  assert.ok(said.startsWith(name));
  return { bytes, name };
}

/** Each file that the dialog makes has an address of its own. @param {Page} page */
export const addressMade = (page) =>
  page.$eval('#export-save', (link) => link.getAttribute('href'));

/** What a browser makes of an SVG file. @param {Page} page @param {Uint8Array} bytes */
export const parsed = (page, bytes) =>
  page.evaluate((text) => {
    const xml = new DOMParser().parseFromString(text, 'image/svg+xml');
    return {
      hasError: xml.querySelector('parsererror') !== null,
      title: xml.querySelector('title')?.textContent,
      settings: JSON.parse(xml.querySelector('metadata')?.textContent ?? 'null'),
      texts: [...xml.querySelectorAll('text')].map((element) => element.textContent),
      images: xml.querySelectorAll('image').length,
      paths: xml.querySelectorAll('#drawing path').length,
      stops: [...xml.querySelectorAll('linearGradient')].map((one) => one.children.length),
    };
  }, new TextDecoder().decode(bytes));
