// How Explore writes what a model predicts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { digitsOf, percent } from '../web/page/explore/next-token.js';

test('small probabilities are told apart where all are small', () => {
  assert.equal(digitsOf(0.4), 1);
  assert.deepEqual(
    [0.4, 0.00051, 0.00049, 0].map((share) => percent(share)),
    ['40.0 %', '0.1 %', '< 0.1 %', '< 0.1 %'],
  );
  // As of a model that is not trained.
  const shares = [0.000031, 0.000021, 0.0000199];
  const digits = digitsOf(shares[0]);
  assert.deepEqual(
    shares.map((share) => percent(share, digits)),
    ['0.0031 %', '0.0021 %', '0.0020 %'],
  );
  assert.equal(percent(1e-9, digits), '< 0.0001 %');
  assert.equal(digitsOf(0), 1);
});
