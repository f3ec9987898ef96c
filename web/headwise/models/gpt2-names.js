/**
 * The names of a Gpt2's parameters: GPT2Model's. GPT2LMHeadModel's begin with transformer. Files hold the causal mask and its
 * stand-in for -inf besides, and the output head, which is wte.
 * @type {import('./names.js').Names}
 */
export const gpt2Names = {
  prefix: 'transformer.',
  head: 'lm_head.',
  canonical: (key) => key.replace(/^transformer\./, ''),
  isUnused: (key) => key === 'lm_head.weight' || /^h\.\d+\.attn\.(bias|masked_bias)$/.test(key),
};
