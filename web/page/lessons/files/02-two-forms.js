/**
 * Two forms | One head, written twice
 *
 * One head without a mask, first with bare matrices and then with linear layers. The two draw their weights differently
 * and store them with rows and columns swapped. Everything else is the same.
 */

// %% Six words, three numbers each
// @from 000, step 1; 001, exercise 3.1
// Most of these lessons share this sentence. Row 1 is “journey”. The length of a row is the input width of a head.

import { load, tensor } from 'headwise';
import {
  largestDifference,
  pick,
  show,
  showChain,
} from '../tools.js';

const hw = await load();
const words = ['Your', 'journey', 'starts', 'with', 'one', 'step'];
const inputs = tensor([
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
]);
show('x_2', pick(inputs, 1), { rows: ['journey'] });
show('d_in', inputs.shape[1]);

// prints x_2 = [0.5500, 0.8700, 0.6600]
// prints d_in = 3

// %% Bare matrices
// @from 001, exercise 3.1
// `SelfAttentionV1` multiplies x · W, so a weight is `[dIn, dOut]`. Its numbers are drawn evenly between 0 and 1: all
// positive, so the output is positive too.

hw.manualSeed(123);
const v1 = new hw.SelfAttentionV1({ dIn: 3, dOut: 2 });
const first = v1.forward(inputs).output;
const w = v1.stateDict().W_query;
showChain('The queries of the first form', [
  ['x', inputs, { rows: words }],
  '×',
  ['W_query', w],
  '=',
  ['queries', hw.matmul(inputs, w)],
]);
show('sa_v1', first, { rows: words });

// prints sa_v1 =
//   [[0.2996, 0.8053],
//    [0.3061, 0.8210],
//    [0.3058, 0.8203],
//    [0.2948, 0.7939],
//    [0.2927, 0.7891],
//    [0.2990, 0.8040]]

// %% Linear layers
// @from 001, exercise 3.1
// `SelfAttentionV2` has a linear layer in place of each matrix. Such layers draw their weights around 0, on a scale that
// suits their width; the same seed gives other numbers.

hw.manualSeed(123);
const v2 = new hw.SelfAttentionV2({ dIn: 3, dOut: 2 });
const second = v2.forward(inputs).output;
show('sa_v2', second, { rows: words });

// prints sa_v2 =
//   [[-0.5337, -0.1051],
//    [-0.5323, -0.1080],
//    [-0.5323, -0.1079],
//    [-0.5297, -0.1076],
//    [-0.5311, -0.1066],
//    [-0.5299, -0.1081]]

// %% Rows and columns swapped
// @from 001, exercise 3.1
// A linear layer keeps one row for every number that it gives: `[dOut, dIn]`. Transposed, it has the shape of the first
// form’s matrix.

const linear = v2.stateDict();
const stored = linear['W_query.weight'];
showChain('Which way round', [
  ['W_query of v1', w],
  'and',
  ['W_query.weight of v2', stored],
  'transposed →',
  ['for v1', hw.transpose(stored)],
]);
show('W_query of v1', w.shape);
show('W_query.weight of v2', stored.shape);

// %% The weights change places
// @from 001, exercise 3.1
// The first form, with the transposed weights of the second, gives the table of the second.

v1.loadStateDict({
  W_query: hw.transpose(linear['W_query.weight']),
  W_key: hw.transpose(linear['W_key.weight']),
  W_value: hw.transpose(linear['W_value.weight']),
});
const moved = v1.forward(inputs).output;
const apart = largestDifference(moved, second);
show('sa_v1 with the weights of sa_v2', moved, { rows: words });
show('Largest difference', apart);
show('Are outputs close?', apart <= 1e-6);

// expected sa_v1 with the weights of sa_v2 =
//   [[-0.5337, -0.1051],
//    [-0.5323, -0.1080],
//    [-0.5323, -0.1079],
//    [-0.5297, -0.1076],
//    [-0.5311, -0.1066],
//    [-0.5299, -0.1081]]
// prints Are outputs close? = true
