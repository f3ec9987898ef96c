// config.json of models as their publishers wrote them, and what is expected to be read of each.

const generation = { bos_token_id: 1, eos_token_id: 2, pad_token_id: null, use_cache: true };
const saved = { architectures: ['Any'], torch_dtype: 'bfloat16', transformers_version: '4.45.0' };

/** @type {Record<string, { config: Record<string, unknown>, expect: Record<string, unknown>, windows?: number[], turns?: number[] }>} */
export const published = {
  'GPT-2': {
    config: {
      ...{ activation_function: 'gelu_new', attn_pdrop: 0.1, embd_pdrop: 0.1, n_ctx: 1024 },
      ...{ bos_token_id: 50256, eos_token_id: 50256, initializer_range: 0.02, n_embd: 768 },
      ...{
        layer_norm_epsilon: 1e-5,
        model_type: 'gpt2',
        n_head: 12,
        n_layer: 12,
        vocab_size: 50257,
      },
      ...{
        n_positions: 1024,
        resid_pdrop: 0.1,
        summary_activation: null,
        summary_type: 'cls_index',
      },
      ...{ summary_first_dropout: 0.1, summary_proj_to_labels: true, summary_use_proj: true },
      task_specific_params: { 'text-generation': { do_sample: true, max_length: 50 } },
    },
    expect: {
      ...{
        dModel: 768,
        dFf: 3072,
        numLayers: 12,
        headDim: 64,
        contextLength: 1024,
        positions: 1024,
      },
      ...{ activation: 'gelu_tanh', norm: 'layer', tiesHead: true, eps: 1e-5 },
    },
  },
  'Pythia 70M': {
    config: {
      ...{
        bos_token_id: 0,
        eos_token_id: 0,
        hidden_act: 'gelu',
        hidden_size: 512,
        vocab_size: 50304,
      },
      ...{ initializer_range: 0.02, intermediate_size: 2048, layer_norm_eps: 1e-5, ...saved },
      ...{ max_position_embeddings: 2048, model_type: 'gpt_neox', num_attention_heads: 8 },
      ...{ num_hidden_layers: 6, rotary_emb_base: 10000, rotary_pct: 0.25, use_cache: true },
      ...{ tie_word_embeddings: false, use_parallel_residual: true },
    },
    expect: {
      ...{ isParallel: true, headDim: 64, tiesHead: false, activation: 'gelu', positions: 0 },
      biases: { qkv: true, out: true, mlp: true },
    },
    turns: [8],
  },
  'SmolLM2 135M': {
    config: {
      ...{
        ...saved,
        ...generation,
        attention_bias: false,
        attention_dropout: 0,
        hidden_act: 'silu',
      },
      ...{ hidden_size: 576, initializer_range: 0.041666666666666664, intermediate_size: 1536 },
      ...{
        is_llama_config: true,
        max_position_embeddings: 8192,
        mlp_bias: false,
        model_type: 'llama',
      },
      ...{
        num_attention_heads: 9,
        num_hidden_layers: 30,
        num_key_value_heads: 3,
        pretraining_tp: 1,
      },
      ...{ rms_norm_eps: 1e-5, rope_interleaved: false, rope_scaling: null, rope_theta: 100000 },
      ...{ tie_word_embeddings: true, vocab_size: 49152 },
      'transformers.js_config': { kv_cache_dtype: { q4f16: 'float16', fp16: 'float16' } },
    },
    expect: {
      ...{
        headDim: 64,
        numKeyValueHeads: 3,
        tiesHead: true,
        isGated: true,
        norm: 'rms',
        eps: 1e-5,
      },
      biases: { qkv: false, out: false, mlp: false },
    },
    turns: [32],
  },
  'Llama 3.2 1B': {
    config: {
      ...{ ...saved, attention_bias: false, bos_token_id: 128000, eos_token_id: [128001, 128008] },
      ...{
        head_dim: 64,
        hidden_act: 'silu',
        hidden_size: 2048,
        intermediate_size: 8192,
        mlp_bias: false,
      },
      ...{ max_position_embeddings: 131072, model_type: 'llama', num_attention_heads: 32 },
      ...{ num_hidden_layers: 16, num_key_value_heads: 8, rms_norm_eps: 1e-5, rope_theta: 500000 },
      rope_scaling: {
        ...{ factor: 32, high_freq_factor: 4, low_freq_factor: 1, rope_type: 'llama3' },
        original_max_position_embeddings: 8192,
      },
      ...{ tie_word_embeddings: true, vocab_size: 128256, use_cache: true },
    },
    expect: { headDim: 64, numKeyValueHeads: 8, contextLength: 131072 },
    turns: [32],
  },
  'Mistral 7B v0.1': {
    config: {
      ...{
        ...saved,
        ...generation,
        hidden_act: 'silu',
        hidden_size: 4096,
        intermediate_size: 14336,
      },
      ...{ max_position_embeddings: 32768, model_type: 'mistral', num_attention_heads: 32 },
      ...{ num_hidden_layers: 32, num_key_value_heads: 8, rms_norm_eps: 1e-5, rope_theta: 10000 },
      ...{ sliding_window: 4096, tie_word_embeddings: false, vocab_size: 32000 },
    },
    expect: { headDim: 128, tiesHead: false },
    windows: new Array(32).fill(4096),
    turns: [64],
  },
  'Qwen2.5 0.5B': {
    config: {
      ...{
        ...saved,
        attention_dropout: 0,
        hidden_act: 'silu',
        hidden_size: 896,
        model_type: 'qwen2',
      },
      ...{ intermediate_size: 4864, max_position_embeddings: 32768, max_window_layers: 24 },
      ...{
        num_attention_heads: 14,
        num_hidden_layers: 24,
        num_key_value_heads: 2,
        rms_norm_eps: 1e-6,
      },
      ...{
        rope_theta: 1000000,
        sliding_window: 32768,
        tie_word_embeddings: true,
        use_mrope: false,
      },
      ...{ use_sliding_window: false, vocab_size: 151936 },
    },
    expect: { headDim: 64, biases: { qkv: true, out: false, mlp: false }, qkNorm: false },
    turns: [32],
  },
  'Qwen3 0.6B': {
    config: {
      ...{ ...saved, attention_bias: false, head_dim: 128, hidden_act: 'silu', hidden_size: 1024 },
      ...{ intermediate_size: 3072, max_position_embeddings: 40960, max_window_layers: 28 },
      ...{
        model_type: 'qwen3',
        num_attention_heads: 16,
        num_hidden_layers: 28,
        rope_scaling: null,
      },
      ...{ num_key_value_heads: 8, rms_norm_eps: 1e-6, rope_theta: 1000000, sliding_window: null },
      ...{ tie_word_embeddings: true, use_sliding_window: false, vocab_size: 151936 },
    },
    expect: { headDim: 128, dModel: 1024, numHeads: 16, qkNorm: true, tiesHead: true },
    turns: [64],
  },
  'Gemma 3 270M': {
    config: {
      ...{
        ...saved,
        _sliding_window_pattern: 6,
        attention_bias: false,
        attn_logit_softcapping: null,
      },
      ...{ final_logit_softcapping: null, head_dim: 256, hidden_activation: 'gelu_pytorch_tanh' },
      ...{ hidden_size: 640, intermediate_size: 2048, max_position_embeddings: 32768 },
      ...{
        model_type: 'gemma3_text',
        num_attention_heads: 4,
        num_hidden_layers: 6,
        sliding_window: 512,
      },
      ...{
        num_key_value_heads: 1,
        query_pre_attn_scalar: 256,
        rms_norm_eps: 1e-6,
        rope_scaling: null,
      },
      ...{ rope_local_base_freq: 10000, rope_theta: 1000000, use_bidirectional_attention: false },
      ...{
        layer_types: [...new Array(5).fill('sliding_attention'), 'full_attention'],
        vocab_size: 262144,
      },
    },
    expect: {
      ...{
        gainOffset: 1,
        normPlace: 'both',
        embeddingScale: Math.sqrt(640),
        attentionScale: 1 / 16,
      },
      ...{ activation: 'gelu_tanh', isGated: true, tiesHead: true, qkNorm: true },
    },
    windows: [512, 512, 512, 512, 512, 0],
    turns: [128, 128],
  },
  'SmolLM3 3B': {
    config: {
      ...{
        ...saved,
        attention_bias: false,
        hidden_act: 'silu',
        hidden_size: 2048,
        mlp_bias: false,
      },
      ...{ intermediate_size: 11008, max_position_embeddings: 65536, max_window_layers: 28 },
      ...{
        layer_types: new Array(4).fill('full_attention'),
        model_type: 'smollm3',
        rope_scaling: null,
      },
      ...{
        no_rope_layer_interval: 4,
        no_rope_layers: [1, 1, 1, 0],
        residual_dropout: 0.1,
        num_attention_heads: 16,
      },
      ...{ num_hidden_layers: 4, num_key_value_heads: 4, pretraining_tp: 2, rms_norm_eps: 1e-6 },
      ...{
        rope_theta: 5000000,
        sliding_window: null,
        use_sliding_window: false,
        vocab_size: 128256,
      },
    },
    expect: { headDim: 128, tiesHead: true },
    turns: [64],
  },
  'BERT base': {
    config: {
      ...{
        architectures: ['BertForMaskedLM'],
        attention_probs_dropout_prob: 0.1,
        hidden_act: 'gelu',
      },
      ...{
        gradient_checkpointing: false,
        hidden_dropout_prob: 0.1,
        hidden_size: 768,
        pad_token_id: 0,
      },
      ...{
        initializer_range: 0.02,
        intermediate_size: 3072,
        layer_norm_eps: 1e-12,
        model_type: 'bert',
      },
      ...{ max_position_embeddings: 512, num_attention_heads: 12, num_hidden_layers: 12 },
      ...{
        position_embedding_type: 'absolute',
        type_vocab_size: 2,
        use_cache: true,
        vocab_size: 30522,
      },
      ...{ directionality: 'bidi', pooler_fc_size: 768, pooler_type: 'first_token_transform' },
    },
    expect: { isDecoder: false, normPlace: 'post', tokenTypes: 2, eps: 1e-12, firstPosition: 0 },
  },
  'RoBERTa base': {
    config: {
      ...{
        architectures: ['RobertaForMaskedLM'],
        attention_probs_dropout_prob: 0.1,
        bos_token_id: 0,
      },
      ...{ eos_token_id: 2, hidden_act: 'gelu', hidden_dropout_prob: 0.1, hidden_size: 768 },
      ...{
        initializer_range: 0.02,
        intermediate_size: 3072,
        layer_norm_eps: 1e-5,
        pad_token_id: 1,
      },
      ...{ max_position_embeddings: 514, model_type: 'roberta', num_attention_heads: 12 },
      ...{ num_hidden_layers: 12, type_vocab_size: 1, vocab_size: 50265 },
    },
    expect: { contextLength: 512, positions: 514, firstPosition: 2, tokenTypes: 1 },
  },
  'DistilBERT base': {
    config: {
      ...{ activation: 'gelu', attention_dropout: 0.1, dim: 768, dropout: 0.1, hidden_dim: 3072 },
      ...{ initializer_range: 0.02, max_position_embeddings: 512, model_type: 'distilbert' },
      ...{ n_heads: 12, n_layers: 6, pad_token_id: 0, qa_dropout: 0.1, seq_classif_dropout: 0.2 },
      ...{ sinusoidal_pos_embds: false, tie_weights_: true, vocab_size: 30522 },
    },
    expect: { dModel: 768, dFf: 3072, numLayers: 6, tokenTypes: 0, eps: 1e-12 },
  },
};
