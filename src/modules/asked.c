#include "modules/asked.h"

#include <string.h>

size_t hw_asked_tokens(const hw_input *input) {
  return input->logits_last ? 1 : input->logits_end - input->logits_start;
}

size_t hw_first_asked(const hw_input *input, size_t batch) {
  if (!input->logits_last) {
    return input->logits_start;
  }
  /* Of a sequence without tokens, its first padding. */
  return hw_max(input->lengths == NULL ? input->tokens : input->lengths[batch], 1) - 1;
}

void hw_copy_asked(const hw_run *run, const hw_input *input, const float *x, size_t width, size_t stride,
                   float *asked) {
  const size_t tokens = hw_asked_tokens(input);
  for (size_t i = 0; !hw_run_measures(run) && i < input->batch * tokens; i++) {
    const size_t b = i / tokens;
    const size_t row = b * input->tokens + hw_first_asked(input, b) + i % tokens;
    memmove(asked + i * stride, x + row * stride, width * sizeof(float));
  }
}

/* Rows that hold the heads side by side. */
static void keep(const hw_run *run, const hw_input *input, float *x, hw_strides *strides, hw_attention *attention) {
  hw_copy_asked(run, input, x, attention->heads * attention->value_width, strides->token, x);
  attention->query_tokens = hw_asked_tokens(input);
  strides->batch = attention->query_tokens * strides->token;
}

/* With a window, where blocks of keys begin depends on the first query: other sums, but for their rounding the same. */
void hw_drop_queries(const hw_run *run, const hw_input *input, hw_attention *attention) {
  const bool wants_all = run->tape.traces != NULL || attention->weights != NULL || run->options->replace_count > 0;
  if (!run->only_asked || wants_all || attention->mask.kind != HW_MASK_NONE || attention->is_windowed ||
      attention->query_strides.head != attention->key_width) {
    return;
  }
  keep(run, input, (float *)attention->query, &attention->query_strides, attention);
  if (input->logits_last) {
    attention->offset_from_end = true;
    attention->offsets = NULL;
    attention->causal_offset = 0;
  } else {
    attention->causal_offset += (int32_t)input->logits_start;
  }
}

size_t hw_keep_outputs(const hw_run *run, const hw_input *input, hw_attention *attention) {
  if (run->only_asked && attention->query_tokens == input->tokens) {
    keep(run, input, attention->output, &attention->output_strides, attention);
  }
  return attention->batch * attention->query_tokens;
}
