#include "modules/causal_attention.h"

#include <string.h>

#include "modules/gradients.h"
#include "modules/kept.h"
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
    HW_TRY(hw_linear_init(HW_MATRIX_FLOAT32, config->d_in, config->d_out, config->qkv_bias, &m->projections[i]));
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
      hw_visit_linear(visit, names[i], projection);
    }
  }
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  (void)options;
  return input->tokens > ((const causal_attention *)module)->config.context_length ? HW_ERROR_SHAPE : HW_OK;
}

static hw_attention call_of(const hw_run *run, const causal_attention *m, const hw_input *input,
                            const hw_head_place *place) {
  const hw_causal_attention_config *config = &m->config;
  const size_t tokens = input->tokens;
  const size_t d_out = config->d_out;
  const hw_strides strides = {.batch = tokens * d_out, .token = d_out};
  return (hw_attention){
      .batch = input->batch,
      .heads = 1,
      .key_heads = 1,
      .query_tokens = tokens,
      .key_tokens = tokens,
      .key_width = d_out,
      .value_width = d_out,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .output_strides = strides,
      .scale = hw_attention_default_scale(d_out),
      .is_causal = hw_forward_is_causal(run->options, config->is_causal),
      .mask = hw_mask_from_head(&run->options->mask, place->head),
      .dropout = place->training ? config->dropout : 0.0,
  };
}

/* Where the head's output and weights go: to its columns of y, or to the tape, from which copy_output takes it. */
static void place_output(const hw_run *run, const hw_head_place *place, float *y, hw_attention *attention) {
  const size_t tokens = attention->query_tokens;
  const size_t width = attention->value_width;
  const size_t y_row = place->num_heads * width;
  const size_t head_weights = tokens * tokens;
  const hw_forward_options *options = run->options;
  if (hw_run_records(run)) {
    attention->output = hw_tape_push_floats(run, hw_size_multiply(attention->batch, tokens), width);
  } else {
    attention->output = hw_floats_from(y, place->head * width);
    attention->output_strides = (hw_strides){.batch = tokens * y_row, .token = y_row};
  }
  attention->weights = hw_floats_from(options->weights, place->head * head_weights);
  attention->weights_batch_stride = place->num_heads * head_weights;
}

static void copy_output(const hw_run *run, const hw_head_place *place, const hw_attention *attention, float *y) {
  const size_t width = attention->value_width;
  const size_t rows = attention->batch * attention->query_tokens;
  for (size_t row = 0; hw_run_records(run) && !hw_run_measures(run) && row < rows; row++) {
    memcpy(y + (row * place->num_heads + place->head) * width, attention->output + row * width, width * sizeof(float));
  }
}

void hw_causal_attention_head_forward(hw_run *run, const hw_module *module, const hw_input *input, float *y,
                                      const hw_head_place *place) {
  const causal_attention *m = (const causal_attention *)module;
  const size_t mark = run->arena->used;
  const size_t d_out = m->config.d_out;
  const hw_rows x = {input->x, m->config.d_in, hw_size_multiply(input->batch, input->tokens)};
  float *projected[PROJECTIONS];
  for (size_t i = 0; i < PROJECTIONS; i++) {
    projected[i] = hw_run_keep_floats(run, x.count, d_out);
    hw_linear_forward(run, &m->projections[i], &x, projected[i], d_out);
  }
  hw_attention attention = call_of(run, m, input, place);
  const hw_attention_state state = {.first_head = place->head, .heads = place->num_heads};
  attention.query = projected[QUERY];
  attention.key = projected[KEY];
  attention.value = projected[VALUE];
  place_output(run, place, y, &attention);
  if (hw_run_records(run)) {
    hw_attention_push(run, &attention);
  }
  hw_attention_forward(run, &attention, &state);
  copy_output(run, place, &attention, y);
  run->arena->used = mark;
}

/* The head's columns of dy. */
static void copy_columns(const hw_run *run, const hw_head_place *place, const float *dy, size_t rows, size_t width,
                         float *columns) {
  for (size_t row = 0; !hw_run_measures(run) && row < rows; row++) {
    memcpy(columns + row * width, dy + (row * place->num_heads + place->head) * width, width * sizeof(float));
  }
}

void hw_causal_attention_head_backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy,
                                       bool adds, float *dx, const hw_head_place *place) {
  causal_attention *m = (causal_attention *)module;
  const size_t mark = run->arena->used;
  const size_t d_out = m->config.d_out;
  const hw_rows x = {input->x, m->config.d_in, hw_size_multiply(input->batch, input->tokens)};
  hw_attention attention = call_of(run, m, input, place);
  hw_attention_pop(run, &attention);
  attention.output = hw_tape_pop_floats(run, x.count, d_out);
  attention.value = hw_tape_pop_floats(run, x.count, d_out);
  attention.key = hw_tape_pop_floats(run, x.count, d_out);
  attention.query = hw_tape_pop_floats(run, x.count, d_out);
  float *d_output = hw_run_take_floats(run, x.count, d_out);
  float *d_projected[PROJECTIONS];
  for (size_t i = 0; i < PROJECTIONS; i++) {
    d_projected[i] = hw_run_take_floats(run, x.count, d_out);
  }
  copy_columns(run, place, dy, x.count, d_out, d_output);
  const hw_attention_gradient gradient = {
      .output = d_output,
      .query = d_projected[QUERY],
      .key = d_projected[KEY],
      .value = d_projected[VALUE],
      .output_strides = attention.output_strides,
      .query_strides = attention.query_strides,
      .key_strides = attention.key_strides,
      .value_strides = attention.value_strides,
  };
  hw_attention_backward(run, &attention, &gradient);
  for (size_t i = 0; i < PROJECTIONS; i++) {
    hw_gradients_of_linear(run, &m->projections[i], &x, &(hw_rows){d_projected[i], d_out, x.count}, adds || i > 0, dx,
                           m->config.d_in);
  }
  run->arena->used = mark;
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_head_place place = {.num_heads = 1, .training = module->training};
  hw_causal_attention_head_forward(run, module, input, y, &place);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  hw_causal_attention_head_backward(run, module, input, dy, false, dx, &(hw_head_place){.num_heads = 1});
}

const hw_module_type hw_causal_attention_type = {
    HW_MODULE_TYPE(causal_attention),
    .backward = backward,
    .check = check,
};

hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config,
                                     hw_module **module) {
  return hw_module_create(context, &hw_causal_attention_type, config, module);
}
