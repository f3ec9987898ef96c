// What scripts say of a command line that is wrong: a line and their usage, no stack, and a status that is not 0.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runNode } from './child.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @type {[args: string[], said: RegExp][]} */
const WRONG = [
  [
    ['tests/bench/sweep.js', '--tokens', 'abc'],
    /^--tokens is abc; expected an integer of at least 1\nusage: npm run bench:sweep/,
  ],
  [
    ['tests/bench/sweep.js', '--nope'],
    /^Unknown option '--nope'[^\n]*\nusage: npm run bench:sweep/,
  ],
  [['tests/bench/models.js', '--model', 'q'], /^--model is q; expected some of tiny, GPT-2-124M/],
  [
    ['tests/bench/peers/run.js', '--python', 'python3'],
    /^--python needs --node\nusage: npm run bench:peers/,
  ],
  [
    ['tests/bench/run.js', '--shape', 'Q'],
    /^--shape is Q; expected some of S0, .*\nusage: npm run bench /,
  ],
  [
    ['tests/fuzz/run.js', '--only', 'd'],
    /^--only is d; expected one of c, js\nusage: npm run fuzz/,
  ],
  [
    ['tests/fuzz/run.js', '--only', 'c,js'],
    /^--only is c,js; expected one of c, js\nusage: npm run fuzz/,
  ],
  [['tests/bench/bytes.js', 'x'], /^Unexpected argument 'x'\.[^]*\nusage: npm run bytes$/m],
  [['tests/pictures.js', 'nope'], /^there is no picture nope\nusage: npm run pictures/],
  [['tests/embed/run.js', 'nope'], /^nope: unknown; expected some of next, parcel, /],
  [['tests/heads/run.js', 'web/page/models/austen', '--text', tmpdir()], /^EISDIR: [^\n]*\n$/],
  [
    ['web/page/models/train/run.js', 'induction', '--seed', '-1'],
    /^Option '--seed' argument is ambiguous\.[^]*\nusage: npm run train/,
  ],
  [
    ['web/page/models/train/run.js', 'induction', '--steps', '0'],
    /^--steps is 0; expected an integer from 1 to 4294967295\nusage: npm run train/,
  ],
  [
    ['web/build/build-wasm.js', '--names', 'x', '--check'],
    /^--names needs a folder, and does not go with --check\nusage: npm run build/,
  ],
  [['web/page/models/train/run.js', 'induction', '--out', 'README.md'], /^EEXIST: [^\n]*\n$/],
];

for (const [args, said] of WRONG) {
  test(`${args.join(' ').replace(tmpdir(), 'a folder')} is refused in a line`, async () => {
    const { status, stdout, stderr } = await runNode(args[0], args, { cwd: ROOT, seconds: 60 });
    assert.equal(status, 2);
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /\n {4}at /);
    assert.equal(stdout, '');
  });
}
