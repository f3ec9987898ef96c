// The printed tables of the course, from the seed alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { engine } from './helpers.js';
import * as seeds from './seeds.js';

const hw = await engine();

test('the wrapper prints the table of listing 3.4', () => seeds.checkWrapper(hw));

test('the fused module prints the table of listing 3.5', () => seeds.checkFused(hw));

test('one sequence without a batch gives the same rows', () => {
  hw.manualSeed(123);
  const module = new hw.MultiHeadAttention({ dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 });
  seeds.printsAs(module.forward(tensor(seeds.inputs)).output, seeds.fusedTable);
});

test('the exercise without causal mask and without biases prints its table from seed 42', () => {
  hw.manualSeed(42);
  const x = hw.randn([1, 5, 4]);
  const module = new hw.MultiHeadAttention({
    dIn: 4,
    dOut: 2,
    contextLength: 5,
    numHeads: 2,
    outBias: false,
    isCausal: false,
  });
  seeds.printsAs(module.forward(x).output, [seeds.exerciseTable]);
});

test('a tensor times its transpose prints the batched table, and each head alone its part', () => {
  const a = tensor(seeds.matmulInput);
  seeds.printsAs(hw.matmul(a, hw.transpose(a)), seeds.matmulTable);
  seeds.matmulInput[0].forEach((head, index) => {
    const one = tensor(head);
    seeds.printsAs(hw.matmul(one, hw.transpose(one)), seeds.matmulTable[0][index]);
  });
});

test('the wrapper with one dimension a head gives the shape that exercise 3.2 asks for', () => {
  const module = new hw.MultiHeadAttentionWrapper({
    dIn: 3,
    dOut: 1,
    contextLength: 6,
    numHeads: 2,
  });
  assert.deepEqual([...module.forward(seeds.batch()).output.shape], [2, 6, 2]);
});

test('the module of GPT-2 small has the printed parameter counts and keeps the shape of its input', () => {
  hw.manualSeed(123);
  const projection = new hw.Linear({ inFeatures: 768, outFeatures: 768 });
  assert.equal(projection.parameterCount(), 590_592);
  projection.dispose();
  const module = new hw.MultiHeadAttention({
    dIn: 768,
    dOut: 768,
    contextLength: 1024,
    dropout: 0.1,
    numHeads: 12,
    qkvBias: true,
  });
  assert.equal(module.parameterCount(), 2_362_368);
  module.eval();
  const { output } = module.forward(hw.randn([2, 128, 768]));
  assert.deepEqual([...output.shape], [2, 128, 768]);
  assert.ok(output.data.every(Number.isFinite));
  module.dispose();
});
