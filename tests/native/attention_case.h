/* One attention call in strided, guarded buffers, and its comparison with the reference. */
#ifndef HW_TESTS_ATTENTION_CASE_H
#define HW_TESTS_ATTENTION_CASE_H

#include "core/context.h"
#include "reference.h"

typedef enum mask_broadcast {
  BROADCAST_NOTHING = 0,
  BROADCAST_BATCH = 1,
  BROADCAST_HEAD = 2,
  BROADCAST_QUERY = 4,
  BROADCAST_KEY = 8,
} mask_broadcast;

typedef struct attention_case {
  size_t batch;
  size_t heads;
  size_t key_heads; /* 0: as many as heads */
  size_t queries;
  size_t keys;
  size_t key_width;
  size_t value_width;
  bool is_causal;
  int32_t causal_offset;
  hw_mask_kind mask;
  unsigned broadcast; /* of mask_broadcast */
  bool heads_in_row;  /* [tokens, heads · width] rows, not one matrix per head */
  bool records;       /* ask for weights and log-sum-exp */
  double dropout;
  float magnitude; /* of queries and keys; 0 is 1 */
  float softcap;
  bool has_lengths; /* from 0 keys in the first batch entry to all in the last */
  bool offset_from_end;
  bool is_windowed;
  int32_t window_left;
  int32_t window_right;
  hw_weights_kind kind;
} attention_case;

typedef struct attention_buffers {
  hw_attention call;
  size_t output_floats;
} attention_buffers;

/* [heads, tokens, width] of one batch entry. */
typedef struct case_shape {
  size_t heads;
  size_t tokens;
  size_t width;
} case_shape;

static inline case_shape case_query(const attention_case *c) {
  return (case_shape){c->heads, c->queries, c->key_width};
}

static inline case_shape case_key(const attention_case *c) {
  return (case_shape){c->key_heads == 0 ? c->heads : c->key_heads, c->keys, c->key_width};
}

static inline case_shape case_value(const attention_case *c) {
  return (case_shape){case_key(c).heads, c->keys, c->value_width};
}

static inline case_shape case_output(const attention_case *c) {
  return (case_shape){c->heads, c->queries, c->value_width};
}

static inline hw_strides case_strides(const attention_case *c, case_shape shape) {
  hw_strides s;
  if (c->heads_in_row) {
    s.token = check_prime_above(shape.heads * shape.width);
    s.head = shape.width;
    s.batch = check_prime_above(shape.tokens * s.token);
  } else {
    s.token = check_prime_above(shape.width);
    s.head = check_prime_above(shape.tokens * s.token);
    s.batch = check_prime_above(shape.heads * s.head);
  }
  return s;
}

static inline size_t case_floats(const attention_case *c, case_shape shape, hw_strides s) {
  return (c->batch - 1) * s.batch + (shape.heads - 1) * s.head + (shape.tokens - 1) * s.token + shape.width;
}

/* Elements among guards, a NaN that would show if read. */
static inline float *case_tensor(const attention_case *c, case_shape shape, hw_strides s, float magnitude) {
  const size_t width = shape.width;
  float *x = check_guarded(case_floats(c, shape, s));
  for (size_t i = 0; i < c->batch * shape.heads * shape.tokens * width; i++) {
    const size_t t = i / width % shape.tokens;
    const size_t h = i / width / shape.tokens % shape.heads;
    const size_t b = i / width / shape.tokens / shape.heads;
    x[b * s.batch + h * s.head + t * s.token + i % width] = check_random_float() * magnitude;
  }
  return x;
}

/* Every third query sees nothing, every third (from the second) nothing of the first 1000 keys, the rest random keys. */
static inline bool case_mask_allows(size_t query, size_t key) {
  return query % 3 != 0 && (query % 3 != 1 || key >= 1000 || key % 2 == 1) && check_random() % 4 != 0;
}

static inline hw_mask case_mask(const attention_case *c) {
  hw_mask m = {.kind = c->mask};
  if (c->mask == HW_MASK_NONE) {
    return m;
  }
  const size_t keys = c->broadcast & BROADCAST_KEY ? 1 : c->keys;
  const size_t queries = c->broadcast & BROADCAST_QUERY ? 1 : c->queries;
  m.key_stride = c->broadcast & BROADCAST_KEY ? 0 : 1 + c->queries % 2;
  const size_t row = check_prime_above(keys * 2);
  m.query_stride = c->broadcast & BROADCAST_QUERY ? 0 : row;
  m.head_stride = c->broadcast & BROADCAST_HEAD ? 0 : row * queries;
  m.batch_stride = c->broadcast & BROADCAST_BATCH ? 0 : row * queries * c->heads;
  const size_t elements = reference_mask_index(&m, c->batch - 1, c->heads - 1, c->queries - 1, c->keys - 1) + 1;
  const size_t element_bytes = c->mask == HW_MASK_BOOL ? 1 : sizeof(float);
  unsigned char *data = check_memory(elements * element_bytes);
  for (size_t i = 0; i < elements; i++) {
    const size_t column = m.key_stride == 0 ? 0 : i % row / m.key_stride;
    const bool allows = case_mask_allows(i / row % queries + (queries == 1 ? 1 : 0), column);
    const float added = allows ? check_random_float() : -INFINITY;
    if (c->mask == HW_MASK_BOOL) {
      data[i] = allows ? (unsigned char)(1 + i % 255) : 0;
    } else {
      memcpy(data + i * sizeof(float), &added, sizeof added);
    }
  }
  m.data = data;
  return m;
}

static inline const uint32_t *case_lengths(const attention_case *c) {
  uint32_t *lengths = c->has_lengths ? check_memory(c->batch * sizeof *lengths) : NULL;
  for (size_t b = 0; c->has_lengths && b < c->batch; b++) {
    lengths[b] = (uint32_t)(c->batch == 1 ? c->keys / 2 : c->keys * b / (c->batch - 1));
  }
  return lengths;
}

static inline attention_buffers case_create(const attention_case *c) {
  const float magnitude = c->magnitude == 0.0F ? 1.0F : c->magnitude;
  hw_attention a = {
      .batch = c->batch,
      .heads = c->heads,
      .key_heads = case_key(c).heads,
      .query_tokens = c->queries,
      .key_tokens = c->keys,
      .key_width = c->key_width,
      .value_width = c->value_width,
      .query_strides = case_strides(c, case_query(c)),
      .key_strides = case_strides(c, case_key(c)),
      .value_strides = case_strides(c, case_value(c)),
      .output_strides = case_strides(c, case_output(c)),
      .scale = (float)(1.0 / sqrt((double)c->key_width)),
      .softcap = c->softcap,
      .is_causal = c->is_causal,
      .offset_from_end = c->offset_from_end,
      .causal_offset = c->causal_offset,
      .is_windowed = c->is_windowed,
      .window_left = c->window_left,
      .window_right = c->window_right,
      .key_lengths = case_lengths(c),
      .weights_kind = c->kind,
      .mask = case_mask(c),
      .dropout = c->dropout,
  };
  a.query = case_tensor(c, case_query(c), a.query_strides, magnitude);
  a.key = case_tensor(c, case_key(c), a.key_strides, magnitude);
  a.value = case_tensor(c, case_value(c), a.value_strides, 1.0F);
  const size_t output_floats = case_floats(c, case_output(c), a.output_strides);
  a.output = check_guarded(output_floats);
  if (c->records) {
    a.weights_batch_stride = check_prime_above(c->heads * c->queries * c->keys);
    a.weights = check_guarded(a.weights_batch_stride * c->batch);
    a.log_sum_exp_batch_stride = check_prime_above(c->heads * c->queries);
    a.log_sum_exp = check_guarded(a.log_sum_exp_batch_stride * c->batch);
  }
  return (attention_buffers){a, output_floats};
}

static inline void case_destroy(attention_buffers *buffers) {
  const hw_attention *a = &buffers->call;
  free((void *)(uintptr_t)a->query);
  free((void *)(uintptr_t)a->key);
  free((void *)(uintptr_t)a->value);
  free((void *)(uintptr_t)a->mask.data);
  free((void *)(uintptr_t)a->key_lengths);
  free(a->output);
  free(a->weights);
  free(a->log_sum_exp);
}

/* Leaves guards where the elements were, so that what remains afterwards must be guards all over. */
static inline float case_take(float *element) {
  const float x = *element;
  *element = check_guard();
  return x;
}

static inline void case_check_guards(const float *x, size_t count, const char *name) {
  for (size_t i = 0; x != NULL && i < count; i++) {
    CHECK(check_is_guard(x[i]), "%s: wrote outside its elements, at %zu: %g", name, i, (double)x[i]);
  }
}

static inline void case_check_close(const hw_attention *a, const char *name, size_t row, size_t column, double got,
                                    double expected, double tolerance) {
  CHECK(
      fabs(got - expected) <= tolerance,
      "%s, heads=%zu/%zu queries=%zu keys=%zu widths=%zu,%zu causal=%d%+d,%d window=%d,%d,%d mask=%d cap=%g lengths=%d "
      "kind=%d, row %zu, %zu: %.9g, expected %.9g ± %.2g",
      name, a->heads, a->key_heads, a->query_tokens, a->key_tokens, a->key_width, a->value_width, a->is_causal,
      (int)a->causal_offset, a->offset_from_end, a->is_windowed, (int)a->window_left, (int)a->window_right,
      (int)a->mask.kind, (double)a->softcap, a->key_lengths != NULL, (int)a->weights_kind, row, column, got, expected,
      tolerance);
}

/* Of one element of a call that asked for scores. */
static inline void case_check_score(const hw_attention *a, size_t row, size_t j, const reference_row *expected,
                                    double got) {
  const double score = expected->scores[j];
  if (isnan(score) || isinf(score)) {
    CHECK(isnan(score) ? isnan(got) : got == score, "row %zu: score %zu is %g, expected %g", row, j, got, score);
  } else {
    case_check_close(a, "scores", row, j, got, score, expected->relative + fabs(score) * 0x1p-21);
  }
}

/* Row `row` counts all queries of all heads; weights come back with dropout applied. */
static inline void case_check_weights(const hw_attention *a, const uint32_t *keep, size_t row,
                                      reference_row *expected) {
  const size_t rows = a->heads * a->query_tokens;
  const double scale = keep == NULL ? 1.0 : (double)hw_kept_scale(a->dropout);
  for (size_t j = 0; j < a->key_tokens; j++) {
    const bool kept = reference_is_kept(a, keep, row, j);
    expected->weights[j] = kept ? expected->weights[j] * scale : 0.0;
    if (a->weights != NULL) {
      const size_t at = row / rows * a->weights_batch_stride + row % rows * a->key_tokens + j;
      const float got = case_take(a->weights + at);
      if (a->weights_kind != HW_WEIGHTS_PROBABILITIES) {
        case_check_score(a, row, j, expected, (double)got);
        continue;
      }
      CHECK(expected->visible[j] || expected->poisoned || check_bits(got) == 0, "row %zu: masked weight %zu is %g", row,
            j, (double)got);
      if (!expected->poisoned) {
        case_check_close(a, "weights", row, j, (double)got, expected->weights[j],
                         expected->weights[j] * expected->relative + 0x1p-124);
      }
    }
  }
}

static inline void case_check_output(const hw_attention *a, size_t b, size_t h, size_t i,
                                     const reference_row *expected) {
  const size_t row = (b * a->heads + h) * a->query_tokens + i;
  float *output = a->output + b * a->output_strides.batch + h * a->output_strides.head + i * a->output_strides.token;
  const float *values = a->value + b * a->value_strides.batch + reference_key_head(a, h) * a->value_strides.head;
  for (size_t c = 0; c < a->value_width; c++) {
    double sum = 0.0;
    double terms = 0.0;
    for (size_t j = 0; j < a->key_tokens; j++) {
      const double term =
          expected->weights[j] == 0.0 ? 0.0 : expected->weights[j] * (double)values[j * a->value_strides.token + c];
      sum += term;
      terms += fabs(term);
    }
    const float got = case_take(output + c);
    if (expected->poisoned) {
      CHECK(isnan(got), "row %zu should be NaN: %g", row, (double)got);
    } else {
      case_check_close(a, "output", row, c, (double)got, sum, terms * expected->relative + 0x1p-120);
    }
  }
}

static inline void case_check_log_sum_exp(const hw_attention *a, size_t row, const reference_row *expected) {
  const size_t rows = a->heads * a->query_tokens;
  if (a->log_sum_exp == NULL) {
    return;
  }
  const double got = (double)case_take(a->log_sum_exp + row / rows * a->log_sum_exp_batch_stride + row % rows);
  if (expected->poisoned || isinf(expected->log_sum_exp)) {
    CHECK(expected->poisoned ? !isfinite(got) : got == expected->log_sum_exp, "row %zu: log-sum-exp %g", row, got);
    return;
  }
  const double tolerance = expected->relative + fabs(expected->log_sum_exp) * 0x1p-22;
  case_check_close(a, "log-sum-exp", row, 0, got, expected->log_sum_exp, tolerance);
}

/* Compares everything; the results are guards afterwards. */
static inline void case_compare(const attention_buffers *buffers, const uint32_t *keep) {
  const hw_attention *a = &buffers->call;
  reference_row expected = reference_row_create(a->key_tokens);
  for (size_t row = 0; row < a->batch * a->heads * a->query_tokens; row++) {
    const size_t i = row % a->query_tokens;
    const size_t h = row / a->query_tokens % a->heads;
    const size_t b = row / a->query_tokens / a->heads;
    reference_attention_row(a, b, h, i, &expected);
    case_check_weights(a, keep, row, &expected);
    case_check_output(a, b, h, i, &expected);
    case_check_log_sum_exp(a, row, &expected);
  }
  reference_row_destroy(&expected);
  case_check_guards(a->output, buffers->output_floats, "output");
  case_check_guards(a->weights, a->weights_batch_stride * a->batch, "weights");
  case_check_guards(a->log_sum_exp, a->log_sum_exp_batch_stride * a->batch, "log-sum-exp");
}

/* Runs one case on a context of its own, so that scratch is sized exactly, and compares. */
static inline void case_run(attention_case c) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  attention_buffers buffers = case_create(&c);
  uint32_t *keep = c.dropout > 0.0 ? reference_keep(&buffers.call, context->generator) : NULL;
  const hw_status status = hw_scaled_dot_product_attention(context, &buffers.call);
  CHECK(status == HW_OK, "status %d", (int)status);
  case_compare(&buffers, keep);
  check_case();
  free(keep);
  case_destroy(&buffers);
  hw_context_destroy(context);
}

#endif
