/* One call of attention with its backward in strided, guarded buffers, and the comparison with the reference. */
#ifndef HW_TESTS_ATTENTION_GRADIENT_CASE_H
#define HW_TESTS_ATTENTION_GRADIENT_CASE_H

#include "core/context.h"
#include "reference_gradient.h"

typedef struct gradient_buffers {
  attention_buffers forward;
  float *dy;
  float *dw; /* of weights; NULL: there are none */
  hw_attention_gradient gradient;
  uint32_t *keep; /* of the reference; NULL: no dropout */
  float *mask;
} gradient_buffers;

static inline gradient_buffers gradient_create(const attention_case *c) {
  gradient_buffers b = {.forward = case_create(c)};
  hw_attention *a = &b.forward.call;
  const size_t rows = a->batch * a->heads * a->query_tokens;
  a->row_maximum = check_floats(rows);
  a->row_sum = check_floats(rows);
  a->kept = a->dropout > 0.0 ? check_memory(rows * hw_kept_words(a->key_tokens) * sizeof(uint32_t)) : NULL;
  b.dy = case_tensor(c, case_output(c), a->output_strides, 1.0F);
  b.gradient = (hw_attention_gradient){
      .output = b.dy,
      .query = check_guarded(case_floats(c, case_query(c), a->query_strides)),
      .key = check_guarded(case_floats(c, case_key(c), a->key_strides)),
      .value = check_guarded(case_floats(c, case_value(c), a->value_strides)),
      .output_strides = a->output_strides,
      .query_strides = a->query_strides,
      .key_strides = a->key_strides,
      .value_strides = a->value_strides,
  };
  if (c->records) {
    b.dw = check_floats(a->batch * a->weights_batch_stride);
    check_fill(b.dw, a->batch * a->weights_batch_stride);
    b.gradient.weights = b.dw;
  }
  return b;
}

static inline void gradient_destroy(gradient_buffers *b) {
  hw_attention *a = &b->forward.call;
  free(a->row_maximum);
  free(a->row_sum);
  free(a->kept);
  free(b->dy);
  free(b->dw);
  free(b->gradient.query);
  free(b->gradient.key);
  free(b->gradient.value);
  free(b->keep);
  free(b->mask);
  case_destroy(&b->forward);
}

/* Scratch that holds NaN everywhere: what a backward reads of it shows unless it was written before. */
static inline void gradient_spoil_scratch(hw_context *context, const gradient_buffers *b) {
  hw_attention_gradient nothing = b->gradient;
  nothing.query = nothing.key = nothing.value = nothing.mask = NULL;
  const hw_status status = hw_scaled_dot_product_attention_backward(context, &b->forward.call, &nothing);
  CHECK(status == HW_OK, "status %d", (int)status);
  memset(context->arena.memory, 0xFF, context->arena.capacity);
}

/* Forward and backward on so many threads. */
static inline void gradient_run(gradient_buffers *b, size_t threads) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_context_set_threads(context, threads) == HW_OK, "threads");
  const hw_attention *a = &b->forward.call;
  if (a->dropout > 0.0 && b->keep == NULL) {
    b->keep = reference_keep(a, context->generator);
  }
  hw_status status = hw_scaled_dot_product_attention(context, a);
  CHECK(status == HW_OK, "status %d", (int)status);
  gradient_spoil_scratch(context, b);
  status = hw_scaled_dot_product_attention_backward(context, a, &b->gradient);
  CHECK(status == HW_OK, "status %d", (int)status);
  hw_context_destroy(context);
}

static inline void gradient_compare_tensor(const attention_case *c, const hw_attention *a, const char *name, float *got,
                                           hw_strides s, const reference_tensor *expected) {
  const case_shape shape = expected->shape;
  const size_t width = shape.width;
  for (size_t at = 0; at < c->batch * shape.heads * shape.tokens * width; at++) {
    const size_t t = at / width % shape.tokens;
    const size_t h = at / width / shape.tokens % shape.heads;
    const size_t b = at / width / shape.tokens / shape.heads;
    const float x = case_take(got + b * s.batch + h * s.head + t * s.token + at % width);
    case_check_close(a, name, at / width, at % width, (double)x, expected->gradient[at],
                     expected->bound[at] + 0x1p-100);
  }
  case_check_guards(got, case_floats(c, shape, s), name);
}

/* Everything; the gradients are guards afterwards. */
static inline void gradient_compare(const attention_case *c, gradient_buffers *b) {
  const hw_attention *a = &b->forward.call;
  reference_gradient expected = reference_backward(c, a, b->keep, &b->gradient);
  const hw_attention_gradient *g = &b->gradient;
  gradient_compare_tensor(c, a, "query's gradient", g->query, g->query_strides, &expected.query);
  gradient_compare_tensor(c, a, "key's gradient", g->key, g->key_strides, &expected.key);
  gradient_compare_tensor(c, a, "value's gradient", g->value, g->value_strides, &expected.value);
  for (size_t i = 0; g->mask != NULL && i < expected.mask_elements; i++) {
    case_check_close(a, "mask's gradient", 0, i, (double)g->mask[i] - 1.0, expected.mask[i],
                     expected.mask_bound[i] + 0x1p-20);
  }
  reference_gradient_destroy(&expected);
}

static inline void gradient_case_run_once(attention_case c) {
  gradient_buffers b = gradient_create(&c);
  const hw_attention *a = &b.forward.call;
  if (a->mask.kind == HW_MASK_FLOAT) {
    const size_t elements =
        reference_mask_index(&a->mask, a->batch - 1, a->heads - 1, a->query_tokens - 1, a->key_tokens - 1) + 1;
    b.mask = check_floats(elements);
    for (size_t i = 0; i < elements; i++) {
      b.mask[i] = 1.0F;
    }
    b.gradient.mask = b.mask;
  }
  gradient_run(&b, 1);
  gradient_compare(&c, &b);
  check_case();
  gradient_destroy(&b);
}

/* Without and with a gradient of the weights. */
static inline void gradient_case_run(attention_case c) {
  for (int records = 0; records < 2; records++) {
    c.records = records == 1;
    gradient_case_run_once(c);
  }
}

#endif
