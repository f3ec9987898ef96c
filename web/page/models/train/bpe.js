/**
 * Byte-level byte-pair encoding as GPT-2 has it: learning and encoding. Ids: the 256 bytes in GPT-2's order, the merges in
 * the order in which they were learnt, then <|endoftext|>.
 */

export const END_OF_TEXT = '<|endoftext|>';

/** GPT-2's pattern: no token crosses the borders of what it finds. */
const PIECES = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** GPT-2's printable character of each byte: itself, or one from U+0100 on. */
const CHARACTERS = (() => {
  let hidden = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isShown =
      (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || (byte > 173 && byte < 256);
    return String.fromCodePoint(isShown ? byte : hidden++);
  });
})();

/** GPT-2's ids of the bytes: those that are printable first. */
const BASE = [...CHARACTERS].sort();

const encoder = new TextEncoder();

/** @param {string} text @returns {string[]} the text's pieces in byte characters */
const pieces = (text) =>
  (text.match(PIECES) ?? []).map((piece) =>
    Array.from(encoder.encode(piece), (byte) => CHARACTERS[byte]).join(''),
  );

/** @param {string[]} symbols @param {string} first @param {string} second a pair to be made one */
function merged(symbols, first, second) {
  const result = [];
  for (let at = 0; at < symbols.length; at++) {
    const isPair = symbols[at] === first && symbols[at + 1] === second;
    result.push(isPair ? first + second : symbols[at]);
    if (isPair) at++;
  }
  return result;
}

/** How often each pair of neighbouring symbols comes, while words are merged. */
class Pairs {
  /** @type {{ symbols: string[], times: number }[]} */
  #words;
  /** @type {Map<string, number>} by pair, written with a space between */
  #counts = new Map();
  /** @type {Map<string, Set<number>>} words that have a pair, or had it */
  #places = new Map();

  /** @param {string} text */
  constructor(text) {
    /** @type {Map<string, number>} */
    const times = new Map();
    for (const piece of pieces(text)) times.set(piece, (times.get(piece) ?? 0) + 1);
    this.#words = [...times].map(([piece, count]) => ({ symbols: [...piece], times: count }));
    this.#words.forEach((_, index) => this.#tally(index, 1));
  }

  /** @param {number} index @param {1 | -1} sign */
  #tally(index, sign) {
    const { symbols, times } = this.#words[index];
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i]} ${symbols[i + 1]}`;
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + sign * times);
      const places = this.#places.get(pair);
      if (places) places.add(index);
      else this.#places.set(pair, new Set([index]));
    }
  }

  /** The most frequent pair; of equally frequent ones the first in alphabetical order. */
  get best() {
    let best = '';
    let most = 0;
    for (const [pair, count] of this.#counts) {
      if (count > most || (count === most && comesBefore(pair, best))) [best, most] = [pair, count];
    }
    return best;
  }

  /** @param {string} pair */
  merge(pair) {
    const [first, second] = pair.split(' ');
    const places = this.#places.get(pair) ?? [];
    this.#places.delete(pair);
    for (const index of places) {
      this.#tally(index, -1);
      this.#words[index].symbols = merged(this.#words[index].symbols, first, second);
      this.#tally(index, 1);
    }
    this.#counts.delete(pair);
  }
}

/** Of two pairs, symbol by symbol. @param {string} a @param {string} b */
function comesBefore(a, b) {
  const [[a1, a2], [b1, b2]] = [a.split(' '), b.split(' ')];
  return a1 < b1 || (a1 === b1 && a2 < b2);
}

/** @param {string} text @param {number} count @returns {string[]} merges, each a pair with a space between */
function learnMerges(text, count) {
  const pairs = new Pairs(text);
  return Array.from({ length: count }, () => {
    const { best } = pairs;
    pairs.merge(best);
    return best;
  });
}

export class Bpe {
  #ids;
  #ranks;
  /** @type {Map<string, number[]>} */
  #encoded = new Map();

  /** @param {readonly string[]} merges */
  constructor(merges) {
    this.merges = merges;
    this.tokens = [...BASE, ...merges.map((pair) => pair.replace(' ', '')), END_OF_TEXT];
    this.#ids = new Map(this.tokens.map((token, id) => [token, id]));
    this.#ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  }

  /** @param {string} text @param {number} size of the vocabulary */
  static learn(text, size) {
    return new Bpe(learnMerges(text, size - BASE.length - 1));
  }

  get endOfText() {
    return this.tokens.length - 1;
  }

  /** @param {string} piece */
  #encodePiece(piece) {
    let symbols = [...piece];
    for (;;) {
      const found = symbols.slice(1).map((second, i) => `${symbols[i]} ${second}`);
      const ranks = found.map((pair) => this.#ranks.get(pair) ?? Infinity);
      const best = Math.min(...ranks);
      if (best === Infinity) break;
      const [first, second] = this.merges[best].split(' ');
      symbols = merged(symbols, first, second);
    }
    return symbols.map((symbol) => /** @type {number} */ (this.#ids.get(symbol)));
  }

  /** @param {string} text @returns {Int32Array} */
  encode(text) {
    const ids = pieces(text).flatMap((piece) => {
      let known = this.#encoded.get(piece);
      if (!known) this.#encoded.set(piece, (known = this.#encodePiece(piece)));
      return known;
    });
    return Int32Array.from(ids);
  }

  /** @param {readonly number[]} ids */
  decode(ids) {
    const characters = ids.map((id) => (id === this.endOfText ? '' : this.tokens[id])).join('');
    const bytes = Uint8Array.from(characters, (character) => CHARACTERS.indexOf(character));
    return new TextDecoder().decode(bytes);
  }

  /** tokenizer.json as Hugging Face's GPT-2 has it. */
  get json() {
    const level = {
      type: 'ByteLevel',
      add_prefix_space: false,
      trim_offsets: true,
      use_regex: true,
    };
    const added = { id: this.endOfText, content: END_OF_TEXT, single_word: false, lstrip: false };
    return {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [{ ...added, rstrip: false, normalized: false, special: true }],
      normalizer: null,
      pre_tokenizer: level,
      post_processor: null,
      decoder: level,
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: '',
        end_of_word_suffix: '',
        fuse_unk: false,
        byte_fallback: false,
        vocab: Object.fromEntries(this.#ids),
        merges: this.merges,
      },
    };
  }
}
