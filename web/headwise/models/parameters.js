// The names of a GPT-2's tensors in Hugging Face's files.

/**
 * What Hugging Face's files hold besides: the causal mask and its stand-in for -inf, and the output head, which is wte.
 * @type {(key: string) => boolean}
 */
export const isImplied = (key) =>
  key === 'lm_head.weight' || /^h\.\d+\.attn\.(bias|masked_bias)$/.test(key);

/**
 * GPT2LMHeadModel's names begin with transformer., GPT2Model's do not.
 * @type {(key: string) => string}
 */
export const canonicalName = (key) => key.replace(/^transformer\./, '');
