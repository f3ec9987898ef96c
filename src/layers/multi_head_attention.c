#include "layers/multi_head_attention.h"

#include "layers/key_value_cache.h"
#include "layers/linear.h"
#include "layers/trace.h"

struct hw_multi_head_attention {
  hw_multi_head_attention_config config;
  bool training;
  hw_linear *qkv_proj; /* rows of W_query, W_key, W_value one after another */
  hw_linear *out_proj; /* NULL without */
};

static hw_status check_config(const hw_multi_head_attention_config *config) {
  const bool sizes = config->d_in > 0 && config->d_out > 0 && config->context_length > 0 && config->num_heads > 0;
  if (!sizes || config->d_out % config->num_heads != 0) {
    return HW_ERROR_SHAPE;
  }
  return config->dropout >= 0.0 && config->dropout <= 1.0 ? HW_OK : HW_ERROR_VALUE;
}

static hw_status create_linears(hw_multi_head_attention *module) {
  const hw_multi_head_attention_config *config = &module->config;
  const size_t columns = hw_size_multiply(3, config->d_out);
  HW_TRY(hw_linear_create(NULL, config->d_in, columns, config->qkv_bias, &module->qkv_proj));
  if (config->out_proj) {
    HW_TRY(hw_linear_create(NULL, config->d_out, config->d_out, config->out_bias, &module->out_proj));
  }
  return HW_OK;
}

void hw_multi_head_attention_draw(hw_context *context, hw_multi_head_attention *module) {
  const size_t d_out = module->config.d_out;
  if (module->config.packed_qkv) {
    hw_linear_draw(context, module->qkv_proj, 0, 3 * d_out);
  } else {
    for (size_t part = 0; part < 3; part++) {
      hw_linear_draw(context, module->qkv_proj, part * d_out, d_out);
    }
  }
  if (module->out_proj != NULL) {
    hw_linear_draw(context, module->out_proj, 0, d_out);
  }
}

hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                         hw_multi_head_attention **module) {
  *module = NULL;
  HW_TRY(check_config(config));
  hw_multi_head_attention *created = hw_allocate_zeroed(sizeof(hw_multi_head_attention));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->config = *config;
  created->training = true;
  const hw_status status = create_linears(created);
  if (status != HW_OK) {
    hw_multi_head_attention_destroy(created);
    return status;
  }
  if (context != NULL) {
    hw_multi_head_attention_draw(context, created);
  }
  *module = created;
  return HW_OK;
}

void hw_multi_head_attention_destroy(hw_multi_head_attention *module) {
  if (module != NULL) {
    hw_linear_destroy(module->qkv_proj);
    hw_linear_destroy(module->out_proj);
    hw_release(module);
  }
}

hw_linear *hw_multi_head_attention_qkv_proj(hw_multi_head_attention *module) { return module->qkv_proj; }

hw_linear *hw_multi_head_attention_out_proj(hw_multi_head_attention *module) { return module->out_proj; }

void hw_multi_head_attention_train(hw_multi_head_attention *module, bool training) { module->training = training; }

static hw_cache_shape cache_shape(const hw_multi_head_attention *module, size_t batch) {
  const hw_multi_head_attention_config *config = &module->config;
  return (hw_cache_shape){
      .batch = batch,
      .heads = config->num_heads,
      .head_dim = config->d_out / config->num_heads,
      .capacity = config->context_length,
  };
}

hw_status hw_multi_head_attention_create_cache(const hw_multi_head_attention *module, size_t batch,
                                               const float *past_key, const float *past_value, size_t past_tokens,
                                               hw_key_value_cache **cache) {
  const hw_cache_shape shape = cache_shape(module, batch);
  HW_TRY(hw_key_value_cache_create(&shape, cache));
  const hw_status status = hw_key_value_cache_fill(*cache, past_key, past_value, past_tokens);
  if (status != HW_OK) {
    hw_key_value_cache_destroy(*cache);
    *cache = NULL;
  }
  return status;
}

static hw_status check_forward(const hw_multi_head_attention *module, const hw_module_input *input,
                               const hw_forward_options *options) {
  HW_TRY(hw_forward_check(options, input->batch, input->tokens, module->config.context_length));
  const hw_cache_shape shape = cache_shape(module, input->batch);
  return options->cache == NULL ? HW_OK : hw_key_value_cache_check(options->cache, &shape, input->tokens);
}

static hw_attention_keeping keeping_of(const hw_forward_options *options) {
  const hw_key_value_cache *cache = options->cache;
  return cache == NULL ? (hw_attention_keeping){0}
                       : (hw_attention_keeping){.store = &cache->store, .stored_tokens = cache->length};
}

/* Heads by strides: head h of a token is columns [h·head_dim, (h+1)·head_dim) of its row. Data pointers are filled in
 * by the forward. */
static hw_attention describe(const hw_multi_head_attention *module, const hw_module_input *input,
                             const hw_forward_options *options) {
  const hw_multi_head_attention_config *config = &module->config;
  const size_t tokens = input->tokens;
  const size_t head_dim = config->d_out / config->num_heads;
  const size_t qkv_row = 3 * config->d_out;
  const size_t stored_tokens = keeping_of(options).stored_tokens;
  const hw_strides qkv = {.batch = tokens * qkv_row, .head = head_dim, .token = qkv_row};
  return (hw_attention){
      .batch = input->batch,
      .heads = config->num_heads,
      .key_heads = config->num_heads,
      .query_tokens = tokens,
      .key_tokens = stored_tokens + tokens,
      .key_width = head_dim,
      .value_width = head_dim,
      .query_strides = qkv,
      .key_strides = qkv,
      .value_strides = qkv,
      .output_strides = {.batch = tokens * config->d_out, .head = head_dim, .token = config->d_out},
      .scale = hw_attention_default_scale(head_dim),
      .is_causal = config->is_causal && options->mask.kind == HW_MASK_NONE,
      .causal_offset = (int32_t)stored_tokens,
      .mask = options->mask,
      .dropout = module->training ? config->dropout : 0.0,
      .weights = options->weights,
      .weights_batch_stride = config->num_heads * tokens * (stored_tokens + tokens),
  };
}

/* Where the heads' outputs go before the output projection. */
static bool merges_in_place(const hw_attention *attention) { return attention->weights == NULL; }

static size_t forward_scratch(const hw_context *context, const hw_multi_head_attention *module,
                              const hw_attention *attention, const hw_forward_options *options) {
  const hw_attention_keeping keeping = keeping_of(options);
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  const size_t qkv = hw_size_multiply(rows, hw_size_multiply(3, module->config.d_out));
  size_t bytes = hw_size_add(hw_arena_size(qkv, sizeof(float)), hw_attention_run_scratch(context, attention, &keeping));
  bytes = hw_size_add(bytes, hw_linear_scratch(module->qkv_proj, rows));
  bytes = hw_size_add(bytes, module->out_proj == NULL ? 0 : hw_linear_scratch(module->out_proj, rows));
  if (module->out_proj != NULL && !merges_in_place(attention)) {
    bytes = hw_size_add(bytes, hw_arena_size(hw_size_multiply(rows, module->config.d_out), sizeof(float)));
  }
  return bytes;
}

size_t hw_multi_head_attention_scratch(const hw_context *context, const hw_multi_head_attention *module,
                                       const hw_module_input *input, const hw_forward_options *options) {
  const hw_attention attention = describe(module, input, options);
  return forward_scratch(context, module, &attention, options);
}

hw_status hw_multi_head_attention_trace(const hw_multi_head_attention *module, const hw_module_input *input,
                                        const hw_forward_options *options) {
  if (options->trace == NULL) {
    return HW_OK;
  }
  const hw_attention attention = describe(module, input, options);
  return hw_trace_create(&attention, attention.heads, options->trace);
}

/* Points the call at its projected tokens, and its output at y, or at what the output projection will read: over the
 * queries, each of which only its own output needs. */
static void place(hw_arena *arena, const hw_multi_head_attention *module, float *qkv, float *y,
                  hw_attention *attention) {
  const size_t d_out = module->config.d_out;
  attention->query = qkv;
  attention->key = qkv + d_out;
  attention->value = qkv + 2 * d_out;
  attention->output = y;
  if (module->out_proj != NULL && merges_in_place(attention)) {
    attention->output = qkv;
    attention->output_strides = attention->query_strides;
  } else if (module->out_proj != NULL) {
    attention->output = hw_arena_take_floats(arena, attention->batch * attention->query_tokens * d_out);
  }
}

/* Every head's output times its factor. */
static void mask_heads(const hw_attention *attention, const float *head_mask) {
  for (size_t head = 0; head < attention->heads; head++) {
    float *column = attention->output + head * attention->output_strides.head;
    for (size_t row = 0; head_mask[head] != 1.0F && row < attention->batch * attention->query_tokens; row++) {
      float *part = column + row * attention->output_strides.token;
      for (size_t i = 0; i < attention->value_width; i++) {
        part[i] = head_mask[head] == 0.0F ? 0.0F : part[i] * head_mask[head];
      }
    }
  }
}

static void forward(hw_context *context, const hw_multi_head_attention *module, const float *x, float *y,
                    hw_attention *attention, const hw_forward_options *options) {
  const size_t mark = context->arena.used;
  const size_t rows = attention->batch * attention->query_tokens;
  const size_t d_out = module->config.d_out;
  float *qkv = hw_arena_take_floats(&context->arena, rows * 3 * d_out);
  hw_linear_run(context, module->qkv_proj, x, module->config.d_in, rows, qkv, 3 * d_out);
  place(&context->arena, module, qkv, y, attention);
  hw_attention_keeping keeping = keeping_of(options);
  hw_attention_record record;
  if (options->trace != NULL) {
    record = hw_trace_record(*options->trace, attention, 0);
    keeping.record = &record;
  }
  hw_attention_run(context, attention, &keeping);
  if (options->head_mask != NULL) {
    mask_heads(attention, options->head_mask);
  }
  if (module->out_proj != NULL) {
    hw_linear_run(context, module->out_proj, attention->output, attention->output_strides.token, rows, y, d_out);
  }
  context->arena.used = mark;
}

void hw_multi_head_attention_run(hw_context *context, const hw_multi_head_attention *module,
                                 const hw_module_input *input, float *y, const hw_forward_options *options) {
  hw_attention attention = describe(module, input, options);
  forward(context, module, input->x, y, &attention, options);
}

hw_status hw_multi_head_attention_forward(hw_context *context, hw_multi_head_attention *module, const float *x,
                                          size_t batch, size_t tokens, float *y, const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  const hw_module_input input = {x, batch, tokens};
  HW_TRY(check_forward(module, &input, asked));
  hw_attention attention = describe(module, &input, asked);
  HW_TRY(hw_arena_reserve(&context->arena, forward_scratch(context, module, &attention, asked)));
  if (asked->trace != NULL) {
    HW_TRY(hw_trace_create(&attention, attention.heads, asked->trace));
  }
  /* Nothing fails from here on. */
  forward(context, module, x, y, &attention, asked);
  if (asked->cache != NULL) {
    asked->cache->length += tokens;
  }
  return HW_OK;
}
