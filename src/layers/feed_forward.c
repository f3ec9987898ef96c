#include "layers/feed_forward.h"

#include "core/context.h"
#include "layers/linear.h"
#include "layers/pointwise.h"

struct hw_feed_forward {
  hw_feed_forward_config config;
  bool training;
  hw_linear *fc1;
  hw_linear *fc2;
};

hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_feed_forward **module) {
  *module = NULL;
  if (!(config->dropout >= 0.0 && config->dropout <= 1.0) || !hw_gelu_is_known(config->approximate)) {
    return HW_ERROR_VALUE;
  }
  hw_feed_forward *created = hw_allocate_zeroed(sizeof(hw_feed_forward));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  *created = (hw_feed_forward){.config = *config, .training = true};
  hw_status status = hw_linear_create(NULL, config->d_model, config->d_ff, true, &created->fc1);
  if (status == HW_OK) {
    status = hw_linear_create(NULL, config->d_ff, config->d_model, true, &created->fc2);
  }
  if (status != HW_OK) {
    hw_feed_forward_destroy(created);
    return status;
  }
  if (context != NULL) {
    hw_feed_forward_draw(context, created);
  }
  *module = created;
  return HW_OK;
}

void hw_feed_forward_draw(hw_context *context, hw_feed_forward *module) {
  hw_linear_draw(context, module->fc1, 0, module->config.d_ff);
  hw_linear_draw(context, module->fc2, 0, module->config.d_model);
}

void hw_feed_forward_destroy(hw_feed_forward *module) {
  if (module != NULL) {
    hw_linear_destroy(module->fc1);
    hw_linear_destroy(module->fc2);
    hw_release(module);
  }
}

hw_linear *hw_feed_forward_fc1(hw_feed_forward *module) { return module->fc1; }

hw_linear *hw_feed_forward_fc2(hw_feed_forward *module) { return module->fc2; }

void hw_feed_forward_train(hw_feed_forward *module, bool training) { module->training = training; }

/* Rows whose hidden activations are there at a time: whole items of a product. */
static size_t rows_at_a_time(const hw_feed_forward *module, size_t rows) {
  const size_t item_bytes = hw_size_multiply(HW_GEMM_ROWS * sizeof(float), module->config.d_ff);
  const size_t items = HW_HIDDEN_BYTES / item_bytes;
  return hw_min(rows, (items > 0 ? items : 1) * HW_GEMM_ROWS);
}

static size_t hidden_floats(const hw_feed_forward *module, size_t rows) {
  return hw_size_multiply(rows_at_a_time(module, rows), module->config.d_ff);
}

size_t hw_feed_forward_scratch(const hw_feed_forward *module, size_t rows) {
  const size_t part = rows_at_a_time(module, rows);
  const size_t fc1 = hw_linear_scratch(module->fc1, part);
  const size_t fc2 = hw_linear_scratch(module->fc2, part);
  return hw_size_add(hw_arena_size(hidden_floats(module, rows), sizeof(float)), fc1 > fc2 ? fc1 : fc2);
}

void hw_feed_forward_run(hw_context *context, const hw_feed_forward *module, const float *x, size_t rows, float *y) {
  const size_t mark = context->arena.used;
  const size_t d_model = module->config.d_model;
  const size_t d_ff = module->config.d_ff;
  const size_t step = rows_at_a_time(module, rows);
  float *hidden = hw_arena_take_floats(&context->arena, hidden_floats(module, rows));
  for (size_t row = 0; row < rows; row += step) {
    const size_t part = hw_min(rows - row, step);
    hw_linear_run(context, module->fc1, x + row * d_model, d_model, part, hidden, d_ff);
    hw_gelu_run(context, module->config.approximate, hidden, hidden, part * d_ff);
    if (module->training) {
      hw_generator_dropout(&context->generator, module->config.dropout, hidden, part * d_ff);
    }
    hw_linear_run(context, module->fc2, hidden, d_ff, part, y + row * d_model, d_model);
  }
  context->arena.used = mark;
}

hw_status hw_feed_forward_forward(hw_context *context, hw_feed_forward *module, const float *x, size_t rows, float *y) {
  if (rows == 0) {
    return HW_ERROR_SHAPE;
  }
  HW_TRY(hw_arena_reserve(&context->arena, hw_feed_forward_scratch(module, rows)));
  hw_feed_forward_run(context, module, x, rows, y);
  return HW_OK;
}
