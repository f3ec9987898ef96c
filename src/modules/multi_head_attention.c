#include "modules/modules.h"
#include "ops/attention.h"
#include "ops/head_mask.h"

typedef struct multi_head_attention {
  hw_module base;
  hw_multi_head_attention_config config;
  hw_linear qkv_proj; /* rows of W_query, W_key, W_value one after another */
  hw_linear out_proj; /* if there is one */
} multi_head_attention;

static hw_status check_config(const hw_multi_head_attention_config *config) {
  const bool sizes = config->d_in > 0 && config->d_out > 0 && config->context_length > 0 && config->num_heads > 0;
  if (!sizes || config->d_out % config->num_heads != 0) {
    return HW_ERROR_SHAPE;
  }
  return hw_dropout_is_valid(config->dropout) ? HW_OK : HW_ERROR_VALUE;
}

static hw_status create(hw_module *module) {
  multi_head_attention *m = (multi_head_attention *)module;
  const hw_multi_head_attention_config *config = &m->config;
  HW_TRY(check_config(config));
  m->base.layers = 1;
  m->base.heads = config->num_heads;
  HW_TRY(hw_linear_init(config->d_in, hw_size_multiply(3, config->d_out), config->qkv_bias, &m->qkv_proj));
  return config->out_proj ? hw_linear_init(config->d_out, config->d_out, config->out_bias, &m->out_proj) : HW_OK;
}

static void release(hw_module *module) {
  multi_head_attention *m = (multi_head_attention *)module;
  hw_linear_release(&m->qkv_proj);
  hw_linear_release(&m->out_proj);
}

static void visit(hw_module *module, hw_visit *visit) {
  static const char *const names[] = {"W_query", "W_key", "W_value"};
  multi_head_attention *m = (multi_head_attention *)module;
  const size_t d_out = m->config.d_out;
  if (m->config.packed_qkv) {
    hw_visit_linear(visit, "qkv_proj", &m->qkv_proj, 0, 3 * d_out);
  } else {
    for (size_t part = 0; part < 3; part++) {
      hw_visit_linear(visit, names[part], &m->qkv_proj, part * d_out, d_out);
    }
  }
  if (m->config.out_proj) {
    hw_visit_linear(visit, "out_proj", &m->out_proj, 0, d_out);
  }
}

static hw_cache_shape cache_shape(const hw_module *module) {
  const hw_multi_head_attention_config *config = &((const multi_head_attention *)module)->config;
  return (hw_cache_shape){
      .layers = 1,
      .heads = config->num_heads,
      .head_dim = config->d_out / config->num_heads,
      .capacity = config->context_length,
  };
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const size_t context_length = ((const multi_head_attention *)module)->config.context_length;
  return options->cache == NULL && input->tokens > context_length ? HW_ERROR_SHAPE : HW_OK;
}

/* Heads by strides: head h of a token is columns [h·head_dim, (h+1)·head_dim) of its row. */
static hw_attention call_of(const hw_run *run, const multi_head_attention *m, const hw_input *input, float *qkv) {
  const hw_multi_head_attention_config *config = &m->config;
  const hw_forward_options *options = run->options;
  const size_t d_out = config->d_out;
  const size_t head_dim = d_out / config->num_heads;
  const size_t tokens = input->tokens;
  const size_t stored_tokens = options->cache == NULL ? 0 : options->cache->length;
  const size_t weights = config->num_heads * tokens * (stored_tokens + tokens);
  const hw_strides strides = {.batch = tokens * 3 * d_out, .head = head_dim, .token = 3 * d_out};
  return (hw_attention){
      .batch = input->batch,
      .heads = config->num_heads,
      .key_heads = config->num_heads,
      .query_tokens = tokens,
      .key_tokens = stored_tokens + tokens,
      .key_width = head_dim,
      .value_width = head_dim,
      .query = qkv,
      .key = qkv == NULL ? NULL : qkv + d_out,
      .value = qkv == NULL ? NULL : qkv + 2 * d_out,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .output_strides = {.batch = tokens * d_out, .head = head_dim, .token = d_out},
      .scale = hw_attention_default_scale(head_dim),
      .is_causal = hw_forward_is_causal(options, config->is_causal),
      .causal_offset = (int32_t)stored_tokens,
      .mask = options->mask,
      .dropout = m->base.training ? config->dropout : 0.0,
      .weights = options->weights,
      .weights_batch_stride = weights,
  };
}

/* Where the heads' outputs go: to y, or to what the output projection will read. Without weights that is where the queries
 * were, each of which only its own output needs. */
static void place_output(const hw_run *run, const multi_head_attention *m, float *y, hw_attention *attention) {
  if (!m->config.out_proj) {
    attention->output = y;
  } else if (attention->weights == NULL) {
    attention->output = (float *)attention->query;
    attention->output_strides = attention->query_strides;
  } else {
    const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
    attention->output = hw_run_take_floats(run, rows, m->config.d_out);
  }
}

/* Points a call that computes at its layer's weights; until then they may be larger than memory. */
static void place_weights(const hw_run *run, hw_attention *attention) {
  if (attention->weights != NULL && !hw_run_measures(run)) {
    attention->weights += run->layer * attention->batch * attention->weights_batch_stride;
  }
}

static void attend(hw_run *run, const hw_attention *attention) {
  const hw_forward_options *options = run->options;
  hw_key_value_store store;
  hw_attention_state state = {0};
  if (options->cache != NULL) {
    store = hw_key_value_cache_layer(options->cache, run->layer);
    state.store = &store;
    state.stored_tokens = options->cache->length;
  }
  hw_attention_forward(run, attention, &state);
  if (options->head_mask != NULL) {
    hw_head_mask_forward(run, attention, options->head_mask + run->layer * attention->heads);
  }
  run->layer++;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const multi_head_attention *m = (const multi_head_attention *)module;
  const size_t mark = run->arena->used;
  const size_t d_out = m->config.d_out;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  float *qkv = hw_run_take_floats(run, rows, hw_size_multiply(3, d_out));
  hw_linear_forward(run, &m->qkv_proj, &(hw_rows){input->x, m->config.d_in, rows}, qkv, 3 * d_out);
  hw_attention attention = call_of(run, m, input, qkv);
  place_weights(run, &attention);
  place_output(run, m, y, &attention);
  attend(run, &attention);
  if (m->config.out_proj) {
    const hw_rows merged = {attention.output, attention.output_strides.token, rows};
    hw_linear_forward(run, &m->out_proj, &merged, y, d_out);
  }
  run->arena->used = mark;
}

const hw_module_type hw_multi_head_attention_type = {HW_MODULE_TYPE(multi_head_attention), .check = check,
                                                     .cache_shape = cache_shape, .has_head_mask = true};

hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                         hw_module **module) {
  return hw_module_create(context, &hw_multi_head_attention_type, config, module);
}
