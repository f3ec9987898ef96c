// Chooses the next token from its logits.

/** @param {ArrayLike<number>} logits */
export function likeliest(logits) {
  let best = 0;
  for (let id = 1; id < logits.length; id++) {
    if (logits[id] > logits[best]) {
      best = id;
    }
  }
  return best;
}

/** Up to so many largest, inserting is quicker than sorting all. */
const mostInserted = 1000;

/**
 * What a logit must at least be to be among the topK.
 * @param {Float32Array} logits
 * @param {number} topK
 */
function lowest(logits, topK) {
  if (topK >= logits.length) {
    return -Infinity;
  }
  if (topK > mostInserted) {
    return logits.slice().sort()[logits.length - topK];
  }
  const largest = logits.slice(0, topK).sort();
  for (let id = topK; id < logits.length; id++) {
    const logit = logits[id];
    if (logit > largest[0]) {
      let at = 1;
      for (; at < topK && largest[at] < logit; at++) {
        largest[at - 1] = largest[at];
      }
      largest[at - 1] = logit;
    }
  }
  return largest[0];
}

/**
 * Leaves the fewest likeliest tokens that have the probability topP together (Holtzman et al. 2020). Of those as likely as the
 * last of these the first are left.
 * @param {Float64Array} weights in proportion to probabilities; of others they become 0
 * @param {number} sum of them
 * @param {number} topP
 * @returns {number} the sum of those that are left
 */
function keepNucleus(weights, sum, topP) {
  // All tokens below this have less than 1 - topP together: only those above need sorting.
  const least = ((1 - topP) * sum) / weights.length;
  const sorted = weights.filter((weight) => weight > 0 && weight >= least).sort();
  let threshold = sorted.length - 1;
  for (let left = topP * sum - sorted[threshold]; left > 0 && threshold > 0;) {
    left -= sorted[--threshold];
  }
  const last = sorted[threshold];
  let tied = sorted.lastIndexOf(last) + 1 - threshold;
  let kept = 0;
  for (let id = 0; id < weights.length; id++) {
    const isLeft = weights[id] > last || (weights[id] === last && tied-- > 0);
    weights[id] = isLeft ? weights[id] : 0;
    kept += weights[id];
  }
  return kept;
}

/**
 * A token drawn from softmax(logits / temperature) among the topK, tokens as likely as the last of these included, and of these
 * among the nucleus of topP.
 * @param {Float32Array} logits
 * @param {{ temperature: number, topK: number, topP?: number }} options
 * @param {number} uniform in [0, 1)
 */
export function draw(logits, { temperature, topK, topP = 1 }, uniform) {
  const threshold = lowest(logits, topK);
  const top = logits[likeliest(logits)];
  const weights = Float64Array.from(logits, (logit) =>
    logit >= threshold ? Math.exp((logit - top) / temperature) : 0,
  );
  const sum = weights.reduce((part, weight) => part + weight, 0);
  let left = uniform * (topP < 1 ? keepNucleus(weights, sum, topP) : sum);
  // Of rounding at the end of the sum the last token that may be drawn gets the rest.
  let chosen = likeliest(logits);
  for (let id = 0; id < weights.length && left >= 0; id++) {
    if (weights[id] > 0) {
      chosen = id;
      left -= weights[id];
    }
  }
  return chosen;
}

/**
 * The logarithm of the probability that the model gives a token: log softmax(logits), whatever it was chosen by.
 * @param {Float32Array} logits
 * @param {number} id
 */
export function logProbability(logits, id) {
  const top = logits[likeliest(logits)];
  const sum = logits.reduce((part, logit) => part + Math.exp(logit - top), 0);
  return logits[id] - top - Math.log(sum);
}
