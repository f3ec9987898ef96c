#include "modules/kept.h"

#include "ops/pointwise.h"

void hw_push_number(const hw_run *run, double number) {
  double *kept = hw_tape_push(run, 1, sizeof(double));
  /* A forward that runs again is measured on a tape with memory: its backward, measured next, reads the number. */
  if (kept != NULL) {
    *kept = number;
  }
}

double hw_pop_number(const hw_run *run) { return *(const double *)hw_tape_pop(run, 1, sizeof(double)); }

hw_dropped hw_dropped_push(const hw_run *run, double dropout, size_t words) {
  uint32_t *kept = dropout > 0.0 ? hw_tape_push(run, words, sizeof(uint32_t)) : NULL;
  hw_push_number(run, dropout);
  return (hw_dropped){dropout, kept};
}

hw_dropped hw_dropped_pop(const hw_run *run, size_t words) {
  const double dropout = hw_pop_number(run);
  return (hw_dropped){dropout, dropout > 0.0 ? hw_tape_pop(run, words, sizeof(uint32_t)) : NULL};
}

void hw_dropped_apply(const hw_run *run, const hw_dropped *dropped, const float *x, float *y, size_t count) {
  if (dropped->dropout > 0.0) {
    hw_dropout_apply(run, dropped->dropout, dropped->kept, x, y, count);
  }
}

void hw_drop(const hw_run *run, const hw_module *module, double dropout, float *x, size_t count) {
  hw_dropped dropped = {.dropout = module->training && !run->is_read ? dropout : 0.0};
  if (hw_run_records(run)) {
    dropped = hw_dropped_push(run, dropped.dropout, hw_kept_words(count));
  }
  hw_dropout_forward(run, dropped.dropout, dropped.kept, x, count);
}

void hw_drop_backward(const hw_run *run, float *d, size_t count) {
  const hw_dropped dropped = hw_dropped_pop(run, hw_kept_words(count));
  hw_dropped_apply(run, &dropped, d, d, count);
}

static size_t rows_of(const hw_attention *attention) {
  return hw_size_multiply(hw_size_multiply(attention->batch, attention->heads), attention->query_tokens);
}

static size_t words_of(const hw_attention *attention) {
  return hw_size_multiply(rows_of(attention), hw_kept_words(attention->key_tokens));
}

void hw_attention_push(const hw_run *run, hw_attention *attention) {
  attention->row_maximum = hw_tape_push_floats(run, rows_of(attention), 1);
  attention->row_sum = hw_tape_push_floats(run, rows_of(attention), 1);
  if (attention->dropout > 0.0) {
    attention->kept = hw_tape_push(run, words_of(attention), sizeof(uint32_t));
  }
  hw_push_number(run, attention->dropout);
}

void hw_attention_pop(const hw_run *run, hw_attention *attention) {
  attention->dropout = hw_pop_number(run);
  if (attention->dropout > 0.0) {
    attention->kept = hw_tape_pop(run, words_of(attention), sizeof(uint32_t));
  }
  attention->row_sum = hw_tape_pop_floats(run, rows_of(attention), 1);
  attention->row_maximum = hw_tape_pop_floats(run, rows_of(attention), 1);
}
