// Every bad call fails with its code and in words, and the engine still computes the course's table afterwards.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { HeadwiseError } from 'headwise';
import { operands } from './bad-calls/attention.js';
import { attentionOptions } from './bad-calls/attention-options.js';
import { caches } from './bad-calls/caches.js';
import { elementwise } from './bad-calls/elementwise.js';
import { endedEngine, loads } from './bad-calls/engines.js';
import { functions } from './bad-calls/functions.js';
import { gpt2 } from './bad-calls/gpt2.js';
import { gpt2Calls } from './bad-calls/gpt2-calls.js';
import { constructors, forwards } from './bad-calls/modules.js';
import { states, traces } from './bad-calls/states.js';
import { tensors } from './bad-calls/tensors.js';
import { torchNn } from './bad-calls/torch-nn.js';
import { engine } from './helpers.js';
import { checkFused } from './seeds.js';
import { checkMessage, Wording } from './wording.js';

const hw = await engine();
const ended = await engine();
ended.dispose();

afterEach(() => checkFused(hw));

const table = [
  ...[
    tensors,
    functions,
    elementwise,
    operands,
    attentionOptions,
    constructors,
    forwards,
    states,
    traces,
  ],
  ...[caches, loads, gpt2, gpt2Calls, torchNn],
].flatMap((rows) => rows(hw));
const wording = new Wording('bad-calls');

for (const [title, call, code, name, came] of [...table, ...endedEngine(ended)])
  test(`${title}: ${code}`, () =>
    assert.rejects(
      async () => call(),
      (error) => wording.add(title, checkMessage(error, code, name, came)),
    ));

test('bad calls are worded as tests/wording/bad-calls.txt has it', () => wording.check());

test('what is thrown is an Error with a code and a name', () => {
  const error = new HeadwiseError('ERR_VALUE', 'shape is 1');
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.name, error.code, error.message],
    ['HeadwiseError', 'ERR_VALUE', 'shape is 1'],
  );
});
