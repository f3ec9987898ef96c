/**
 * A sentence | From a sentence to maps
 *
 * From text to vectors that depend on their neighbours: tokens, embeddings, a block, and the maps of its heads. No weight
 * here is trained, so the heads look where chance leads them.
 */

// %% Text becomes numbers
// @from 003, section 7
// GPT-2’s tokenizer cuts text into pieces and has a number for each. A ␣ stands for a space; it belongs to the word after
// it.

import { load } from 'headwise';
import {
  largestDifference,
  meanDifference,
  pick,
  show,
  showChain,
  showFlow,
  showMaps,
  tokenize,
} from '../tools.js';

const hw = await load();
const tokens = await tokenize('The cat sat on the mat');
const ids = tokens.map(({ id }) => id);
show('Tokens', tokens.map(({ text }) => text).join(' · '));
show('Token IDs', ids);
show('Shape', [1, ids.length]);

// expected Token IDs = [464, 3797, 3332, 319, 262, 2603]
// expected Shape = [1, 6]

// %% Numbers become vectors
// @from 003, section 7
// An embedding layer is a table with a row for each of 50,257 tokens. Drawing its 38.6 million random numbers takes
// a moment.

hw.manualSeed(123);
const embed = new hw.Embedding({
  numEmbeddings: 50257,
  embeddingDim: 768,
});
const embeddings = embed.forward([ids]).output;
const firstTen = (x) => [...pick(pick(x, 0), 0).data.slice(0, 10)];

const texts = tokens.map(({ text }) => text);
showChain('A row for each token', [
  ['embeddings', embeddings, { rows: texts }],
]);
show('Embeddings shape', embeddings.shape);
show('First token, ten of its numbers', firstTen(embeddings));

// expected Embeddings shape = [1, 6, 768]

// %% Vectors take each other in
// @from 003, section 7
// This is one block. Twelve such blocks, positions that are added to the embeddings, a last norm, and a layer that turns
// the last vectors into words make a GPT-2.

const block = new hw.TransformerBlock({
  dModel: 768,
  numHeads: 12,
  dFf: 3072,
  dropout: 0.1,
}).eval();
const { output, weights } = block.forward(embeddings, {
  needWeights: true,
});
showFlow('From text to vectors in context', [
  { label: 'The cat sat on the mat', note: ids.join(' · ') },
  { label: 'Embeddings', value: embeddings, rows: texts },
  {
    label: 'Twelve heads',
    note: 'inside the block',
    value: pick(weights, 0),
    heads: 12,
    weights: true,
  },
  { label: 'Output', value: output, rows: texts },
]);
show('Output shape', output.shape);
show('First token after the block', firstTen(output));

// expected Output shape = [1, 6, 768]

// %% One word, two meanings
// @from 003, section 1
// “Bank” has one row in the table, beside a river or beside savings. After the block it has two different vectors,
// because each has taken in the words before it.

const lastOf = async (text) => {
  const list = (await tokenize(text)).map(({ id }) => id);
  const input = embed.forward(list).output;
  const at = list.length - 1;
  const result = block.forward(input).output;
  return { before: pick(input, at), after: pick(result, at) };
};
const river = await lastOf('the river bank');
const savings = await lastOf('the savings bank');

const asRow = ({ data }) => [[...data]];
showChain('“bank” before and after the block', [
  ['both before', asRow(river.before)],
  '→',
  ['river bank', asRow(river.after)],
  'or',
  ['savings bank', asRow(savings.after)],
]);
show(
  'Embeddings of “bank” differ by',
  largestDifference(river.before, savings.before),
);
show(
  'After the block, on average, by',
  meanDifference(river.after, savings.after),
);

// expected Embeddings of “bank” differ by = 0

// %% Four heads as maps
// @from 003, section 6
// A row is a token that looks, a column a token that it looks at. Above the diagonal are later tokens, which are masked.
// Each head has weights of its own, so each looks elsewhere.

const lookAt = async (text) => {
  const found = await tokenize(text);
  const x = embed.forward([found.map(({ id }) => id)]).output;
  const seen = block.forward(x, { needWeights: true }).weights;
  return { seen, labels: found.map((token) => token.text) };
};
const fox = await lookAt(
  'The quick brown fox jumps over the lazy dog',
);
show('Attention weights shape', fox.seen.shape);
showMaps('The first four heads', fox.seen, {
  heads: [0, 1, 2, 3],
  tokens: fox.labels,
  isCausal: true,
});

// expected Attention weights shape = [1, 12, 9, 9]

// %% Your own sentence
// @from 003, exercise 5
// Replace the sentence by your own and run. Does head 0, 3, 7 or 11 look near, or far back? The numbers say how many
// tokens back a head looks on average. Evenly spread attention gives 1 for five tokens, and untrained heads are close to
// it.

const own = await lookAt('Alice gave Bob a book');
const heads = [0, 3, 7, 11];
showMaps('Heads 0, 3, 7, 11', own.seen, {
  heads,
  tokens: own.labels,
  isCausal: true,
});
const n = own.labels.length;
const back = (head) => {
  const rows = pick(pick(own.seen, 0), head).toNested();
  const distances = rows.map((row, i) =>
    row.reduce((total, w, j) => total + w * Math.abs(i - j), 0),
  );
  return distances.reduce((a, b) => a + b) / n;
};
for (const head of heads) {
  show(`Head ${head} looks back by`, back(head));
}
show(
  'Nothing is seen ahead',
  own.seen.data.every(
    (w, i) => i % n <= Math.floor(i / n) % n || w === 0,
  ),
);

// expected Nothing is seen ahead = true
