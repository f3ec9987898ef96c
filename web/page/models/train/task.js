/**
 * What a model is trained on, and how.
 *
 * @import { Headwise } from 'headwise'
 * @import { Gpt2, Gpt2Options } from 'headwise/gpt2'
 * @import { Random } from './random.js'
 *
 * @typedef {object} Task
 * @property {string} name of the model, and of its folder
 * @property {Gpt2Options & { dFf: number }} options
 * @property {boolean} [attentionOnly] the feed-forward parts are zero and stay so
 * @property {{ tokens: number, positions: number }} start the standard deviation of the first token embeddings, and the
 *   amplitude of the first position embeddings
 * @property {number} steps
 * @property {number} peak the highest learning rate
 * @property {number} decay of matrices
 * @property {number} [judgedEvery] after so many steps the model is judged, and the best is what the run gives; default: the
 *   last
 * @property {() => Data} data what takes time to make or to get
 *
 * @typedef {object} Data
 * @property {object} tokenizer tokenizer.json
 * @property {Record<string, unknown>} tokenizerConfig what tokenizer_config.json says more
 * @property {Record<string, unknown>} config what config.json says more
 * @property {(random: Random, progress: number) => Row[]} batch the rows of a step, all of one length
 * @property {(steps: number) => number} [progressAt] how far a run is after this share of its steps, from 0 to 1: its rows and its
 *   learning rate go by it; default: that share
 * @property {(model: Gpt2, isFinal: boolean) => Record<string, number>} evaluate how well it does on what is held out; quickly
 *   unless final
 * @property {(model: Gpt2) => number} [judge] a loss on what is held out, by which the best is told
 * @property {(hw: Headwise, model: Gpt2) => Record<string, unknown>} score scores.json: heads, and what else is measured
 * @property {(model: Gpt2, scores: any) => Record<string, string>} card parts of the model's README.md in Markdown, by
 *   name
 *
 * @typedef {object} Row
 * @property {number[]} ids
 * @property {number[]} targets IGNORED where nothing is asked
 * @property {number[]} [positions] default: from 0 on; all rows of a step have some, or none has
 */

export { IGNORED } from '../../train/tasks/task.js';

/** Text in which each token's target is the next. @param {ArrayLike<number>} text one token more @returns {Row} */
export const rowOf = (text) => ({
  ids: Array.prototype.slice.call(text, 0, -1),
  targets: Array.prototype.slice.call(text, 1),
});
