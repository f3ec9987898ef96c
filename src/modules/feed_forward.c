#include "modules/gradients.h"
#include "modules/kept.h"
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

/* Some rows on their way through the module. */
typedef struct some_rows {
  hw_rows x;
  float *hidden;    /* fc1's output */
  float *activated; /* GELU's; may be `hidden` */
  hw_dropped dropped;
} some_rows;

static void forward_rows(const hw_run *run, const feed_forward *m, const some_rows *r, float *y) {
  const size_t d_ff = m->config.d_ff;
  const size_t rows = r->x.count;
  hw_linear_forward(run, &m->fc1, &r->x, r->hidden, d_ff);
  hw_gelu_forward(run, m->config.approximate, r->hidden, r->activated, rows * d_ff);
  if (hw_run_records(run)) {
    hw_dropped_draw(run, &r->dropped, r->activated, rows * d_ff);
  } else {
    hw_dropout_forward(run, r->dropped.dropout, r->activated, rows * d_ff);
  }
  hw_linear_forward(run, &m->fc2, &(hw_rows){r->activated, d_ff, rows}, y, m->config.d_model);
}

/* The module's rows in parts. */
typedef struct parts {
  size_t rows;
  size_t step;
  size_t words; /* of a part's dropout */
} parts;

static parts parts_of(const feed_forward *m, const hw_input *input) {
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const size_t step = rows_at_a_time(m->config.d_ff, rows);
  return (parts){rows, step, hw_kept_words(hw_size_multiply(step, m->config.d_ff))};
}

static size_t all_words(const parts *p) { return hw_size_multiply(hw_ceil_divide(p->rows, p->step), p->words); }

static some_rows part_from(const feed_forward *m, const parts *p, const hw_input *input, const hw_dropped *dropped,
                           size_t row) {
  uint32_t *kept = dropped->kept == NULL ? NULL : dropped->kept + row / p->step * p->words;
  return (some_rows){
      .x = {hw_const_floats_from(input->x, row * m->config.d_model), m->config.d_model, hw_min(p->rows - row, p->step)},
      .dropped = {dropped->dropout, kept},
  };
}

/* All parts are as long as the first, or shorter. */
static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const feed_forward *m = (const feed_forward *)module;
  const size_t mark = run->arena->used;
  const size_t d_ff = m->config.d_ff;
  const parts p = parts_of(m, input);
  const bool records = hw_run_records(run);
  hw_dropped dropped = {.dropout = m->base.training ? m->config.dropout : 0.0};
  float *hidden = NULL;
  if (records) {
    dropped = hw_dropped_push(run, dropped.dropout, all_words(&p));
    hidden = hw_tape_push_floats(run, p.rows, d_ff);
  }
  float *activated = hw_run_take_floats(run, p.step, d_ff);
  for (size_t row = 0; row < (hw_run_measures(run) ? p.step : p.rows); row += p.step) {
    some_rows r = part_from(m, &p, input, &dropped, row);
    r.activated = activated;
    r.hidden = records ? hw_floats_from(hidden, row * d_ff) : activated;
    forward_rows(run, m, &r, hw_floats_from(y, row * m->config.d_model));
  }
  run->arena->used = mark;
}

/* d_hidden: scratch */
static void backward_rows(const hw_run *run, feed_forward *m, const some_rows *r, const float *dy, float *d_hidden,
                          float *dx) {
  const size_t d_model = m->config.d_model;
  const size_t d_ff = m->config.d_ff;
  const size_t rows = r->x.count;
  const size_t count = rows * d_ff;
  const hw_rows dy_rows = {dy, d_model, rows};
  hw_gelu_forward(run, m->config.approximate, r->hidden, r->activated, count);
  hw_dropped_apply(run, &r->dropped, r->activated, r->activated, count);
  hw_gradients_of_linear(run, &m->fc2, &(hw_rows){r->activated, d_ff, rows}, &dy_rows, false, d_hidden, d_ff);
  hw_dropped_apply(run, &r->dropped, d_hidden, d_hidden, count);
  hw_activation_backward_of(run, (hw_activation)m->config.approximate, r->hidden, d_hidden, d_hidden, count);
  hw_gradients_of_linear(run, &m->fc1, &r->x, &(hw_rows){d_hidden, d_ff, rows}, false, dx, d_model);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  feed_forward *m = (feed_forward *)module;
  const size_t mark = run->arena->used;
  const size_t d_ff = m->config.d_ff;
  const parts p = parts_of(m, input);
  float *hidden = hw_tape_pop_floats(run, p.rows, d_ff);
  const hw_dropped dropped = hw_dropped_pop(run, all_words(&p));
  float *activated = hw_run_take_floats(run, p.step, d_ff);
  float *d_hidden = hw_run_take_floats(run, p.step, d_ff);
  for (size_t row = 0; row < (hw_run_measures(run) ? p.step : p.rows); row += p.step) {
    some_rows r = part_from(m, &p, input, &dropped, row);
    r.activated = activated;
    r.hidden = hidden + row * d_ff;
    backward_rows(run, m, &r, hw_const_floats_from(dy, row * m->config.d_model), d_hidden,
                  hw_floats_from(dx, row * m->config.d_model));
  }
  run->arena->used = mark;
}

const hw_module_type hw_feed_forward_type = {HW_MODULE_TYPE(feed_forward), .backward = backward};

hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_module **module) {
  return hw_module_create(context, &hw_feed_forward_type, config, module);
}
