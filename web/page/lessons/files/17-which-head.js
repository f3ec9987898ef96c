/**
 * Which head did it? | Which head did it? Attribution, ablation, patching
 *
 * A map shows where a head looks, not whether that matters. Three questions find the heads behind one prediction: what
 * does each head write, what is lost without it, and what does it bring back? Here they find the circuit with which the
 * page’s induction model continues a text that repeats.
 */

// %% One prediction
// @from Olsson 2022, definition of induction heads
// Seven letters drawn at random, then the first four of them again. Besides its embedding the model has two layers of
// eight heads and nothing else. What comes after the last z? The model says b, because b came after the first z.
//
// To explain a prediction, set it against another: here b against Q, the runner-up. The difference of their two logits is
// 9.80, so b is about 18,000 times as likely: e to the power of 9.80. All that follows is about this one number.

import { load, tensor, zeros } from 'headwise';
import {
  loadInductionModel,
  show,
  showBars,
  showChain,
  showFlow,
  showMaps,
} from '../tools.js';

const hw = await load();
const { model, encode, decode } = await loadInductionModel(hw);
const text = 'gkQzbTxgkQz';
const ids = encode(text);
const [target, against] = encode('bQ');

const { logits, trace } = model.forward(ids, { trace: true });
const p = hw.softmax(logits).data;
const likeliest = [...p.keys()].toSorted((i, j) => p[j] - p[i]);
showBars(
  'Logits of the five likeliest letters',
  Object.fromEntries(
    likeliest
      .slice(0, 5)
      .map((id) => [`“${decode([id])}”`, logits.data[id]]),
  ),
);
const difference = (of) => of.data[target] - of.data[against];
const clean = difference(logits);
show('Likeliest', decode(likeliest.slice(0, 1)));
show('Runner-up', decode(likeliest.slice(1, 2)));
show('Logit of b less that of Q', clean);

// recorded Likeliest = "b"
// recorded Runner-up = "Q"
// recorded Logit of b less that of Q = 9.8016

// %% What each head writes
// @from Elhage 2021, logit attribution
// Embedding and heads only ever add to one vector, and a logit is a product with that vector. So the difference of two
// logits is a sum with a part for each head. `attribution` gives the parts; it holds the scale of the final norm fixed,
// so that they add up.
//
// Layer 0 writes little for b, 0.37 in all. Four heads of layer 1 write the answer: L1H6 3.43, L1H2 2.28, L1H1 2.26 and
// L1H5 1.91.

const parts = model.attribution(ids, { target, against });
const heads = [...Array(8).keys()];
const layers = [0, 1];
const names = {
  rows: ['L0', 'L1'],
  cols: heads.map((head) => `H${head}`),
};
showChain('What each head writes for b against Q', [
  ['layers × heads', parts.heads, names],
]);
const written = parts.heads.toNested();
const sum = (list) => list.reduce((a, b) => a + b, 0);
showBars('The sum', {
  embedding: parts.embedding,
  'heads of layer 0': sum(written[0]),
  'heads of layer 1': sum(written[1]),
  biases: parts.biases,
  'b against Q': parts.total,
});
const writers = heads
  .filter((head) => written[1][head] > 1)
  .toSorted((i, j) => written[1][j] - written[1][i]);
show('They write the answer', `L1H${writers.join(', L1H')}`);
const all = sum([
  parts.embedding,
  ...written.flat(),
  ...parts.mlps.data,
  parts.biases,
]);
show('The sum closes', Math.abs(all - clean) < 1e-4);

// recorded They write the answer = "L1H6, L1H2, L1H1, L1H5"
// recorded The sum closes = true

// %% Where they look
// @from Olsson 2022, definition of induction heads
// The last row of each map is the last z. All four heads look from there at b, which came after the first z,
// the earlier copy. They copy the letter that they look at. Heads that do so are induction heads.
//
// But looking is not writing. L1H7 gives b 0.74 of its weight too, and writes −0.37: for Q, if anything.

const layer1 = model.forward(ids, { needWeights: true }).weights[1];
showMaps('Where the four look', layer1, {
  heads: writers,
  tokens: [...text],
  isCausal: true,
});
const [last, atB] = [text.length - 1, text.indexOf('b')];
const weightOnB = (head) =>
  trace[1].weights({ head }).toNested()[last][atB];
showBars(
  'Weight of the last z on b',
  Object.fromEntries(
    heads.map((head) => [`L1H${head}`, weightOnB(head)]),
  ),
);
show('L1H7 looks at b with', weightOnB(7));
show('L1H7 writes', written[1][7]);
show(
  'The four look there the most',
  writers.every((head) => weightOnB(head) > 0.9),
);

// recorded L1H7 looks at b with = 0.7435
// recorded L1H7 writes = -0.3720
// recorded The four look there the most = true

// %% Without one head
// @from Wang 2022, ablation; Olsson 2022, ablations
// Take one head away and measure again. `replace` puts another output in a head’s place: zeros, or the head’s own mean
// over the text. Zero is an output that a head may never give; the mean keeps what the head gives on average and takes
// away what it adds here. The two can disagree: without L1H7 the difference grows by 1.10 with zeros, by 0.13 with the mean.
//
// The costliest head is none of the four. It is L0H4: 9.25 of 9.80 are gone.

const outputs = trace.map((layer) =>
  heads.map((head) => layer.output({ head })),
);
const measure = (replace, of = ids) =>
  difference(model.forward(of, { replace }).logits);
const table = (valueOf) =>
  tensor(
    layers.map((layer) =>
      heads.map((head) => valueOf(layer, head)),
    ),
  );
const nothing = zeros(outputs[0][0].shape);
const meanOf = (output) =>
  hw.add(nothing, hw.mean(output, { axis: 0, keepDim: true }));

const lostWithZeros = table(
  (layer, head) =>
    clean - measure([{ layer, head, output: nothing }]),
);
const lostWithMean = table((layer, head) => {
  const output = meanOf(outputs[layer][head]);
  return clean - measure([{ layer, head, output }]);
});
showChain('What is lost with zeros in a head’s place', [
  ['layers × heads', lostWithZeros, names],
]);
showChain('What is lost with its mean in a head’s place', [
  ['layers × heads', lostWithMean, names],
]);
const lost = lostWithZeros.toNested();
show('Lost without L0H4', lost[0][4]);
show('Lost without L1H6', lost[1][6]);
show('L1H7, lost with zeros', lost[1][7]);
show('L1H7, lost with its mean', lostWithMean.toNested()[1][7]);

// recorded Lost without L0H4 = 9.2504
// recorded Lost without L1H6 = 2.3957
// recorded L1H7, lost with zeros = -1.1024
// recorded L1H7, lost with its mean = -0.1265

// %% Why the two disagree
// @from Rushing 2024, the scale of the final norm; Elhage 2021, logit attribution
// L0H4 writes −0.13 for b, and without it 9.25 are lost. Attribution counts what a head itself writes to the logits. What
// later heads make of it counts for them: so L0H4 must be read by others.
//
// L1H6 writes 3.43, and without it only 2.40 are lost. No head comes after it to make up for it. But the final norm
// divides the vector by its spread. Without L1H6 the spread is smaller, so the norm divides by less. What is left grows by
// the factor 1.16. Only the norm’s own bias does not grow: it is added after the division.

const left = clean - lost[1][6];
const bySum = clean - written[1][6];
showBars('b against Q without one head', {
  'all heads': clean,
  'without L1H6, by the sum': bySum,
  'without L1H6, measured': left,
  'without L0H4, by the sum': clean - written[0][4],
  'without L0H4, measured': clean - lost[0][4],
});
show('L0H4 writes', written[0][4]);
show('Stretched by', left / bySum);

// recorded L0H4 writes = -0.1255
// recorded Stretched by = 1.1616

// %% Which head the four depend on
// @from Wang 2022, patching
// Now another text, the same but for one letter: its first z is an X. There z has never come before, and the model says Q.
// Put the output that one head has in the first text into the run of the other. How much of the difference comes back? 0:
// none; 1: all of it.
//
// L0H4 alone brings back 0.89. It looks one back. One row of its output is enough, the one at b: eight numbers. They
// say “I come after z”. That is what the heads of layer 1 search for.
//
// L0H3 brings back 0.03, though 5.82 were lost without it: what it does is needed, but it is the same in both texts.
// Patching finds what the difference of the two texts goes through. Another pair of texts asks another question.

const other = encode('gkQXbTxgkQz');
const run = model.forward(other, { trace: true });
const corrupted = difference(run.logits);
const share = (replace) =>
  (measure(replace, other) - corrupted) / (clean - corrupted);
const broughtBack = table((layer, head) =>
  share([{ layer, head, output: outputs[layer][head] }]),
);
showChain('What each head brings back', [
  ['layers × heads', broughtBack, names],
]);
const layer0 = model.forward(ids, { needWeights: true }).weights[0];
showMaps('The head that looks one back', layer0, {
  heads: [4],
  tokens: [...text],
  isCausal: true,
});
const onlyAtB = run.trace[0].output({ head: 4 });
const row = outputs[0][4].slice([atB, atB + 1]);
onlyAtB.data.set(row.data, atB * 8);
const patch = [{ layer: 0, head: 4, output: onlyAtB }];
show('b against Q in the other text', corrupted);
show('L0H4 brings back', broughtBack.toNested()[0][4]);
show('Its row at b alone brings back', share(patch));
show('L0H3 brings back', broughtBack.toNested()[0][3]);
show('Lost without L0H3', lost[0][3]);

// recorded b against Q in the other text = -3.6818
// recorded L0H4 brings back = 0.8903
// recorded Its row at b alone brings back = 0.8903
// recorded L0H3 brings back = 0.0266
// recorded Lost without L0H3 = 5.8177

// %% The whole circuit
// @from Olsson 2022, how induction heads work; Wang 2022, patching
// Does that one row make the induction heads look at b? L1H6 gives b 0.93 of its weight in the first text and 0.21 in the
// other. With the one row of L0H4 put into the other text, it is 0.92. Nothing else was changed.
//
// So two heads, one after the other: L0H4 tells each letter what it comes after; L1H6 and three like it find the letter
// that comes after z, and write it.

const looks = (of, replace = []) => {
  const [, above] = model.forward(of, {
    replace,
    trace: true,
  }).trace;
  return writers.map(
    (head) => above.weights({ head }).toNested()[last][atB],
  );
};
const runs = tensor([
  looks(ids),
  looks(other),
  looks(other, patch),
]);
const [, inOther, withRow] = runs.toNested();
showChain(
  'Weight of the last z on b: first text, other text, other with one row of L0H4',
  [
    [
      'heads × runs',
      hw.transpose(runs),
      {
        rows: writers.map((head) => `L1H${head}`),
        cols: ['first', 'other', 'patch'],
        weights: true,
      },
    ],
  ],
);
showFlow('The circuit', [
  { label: 'b, after the first z' },
  {
    label: 'L0H4 writes at b: “after z”',
    note: `brings back ${share(patch).toFixed(2)} of the difference`,
  },
  writers.map((head) => ({
    label: `L1H${head}`,
    note: `writes ${written[1][head].toFixed(2)}`,
  })),
  { label: 'b, after the last z' },
]);
show('L1H6 in the first text', weightOnB(6));
show('L1H6 in the other text', inOther[0]);
show('L1H6 with one row of L0H4', withRow[0]);

// recorded L1H6 in the first text = 0.9298
// recorded L1H6 in the other text = 0.2139
// recorded L1H6 with one row of L0H4 = 0.9195

// %% Your own
// @from Elhage 2021, logit attribution
// Letters and digits; up to 64 of them fit. Which heads write the likeliest letter against the runner-up? Where nothing
// has repeated yet, does any?

const own = 'headwise7head';
const ownIds = encode(own);
const ownLogits = model.forward(ownIds).logits.data;
const [first, second] = [...ownLogits.keys()].toSorted(
  (i, j) => ownLogits[j] - ownLogits[i],
);
const ownParts = model.attribution(ownIds, {
  target: first,
  against: second,
});
showChain('What each head writes in your text', [
  ['layers × heads', ownParts.heads, names],
]);
show('After your text', decode([first]));
show('Next to it', decode([second]));
