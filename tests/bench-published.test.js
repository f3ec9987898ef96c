// The ratios that page and README show: one file, written by npm run bench:peers -- --write.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { cellsOf, published } from './bench/peers/published.js';

const read = (/** @type {string} */ path) => readFile(new URL(path, import.meta.url), 'utf8');

/** @param {string} name @param {number | undefined} minimum @param {string[]} [notes] */
const outcome = (name, minimum, notes = []) => ({
  name,
  notes,
  ...(minimum !== undefined && { minimum }),
});

test('a run’s fewest times become multiples of Headwise’s, with what was done otherwise', () => {
  const run = { date: '2026-01-02', version: '1.0.0', machine: 'm', browser: 'b', threads: 1 };
  const contest = { ceiling: 60, flops: 1 };
  const contests = [
    {
      ...{ shape: 'S1', threads: 1, ...contest },
      outcomes: [outcome('Headwise', 3), outcome('tfjs-wasm', 7.125)],
    },
    {
      ...{ shape: 'S3', threads: 1, ...contest },
      outcomes: [outcome('Headwise', 2), outcome('tfjs-wasm', 5, ['failed'])],
    },
    {
      ...{ shape: 'C1', threads: 1, ...contest },
      outcomes: [outcome('Headwise', 2), outcome('tfjs-wasm', undefined)],
    },
    { shape: 'S1', threads: 2, ...contest, outcomes: [outcome('Headwise', 1)] },
    { shape: 'D1', threads: 1, problem: 'crashed' },
  ];
  const starts = [{ name: 'Headwise', bytes: 44_400 }, { name: 'tfjs-wasm' }];
  const data = published(contests, starts, run, { '@tensorflow/tfjs-backend-wasm': '4.0.1' });
  assert.deepEqual(data, {
    ...run,
    runtimes: [
      { name: 'Headwise', version: '1.0.0', kilobytes: 44, ratios: { S1: 1, S3: 1, C1: 1 } },
      {
        name: 'tfjs, wasm backend',
        version: '4.0.1',
        ratios: { S1: 2.38, S3: 2.5 },
        otherwise: ['S3'],
      },
    ],
  });
  assert.deepEqual(cellsOf(data), [
    ['Headwise', '1', '1', '1', '44 kB'],
    ['tfjs, wasm backend', '2.38', '2.5\\*', '', ''],
  ]);
});

test('README’s table of other runtimes says what the file says', async () => {
  const [file, readme] = await Promise.all([
    read('../web/page/bench/peers.json'),
    read('../README.md'),
  ]);
  const lines = readme.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^(\d+\.\d)0(?!\d)/, '$1')),
  );
  for (const cells of cellsOf(JSON.parse(file))) {
    const [name] = cells;
    const line = lines.find((each) => each[0] === name && each.length === cells.length);
    assert.deepEqual(line, cells);
  }
});
