/**
 * The shapes of what the parts of the page hand to each other.
 *
 * @typedef {'compare' | 'explore' | 'train' | 'lessons' | 'bench'} Room
 *
 * @typedef {'example' | 'own'} Source which sentence
 * @typedef {'wrapper' | 'fused' | 'difference'} Mode whose attention weights
 * @typedef {'unit' | 'head' | 'row'} Scale colour scale: 0…1, 0…the head's
 *   largest, or every row 0…its own largest
 *
 * @typedef {object} Settings what the worker runs
 * @property {Source} source
 * @property {string} text
 * @property {number} width features of a token
 * @property {number} heads
 * @property {boolean} causal
 * @property {number} seed
 *
 * @typedef {object} Token
 * @property {number | null} id GPT-2's number of it; null in the example,
 *   whose tokens are words
 * @property {string} text as shown: a leading space is drawn as a mark
 * @property {string | null} [own] its own text, where that is another; null: bytes that are part of a character
 * @property {boolean} [isSpecial] whether it stands for no words, as [CLS] and <s> do
 * @property {boolean} [isMask] whether it hides another one, as [MASK] does
 * @property {boolean} [isApart] whether a space stands before it, which is no part of it
 *
 * @typedef {object} Matrix the corner of a matrix that is shown
 * @property {number[]} shape of the whole matrix
 * @property {number} rows shown
 * @property {number} cols shown
 * @property {Float32Array} values row-major, rows × cols
 *
 * @typedef {object} Samples milliseconds of one forward call
 * @property {number} minimum of the fastest run
 * @property {number} median of all runs
 *
 * @typedef {object} Timing of both on the same weights, by turns
 * @property {Samples} wrapper
 * @property {Samples} fused
 *
 * @typedef {object} Work a forward, of both modules
 * @property {number} tokens
 * @property {number} dIn
 * @property {number} dOut of one head
 * @property {number} heads
 * @property {boolean} causal
 *
 * @typedef {object} Summary what one run of the experiment tells the page
 * @property {number} run number of the run: maps are asked for by it
 * @property {Settings} settings
 * @property {Token[]} tokens
 * @property {number} heads
 * @property {number} width features of a token
 * @property {number} distinct distinct tokens
 * @property {Matrix | null} inputs the embeddings, in the example
 * @property {Matrix} wrapper output of the wrapper
 * @property {Matrix} fused output of the fused module, on the wrapper's weights
 * @property {Matrix | null} notebook output of the notebook's own fused module
 * @property {{ output: number, weights: number }} difference the largest
 *   absolute differences between wrapper and fused, on the same weights
 * @property {{ outputs: number, weights: number }} compared how many numbers of each were
 * @property {Work} work what was run, to be timed
 * @property {string} simd which build of the engine ran
 *
 * @typedef {Mode | 'notebook'} MapSource whose map: `notebook` is the fused
 *   module that the notebook makes, with weights of its own
 *
 * @typedef {object} MapData one head's weights, as drawn
 * @property {number} n tokens
 * @property {number} size cells along a side; below n the map is pooled
 * @property {Float32Array} values size × size; pooled: the largest weight
 * @property {boolean} causal
 */
export {};
