#include "modules/head_outputs.h"

#include <string.h>

#include "modules/asked.h"
#include "modules/gradients.h"
#include "ops/head_mask.h"

/* The module's columns of the call's output, from its first row on. */
static size_t output_start(const hw_run *run, const hw_attention_module *m) {
  return run->place.head * m->config.base.d_out;
}

static size_t output_stride(const hw_run *run, const hw_attention_module *m) {
  return (run->place.others + 1) * m->config.base.d_out;
}

void hw_head_outputs_place(const hw_run *run, const hw_attention_module *m, float *y, hw_attention *attention) {
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  if (hw_run_records(run)) {
    attention->output = hw_tape_push_floats(run, rows, m->config.base.d_out);
  } else if (!m->config.base.out_proj) {
    attention->output = hw_floats_from(y, output_start(run, m));
    attention->output_strides.token = output_stride(run, m);
    attention->output_strides.batch = attention->query_tokens * attention->output_strides.token;
  } else if (attention->weights == NULL && !m->config.is_interleaved) {
    /* Where the queries were, each of which only its own output needs. */
    attention->output = (float *)attention->query;
    attention->output_strides = attention->query_strides;
  } else {
    attention->output = hw_run_take_floats(run, rows, m->config.base.d_out);
  }
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

void hw_head_outputs_project(const hw_run *run, const hw_attention_module *m, const hw_input *input,
                             hw_attention *attention, float *y) {
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  const size_t d_out = m->config.base.d_out;
  const bool needs_copy = hw_run_records(run) && run->options->head_mask != NULL;
  float *copy = needs_copy ? hw_run_take_floats(run, rows, d_out) : NULL;
  const float *output = masked_output(run, attention, copy);
  hw_head_replace_forward(run, attention);
  for (const hw_watch *watch = run->watch; watch != NULL && !hw_run_measures(run); watch = watch->next) {
    memcpy(watch->heads + run->layer * d_out, output + watch->row * attention->output_strides.token,
           d_out * sizeof(float));
  }
  if (m->config.base.out_proj) {
    const size_t asked = hw_keep_outputs(run, input, attention);
    const hw_rows of_tokens = {output, attention->output_strides.token, asked};
    hw_linear_forward(run, &m->out_proj, &of_tokens, y);
  } else if (hw_run_records(run) && !hw_run_measures(run)) {
    hw_rows_copy(&(hw_rows){output, d_out, rows}, d_out, y + output_start(run, m), output_stride(run, m));
  }
}

void hw_head_outputs_unproject(const hw_run *run, hw_attention_module *m, const hw_attention *attention,
                               const float *dy, float *d_output) {
  const size_t mark = run->arena->used;
  const size_t rows = hw_size_multiply(attention->batch, attention->query_tokens);
  const size_t d_out = m->config.base.d_out;
  if (m->config.base.out_proj) {
    float *copy = run->options->head_mask == NULL ? NULL : hw_run_take_floats(run, rows, d_out);
    const hw_rows output = {masked_output(run, attention, copy), d_out, rows};
    hw_gradients_of_linear(run, &m->out_proj, &output, &(hw_rows){dy, m->config.out_features, rows}, false, d_output);
  } else if (!hw_run_measures(run)) {
    hw_rows_copy(&(hw_rows){dy + output_start(run, m), output_stride(run, m), rows}, d_out, d_output, d_out);
  }
  if (run->gradients.head_mask != NULL) {
    hw_head_mask_backward(run, attention, d_output, run->gradients.head_mask + run->layer * attention->heads);
  }
  if (run->options->head_mask != NULL) {
    mask_heads(run, attention, d_output);
  }
  run->arena->used = mark;
}
