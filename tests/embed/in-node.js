// Every entry of the package, under one version of Node; prints what app/compute.js gives.
import { AttentionMap } from 'headwise/view';
import { continueThere, entries } from './app/compute.js';

if (typeof AttentionMap !== 'function') throw new Error('no AttentionMap');
/** @type {Record<string, unknown>} */
const results = {};
for (const [name, run] of Object.entries(entries)) results[name] = await run();
const { written, expected } = await continueThere();
if (written.join() !== expected.join()) throw new Error(`${written}; expected ${expected}`);
console.log(JSON.stringify(results));
