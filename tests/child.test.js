// Whatever the tests start ends: by itself, or at its limit and with its name.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { evaluate, NODE_FLAGS, run, runNode } from './child.js';
import { runFile } from './files.js';

const TESTS = fileURLToPath(new URL('.', import.meta.url));

/** These never end by themselves. */
const FOREVER = {
  'its thread waits': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
  'a timer is left': 'setInterval(() => {}, 1000)',
};
const TIMER = FOREVER['a timer is left'];

/** In seconds: long enough to start on a busy machine. */
const LIMIT = 8;

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What starts processes in its own way: the drivers of browsers, and benches that talk with theirs. */
const OWN_WAY = [
  'bench/peers/contestants/pytorch.js',
  'bench/peers/in-node.js',
  'browsers/show.js',
  'browsers/webdriver.js',
  'child.js',
];

test('tests start processes with tests/child.js alone', async () => {
  const names = (await readdir(TESTS, { recursive: true })).filter(
    (name) => name.endsWith('.js') && !name.includes('node_modules') && !name.includes('build'),
  );
  /** @type {string[]} */
  const found = [];
  for (const name of names)
    if (/^import .* from 'node:child_process'/m.test(await readFile(join(TESTS, name), 'utf8')))
      found.push(name);
  assert.deepEqual(found.sort(), OWN_WAY);
});

test('what runs the test files ends like what it starts', async () => {
  const { scripts } = JSON.parse(await readFile(join(TESTS, '..', 'package.json'), 'utf8'));
  for (const name of ['test', 'test:slow', 'test:browsers'])
    assert.ok(scripts[name].startsWith(`node ${NODE_FLAGS.join(' ')} `), scripts[name]);
});

describe('what tests start', { concurrency: 4 }, () => {
  for (const [kind, script] of Object.entries(FOREVER))
    test(`a child that never ends (${kind}) is ended at its limit, named and quoted`, async () => {
      const code = `require('node:fs').writeSync(1, 'so far'); ${script}`;
      await assert.rejects(runNode('the slow one', ['-e', code], { seconds: LIMIT }), (error) => {
        assert.match(String(error), /the slow one did not end within 8 s\nso far/);
        return true;
      });
    });

  test(
    'what a child has started ends with it',
    { skip: process.platform !== 'linux' },
    async () => {
      const script = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(TIMER)}], { detached: true });
    require('node:fs').writeSync(1, 'pid ' + child.pid);`;
      /** @type {Error} */
      const error = await runNode('a family', ['-e', script], { seconds: LIMIT }).then(
        () => assert.fail('it ended'),
        (reason) => reason,
      );
      const pid = Number(/pid (\d+)/.exec(error.message)?.[1]);
      assert.ok(pid > 0, error.message);
      for (let i = 0; i < 100 && isAlive(pid); i++) await wait(50);
      assert.ok(!isAlive(pid));
    },
  );

  test('a script ends when it has reported, whatever else it has begun', async () => {
    const script = `${TIMER}; report({ long: 'x'.repeat(1e6) });`;
    assert.deepEqual(await evaluate('a reporter', script), { long: 'x'.repeat(1e6) });
  });

  test('a script that reports nothing fails with what it complained about', async () => {
    const failing = evaluate('a mute one', 'throw new Error("no voice")');
    await assert.rejects(failing, /a mute one reported nothing\n[^]*no voice/);
  });

  test('a program that is missing is an error', async () => {
    await assert.rejects(run('nothing', 'headwise-no-such-program', []), /ENOENT/);
  });

  for (const [title, body, problem] of /** @type {[string, string, RegExp][]} */ ([
    ['that passes has no problem', "test('a', () => {});", /^$/],
    ['that fails is said to', "test('a', () => { throw new Error('b'); });", /^FAILED$/],
    ['that hangs is ended and named', `test('a', () => {}); ${TIMER};`, /did not end within/],
    ['without a test is a problem', '', /^no test ran$/],
  ]))
    test(`a test file ${title}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'headwise-file-'));
      try {
        const path = join(folder, 'a.test.mjs');
        await writeFile(path, `import { describe, test } from 'node:test'; ${body}`);
        const outcome = await runFile(path, { seconds: body.includes(TIMER) ? LIMIT : 60 });
        assert.match(outcome.problem, problem);
        if (!outcome.problem) assert.equal(outcome.passed, 1);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
});
