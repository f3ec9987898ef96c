// node tests/pictures.js [NAME…]: README's pictures, or those named, from the page as it is now, into web/pictures/.
import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { engines } from './browsers/engines.js';
import { runScript, UsageError } from '../web/build/command-line.js';
import { servePage } from './page/browser.js';

/** @import { Page } from 'puppeteer-core' */

const FOLDER = fileURLToPath(new URL('../web/pictures/', import.meta.url));

/** How long a room may take to be drawn. */
const PATIENCE_MS = 120_000;

/**
 * @typedef {object} Picture
 * @property {string} hash of the view
 * @property {string} ready a selector of what is there when it is drawn
 * @property {string} [from] what stands at the top of the picture, if not the page's top
 * @property {number} [above] pixels between the two; default 4
 */

/** @type {Record<string, Picture>} */
const PICTURES = {
  compare: { hash: '', ready: '[data-run] main:not([aria-busy]) #grid[data-drawn]' },
  explore: {
    hash: '#explore?by=effect',
    ready:
      '#explore-heads:has(#explore-grid.measured):not(:has(#explore-ablating, #explore-surveying))',
    ...{ from: '#explore-read', above: 0 },
  },
  why: {
    hash: '#explore?model=names&mode=why',
    ready: '.why #explore-grid.measured',
    from: '.explore-text-section .section-head',
  },
  train: { hash: '#train', ready: '#train-room[data-state="resting"]' },
  lessons: {
    hash: '#lessons?lesson=wrapper',
    ready: '.lesson[data-state="done"]',
    from: '.step:nth-of-type(2)',
  },
};

/** @param {Page} page @param {string} url @param {string} name @param {Picture} picture */
async function take(page, url, name, { hash, ready, from, above = 4 }) {
  await page.goto('about:blank');
  await page.goto(url + hash);
  await page.waitForSelector(ready, { timeout: PATIENCE_MS });
  await page.waitForNetworkIdle({ idleTime: 1500, timeout: PATIENCE_MS });
  if (from) {
    const margin = `scroll-margin-top: ${above}px`;
    await page.$eval(
      from,
      (element, style) => {
        element.setAttribute('style', style);
        element.scrollIntoView();
      },
      margin,
    );
  }
  const path = `${FOLDER}${name}.png`;
  await page.screenshot({ path: /** @type {`${string}.png`} */ (path) });
  console.log(`${name}.png: ${Math.round((await stat(path)).size / 1024)} kB`);
}

/** @param {readonly string[]} args */
async function main(args) {
  const all = Object.keys(PICTURES);
  const unknown = args.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new UsageError(`there is no picture ${unknown.join(', ')}`);
  const { chromium } = engines;
  const program = chromium.find();
  if (!program) throw new UsageError(`Chromium was not found: ${chromium.hint}`);
  await mkdir(FOLDER, { recursive: true });
  const site = await servePage();
  const browser = await chromium.launch(program);
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 760 });
    for (const name of args.length > 0 ? args : all)
      await take(page, site.url, name, PICTURES[name]);
  } finally {
    await browser.close();
    await site.close();
  }
}

await runScript(
  main,
  `usage: npm run pictures -- [NAME…]\nNAME: ${Object.keys(PICTURES).join(', ')}`,
);
