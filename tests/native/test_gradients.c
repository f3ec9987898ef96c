/* Gradients of modules are those of their definitions, by finite differences in double. */
#include "gradient_case.h"
#include "reference_gpt2.h"

static hw_context *context;

/* A case whose input is random; its module is made by `create` and filled, and ends with finish. */
static gradient_case start(const char *name, const void *config,
                           hw_status (*create)(hw_module **module, const void *config), size_t batch, size_t tokens,
                           size_t x_width, size_t y_width) {
  gradient_case c = {
      .name = name,
      .config = config,
      .input = {.batch = batch, .tokens = tokens},
      .x_count = batch * tokens * x_width,
      .y_count = batch * tokens * y_width,
  };
  float *x = check_floats(c.x_count > 0 ? c.x_count : 1); /* of ids there are none */
  check_fill(x, c.x_count);
  c.input.x = x;
  CHECK_STATUS(create(&c.module, config), HW_OK);
  gradient_fill(c.module);
  return c;
}

static void finish(gradient_case *c) {
  hw_module_destroy(c->module);
  free((void *)(uintptr_t)c->input.x);
}

static reference_tokens tokens_of(const gradient_case *c) {
  return (reference_tokens){c->input.batch, c->input.tokens, 0};
}

static const hw_forward_options *asked(const gradient_case *c) {
  static const hw_forward_options nothing;
  return c->options == NULL ? &nothing : c->options;
}

/* ---- Linear, LayerNorm, Embedding ---- */

static hw_status create_linear(hw_module **module, const void *config) {
  return hw_linear_create(NULL, config, module);
}

static void linear_reference(const gradient_case *c, const double *x, double *y) {
  const hw_linear_config *config = c->config;
  reference_linear(whole(c->module), config->in_features, config->out_features, x, c->input.tokens, y, 0.0);
}

static void test_linear(void) {
  const hw_linear_config configs[] = {{7, 5, true}, {7, 19, false}, {1, 1, true}, {24, 8, true}};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
    const hw_linear_config *config = &configs[i];
    gradient_case c = start("Linear", config, create_linear, 1, 11, config->in_features, config->out_features);
    c.reference = linear_reference;
    gradient_check(context, &c);
    finish(&c);
  }
}

static hw_status create_layer_norm(hw_module **module, const void *config) {
  return hw_layer_norm_create(NULL, config, module);
}

static void layer_norm_reference(const gradient_case *c, const double *x, double *y) {
  const hw_layer_norm_config *config = c->config;
  reference_layer_norm(whole(c->module), config->dim, config->eps, x, c->input.tokens, y, 0.0);
}

static void test_layer_norm(void) {
  const size_t widths[] = {2, 5, 8, 33};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    const hw_layer_norm_config config = {widths[i], 1e-2};
    gradient_case c = start("LayerNorm", &config, create_layer_norm, 1, 9, config.dim, config.dim);
    c.reference = layer_norm_reference;
    gradient_check(context, &c);
    finish(&c);
  }
}

static const uint32_t ids[] = {6, 0, 3, 6, 1, 3, 3, 5, 2, 6};

static void embedding_reference(const gradient_case *c, const double *x, double *y) {
  (void)x;
  const hw_embedding_config *config = c->config;
  float *weight = stored(whole(c->module), "weight");
  for (size_t i = 0; i < c->y_count; i++) {
    y[i] = (double)weight[ids[i / config->embedding_dim] * config->embedding_dim + i % config->embedding_dim];
  }
  free(weight);
}

static hw_status create_embedding(hw_module **module, const void *config) {
  return hw_embedding_create(NULL, config, module);
}

static void test_embedding(void) {
  const hw_embedding_config config = {7, 5};
  gradient_case c = start("Embedding", &config, create_embedding, 2, 5, 0, config.embedding_dim);
  c.input.ids = ids;
  c.reference = embedding_reference;
  gradient_check(context, &c);
  finish(&c);
}

/* ---- FeedForward ---- */

static hw_status create_feed_forward(hw_module **module, const void *config) {
  return hw_feed_forward_create(NULL, config, module);
}

static void feed_forward_reference(const gradient_case *c, const double *x, double *y) {
  reference_feed_forward(whole(c->module), c->config, x, c->input.tokens, y, 0.0);
}

static void test_feed_forward(void) {
  const hw_feed_forward_config configs[] = {{5, 11, 0.0, HW_GELU_NONE}, {8, 16, 0.0, HW_GELU_TANH}};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
    gradient_case c =
        start("FeedForward", &configs[i], create_feed_forward, 1, 7, configs[i].d_model, configs[i].d_model);
    c.reference = feed_forward_reference;
    gradient_check(context, &c);
    finish(&c);
  }
}

/* ---- Attention ---- */

enum { BATCH = 2, TOKENS = 6, D_IN = 5, HEADS = 2, SCORES = BATCH * HEADS * TOKENS * TOKENS };

static hw_status create_attention(hw_module **module, const void *config) {
  return hw_multi_head_attention_create(NULL, config, module);
}

static void attention_reference(const gradient_case *c, const double *x, double *y) {
  static double weights[SCORES];
  const reference_tokens tokens = tokens_of(c);
  reference_multi_head_attention(whole(c->module), c->config, x, &tokens, asked(c), y, weights, 0.0);
}

static const hw_multi_head_attention_config attention_configs[] = {
    {.d_in = D_IN, .d_out = 6, .num_heads = HEADS, .is_causal = true, .out_proj = true, .out_bias = true},
    {.d_in = D_IN, .d_out = 6, .num_heads = HEADS, .qkv_bias = true},
    {.d_in = D_IN, .d_out = 16, .num_heads = HEADS, .is_causal = true, .out_proj = true, .packed_qkv = true},
};

static void test_attention(void) {
  for (size_t i = 0; i < sizeof attention_configs / sizeof *attention_configs; i++) {
    hw_multi_head_attention_config config = attention_configs[i];
    config.context_length = TOKENS;
    gradient_case c = start("MultiHeadAttention", &config, create_attention, BATCH, TOKENS, D_IN, config.d_out);
    c.reference = attention_reference;
    gradient_check(context, &c);
    finish(&c);
  }
}

/* Masks, and what else a forward may be asked for besides. */
static void test_options(void) {
  static float added[SCORES];
  static uint8_t allowed[TOKENS * TOKENS];
  static float weights[SCORES];
  static float head_mask[] = {0.5F, 0.0F};
  hw_trace *trace = NULL;
  gradient_fill_floats(added, SCORES);
  for (size_t i = 0; i < sizeof allowed; i++) {
    allowed[i] = i % TOKENS <= i / TOKENS && i % 3 != 0;
  }
  const hw_mask floats = {HW_MASK_FLOAT, added, (size_t)HEADS * TOKENS * TOKENS, (size_t)TOKENS * TOKENS, TOKENS, 1};
  const hw_mask bools = {HW_MASK_BOOL, allowed, 0, 0, TOKENS, 1};
  const hw_forward_options options[] = {
      {.mask = floats},         {.mask = bools},
      {.head_mask = head_mask}, {.weights = weights},
      {.trace = &trace},        {.mask = floats, .head_mask = head_mask, .weights = weights, .trace = &trace},
  };
  for (size_t i = 0; i < 2 * sizeof options / sizeof *options; i++) {
    hw_multi_head_attention_config config = attention_configs[i % 2];
    config.context_length = TOKENS;
    gradient_case c = start("MultiHeadAttention, asked", &config, create_attention, BATCH, TOKENS, D_IN, config.d_out);
    c.reference = attention_reference;
    c.options = &options[i / 2];
    c.mask = added;
    c.mask_count = c.options->mask.kind == HW_MASK_FLOAT ? SCORES : 0;
    c.head_mask = head_mask;
    c.head_mask_count = c.options->head_mask == NULL ? 0 : HEADS;
    gradient_check(context, &c);
    hw_trace_destroy(trace);
    trace = NULL;
    finish(&c);
  }
}

static hw_status create_head(hw_module **module, const void *config) {
  return hw_causal_attention_create(NULL, config, module);
}

static hw_multi_head_attention_config as_attention(const hw_causal_attention_config *head) {
  return (hw_multi_head_attention_config){.d_in = head->d_in,
                                          .d_out = head->d_out,
                                          .num_heads = 1,
                                          .qkv_bias = head->qkv_bias,
                                          .is_causal = head->is_causal};
}

static void head_reference(const gradient_case *c, const double *x, double *y) {
  static double weights[SCORES];
  const hw_multi_head_attention_config config = as_attention(c->config);
  const reference_tokens tokens = tokens_of(c);
  reference_multi_head_attention(whole(c->module), &config, x, &tokens, asked(c), y, weights, 0.0);
}

static void wrapper_reference(const gradient_case *c, const double *x, double *y) {
  static double weights[SCORES];
  const hw_multi_head_attention_wrapper_config *config = c->config;
  const hw_multi_head_attention_config head = as_attention(&config->head);
  const reference_tokens tokens = tokens_of(c);
  const size_t width = config->head.d_out;
  double *column = reference_doubles(c->y_count / config->num_heads);
  for (size_t h = 0; h < config->num_heads; h++) {
    hw_forward_options options = *asked(c);
    if (options.mask.kind == HW_MASK_FLOAT) {
      options.mask.data = (const float *)options.mask.data + h * options.mask.head_stride;
    }
    reference_multi_head_attention(block_of(whole(c->module), "heads", h), &head, x, &tokens, &options, column, weights,
                                   0.0);
    for (size_t i = 0; i < c->y_count / config->num_heads; i++) {
      y[(i / width * config->num_heads + h) * width + i % width] = column[i];
    }
  }
  free(column);
}

static hw_status create_wrapper(hw_module **module, const void *config) {
  return hw_multi_head_attention_wrapper_create(NULL, config, module);
}

static void test_wrapper(void) {
  static float added[SCORES];
  static float weights[SCORES];
  hw_trace *trace = NULL;
  const hw_mask mask = {HW_MASK_FLOAT, added, (size_t)HEADS * TOKENS * TOKENS, (size_t)TOKENS * TOKENS, TOKENS, 1};
  const hw_forward_options options = {.mask = mask, .weights = weights, .trace = &trace};
  const hw_causal_attention_config head = {
      .d_in = D_IN, .d_out = 3, .context_length = TOKENS, .qkv_bias = true, .is_causal = true};
  const hw_multi_head_attention_wrapper_config config = {head, HEADS};
  gradient_fill_floats(added, SCORES);
  gradient_case c = start("CausalAttention", &head, create_head, BATCH, TOKENS, D_IN, head.d_out);
  c.reference = head_reference;
  gradient_check(context, &c);
  finish(&c);
  for (size_t i = 0; i < 2; i++) {
    c = start("MultiHeadAttentionWrapper", &config, create_wrapper, BATCH, TOKENS, D_IN, HEADS * head.d_out);
    c.reference = wrapper_reference;
    c.options = i == 0 ? NULL : &options;
    c.mask = added;
    c.mask_count = i == 0 ? 0 : SCORES;
    gradient_check(context, &c);
    hw_trace_destroy(trace);
    finish(&c);
  }
}

/* ---- Blocks ---- */

static hw_status create_stack(hw_module **module, const void *config) {
  return hw_transformer_stack_create(NULL, config, module);
}

static void stack_reference(const gradient_case *c, const double *x, double *y) {
  static double weights[SCORES];
  const hw_transformer_stack_config *config = c->config;
  const reference_tokens tokens = tokens_of(c);
  memcpy(y, x, c->y_count * sizeof *y);
  for (size_t i = 0; i < config->num_layers; i++) {
    hw_forward_options options = *asked(c);
    options.head_mask = options.head_mask == NULL ? NULL : options.head_mask + i * config->block.num_heads;
    reference_block(block_of(whole(c->module), "blocks", i), &config->block, &tokens, &options, y, weights, 0.0);
  }
}

static void test_blocks(void) {
  static float head_mask[] = {0.5F, 1.0F, 2.0F, 0.0F};
  static float added[TOKENS * TOKENS]; /* the same for all layers, heads and texts */
  const hw_forward_options options = {.mask = {HW_MASK_FLOAT, added, 0, 0, TOKENS, 1}, .head_mask = head_mask};
  gradient_fill_floats(added, TOKENS * TOKENS);
  for (size_t i = 0; i < 16; i++) {
    const bool attention_only = i / 8 == 1;
    const bool is_masked = i / 4 % 2 == 1;
    const hw_transformer_block_config block = {
        .d_model = 6,
        .num_heads = HEADS,
        .d_ff = attention_only ? 0 : 9,
        .attention_only = attention_only,
        .norm_first = i % 2 == 0,
        .is_causal = i / 2 % 2 == 0,
        .attention_bias = i / 2 % 2 == 0,
        .approximate = i % 2 == 0 ? HW_GELU_NONE : HW_GELU_TANH,
        .eps = 1e-2,
    };
    const hw_transformer_stack_config config = {block, 1 + is_masked};
    gradient_case c = start(block.norm_first ? "pre-norm" : "post-norm", &config, create_stack, BATCH, TOKENS,
                            block.d_model, block.d_model);
    c.reference = stack_reference;
    c.options = is_masked ? &options : NULL;
    c.mask = added;
    c.head_mask = head_mask;
    c.mask_count = is_masked ? TOKENS * TOKENS : 0;
    c.head_mask_count = is_masked ? config.num_layers * HEADS : 0;
    gradient_check(context, &c);
    finish(&c);
  }
}

/* ---- Decoder ---- */

static hw_status create_decoder(hw_module **module, const void *config) { return hw_decoder_create(config, module); }

static void decoder_reference(const gradient_case *c, const double *x, double *y) {
  (void)x;
  static double weights[2 * SCORES];
  const hw_decoder_config *config = c->config;
  const reference_tokens tokens = tokens_of(c);
  const size_t asked_tokens = c->input.logits_end - c->input.logits_start;
  double *all = reference_doubles(tokens.batch * tokens.tokens * config->model.vocab_size);
  reference_gpt2(c->module, config, c->input.ids, &tokens, asked(c)->head_mask, all, weights, 0.0);
  for (size_t b = 0; b < tokens.batch; b++) {
    memcpy(y + b * asked_tokens * config->model.vocab_size,
           all + (b * tokens.tokens + c->input.logits_start) * config->model.vocab_size,
           asked_tokens * config->model.vocab_size * sizeof *y);
  }
  free(all);
}

static void test_decoder(void) {
  static float head_mask[] = {0.5F, 1.0F, 2.0F, 0.0F};
  static const size_t ranges[][2] = {{0, 5}, {2, 4}, {3, 3}};
  const hw_forward_options options = {.head_mask = head_mask};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    hw_decoder_config config = gpt2_config(7, 5, 2, 6, HEADS, 9);
    config.model.eps = 1e-2;
    gradient_case c = start("Decoder", &config, create_decoder, BATCH, 5, 0, 0);
    c.input.ids = ids;
    c.input.logits_start = ranges[i][0];
    c.input.logits_end = ranges[i][1];
    c.y_count = BATCH * (ranges[i][1] - ranges[i][0]) * config.model.vocab_size;
    c.reference = decoder_reference;
    c.options = i == 1 ? &options : NULL;
    c.head_mask = head_mask;
    c.head_mask_count = i == 1 ? sizeof head_mask / sizeof *head_mask : 0;
    gradient_check(context, &c);
    finish(&c);
  }
}

int main(void) {
  check_seed(15);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("gradients of Linear are those of its definition", test_linear);
  check_run("gradients of LayerNorm", test_layer_norm);
  check_run("gradients of Embedding, where an id comes again", test_embedding);
  check_run("gradients of FeedForward", test_feed_forward);
  check_run("gradients of attention", test_attention);
  check_run("gradients of attention with masks, muted heads, weights and traces", test_options);
  check_run("gradients of single heads and their wrapper", test_wrapper);
  check_run("gradients of blocks and stacks", test_blocks);
  check_run("gradients of a decoder, of some tokens' logits too", test_decoder);
  hw_context_destroy(context);
  return check_result();
}
