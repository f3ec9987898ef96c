// The config.json of models as they were published: shapes to be made with random weights.

/** Of Llama's kin. */
const kin = { hidden_act: 'silu', tie_word_embeddings: true };

/** @type {Readonly<Record<string, Record<string, unknown>>>} */
export const shapes = {
  'GPT-2-124M': {
    ...{ model_type: 'gpt2', vocab_size: 50257, n_positions: 1024, n_embd: 768, n_layer: 12 },
    ...{ n_head: 12, activation_function: 'gelu_new', layer_norm_epsilon: 1e-5 },
  },
  'SmolLM2-135M': {
    ...{ model_type: 'llama', ...kin, vocab_size: 49152, hidden_size: 576, rms_norm_eps: 1e-5 },
    ...{ intermediate_size: 1536, num_hidden_layers: 30, num_attention_heads: 9 },
    ...{ num_key_value_heads: 3, max_position_embeddings: 8192, rope_theta: 100000 },
  },
  'Qwen3-0.6B': {
    ...{ model_type: 'qwen3', ...kin, vocab_size: 151936, hidden_size: 1024, head_dim: 128 },
    ...{ intermediate_size: 3072, num_hidden_layers: 28, num_attention_heads: 16 },
    ...{ num_key_value_heads: 8, max_position_embeddings: 40960, rope_theta: 1000000 },
    ...{ rms_norm_eps: 1e-6, use_sliding_window: false, sliding_window: null },
  },
};
