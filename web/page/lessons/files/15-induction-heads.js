/**
 * Induction heads | Induction heads in a trained model
 *
 * Two heads that work together can continue letters that repeat. One head alone cannot. In the lessons before, no weight
 * was trained. This model is: its two layers of eight heads have read random letters that repeat, and have learnt to
 * continue them.
 */

// %% A model that has learnt
// @from Olsson 2022, attention-only models
// A GPT-2 of two layers. Its feed-forward parts are zero, so that all it knows is in its heads. A token is a letter. The
// first letters are random; once they repeat, the next letter can be known.

import { load, tensor } from 'headwise';
import {
  loadInductionModel,
  show,
  showBars,
  showChain,
  showLines,
  showMaps,
} from '../tools.js';

const hw = await load();
const { model, encode, decode } = await loadInductionModel(hw);
const { numLayers, numHeads } = model.options;
show('Layers and heads', [numLayers, numHeads]);
show('Parameters', model.parameterCount());
const prompt = 'gkQzbTxgkQz';
const next = [...model.generate(encode(prompt), { maxTokens: 7 })];
show('After gkQzbTxgkQz it writes', decode(next));

// recorded Layers and heads = [2, 8]
// recorded After gkQzbTxgkQz it writes = "bTxgkQz"

// %% What it is sure of
// @from Olsson 2022, definition of induction heads
// Ten letters, three times. Which probability did it give each letter before it saw it? The first time it could not know;
// from the second time on it could. Chance is 1 in 64, which is 0.0156.

const text = 'bWq7mZfKd2'.repeat(3);
const ids = encode(text);
const probabilityOfNext = (options) => {
  const { logits } = model.forward(ids, {
    logits: 'all',
    ...options,
  });
  const p = hw.softmax(logits).toNested();
  return ids.slice(1).map((id, i) => p[i][id]);
};
const mean = (list) =>
  list.reduce((a, b) => a + b, 0) / list.length;
const sure = probabilityOfNext();
showLines('The probability of the letter that came', {
  x: sure.map((_, i) => i + 1),
  lines: { probability: sure },
  xLabel: 'place in the text',
});
show('First time', mean(sure.slice(0, 9)));
show('Second time', mean(sure.slice(10, 19)));
show('Third time', mean(sure.slice(20)));
show('It knows what repeats', mean(sure.slice(10)) > 0.5);

// recorded It knows what repeats = true

// %% Heads that look one back
// @from Olsson 2022, how induction heads work
// How much of its weight does a head give to the token before? Some heads of layer 0 do little else. Through them a letter
// learns which letter it follows.

const { trace } = model.forward(ids, { trace: true });
const weightsOf = (layer, head) =>
  trace[layer].weights({ head }).toNested();
const score = (layer, head, back, from) => {
  const rows = weightsOf(layer, head).slice(from);
  return mean(rows.map((row, i) => row[i + from - back]));
};
const table = (back, from) =>
  tensor(
    [...Array(numLayers).keys()].map((layer) =>
      [...Array(numHeads).keys()].map((head) =>
        score(layer, head, back, from),
      ),
    ),
  );
const heads = [...Array(numHeads).keys()].map((h) => `H${h}`);
const labels = { rows: ['L0', 'L1'], cols: heads };
const previous = table(1, 1);
showChain('Weight of the token before', [
  ['layers × heads', previous, { ...labels, weights: true }],
]);
const best = (scores, layer) => {
  const row = scores.toNested()[layer];
  return row.indexOf(Math.max(...row));
};
const previousHead = best(previous, 0);
const layer0 = model.forward(ids, { needWeights: true }).weights[0];
showMaps('The head that looks one back', layer0, {
  heads: [previousHead],
  tokens: [...text],
  isCausal: true,
});

// %% Heads that look for the last time
// @from Olsson 2022, definition of induction heads
// Ten back stands the same letter, and nine back the letter that came after it. Heads of layer 1 look there. They search
// for a place that follows a letter like the present one, and layer 0 has noted which places do.

const induction = table(9, 10);
showChain('Weight of what came next the last time', [
  ['layers × heads', induction, { ...labels, weights: true }],
]);
const inductionHead = best(induction, 1);
const layer1 = model.forward(ids, { needWeights: true }).weights[1];
showMaps('The head that looks nine back', layer1, {
  heads: [inductionHead],
  tokens: [...text],
  isCausal: true,
});
show(
  'Layer 1 has it, layer 0 has not',
  Math.max(...induction.toNested()[1]) > 0.4 &&
    Math.max(...induction.toNested()[0]) < 0.1,
);

// recorded Layer 1 has it, layer 0 has not = true

// %% Muted
// @from Olsson 2022, ablations
// A map shows where a head looks, not whether it matters. So mute heads: multiply their outputs by 0. Without the heads
// that look one back the induction heads find nothing, although they are unchanged. The other heads of layer 1 do not
// matter here.

const without = (layer, list) => {
  const mask = [...Array(numLayers)].map(() =>
    Array(numHeads).fill(1),
  );
  list.forEach((head) => (mask[layer][head] = 0));
  return mean(probabilityOfNext({ headMask: mask }).slice(10));
};
const above = (scores, layer, least) => {
  const row = scores.toNested()[layer];
  return heads.map((_, h) => h).filter((h) => row[h] > least);
};
const found = above(induction, 1, 0.4);
const all = without(0, []);
const one = without(0, above(previous, 0, 0.4));
const two = without(1, found);
const rest = heads
  .map((_, h) => h)
  .filter((h) => !found.includes(h));
const others = without(1, rest);
showBars('Sure of what repeats', {
  'all heads': all,
  'without those that look one back': one,
  'without the induction heads': two,
  'without the others of layer 1': others,
});
show('All heads', all);
show('Without those that look one back', one);
show('Without the induction heads', two);
show('Without the others of layer 1', others);
show('It needs both kinds', one < all / 2 && two < all / 2);

// recorded It needs both kinds = true

// %% Your own
// @from Olsson 2022, definition of induction heads
// Letters and digits; up to 64 of them fit. Does it go on with what it has seen once? It writes an “e”. Before, “e” was
// followed by “a” and by “7”: which of them does it choose?

const own = 'headwise7head';
const written = [...model.generate(encode(own), { maxTokens: 5 })];
show('It writes', decode(written));
