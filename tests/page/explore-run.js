// What the tests of the Explore room compare with: the shipped model's run of its sample in Node, and what the page writes.
import { after, before } from 'node:test';
import { load } from 'headwise';
import { firstHead, firstPins, MODELS } from '../../web/page/explore/models.js';
import { runModel } from '../../web/page/explore/worker/model.js';
import { openPageModel } from '../page-model.js';

/** @import { Page } from 'puppeteer-core' */
/** @import { HeadName } from '../../web/page/shared/head-names.js' */

/** @type {import('../../web/page/explore/worker/model.js').DecoderModel} */
export let model;
/** @type {ReturnType<typeof runModel>} the sample text's run */
export let run;
/** @type {string[]} labels of its tokens */
export let names;

before(async () => {
  model = await openPageModel(await load(), 'austen');
  run = runModel(model, model.text.encode(MODELS.austen.sample), []);
  names = run.tokens.map(({ text }) => text);
});

after(() => run.dispose());

/** @param {number} weight as the page writes it */
export const written = (weight) =>
  weight === 0
    ? '0'
    : weight >= 5e-4
      ? weight.toFixed(4)
      : weight.toExponential(1).replace('-', '−');

/** The token that is pinned first. */
export const [{ token: firstPin }] = firstPins('austen');

/** Tokens in a card of one pin, and in each of several. */
export const [MOST, MOST_OF_SEVERAL] = [6, 4];

/** The head that is shown first. */
export const first = firstHead('austen');

/** @param {number} query @param {HeadName} [head] */
export const rowOf = (query, { layer, head } = first) =>
  run.source.rows(layer, head, query, query + 1);

/** The rows of a card: tokens and weights. @param {Page} page @param {string} [selector] */
export const card = (page, selector = '.pin-card') =>
  page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) => [
      row.querySelector('.token')?.textContent,
      row.querySelector('.at')?.textContent,
      row.querySelector('td:last-child')?.textContent,
    ]),
  );

/** @param {ArrayLike<number>} weights @param {number} most the card that they give */
export function cardOf(weights, most) {
  const keys = Array.from(weights, (_, key) => key).filter((key) => weights[key] !== 0);
  keys.sort((a, b) => weights[b] - weights[a] || a - b);
  return keys.slice(0, most).map((key) => [names[key], String(key + 1), written(weights[key])]);
}
