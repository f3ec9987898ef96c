import { namesOf } from './names.js';

/**
 * The names of a Gpt2's parameters: GPT2Model's, without the transformer. of GPT2LMHeadModel's.
 * @param {readonly string[]} [keys] all that are loaded
 * @returns {import('./names.js').Names}
 */
export function gpt2Names(keys) {
  const names = namesOf({ modelType: 'gpt2', tiesHead: true }, keys);
  const { prefix } = names;
  return {
    ...names,
    canonical(key) {
      const name = names.canonical(key);
      return name.startsWith(prefix) ? name.slice(prefix.length) : name;
    },
  };
}
