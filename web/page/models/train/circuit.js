/**
 * Which heads find the indirect object, by their weights and by what is lost without them. Places in a sentence are called
 * as in Wang et al. 2022: IO is the indirect object, S1 and S2 the subject's first and second place, END the last token.
 *
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Sentence } from './sentences.js'
 */
import { nameOf, tableOf } from './card.js';
import { mean, rounded, weightsOf } from './scores.js';
import { idOf } from './sentences.js';

/**
 * @typedef {object} HeadRole means over sentences
 * @property {number} duplicate weight of S2 on S1
 * @property {number} inhibition weight of END on S2
 * @property {number} mover weight of END on IO
 * @property {number} subject weight of END on S1
 * @property {number} without the logit of IO minus that of S, without this head
 *
 * @typedef {'duplicate' | 'inhibition' | 'both' | 'mover'} Role
 *
 * @typedef {object} Circuit
 * @property {number} difference the logit of IO minus that of S
 * @property {HeadRole[][]} heads
 * @property {Record<Role, string[]>} roles heads by what they do
 * @property {Record<Role, number>} accuracy the share of sentences in which IO is the likeliest token, without a role's heads
 */

/** How much more weight than the subject the indirect object has of a head that prefers it. */
const PREFERS = 1.5;

/**
 * What a head does, in words, and the weight that says so.
 *
 * @type {Record<Role, { words: string, weight: (scores: HeadRole) => number }>}
 */
const ROLES = {
  duplicate: {
    words: 'duplicate-token heads (S2 attends to S1)',
    weight: ({ duplicate }) => duplicate,
  },
  inhibition: {
    words: 'S-inhibition heads (END attends to S2)',
    weight: ({ inhibition }) => inhibition,
  },
  both: {
    words:
      'heads that read the second name (over both orders of the names, END attends about equally to IO and S1)',
    weight: ({ mover, subject }) => (mover > PREFERS * subject ? 0 : mover + subject),
  },
  mover: {
    words: `name movers (END attends to IO, more than ${PREFERS} times as much as to S1, most where IO comes first)`,
    weight: ({ mover, subject }) => (mover > PREFERS * subject ? mover : 0),
  },
};

/** Weight from which a head has a role. */
const LEAST_WEIGHT = 0.4;

/** @param {Sentence} sentence */
function placesOf({ ids, subject, object }) {
  const at = idOf(subject);
  return {
    io: ids.indexOf(idOf(object)),
    s1: ids.indexOf(at),
    s2: ids.lastIndexOf(at),
    end: ids.length - 1,
  };
}

/** @param {Gpt2} model @param {readonly (readonly [number, number])[]} [muted] @returns {number[][]} */
function maskOf({ options: { numLayers, numHeads } }, muted = []) {
  const mask = Array.from({ length: numLayers }, () => Array(numHeads).fill(1));
  for (const [layer, head] of muted) mask[layer][head] = 0;
  return mask;
}

/**
 * @param {Gpt2} model
 * @param {readonly Sentence[]} sentences
 * @param {readonly (readonly [number, number])[]} [muted] heads
 * @returns {{ difference: number, accuracy: number }} means: the logit of IO minus that of S, and whether IO is likeliest
 */
function answers(model, sentences, muted) {
  const headMask = maskOf(model, muted);
  const found = sentences.map(({ ids, subject, object }) => {
    const data = /** @type {Float32Array} */ (model.forward(ids, { headMask }).logits.data);
    const [io, s] = [data[idOf(object)], data[idOf(subject)]];
    return { difference: io - s, accuracy: Number(io === Math.max(...data)) };
  });
  return {
    difference: mean(found.map(({ difference }) => difference)),
    accuracy: mean(found.map(({ accuracy }) => accuracy)),
  };
}

/** Mean weights of each head between the places. @param {Gpt2} model @param {readonly Sentence[]} sentences */
function meanWeights(model, sentences) {
  const found = sentences.map((sentence) => {
    const { io, s1, s2, end } = placesOf(sentence);
    const n = sentence.ids.length;
    return weightsOf(model, sentence.ids).map((layer) =>
      layer.map((weights) => ({
        duplicate: weights[s2 * n + s1],
        inhibition: weights[end * n + s2],
        mover: weights[end * n + io],
        subject: weights[end * n + s1],
      })),
    );
  });
  return found[0].map((layer, l) =>
    layer.map((scores, h) => {
      const names = /** @type {(keyof typeof scores)[]} */ (Object.keys(scores));
      const means = names.map((name) => [name, mean(found.map((heads) => heads[l][h][name]))]);
      return /** @type {typeof scores} */ (Object.fromEntries(means));
    }),
  );
}

/**
 * @param {Gpt2} model
 * @param {readonly Sentence[]} sentences
 * @returns {Circuit}
 */
export function circuitOf(model, sentences) {
  const heads = meanWeights(model, sentences).map((layer, l) =>
    layer.map((weights, h) => {
      const { difference: without } = answers(model, sentences, [[l, h]]);
      const entries = Object.entries({ ...weights, without });
      return /** @type {HeadRole} */ (
        Object.fromEntries(entries.map(([name, value]) => [name, rounded(value)]))
      );
    }),
  );
  /** @param {Role} role */
  const having = (role) =>
    heads.flatMap((layer, l) =>
      layer.flatMap((scores, h) =>
        ROLES[role].weight(scores) >= LEAST_WEIGHT
          ? [/** @type {[number, number]} */ ([l, h])]
          : [],
      ),
    );
  /** @template T @param {(role: Role) => T} what @returns {Record<Role, T>} */
  const ofRoles = (what) => ({
    duplicate: what('duplicate'),
    inhibition: what('inhibition'),
    both: what('both'),
    mover: what('mover'),
  });
  return {
    difference: rounded(answers(model, sentences).difference),
    heads,
    roles: ofRoles((role) => having(role).map(([l, h]) => nameOf(l, h))),
    accuracy: ofRoles((role) => rounded(answers(model, sentences, having(role)).accuracy)),
  };
}

/** What the card says of it. @param {Circuit} circuit */
export function circuitPart({ difference, heads, roles, accuracy }) {
  const names = /** @type {Role[]} */ (Object.keys(ROLES));
  const lines = names.map((role) => {
    const { words, weight } = ROLES[role];
    const share = (100 * accuracy[role]).toFixed(1);
    const most = Math.max(...heads.flat().map(weight));
    return roles[role].length > 0
      ? `- **${roles[role].join(', ')}**: ${words}. Without them, the right name is the likeliest in ${share} % of the sentences.`
      : `- There are no ${words}; the largest such weight is ${most.toFixed(2)}.`;
  });
  const columns = [
    'S2 on S1',
    'END on S2',
    'END on IO',
    'END on S1',
    'logit difference without it',
  ];
  const rows = heads.flatMap((layer, l) =>
    layer.map(({ duplicate, inhibition, mover, subject, without }, h) => [
      nameOf(l, h),
      ...[duplicate, inhibition, mover, subject, without].map((value) => value.toFixed(2)),
    ]),
  );
  const whole = `With all heads the logit of IO exceeds that of S by ${difference.toFixed(2)}.`;
  return `${lines.join('\n')}\n\n${tableOf(['head', ...columns], rows)}\n\n${whole}`;
}
