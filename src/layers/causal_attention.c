#include "layers/causal_attention.h"

#include "kernels/gemm.h"
#include "layers/linear.h"

enum { QUERY, KEY, VALUE, PROJECTIONS };

struct hw_causal_attention {
  hw_causal_attention_config config;
  bool training;
  hw_linear *projections[PROJECTIONS];
};

static hw_status check_config(const hw_causal_attention_config *config) {
  if (config->d_in == 0 || config->d_out == 0 || config->context_length == 0) {
    return HW_ERROR_SHAPE;
  }
  return config->dropout >= 0.0 && config->dropout <= 1.0 ? HW_OK : HW_ERROR_VALUE;
}

hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config,
                                     hw_causal_attention **module) {
  *module = NULL;
  HW_TRY(check_config(config));
  hw_causal_attention *created = hw_allocate_zeroed(sizeof(hw_causal_attention));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->config = *config;
  created->training = true;
  for (size_t i = 0; i < PROJECTIONS; i++) {
    const hw_status status =
        hw_linear_create(NULL, config->d_in, config->d_out, config->qkv_bias, &created->projections[i]);
    if (status != HW_OK) {
      hw_causal_attention_destroy(created);
      return status;
    }
  }
  if (context != NULL) {
    hw_causal_attention_draw(context, created);
  }
  *module = created;
  return HW_OK;
}

size_t hw_causal_attention_weight_bytes(const hw_causal_attention_config *config) {
  return hw_size_multiply(PROJECTIONS,
                          hw_arena_size(hw_gemm_packed_floats(config->d_out, config->d_in), sizeof(float)));
}

void hw_causal_attention_draw(hw_context *context, hw_causal_attention *module) {
  for (size_t i = 0; i < PROJECTIONS; i++) {
    hw_linear_draw(context, module->projections[i], 0, module->config.d_out);
  }
}

void hw_causal_attention_destroy(hw_causal_attention *module) {
  if (module == NULL) {
    return;
  }
  for (size_t i = 0; i < PROJECTIONS; i++) {
    hw_linear_destroy(module->projections[i]);
  }
  hw_release(module);
}

hw_linear *hw_causal_attention_linear(hw_causal_attention *module, size_t index) {
  return index < PROJECTIONS ? module->projections[index] : NULL;
}

void hw_causal_attention_train(hw_causal_attention *module, bool training) { module->training = training; }

hw_status hw_causal_attention_check(const hw_causal_attention *module, const hw_module_input *input,
                                    const hw_forward_options *options) {
  HW_TRY(hw_forward_check(options, input->batch, input->tokens, module->config.context_length));
  return options->cache == NULL && options->head_mask == NULL ? HW_OK : HW_ERROR_VALUE;
}

/* The call of one head; its data pointers are filled in by hw_causal_attention_run. */
static hw_attention describe(const hw_causal_attention *module, const hw_module_input *input,
                             const hw_forward_options *options) {
  const hw_causal_attention_config *config = &module->config;
  const size_t row = config->d_out;
  const hw_strides strides = {.batch = input->tokens * row, .token = row};
  return (hw_attention){
      .batch = input->batch,
      .heads = 1,
      .key_heads = 1,
      .query_tokens = input->tokens,
      .key_tokens = input->tokens,
      .key_width = config->d_out,
      .value_width = config->d_out,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .scale = hw_attention_default_scale(config->d_out),
      .is_causal = config->is_causal && options->mask.kind == HW_MASK_NONE,
      .mask = options->mask,
      .dropout = module->training ? config->dropout : 0.0,
      .weights = options->weights,
  };
}

size_t hw_causal_attention_scratch(const hw_context *context, const hw_causal_attention *module,
                                   const hw_module_input *input, const hw_forward_options *options) {
  const hw_attention_keeping nothing = {0};
  const hw_attention attention = describe(module, input, options);
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t projection = hw_arena_size(hw_size_multiply(rows, module->config.d_out), sizeof(float));
  const size_t linear = hw_linear_scratch(module->projections[QUERY], rows);
  const size_t run = hw_attention_run_scratch(context, &attention, &nothing);
  return hw_size_add(hw_size_multiply(projection, PROJECTIONS), hw_size_add(linear, run));
}

hw_status hw_causal_attention_trace(const hw_causal_attention *module, const hw_module_input *input,
                                    const hw_forward_options *options, size_t num_heads) {
  if (options->trace == NULL) {
    return HW_OK;
  }
  const hw_attention attention = describe(module, input, options);
  return hw_trace_create(&attention, num_heads, options->trace);
}

void hw_causal_attention_run(hw_context *context, const hw_causal_attention *module, const hw_module_input *input,
                             float *y, const hw_forward_options *options, hw_head_place place) {
  const size_t mark = context->arena.used;
  const size_t rows = input->batch * input->tokens;
  const size_t d_out = module->config.d_out;
  const size_t head_weights = input->tokens * input->tokens;
  const float *projected[PROJECTIONS];
  for (size_t i = 0; i < PROJECTIONS; i++) {
    float *target = hw_arena_take_floats(&context->arena, rows * d_out);
    hw_linear_run(context, module->projections[i], input->x, module->config.d_in, rows, target, d_out);
    projected[i] = target;
  }
  hw_attention attention = describe(module, input, options);
  attention.query = projected[QUERY];
  attention.key = projected[KEY];
  attention.value = projected[VALUE];
  attention.output = y + place.head * d_out;
  attention.output_strides =
      (hw_strides){.batch = input->tokens * place.num_heads * d_out, .token = place.num_heads * d_out};
  attention.mask.data = hw_mask_of_head(&options->mask, 0, place.head);
  attention.weights = options->weights == NULL ? NULL : options->weights + place.head * head_weights;
  attention.weights_batch_stride = place.num_heads * head_weights;
  hw_attention_keeping keeping = {0};
  hw_attention_record record;
  if (options->trace != NULL) {
    record = hw_trace_record(*options->trace, &attention, place.head);
    keeping.record = &record;
  }
  hw_attention_run(context, &attention, &keeping);
  context->arena.used = mark;
}

hw_status hw_causal_attention_forward(hw_context *context, hw_causal_attention *module, const float *x, size_t batch,
                                      size_t tokens, float *y, const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  const hw_module_input input = {x, batch, tokens};
  HW_TRY(hw_causal_attention_check(module, &input, asked));
  HW_TRY(hw_arena_reserve(&context->arena, hw_causal_attention_scratch(context, module, &input, asked)));
  HW_TRY(hw_causal_attention_trace(module, &input, asked, 1));
  hw_causal_attention_run(context, module, &input, y, asked, (hw_head_place){.head = 0, .num_heads = 1});
  return HW_OK;
}
