#include "modules/feed_forward.h"

#include "modules/gradients.h"
#include "modules/kept.h"
#include "modules/modules.h"
#include "ops/pointwise.h"

typedef struct feed_forward {
  hw_module base;
  hw_model_feed_forward_config config;
  hw_linear gate; /* if it is gated */
  hw_linear fc1;
  hw_linear fc2;
} feed_forward;

static hw_status create(hw_module *module) {
  feed_forward *m = (feed_forward *)module;
  hw_model_feed_forward_config *config = &m->config;
  const size_t d_model = config->base.d_model;
  const size_t d_ff = config->base.d_ff;
  if (module->type == &hw_feed_forward_type) {
    config->activation = (hw_activation)config->base.approximate;
    config->bias = true;
  }
  if (!hw_dropout_is_valid(config->base.dropout) || !hw_gelu_is_known(config->base.approximate) ||
      !hw_activation_is_known(config->activation)) {
    return HW_ERROR_VALUE;
  }
  if (config->is_gated) {
    HW_TRY(hw_linear_init(config->dtype, d_model, d_ff, config->bias, &m->gate));
  }
  HW_TRY(hw_linear_init(config->dtype, d_model, d_ff, config->bias, &m->fc1));
  return hw_linear_init(config->dtype, d_ff, d_model, config->bias, &m->fc2);
}

static void release(hw_module *module) {
  feed_forward *m = (feed_forward *)module;
  hw_linear_release(&m->gate);
  hw_linear_release(&m->fc1);
  hw_linear_release(&m->fc2);
}

static void visit(hw_module *module, hw_visit *visit) {
  feed_forward *m = (feed_forward *)module;
  if (m->config.is_gated) {
    hw_visit_linear(visit, "gate", &m->gate);
  }
  hw_visit_linear(visit, "fc1", &m->fc1);
  hw_visit_linear(visit, "fc2", &m->fc2);
}

/* Rows whose hidden activations are there at a time: whole items of a product. */
static size_t rows_at_a_time(size_t d_ff, size_t rows) {
  const size_t item_bytes = hw_size_multiply(HW_GEMM_ROWS * sizeof(float), d_ff);
  return hw_min(hw_max(rows, 1), hw_items_within(HW_HIDDEN_BYTES, item_bytes) * HW_GEMM_ROWS);
}

/* Some rows on their way through the module. */
typedef struct some_rows {
  hw_rows x;
  float *gate;      /* the gate's output; NULL: there is none, or the run is measured */
  float *hidden;    /* fc1's output */
  float *activated; /* what fc2 is given; may be `hidden` */
  hw_dropped dropped;
} some_rows;

static void activate(const hw_run *run, const feed_forward *m, const some_rows *r) {
  const size_t count = r->x.count * m->config.base.d_ff;
  if (m->config.is_gated) {
    hw_gated_forward(run, m->config.activation, r->gate, r->hidden, r->activated, count);
  } else {
    hw_activation_forward(run, m->config.activation, r->hidden, r->activated, count);
  }
}

static void forward_rows(const hw_run *run, const feed_forward *m, const some_rows *r, float *y) {
  const size_t d_ff = m->config.base.d_ff;
  const size_t rows = r->x.count;
  if (m->config.is_gated) {
    hw_linear_forward(run, &m->gate, &r->x, r->gate);
  }
  hw_linear_forward(run, &m->fc1, &r->x, r->hidden);
  activate(run, m, r);
  hw_dropout_forward(run, r->dropped.dropout, r->dropped.kept, r->activated, rows * d_ff);
  hw_linear_forward(run, &m->fc2, &(hw_rows){r->activated, d_ff, rows}, y);
}

/* The module's rows in parts. */
typedef struct parts {
  size_t rows;
  size_t step;
  size_t words; /* of a part's dropout */
} parts;

static parts parts_of(const feed_forward *m, const hw_input *input) {
  const size_t rows = hw_input_rows(input);
  const size_t step = rows_at_a_time(m->config.base.d_ff, rows);
  return (parts){rows, step, hw_kept_words(hw_size_multiply(step, m->config.base.d_ff))};
}

static size_t all_words(const parts *p) { return hw_size_multiply(hw_ceil_divide(p->rows, p->step), p->words); }

/* What all parts of a call have in common. hidden and gate: of all rows if the call is recorded, else of a part's. */
typedef struct buffers {
  float *gate;
  float *hidden;
  float *activated;
  hw_dropped dropped;
} buffers;

static some_rows part_from(const hw_run *run, const feed_forward *m, const parts *p, const hw_input *input,
                           const buffers *all, size_t row) {
  const size_t d_model = m->config.base.d_model;
  const size_t first = hw_run_records(run) ? row * m->config.base.d_ff : 0;
  const hw_dropped *dropped = &all->dropped;
  uint32_t *kept = dropped->kept == NULL ? NULL : dropped->kept + row / p->step * p->words;
  return (some_rows){
      .x = {hw_const_floats_from(input->x, row * d_model), d_model, hw_min(p->rows - row, p->step)},
      .gate = hw_floats_from(all->gate, first),
      .hidden = hw_floats_from(all->hidden, first),
      .activated = all->activated,
      .dropped = {dropped->dropout, kept},
  };
}

/* All parts are as long as the first, or shorter. */
static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const feed_forward *m = (const feed_forward *)module;
  const size_t mark = run->arena->used;
  const size_t d_ff = m->config.base.d_ff;
  const parts p = parts_of(m, input);
  const bool records = hw_run_records(run);
  const size_t kept_rows = records ? p.rows : p.step;
  buffers all = {.dropped.dropout = m->base.training ? m->config.base.dropout : 0.0};
  if (records) {
    all.dropped = hw_dropped_push(run, all.dropped.dropout, all_words(&p));
  }
  all.gate = m->config.is_gated ? hw_run_keep_floats(run, kept_rows, d_ff) : NULL;
  all.hidden = hw_run_keep_floats(run, kept_rows, d_ff);
  all.activated = records ? hw_run_take_floats(run, p.step, d_ff) : all.hidden;
  for (size_t row = 0; row < (hw_run_measures(run) ? p.step : p.rows); row += p.step) {
    const some_rows r = part_from(run, m, &p, input, &all, row);
    forward_rows(run, m, &r, hw_floats_from(y, row * m->config.base.d_model));
  }
  run->arena->used = mark;
}

/* The gradients of what was activated, in d_hidden and d_gate, and what it was. */
static void activate_back(const hw_run *run, const feed_forward *m, const some_rows *r, float *d_hidden,
                          float *d_gate) {
  const size_t count = r->x.count * m->config.base.d_ff;
  if (m->config.is_gated) {
    hw_gated_backward(run, m->config.activation, r->gate, r->hidden, d_hidden, d_gate, d_hidden, r->activated, count);
  } else {
    hw_activation_backward_of(run, m->config.activation, r->hidden, d_hidden, d_hidden, r->activated, count);
  }
}

/* d_hidden, d_gate: scratch. */
static void backward_rows(const hw_run *run, feed_forward *m, const some_rows *r, const float *dy, float *d_hidden,
                          float *d_gate, float *dx) {
  const size_t d_model = m->config.base.d_model;
  const size_t d_ff = m->config.base.d_ff;
  const size_t rows = r->x.count;
  const size_t count = rows * d_ff;
  const hw_rows dy_rows = {dy, d_model, rows};
  hw_matrix_multiply_transposed(run, &m->fc2.weight, &dy_rows, false, d_hidden);
  hw_dropped_apply(run, &r->dropped, d_hidden, d_hidden, count);
  activate_back(run, m, r, d_hidden, d_gate);
  hw_dropped_apply(run, &r->dropped, r->activated, r->activated, count);
  hw_gradients_of_linear(run, &m->fc2, &(hw_rows){r->activated, d_ff, rows}, &dy_rows, false, NULL);
  hw_gradients_of_linear(run, &m->fc1, &r->x, &(hw_rows){d_hidden, d_ff, rows}, false, dx);
  if (m->config.is_gated) {
    hw_gradients_of_linear(run, &m->gate, &r->x, &(hw_rows){d_gate, d_ff, rows}, true, dx);
  }
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  feed_forward *m = (feed_forward *)module;
  const size_t mark = run->arena->used;
  const size_t d_model = m->config.base.d_model;
  const size_t d_ff = m->config.base.d_ff;
  const parts p = parts_of(m, input);
  buffers all;
  all.hidden = hw_tape_pop_floats(run, p.rows, d_ff);
  all.gate = m->config.is_gated ? hw_tape_pop_floats(run, p.rows, d_ff) : NULL;
  all.dropped = hw_dropped_pop(run, all_words(&p));
  all.activated = hw_run_take_floats(run, p.step, d_ff);
  float *d_hidden = hw_run_take_floats(run, p.step, d_ff);
  float *d_gate = m->config.is_gated ? hw_run_take_floats(run, p.step, d_ff) : NULL;
  for (size_t row = 0; row < (hw_run_measures(run) ? p.step : p.rows); row += p.step) {
    const some_rows r = part_from(run, m, &p, input, &all, row);
    backward_rows(run, m, &r, hw_const_floats_from(dy, row * d_model), d_hidden, d_gate,
                  hw_floats_from(dx, row * d_model));
  }
  run->arena->used = mark;
}

const hw_module_type hw_model_feed_forward_type = {HW_MODULE_TYPE(feed_forward), .backward = backward};

const hw_module_type hw_feed_forward_type = {HW_PLAIN_MODULE_TYPE(feed_forward), .backward = backward};

HW_MODULE_CREATE(feed_forward)
