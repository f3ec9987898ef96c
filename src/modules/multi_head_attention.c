#include <string.h>

#include "modules/gradients.h"
#include "modules/kept.h"
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

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  (void)layer;
  const multi_head_attention *m = (const multi_head_attention *)module;
  return m->config.out_proj ? &m->out_proj : NULL;
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
      .key = hw_const_floats_from(qkv, d_out),
      .value = hw_const_floats_from(qkv, 2 * d_out),
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

/* Where the heads' outputs go: to the tape, to y, or to what the output projection will read. Without weights that is where
 * the queries were, each of which only its own output needs. */
static void place_output(const hw_run *run, const multi_head_attention *m, float *y, hw_attention *attention) {
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  if (hw_run_records(run)) {
    attention->output = hw_tape_push_floats(run, rows, m->config.d_out);
  } else if (!m->config.out_proj) {
    attention->output = y;
  } else if (attention->weights == NULL) {
    attention->output = (float *)attention->query;
    attention->output_strides = attention->query_strides;
  } else {
    attention->output = hw_run_take_floats(run, rows, m->config.d_out);
  }
}

/* Points a call that computes at its layer's weights; until then they may be larger than memory. */
static void place_weights(const hw_run *run, hw_attention *attention) {
  if (attention->weights != NULL && !hw_run_measures(run)) {
    attention->weights += run->layer * attention->batch * attention->weights_batch_stride;
  }
}

static void attend(hw_run *run, hw_attention *attention) {
  const hw_forward_options *options = run->options;
  hw_key_value_store store;
  hw_attention_state state = {0};
  if (hw_run_records(run)) {
    hw_attention_push(run, attention);
  }
  if (options->cache != NULL) {
    store = hw_key_value_cache_layer(options->cache, run->layer);
    state.store = &store;
    state.stored_tokens = options->cache->length;
  }
  hw_attention_forward(run, attention, &state);
}

/* The heads' outputs times the layer's factors, in place. */
static void mask_heads(const hw_run *run, const hw_attention *attention, float *output) {
  hw_attention masked = *attention;
  masked.output = output;
  hw_head_mask_forward(run, &masked, run->options->head_mask + run->layer * attention->heads);
}

/* What comes after the heads: their outputs, times factors if there are any. What the tape holds stays as it is. */
static float *masked_output(const hw_run *run, const hw_attention *attention, float *copy) {
  const bool is_masked = run->options->head_mask != NULL;
  float *output = attention->output;
  if (hw_run_records(run) && is_masked) {
    output = copy;
    if (!hw_run_measures(run)) {
      memcpy(copy, attention->output, attention->batch * attention->output_strides.batch * sizeof(float));
    }
  }
  if (is_masked) {
    mask_heads(run, attention, output);
  }
  return output;
}

static void project(const hw_run *run, const multi_head_attention *m, const hw_attention *attention, float *y) {
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  const size_t d_out = m->config.d_out;
  const bool needs_copy = hw_run_records(run) && run->options->head_mask != NULL;
  float *copy = needs_copy ? hw_run_take_floats(run, rows, d_out) : NULL;
  const float *output = masked_output(run, attention, copy);
  hw_head_replace_forward(run, attention);
  if (m->config.out_proj) {
    hw_linear_forward(run, &m->out_proj, &(hw_rows){output, attention->output_strides.token, rows}, y, d_out);
  } else if (hw_run_records(run) && !hw_run_measures(run)) {
    memcpy(y, output, rows * d_out * sizeof(float));
  }
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const multi_head_attention *m = (const multi_head_attention *)module;
  const size_t mark = run->arena->used;
  const size_t d_out = m->config.d_out;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  float *qkv = hw_run_keep_floats(run, rows, hw_size_multiply(3, d_out));
  hw_linear_forward(run, &m->qkv_proj, &(hw_rows){input->x, m->config.d_in, rows}, qkv, 3 * d_out);
  hw_attention attention = call_of(run, m, input, qkv);
  place_weights(run, &attention);
  place_output(run, m, y, &attention);
  attend(run, &attention);
  project(run, m, &attention, y);
  run->layer++;
  run->arena->used = mark;
}

/* d_output [rows, d_out], the gradient of the heads' outputs, from dy. */
static void unproject(const hw_run *run, multi_head_attention *m, const hw_attention *attention, const float *dy,
                      float *d_output) {
  const size_t mark = run->arena->used;
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  const size_t d_out = m->config.d_out;
  if (m->config.out_proj) {
    float *copy = run->options->head_mask == NULL ? NULL : hw_run_take_floats(run, rows, d_out);
    const hw_rows output = {masked_output(run, attention, copy), d_out, rows};
    hw_gradients_of_linear(run, &m->out_proj, &output, &(hw_rows){dy, d_out, rows}, false, d_output, d_out);
  } else if (!hw_run_measures(run)) {
    memcpy(d_output, dy, rows * d_out * sizeof(float));
  }
  if (run->options->head_mask != NULL) {
    mask_heads(run, attention, d_output);
  }
  run->arena->used = mark;
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  multi_head_attention *m = (multi_head_attention *)module;
  const size_t mark = run->arena->used;
  const size_t d_out = m->config.d_out;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  hw_attention attention = call_of(run, m, input, NULL);
  hw_attention_pop(run, &attention);
  attention.output = hw_tape_pop_floats(run, rows, d_out);
  attention.query = hw_tape_pop_floats(run, rows, 3 * d_out);
  attention.key = attention.query + d_out;
  attention.value = attention.query + 2 * d_out;
  run->layer--;
  float *d_output = hw_run_take_floats(run, rows, d_out);
  unproject(run, m, &attention, dy, d_output);
  float *d_qkv = hw_run_take_floats(run, rows, 3 * d_out);
  const hw_attention_gradient gradient = {
      .output = d_output,
      .query = d_qkv,
      .key = hw_floats_from(d_qkv, d_out),
      .value = hw_floats_from(d_qkv, 2 * d_out),
      .output_strides = attention.output_strides,
      .query_strides = attention.query_strides,
      .key_strides = attention.key_strides,
      .value_strides = attention.value_strides,
  };
  hw_attention_backward(run, &attention, &gradient);
  hw_gradients_of_linear(run, &m->qkv_proj, &(hw_rows){input->x, m->config.d_in, rows},
                         &(hw_rows){d_qkv, 3 * d_out, rows}, false, dx, m->config.d_in);
  run->arena->used = mark;
}

const hw_module_type hw_multi_head_attention_type = {
    HW_MODULE_TYPE(multi_head_attention), .check = check,       .backward = backward,
    .cache_shape = cache_shape,           .out_proj = out_proj, .has_head_mask = true,
};

hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                         hw_module **module) {
  return hw_module_create(context, &hw_multi_head_attention_type, config, module);
}
