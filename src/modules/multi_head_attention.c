#include "modules/multi_head_attention.h"

#include <math.h>
#include <string.h>

#include "modules/asked.h"
#include "modules/gradients.h"
#include "modules/head_outputs.h"
#include "modules/kept.h"
#include "modules/modules.h"
#include "modules/turned_heads.h"

/* ---- Life ---- */

static hw_status check_config(const hw_model_attention_config *config) {
  const hw_multi_head_attention_config *base = &config->base;
  const bool sizes = base->d_in > 0 && base->d_out > 0 && base->context_length > 0 && base->num_heads > 0;
  if (!sizes || base->d_out % base->num_heads != 0 || base->num_heads % config->key_heads != 0) {
    return HW_ERROR_SHAPE;
  }
  const bool by_hand = !config->by_hand || !base->qkv_bias;
  const bool numbers = hw_dropout_is_valid(base->dropout) && hw_softcap_is_valid((float)config->softcap);
  return numbers && isfinite((float)config->scale) && by_hand ? HW_OK : HW_ERROR_VALUE;
}

static hw_status create(hw_module *module) {
  hw_attention_module *m = (hw_attention_module *)module;
  hw_model_attention_config *config = &m->config;
  const hw_multi_head_attention_config *base = &config->base;
  config->key_heads = config->key_heads == 0 ? base->num_heads : config->key_heads;
  config->out_features = config->out_features == 0 ? base->d_out : config->out_features;
  HW_TRY(check_config(config));
  m->base.needs_model = config->rotary > 0;
  m->base.layers = 1;
  m->base.heads = base->num_heads;
  config->norm.base.dim = hw_head_dim_of(m);
  for (size_t i = 0; config->qk_norm && i < HW_NORMS; i++) {
    HW_TRY(hw_module_create(NULL, &hw_norm_type, &config->norm, &m->norms[i]));
  }
  const size_t columns = hw_size_add(base->d_out, hw_size_multiply(2 * config->key_heads, config->norm.base.dim));
  HW_TRY(hw_linear_init(config->dtype, base->d_in, columns, base->qkv_bias, &m->qkv_proj));
  return base->out_proj ? hw_linear_init(config->dtype, base->d_out, config->out_features, base->out_bias, &m->out_proj)
                        : HW_OK;
}

static void release(hw_module *module) {
  hw_attention_module *m = (hw_attention_module *)module;
  hw_linear_release(&m->qkv_proj);
  hw_linear_release(&m->out_proj);
  for (size_t i = 0; i < HW_NORMS; i++) {
    hw_module_destroy(m->norms[i]);
  }
}

/* Columns of W in x·W, drawn by rand. */
static void visit_by_hand(hw_visit *visit, const char *name, hw_linear *linear, size_t first_row, size_t rows,
                          uint32_t part) {
  const hw_parameter parameter = {
      .rank = 2,
      .rows = linear->weight.columns,
      .columns = rows,
      .matrix = &linear->weight,
      .first_row = first_row,
      .is_transposed = true,
      .gradient = &linear->weight_gradient,
      .part = part,
      .drawn = HW_DRAWN_UNIFORM,
      .to = 1.0F,
  };
  hw_visit_parameter(visit, name, &parameter);
}

static void visit(hw_module *module, hw_visit *visit) {
  static const char *const names[] = {"W_query", "W_key", "W_value"};
  static const char *const norm_names[] = {"q_norm", "k_norm"};
  hw_attention_module *m = (hw_attention_module *)module;
  for (size_t i = 0; !m->config.base.packed_qkv && i < HW_PROJECTIONS; i++) {
    const size_t start = hw_projection_start(m, i);
    const size_t rows = hw_heads_of(m, i) * hw_head_dim_of(m);
    if (m->config.by_hand) {
      visit_by_hand(visit, names[i], &m->qkv_proj, start, rows, 1u << i);
    } else {
      hw_visit_linear_part(visit, names[i], &m->qkv_proj, start, rows, 1u << i);
    }
  }
  if (m->config.base.packed_qkv) {
    hw_visit_linear(visit, "qkv_proj", &m->qkv_proj);
  }
  if (m->config.base.out_proj) {
    hw_visit_linear(visit, "out_proj", &m->out_proj);
  }
  for (size_t i = 0; m->config.qk_norm && i < HW_NORMS; i++) {
    hw_visit_child(visit, norm_names[i], m->norms[i]);
  }
}

hw_head_parts hw_attention_head_parts(const hw_module *module, size_t head) {
  const hw_attention_module *m = (const hw_attention_module *)module;
  const size_t head_dim = hw_head_dim_of(m);
  const size_t stride = m->config.is_interleaved ? HW_PROJECTIONS * head_dim : head_dim;
  hw_head_parts of = {
      .qkv_proj = &m->qkv_proj,
      .columns = {0, m->config.out_features, head * head_dim, head_dim},
      .norms = {m->norms[HW_QUERY], m->norms[HW_KEY]},
      .rotary = m->config.rotary,
      .scale = m->config.scale == 0.0 ? (double)hw_attention_default_scale(head_dim) : m->config.scale,
  };
  for (size_t i = 0; i < HW_PROJECTIONS; i++) {
    const size_t number = head / (m->config.base.num_heads / hw_heads_of(m, i));
    of.rows[i] = (hw_matrix_part){hw_projection_start(m, i) + number * stride, head_dim, 0, m->config.base.d_in};
  }
  return of;
}

static hw_cache_shape cache_shape(const hw_module *module) {
  const hw_attention_module *m = (const hw_attention_module *)module;
  return (hw_cache_shape){
      .layers = 1,
      .heads = m->config.key_heads,
      .head_dim = hw_head_dim_of(m),
      .capacity = m->config.base.context_length,
  };
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  const size_t context_length = ((const hw_attention_module *)module)->config.base.context_length;
  (void)options;
  return input->tokens > context_length ? HW_ERROR_SHAPE : HW_OK;
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  (void)layer;
  const hw_attention_module *m = (const hw_attention_module *)module;
  return m->config.base.out_proj ? &m->out_proj : NULL;
}

/* ---- Attention ---- */

static hw_strides strides_of(const hw_attention_module *m, size_t tokens) {
  const size_t columns = m->qkv_proj.weight.rows;
  const size_t head_dim = hw_head_dim_of(m);
  return (hw_strides){
      .batch = tokens * columns,
      .head = m->config.is_interleaved ? HW_PROJECTIONS * head_dim : head_dim,
      .token = columns,
  };
}

/* Of queries or keys. */
static hw_turned_heads turned_of(const hw_run *run, const hw_attention_module *m, const hw_input *input,
                                 size_t projection) {
  const size_t rotary = m->config.rotary;
  const size_t heads = hw_heads_of(m, projection);
  return (hw_turned_heads){
      .norm = m->norms[projection],
      .rotary =
          {
              .angles = rotary == 0 ? (hw_angles){0} : run->angles[rotary - 1],
              .batch = input->batch,
              .heads = heads,
              .tokens = input->tokens,
              .width = hw_head_dim_of(m),
          },
      .strides = strides_of(m, input->tokens),
      .start = hw_projection_start(m, projection),
      .rows = hw_size_multiply(hw_input_rows(input), heads),
  };
}

static void point_at(const hw_attention_module *m, const float *qkv, hw_attention *attention) {
  attention->query = hw_const_floats_from(qkv, hw_projection_start(m, HW_QUERY));
  attention->key = hw_const_floats_from(qkv, hw_projection_start(m, HW_KEY));
  attention->value = hw_const_floats_from(qkv, hw_projection_start(m, HW_VALUE));
}

/* Heads by strides: a token's are columns of its row. */
static hw_attention call_of(const hw_run *run, const hw_attention_module *m, const hw_input *input) {
  const hw_multi_head_attention_config *config = &m->config.base;
  const hw_forward_options *options = run->options;
  const size_t d_out = config->d_out;
  const size_t head_dim = hw_head_dim_of(m);
  const size_t tokens = input->tokens;
  const hw_key_value_cache *cache = options->cache;
  const size_t stored_tokens = cache == NULL ? 0 : cache->length;
  /* At the end of the context padding goes beyond a cache. */
  const size_t key_tokens = cache == NULL ? tokens : hw_min(stored_tokens + tokens, cache->shape.capacity);
  const bool is_ragged = cache != NULL && cache->is_ragged;
  const hw_strides strides = strides_of(m, tokens);
  /* For all heads of a wrapper: one trace tells what was dropped. */
  const bool drops = run->place.wrapper == NULL ? m->base.training : run->place.wrapper->training;
  return (hw_attention){
      .batch = input->batch,
      .heads = config->num_heads,
      .key_heads = m->config.key_heads,
      .query_tokens = tokens,
      .key_tokens = key_tokens,
      .key_width = head_dim,
      .value_width = head_dim,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .output_strides = {.batch = tokens * d_out, .head = head_dim, .token = d_out},
      .scale = m->config.scale == 0.0 ? hw_attention_default_scale(head_dim) : (float)m->config.scale,
      .softcap = (float)m->config.softcap,
      .is_causal = hw_forward_is_causal(options, config->is_causal),
      .key_lengths = is_ragged ? cache->next : input->lengths,
      .offsets = is_ragged ? cache->lengths : NULL,
      .causal_offset = is_ragged ? 0 : (int32_t)stored_tokens,
      .is_windowed = m->config.window > 0,
      .window_left = (int32_t)hw_min(m->config.window - 1, INT32_MAX),
      .window_right = -1,
      .mask = hw_mask_from_head(&options->mask, run->place.head),
      .dropout = drops ? config->dropout : 0.0,
      .weights = options->weights,
      .weights_batch_stride = (run->place.others + 1) * config->num_heads * tokens * key_tokens,
  };
}

/* Where the weights of a call's layer and heads are among all. While the run is measured, those may be larger than memory. */
static size_t weights_start(const hw_run *run, const hw_attention *attention) {
  const size_t layer = run->layer - run->options->start_layer;
  return hw_run_measures(run) ? 0
                              : layer * attention->batch * attention->weights_batch_stride +
                                    run->place.head * attention->query_tokens * attention->key_tokens;
}

static void attend(hw_run *run, hw_attention *attention) {
  const hw_forward_options *options = run->options;
  hw_attention_state state = {.first_head = run->place.head, .heads = (run->place.others + 1) * attention->heads};
  if (hw_run_records(run)) {
    hw_attention_push(run, attention);
  }
  if (options->cache != NULL) {
    state.store = &options->cache->stores[run->layer];
    state.stored_tokens = options->cache->length;
    state.stored = options->cache->lengths;
  }
  hw_attention_forward(run, attention, &state);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_attention_module *m = (const hw_attention_module *)module;
  const size_t mark = run->arena->used;
  const size_t columns = m->qkv_proj.weight.rows;
  const size_t rows = hw_input_rows(input);
  float *qkv = hw_run_keep_floats(run, rows, columns);
  hw_linear_forward(run, &m->qkv_proj, &(hw_rows){input->x, m->config.base.d_in, rows}, qkv);
  /* Or small calls would describe for nothing what is not turned. */
  const bool turns = m->config.qk_norm || m->config.rotary > 0;
  for (size_t i = 0; turns && i < HW_NORMS; i++) {
    const hw_turned_heads turned = turned_of(run, m, input, i);
    hw_turned_heads_forward(run, &turned, qkv);
  }
  hw_attention attention = call_of(run, m, input);
  point_at(m, qkv, &attention);
  hw_drop_queries(run, input, &attention);
  attention.weights = hw_floats_from(attention.weights, weights_start(run, &attention));
  hw_head_outputs_place(run, m, y, &attention);
  attend(run, &attention);
  hw_head_outputs_project(run, m, input, &attention, y);
  run->layer++;
  run->arena->used = mark;
}

/* ---- Backward ---- */

/* What the forward has kept, in reverse. */
static void pop(const hw_run *run, const hw_attention_module *m, const hw_turned_heads *turned,
                hw_normalized *normalized, hw_attention *attention) {
  const size_t rows = attention->batch * attention->query_tokens;
  hw_attention_pop(run, attention);
  attention->output = hw_tape_pop_floats(run, rows, m->config.base.d_out);
  for (size_t i = HW_NORMS; m->config.qk_norm && i > 0; i--) {
    normalized[i - 1] = hw_layer_norm_pop(run, turned[i - 1].norm, turned[i - 1].rows);
  }
  point_at(m, hw_tape_pop_floats(run, rows, m->qkv_proj.weight.rows), attention);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  hw_attention_module *m = (hw_attention_module *)module;
  const size_t mark = run->arena->used;
  const size_t columns = m->qkv_proj.weight.rows;
  const size_t rows = hw_input_rows(input);
  const hw_turned_heads turned[HW_NORMS] = {turned_of(run, m, input, HW_QUERY), turned_of(run, m, input, HW_KEY)};
  hw_normalized normalized[HW_NORMS];
  hw_attention attention = call_of(run, m, input);
  pop(run, m, turned, normalized, &attention);
  run->layer--;
  /* Of a wrapper's heads the last one comes first. */
  const bool adds = run->place.head < run->place.others;
  float *d_output = hw_run_take_floats(run, rows, m->config.base.d_out);
  hw_head_outputs_unproject(run, m, &attention, dy, d_output);
  float *d_qkv = hw_run_take_floats(run, rows, columns);
  attention.weights = hw_floats_from(run->gradients.weights, weights_start(run, &attention));
  const hw_attention_gradient gradient = {
      .output = d_output,
      .query = hw_floats_from(d_qkv, hw_projection_start(m, HW_QUERY)),
      .key = hw_floats_from(d_qkv, hw_projection_start(m, HW_KEY)),
      .value = hw_floats_from(d_qkv, hw_projection_start(m, HW_VALUE)),
      .output_strides = attention.output_strides,
      .query_strides = attention.query_strides,
      .key_strides = attention.key_strides,
      .value_strides = attention.value_strides,
      .mask = hw_floats_from(run->gradients.mask, run->place.head * run->options->mask.head_stride),
      .weights = hw_const_floats_from(run->gradients.weights_gradient, weights_start(run, &attention)),
  };
  hw_attention_backward(run, &attention, &gradient);
  for (size_t i = 0; i < HW_NORMS; i++) {
    hw_turned_heads_backward(run, &turned[i], &normalized[i], d_qkv);
  }
  hw_gradients_of_linear(run, &m->qkv_proj, &(hw_rows){input->x, m->config.base.d_in, rows},
                         &(hw_rows){d_qkv, columns, rows}, adds, dx);
  run->arena->used = mark;
}

/* ---- Types ---- */

const hw_module_type hw_model_attention_type = {
    HW_MODULE_TYPE(hw_attention_module), .check = check,       .backward = backward,
    .cache_shape = cache_shape,          .out_proj = out_proj, .has_head_mask = true};

const hw_module_type hw_multi_head_attention_type = {HW_PLAIN_MODULE_TYPE(hw_attention_module),
                                                     .check = check,
                                                     .backward = backward,
                                                     .cache_shape = cache_shape,
                                                     .out_proj = out_proj,
                                                     .has_head_mask = true};

HW_MODULE_CREATE(multi_head_attention)

/* ---- One head ---- */

_Static_assert(sizeof(hw_causal_attention_config) <= sizeof(hw_model_attention_config), "a head's config fits there");

/* The head's config is where the other one is to be. */
static hw_status create_head(hw_module *module) {
  hw_attention_module *m = (hw_attention_module *)module;
  hw_causal_attention_config head;
  memcpy(&head, &m->config, sizeof head);
  m->config = (hw_model_attention_config){
      .base =
          {
              .d_in = head.d_in,
              .d_out = head.d_out,
              .context_length = head.context_length,
              .dropout = head.dropout,
              .num_heads = 1,
              .qkv_bias = head.qkv_bias,
              .is_causal = head.is_causal,
          },
      .by_hand = head.by_hand,
  };
  return create(module);
}

const hw_module_type hw_causal_attention_type = {
    .bytes = sizeof(hw_attention_module),
    .config_bytes = sizeof(hw_causal_attention_config),
    .config_offset = offsetof(hw_attention_module, config),
    .create = create_head,
    .release = release,
    .visit = visit,
    .forward = forward,
    .check = check,
    .backward = backward,
};

HW_MODULE_CREATE(causal_attention)
