/**
 * What a contestant with whole models is: a module with a function `start`.
 *
 * @typedef {{ id: number, logProbability: number }} Guess
 *
 * @typedef {object} LoadedModel
 * @property {(ids: number[]) => unknown} read forgets what came before and reads a prompt, which differs from all before it
 * @property {(tokens: number) => unknown} decode as many runs of the model on one token each, the likeliest next time; the first
 *   is on the prompt's last again
 * @property {(ids: number[], count: number) => Guess[] | Promise<Guess[]>} guess the likeliest tokens after a prompt
 *
 * @typedef {object} ModelFile
 * @property {string} folder its address, which ends in a slash
 * @property {string} type of the weights
 * @property {number} threads
 *
 * @typedef {object} ModelContestant
 * @property {(file: ModelFile) => Promise<LoadedModel>} start
 */
export {};
