#include "modules/causal_attention.h"

#include "modules/modules.h"

enum { QUERY, KEY, VALUE, PROJECTIONS };

static const char *const names[PROJECTIONS] = {"W_query", "W_key", "W_value"};

typedef struct causal_attention {
  hw_module base;
  hw_causal_attention_config config;
  hw_linear projections[PROJECTIONS];
} causal_attention;

size_t hw_causal_attention_weight_bytes(const hw_causal_attention_config *config) {
  return hw_size_multiply(PROJECTIONS, hw_matrix_bytes(HW_MATRIX_FLOAT32, config->d_out, config->d_in));
}

static hw_status create(hw_module *module) {
  causal_attention *m = (causal_attention *)module;
  const hw_causal_attention_config *config = &m->config;
  if (config->d_in == 0 || config->d_out == 0 || config->context_length == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_dropout_is_valid(config->dropout) || (config->by_hand && config->qkv_bias)) {
    return HW_ERROR_VALUE;
  }
  m->base.layers = 1;
  m->base.heads = 1;
  for (size_t i = 0; i < PROJECTIONS; i++) {
    HW_TRY(hw_linear_init(config->d_in, config->d_out, config->qkv_bias, &m->projections[i]));
  }
  return HW_OK;
}

static void release(hw_module *module) {
  causal_attention *m = (causal_attention *)module;
  for (size_t i = 0; i < PROJECTIONS; i++) {
    hw_linear_release(&m->projections[i]);
  }
}

static void visit(hw_module *module, hw_visit *visit) {
  causal_attention *m = (causal_attention *)module;
  for (size_t i = 0; i < PROJECTIONS; i++) {
    hw_linear *projection = &m->projections[i];
    if (m->config.by_hand) {
      hw_visit_matrix(visit, names[i], &projection->weight, &projection->weight_gradient, true, HW_DRAWN_UNIFORM);
    } else {
      hw_visit_linear(visit, names[i], projection, 0, m->config.d_out);
    }
  }
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  (void)options;
  return input->tokens > ((const causal_attention *)module)->config.context_length ? HW_ERROR_SHAPE : HW_OK;
}

void hw_causal_attention_head_forward(hw_run *run, const hw_module *module, const hw_input *input, float *y,
                                      const hw_head_place *place) {
  const causal_attention *m = (const causal_attention *)module;
  const hw_causal_attention_config *config = &m->config;
  const hw_forward_options *options = run->options;
  const size_t mark = run->arena->used;
  const size_t tokens = input->tokens;
  const size_t d_out = config->d_out;
  const size_t y_row = place->num_heads * d_out;
  const size_t head_weights = tokens * tokens;
  const hw_rows x = {input->x, config->d_in, hw_size_multiply(input->batch, tokens)};
  float *projected[PROJECTIONS];
  for (size_t i = 0; i < PROJECTIONS; i++) {
    projected[i] = hw_run_take_floats(run, x.count, d_out);
    hw_linear_forward(run, &m->projections[i], &x, projected[i], d_out);
  }
  const hw_strides strides = {.batch = tokens * d_out, .token = d_out};
  const hw_attention attention = {
      .batch = input->batch,
      .heads = 1,
      .key_heads = 1,
      .query_tokens = tokens,
      .key_tokens = tokens,
      .key_width = d_out,
      .value_width = d_out,
      .query = projected[QUERY],
      .key = projected[KEY],
      .value = projected[VALUE],
      .output = y == NULL ? NULL : y + place->head * d_out,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .output_strides = {.batch = tokens * y_row, .token = y_row},
      .scale = hw_attention_default_scale(d_out),
      .is_causal = hw_forward_is_causal(options, config->is_causal),
      .mask = hw_mask_from_head(&options->mask, place->head),
      .dropout = place->training ? config->dropout : 0.0,
      .weights = options->weights == NULL ? NULL : options->weights + place->head * head_weights,
      .weights_batch_stride = place->num_heads * head_weights,
  };
  hw_attention_forward(run, &attention, &(hw_attention_state){place->head, place->num_heads, NULL, 0});
  run->arena->used = mark;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_head_place alone = {.num_heads = 1, .training = module->training};
  hw_causal_attention_head_forward(run, module, input, y, &alone);
}

const hw_module_type hw_causal_attention_type = {HW_MODULE_TYPE(causal_attention), .check = check};

hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config,
                                     hw_module **module) {
  return hw_module_create(context, &hw_causal_attention_type, config, module);
}
