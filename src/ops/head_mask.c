#include "ops/head_mask.h"

#include <string.h>

void hw_head_mask_forward(const hw_run *run, const hw_attention *attention, const float *factors) {
  const hw_attention *a = attention;
  for (size_t head = 0; !hw_run_measures(run) && head < a->heads; head++) {
    float *column = a->output + head * a->output_strides.head;
    for (size_t row = 0; factors[head] != 1.0F && row < a->batch * a->query_tokens; row++) {
      float *part = column + row * a->output_strides.token;
      for (size_t i = 0; i < a->value_width; i++) {
        part[i] = factors[head] == 0.0F ? 0.0F : part[i] * factors[head];
      }
    }
  }
}

void hw_head_mask_backward(const hw_run *run, const hw_attention *attention, const float *d_output, float *d_factors) {
  const hw_attention *a = attention;
  for (size_t head = 0; !hw_run_measures(run) && head < a->heads; head++) {
    double sum = 0.0;
    for (size_t row = 0; row < a->batch * a->query_tokens; row++) {
      const size_t at = head * a->output_strides.head + row * a->output_strides.token;
      for (size_t i = 0; i < a->value_width; i++) {
        sum += (double)d_output[at + i] * (double)a->output[at + i];
      }
    }
    d_factors[head] += (float)sum;
  }
}

void hw_head_replace_forward(const hw_run *run, const hw_attention *attention) {
  const hw_attention *a = attention;
  for (size_t i = 0; !hw_run_measures(run) && i < run->options->replace_count; i++) {
    const hw_head_output *given = run->options->replace + i;
    for (size_t row = 0; given->layer == run->layer && row < a->batch * a->query_tokens; row++) {
      memcpy(a->output + given->head * a->output_strides.head + row * a->output_strides.token,
             given->output + row % given->rows * a->value_width, a->value_width * sizeof(float));
    }
  }
}
