/**
 * What differs | What really differs between the two
 *
 * The notes on section 3.6 call the wrapper wasteful, and they call the single class shared, light and fast. This
 * lesson tests each of these words at the size of GPT-2 small, 12 heads of 64.
 */

// %% Twelve small modules, one large
// @from 004, naïve wrapper and class-based implementation
// A head is as wide as the whole divided by the heads, so that twelve of them side by side are again 768 wide.

import { load } from 'headwise';
import {
  largestDifference,
  show,
  showBars,
  showMaps,
  showStrip,
} from '../tools.js';

const hw = await load();
hw.manualSeed(123);
const wrapper = new hw.MultiHeadAttentionWrapper({
  dIn: 768,
  dOut: 768 / 12,
  contextLength: 128,
  numHeads: 12,
});
const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
const x = hw.randn([1, 128, 768]);
const side = wrapper.forward(x).output;
const one = fused.forward(x).output;

showStrip(
  'The first token of either output',
  one.data.slice(0, 768),
  {
    heads: 12,
  },
);
show('Wrapper', side.shape);
show('One class', one.shape);
show('Largest difference', largestDifference(side, one));
show('Equal within 1e-5', largestDifference(side, one) < 1e-5);

// expected Wrapper = [1, 128, 768]
// expected One class = [1, 128, 768]
// expected Equal within 1e-5 = true

// %% “Each head duplicates weights”
// @from 004, naïve wrapper; 000, step 3
// It does not. Twelve times three matrices of 768 × 64 hold as many numbers as three of 768 × 768. Only the output
// projection comes on top.

const whole = new hw.MultiHeadAttention({
  dIn: 768,
  dOut: 768,
  contextLength: 128,
  numHeads: 12,
});
const matrices = (module) => Object.keys(module.stateDict()).length;
showBars('Weights', {
  Wrapper: wrapper.parameterCount(),
  'One class': fused.parameterCount(),
  'With output projection': whole.parameterCount(),
});
show('Matrices of the wrapper', matrices(wrapper));
show('Matrices of one class', matrices(fused));
show('Weights of the wrapper', wrapper.parameterCount());
show('Weights of one class', fused.parameterCount());
show('With output projection', whole.parameterCount());

// expected Matrices of the wrapper = 36
// expected Matrices of one class = 3
// expected Weights of the wrapper = 1769472
// expected Weights of one class = 1769472
// expected With output projection = 2360064

// %% “One set of weights is shared”
// @from 004, why the class is more efficient
// It is held in one place, not shared: rows 192 to 255 of the query matrix belong to head 3. Set them to zero, and head
// 3 attends evenly to all tokens that it may see. The other heads do not change: the strip shows what did.

const before = fused.forward(x).output.data;
const weights = fused.stateDict();
weights['W_query.weight'].data.fill(0, 192 * 768, 256 * 768);
fused.loadStateDict(weights);
const after = fused.forward(x).output.data;

const changed = (head) =>
  after.some(
    (value, i) =>
      Math.floor((i % 768) / 64) === head && value !== before[i],
  );
const heads = Array.from({ length: 12 }, (_, head) => head);
const last = (data) => data.slice(127 * 768);
const change = last(after).map((y, i) => y - last(before)[i]);
showStrip('What changed in the last token', change, { heads: 12 });
show('Heads that changed', heads.filter(changed));

// expected Heads that changed = [3]

// %% “Faster”
// @from 004, why the class is more efficient
// This is true, and how much depends on the machine, so nothing is compared here. Both do the same sums. The class reads
// its input once for all heads.

const time = (module) => {
  const start = performance.now();
  for (let i = 0; i < 5; i++) module.forward(x);
  return (performance.now() - start) / 5;
};
time(wrapper);
time(fused);
const [slow, quick] = [time(wrapper), time(fused)];
showBars('Milliseconds a run', {
  Wrapper: slow,
  'One class': quick,
});
show('Times as fast', (slow / quick).toFixed(2));

// %% Causal in every head
// @from 004, takeaways
// One mask serves all heads. Before training their maps differ only by chance: training makes “specialists”, not the
// class. `showMaps` draws the weights of some heads. Each row belongs to one token. A bright cell marks a token that it
// attends to strongly.

const few = hw.randn([8, 768]);
const seen = wrapper.forward(few, { needWeights: true }).weights;
const tokens = Array.from({ length: 8 }, (_, i) => `token ${i}`);
showMaps('Attention weights, untrained', seen, {
  heads: [0, 11],
  tokens,
  isCausal: true,
});
show('Shape of the weights', seen.shape);

// expected Shape of the weights = [1, 12, 8, 8]
