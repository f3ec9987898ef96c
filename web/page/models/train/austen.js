/**
 * A GPT-2 that reads Jane Austen's novels.
 *
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Random } from './random.js'
 * @import { Data, Row, Task } from './task.js'
 */
import { Bpe, END_OF_TEXT } from './bpe.js';
import { scorePart } from './card.js';
import { rounded, scoreModel } from './scores.js';
import { rowOf } from './task.js';
import { novels, split } from './texts.js';

const VOCABULARY = 2048;
const CONTEXT_LENGTH = 2048;
const LARGE_CONTEXT_LENGTH = 1024;

/**
 * Rows of a step: from this share of the run's tokens on, so many tokens a step, in rows of one of these lengths. Among few
 * tokens heads find the one before sooner.
 *
 * @typedef {{ from: number, tokens: number, rows: readonly number[] }} Phase
 */
/** @type {readonly Phase[]} */
const PHASES = [
  { from: 0, tokens: 512, rows: [32] },
  { from: 0.15, tokens: 512, rows: [64] },
  { from: 0.4, tokens: 1024, rows: [128] },
  { from: 0.7, tokens: 1024, rows: [256] },
  { from: 0.92, tokens: 2048, rows: [512, 1024, 1024, 2048] },
];

/**
 * The share of the rows that begin at position 0, and not at any: what stands next to a token is then learnt at all positions
 * alike, and from the first step on.
 */
const FROM_START = 0.5;
/** The share of the rows in which a part is written over a later one, so that the text repeats. */
const WITH_REPEAT = 0.1;
/** Of the others that begin at position 0 so many begin with <|endoftext|> and a paragraph, and not anywhere. */
const WITH_BEGINNING = 0.8;

/** Ids of the novels, and where in them paragraphs begin. */
class Text {
  #ids;
  #paragraphs;
  #endOfText;

  /** @param {Int32Array} ids @param {Bpe} bpe */
  constructor(ids, bpe) {
    this.#ids = ids;
    this.#endOfText = bpe.endOfText;
    const [newline] = bpe.encode('\n');
    this.#paragraphs = [...ids.keys()].filter((at) => ids[at - 1] === newline);
  }

  /** @param {Random} random @param {number} count */
  #window(random, count) {
    const at = random.whole(0, this.#ids.length - count);
    return this.#ids.slice(at, at + count);
  }

  /** @param {Random} random @param {number} count */
  #beginning(random, count) {
    const last = this.#ids.length - count;
    const at = random.pick(this.#paragraphs.filter((paragraph) => paragraph <= last));
    return Int32Array.of(this.#endOfText, ...this.#ids.subarray(at, at + count - 1));
  }

  /** @param {Random} random @param {number} count */
  #repeated(random, count) {
    const ids = this.#window(random, count);
    const length = random.whole(8, Math.floor(count / 2));
    const source = random.whole(0, count - 2 * length);
    const target = random.whole(source + length, count - length);
    return ids.copyWithin(target, source, source + length);
  }

  /** @param {Random} random @param {number} count of tokens @param {boolean} isStart whether at position 0 */
  #some(random, count, isStart) {
    if (random.unit() < WITH_REPEAT) return this.#repeated(random, count);
    return isStart && random.unit() < WITH_BEGINNING
      ? this.#beginning(random, count)
      : this.#window(random, count);
  }

  /** @param {Random} random @param {number} length @param {number} contextLength @returns {Row} */
  row(random, length, contextLength) {
    const isStart = random.unit() < FROM_START;
    const first = isStart ? 0 : random.whole(0, contextLength - length);
    const positions = Array.from({ length }, (_, i) => first + i);
    return { ...rowOf(this.#some(random, length + 1, isStart)), positions };
  }
}

/**
 * The share of a run's tokens that a share of its steps has.
 *
 * @param {readonly Phase[]} phases
 * @returns {(steps: number) => number}
 */
export function tokenShare(phases) {
  const parts = phases.map(({ from, tokens }, i) => {
    const share = (phases[i + 1]?.from ?? 1) - from;
    return { from, share, steps: share / tokens };
  });
  const all = parts.reduce((sum, { steps }) => sum + steps, 0);
  return (steps) => {
    let left = steps * all;
    for (const part of parts) {
      if (left < part.steps) return part.from + (left / part.steps) * part.share;
      left -= part.steps;
    }
    return 1;
  };
}

/** @param {Text} text @param {readonly Phase[]} phases @param {number} contextLength @returns {Data['batch']} */
const batches = (text, phases, contextLength) => (random, progress) => {
  const { tokens, rows } = /** @type {Phase} */ (phases.findLast(({ from }) => from <= progress));
  const length = random.pick(rows);
  return Array.from({ length: tokens / length }, () => text.row(random, length, contextLength));
};

/**
 * Nats per token over windows that do not overlap.
 *
 * @param {Gpt2} model
 * @param {Int32Array} ids
 * @param {number} tokens of a window
 * @param {number} [most] so many windows, evenly spread; default: all
 */
function lossOn(model, ids, tokens, most = Infinity) {
  const all = Math.floor((ids.length - 1) / tokens);
  const count = Math.min(all, most);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const at = Math.floor((i * all) / count) * tokens;
    const { ids: row, targets } = rowOf(ids.subarray(at, at + tokens + 1));
    sum += model.loss(row, targets).item();
  }
  return sum / count;
}

const WINDOWS = 32;
const WINDOW = 256;
const LONG_WINDOW = 1024;
/** So many windows of both lengths tell the best model: late positions are learnt last. */
const JUDGED = 48;
const JUDGED_LONG = 12;

/** Whether a token has neither letter nor digit, and is not a space alone. @param {string} piece in byte characters */
const isMark = (piece) => piece !== 'Ġ' && !/[\p{L}\p{N}]/u.test(piece.replaceAll('Ġ', ''));

const PROMPTS = [
  'It is a truth universally acknowledged, that',
  '"My dear Mr. Bennet," said',
  'Captain Wentworth',
  '',
];
const DRAWN = { maxTokens: 80, temperature: 0.8, topK: 40, seed: 1 };

/** @param {string} prompt @param {string} text */
const quoted = (prompt, text) =>
  `${prompt && `**${prompt}**`}${text}`
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n>\n');

/** One continuation of each prompt after <|endoftext|>, as drawn. @param {Gpt2} model @param {Bpe} bpe */
function samples(model, bpe) {
  const texts = PROMPTS.map((prompt) => {
    const ids = model.generate([bpe.endOfText, ...bpe.encode(prompt)], DRAWN);
    return quoted(prompt, bpe.decode([...ids]).trimEnd());
  });
  const { temperature, topK, seed } = DRAWN;
  return `Temperature ${temperature}, top ${topK}, seed ${seed}:\n\n${texts.join('\n\n---\n\n')}`;
}

/**
 * @param {readonly Phase[]} phases
 * @param {number} contextLength of the model
 * @param {() => { train: string, heldOut: string }} texts
 * @returns {Data}
 */
export function austenData(phases, contextLength, texts = () => split(novels())) {
  const { train, heldOut } = texts();
  const bpe = Bpe.learn(train, VOCABULARY);
  const text = new Text(bpe.encode(train), bpe);
  const ids = bpe.encode(heldOut);
  const bytesPerToken = Buffer.byteLength(heldOut) / ids.length;
  const bits = (/** @type {number} */ nats) => nats / Math.LN2 / bytesPerToken;
  const scoreRows = () => {
    const last = ids.length - WINDOW;
    const starts = Array.from({ length: WINDOWS }, (_, i) =>
      Math.floor((i * last) / (WINDOWS - 1)),
    );
    return starts.map((at) => [bpe.endOfText, ...ids.subarray(at, at + WINDOW - 1)]);
  };
  return {
    tokenizer: bpe.json,
    tokenizerConfig: { bos_token: END_OF_TEXT, eos_token: END_OF_TEXT },
    config: { bos_token_id: bpe.endOfText, eos_token_id: bpe.endOfText },
    progressAt: tokenShare(phases),
    batch: batches(text, phases, contextLength),
    judge: (model) =>
      (lossOn(model, ids, WINDOW, JUDGED) + lossOn(model, ids, LONG_WINDOW, JUDGED_LONG)) / 2,
    evaluate: (model, isFinal) => {
      const near = lossOn(model, ids, WINDOW, isFinal ? Infinity : 12);
      const measured = {
        held_out_loss_256: rounded(near),
        held_out_bits_per_byte: rounded(bits(near)),
      };
      return isFinal
        ? { ...measured, held_out_loss_1024: rounded(lossOn(model, ids, LONG_WINDOW)) }
        : measured;
    },
    score: (hw, model) => scoreModel(model, scoreRows(), (id) => isMark(bpe.tokens[id])),
    card: (model, scores) => ({ scores: scorePart(scores), samples: samples(model, bpe) }),
  };
}

/** @type {Task} */
export const austen = {
  name: 'austen',
  options: {
    ...{ vocabSize: VOCABULARY, contextLength: CONTEXT_LENGTH, dModel: 128 },
    ...{ numHeads: 8, numLayers: 4, dFf: 512 },
  },
  start: { tokens: 0.05, positions: 0.07 },
  steps: 29_000,
  peak: 3e-3,
  decay: 0.1,
  judgedEvery: 500,
  data: () => austenData(PHASES, CONTEXT_LENGTH),
};

/**
 * The same text for a larger model in longer rows from the start, to try for induction heads in text: about a day of a
 * core, 5.6 MB.
 *
 * @type {Task}
 */
export const austenLarge = {
  ...austen,
  name: 'austen-large',
  options: {
    ...austen.options,
    contextLength: LARGE_CONTEXT_LENGTH,
    dModel: 192,
    numLayers: 5,
    dFf: 768,
  },
  steps: 60_000,
  peak: 2e-3,
  data: () =>
    austenData(
      [
        { from: 0, tokens: 1024, rows: [256] },
        { from: 0.3, tokens: 2048, rows: [512] },
        { from: 0.8, tokens: 2048, rows: [512, 1024] },
      ],
      LARGE_CONTEXT_LENGTH,
    ),
};
