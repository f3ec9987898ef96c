#include "modules/modules.h"
#include "ops/pointwise.h"

typedef struct feed_forward {
  hw_module base;
  hw_feed_forward_config config;
  hw_linear fc1;
  hw_linear fc2;
} feed_forward;

static hw_status create(hw_module *module) {
  feed_forward *m = (feed_forward *)module;
  const hw_feed_forward_config *config = &m->config;
  if (!hw_dropout_is_valid(config->dropout) || !hw_gelu_is_known(config->approximate)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_linear_init(config->d_model, config->d_ff, true, &m->fc1));
  return hw_linear_init(config->d_ff, config->d_model, true, &m->fc2);
}

static void release(hw_module *module) {
  feed_forward *m = (feed_forward *)module;
  hw_linear_release(&m->fc1);
  hw_linear_release(&m->fc2);
}

static void visit(hw_module *module, hw_visit *visit) {
  feed_forward *m = (feed_forward *)module;
  hw_visit_linear(visit, "fc1", &m->fc1, 0, m->config.d_ff);
  hw_visit_linear(visit, "fc2", &m->fc2, 0, m->config.d_model);
}

/* Rows whose hidden activations are there at a time: whole items of a product. */
static size_t rows_at_a_time(size_t d_ff, size_t rows) {
  const size_t item_bytes = hw_size_multiply(HW_GEMM_ROWS * sizeof(float), d_ff);
  const size_t items = HW_HIDDEN_BYTES / item_bytes;
  return hw_min(rows, (items > 0 ? items : 1) * HW_GEMM_ROWS);
}

static void forward_rows(const hw_run *run, const feed_forward *m, const float *x, size_t rows, float *hidden,
                         float *y) {
  const size_t d_ff = m->config.d_ff;
  hw_linear_forward(run, &m->fc1, &(hw_rows){x, m->config.d_model, rows}, hidden, d_ff);
  hw_gelu_forward(run, m->config.approximate, hidden, hidden, rows * d_ff);
  hw_dropout_forward(run, m->base.training ? m->config.dropout : 0.0, hidden, rows * d_ff);
  hw_linear_forward(run, &m->fc2, &(hw_rows){hidden, d_ff, rows}, y, m->config.d_model);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const feed_forward *m = (const feed_forward *)module;
  const size_t mark = run->arena->used;
  const size_t d_model = m->config.d_model;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t step = rows_at_a_time(m->config.d_ff, rows);
  float *hidden = hw_run_take_floats(run, step, m->config.d_ff);
  if (hw_run_measures(run)) {
    forward_rows(run, m, NULL, step, NULL, NULL);
  } else {
    for (size_t row = 0; row < rows; row += step) {
      forward_rows(run, m, input->x + row * d_model, hw_min(rows - row, step), hidden, y + row * d_model);
    }
  }
  run->arena->used = mark;
}

const hw_module_type hw_feed_forward_type = {HW_MODULE_TYPE(feed_forward)};

hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_module **module) {
  return hw_module_create(context, &hw_feed_forward_type, config, module);
}
