/* Gradients of attention in double, from the definition in headwise.h. */
#ifndef HW_TESTS_REFERENCE_GRADIENT_H
#define HW_TESTS_REFERENCE_GRADIENT_H

#include "attention_case.h"

/* One operand's gradient, [batch, heads, tokens, width] without gaps, and what bounds the engine's error. */
typedef struct reference_tensor {
  case_shape shape;
  double *gradient;
  double *bound;
} reference_tensor;

typedef struct reference_gradient {
  reference_tensor query;
  reference_tensor key;
  reference_tensor value;
  double *mask; /* at the mask's places; NULL: no mask of floats */
  double *mask_bound;
  size_t mask_elements;
} reference_gradient;

static inline double *reference_zeros(size_t count) {
  double *x = check_memory(count * sizeof *x);
  for (size_t i = 0; i < count; i++) {
    x[i] = 0.0;
  }
  return x;
}

static inline reference_tensor reference_tensor_of(size_t batch, case_shape shape) {
  const size_t count = batch * shape.heads * shape.tokens * shape.width;
  return (reference_tensor){shape, reference_zeros(count), reference_zeros(count)};
}

static inline void reference_add(const reference_tensor *t, size_t b, size_t h, size_t i, size_t c, double x,
                                 double bound) {
  const size_t at = ((b * t->shape.heads + h) * t->shape.tokens + i) * t->shape.width + c;
  t->gradient[at] += x;
  t->bound[at] += fabs(bound);
}

static inline const float *reference_row_of(const float *x, const hw_strides *s, size_t b, size_t h, size_t i) {
  return x + b * s->batch + h * s->head + i * s->token;
}

/* A query's share, of the given gradients; keep is dropout's mask or NULL. */
static inline void reference_backward_row(const hw_attention *a, const uint32_t *keep,
                                          const hw_attention_gradient *given, size_t b, size_t h, size_t i,
                                          reference_gradient *g) {
  const float *dy = reference_row_of(given->output, &a->output_strides, b, h, i);
  hw_attention capped = *a;
  capped.weights_kind = HW_WEIGHTS_SOFTCAPPED;
  reference_row row = reference_row_create(a->key_tokens);
  reference_attention_row(&capped, b, h, i, &row);
  const size_t number = (b * a->heads + h) * a->query_tokens + i;
  const size_t group = reference_key_head(a, h);
  const double kept_scale = keep == NULL ? 1.0 : (double)hw_kept_scale(a->dropout);
  double *products = reference_zeros(2 * a->key_tokens);
  double *sizes = products + a->key_tokens;
  double delta = 0.0;
  double delta_size = 0.0;
  for (size_t j = 0; j < a->key_tokens; j++) {
    const float *value = reference_row_of(a->value, &a->value_strides, b, group, j);
    for (size_t c = 0; c < a->value_width && reference_is_kept(a, keep, number, j) && row.visible[j]; c++) {
      products[j] += (double)dy[c] * (double)value[c] * kept_scale;
      sizes[j] += fabs((double)dy[c] * (double)value[c] * kept_scale);
    }
    if (given->weights != NULL && reference_is_kept(a, keep, number, j) && row.visible[j]) {
      const size_t at = b * a->weights_batch_stride + (h * a->query_tokens + i) * a->key_tokens + j;
      products[j] += (double)given->weights[at] * kept_scale;
      sizes[j] += fabs((double)given->weights[at] * kept_scale);
    }
    delta += row.weights[j] * products[j];
    delta_size += row.weights[j] * sizes[j];
  }
  const float *query = reference_row_of(a->query, &a->query_strides, b, h, i);
  const double error = 4.0 * row.relative + 8.0 * (double)(a->value_width + a->query_tokens) * 0x1p-24;
  for (size_t j = 0; j < a->key_tokens; j++) {
    if (!row.visible[j]) {
      continue;
    }
    const double weight = reference_is_kept(a, keep, number, j) ? row.weights[j] * kept_scale : 0.0;
    const double masked = row.weights[j] * (products[j] - delta);
    const double bound = row.weights[j] * (sizes[j] + delta_size) * error;
    const double tangent = a->softcap == 0.0F ? 0.0 : row.scores[j] / (double)a->softcap;
    const double score = masked * (1.0 - tangent * tangent) * (double)a->scale;
    /* The slope is off by what the score is off by. */
    const double score_bound = (bound + fabs(masked) * (row.relative + 1e-6)) * fabs((double)a->scale);
    const float *key = reference_row_of(a->key, &a->key_strides, b, group, j);
    for (size_t c = 0; c < a->key_width; c++) {
      reference_add(&g->query, b, h, i, c, score * (double)key[c], score_bound * (double)key[c]);
      reference_add(&g->key, b, group, j, c, score * (double)query[c], score_bound * (double)query[c]);
    }
    for (size_t c = 0; c < a->value_width; c++) {
      reference_add(&g->value, b, group, j, c, weight * (double)dy[c], weight * (double)dy[c] * error);
    }
    if (g->mask != NULL) {
      const size_t at = reference_mask_index(&a->mask, b, h, i, j);
      g->mask[at] += masked;
      g->mask_bound[at] += bound;
    }
  }
  free(products);
  reference_row_destroy(&row);
}

static inline reference_gradient reference_backward(const attention_case *c, const hw_attention *a,
                                                    const uint32_t *keep, const hw_attention_gradient *given) {
  reference_gradient g = {
      .query = reference_tensor_of(a->batch, case_query(c)),
      .key = reference_tensor_of(a->batch, case_key(c)),
      .value = reference_tensor_of(a->batch, case_value(c)),
  };
  if (a->mask.kind == HW_MASK_FLOAT) {
    const hw_mask *m = &a->mask;
    g.mask_elements = reference_mask_index(m, a->batch - 1, a->heads - 1, a->query_tokens - 1, a->key_tokens - 1) + 1;
    g.mask = reference_zeros(2 * g.mask_elements);
    g.mask_bound = g.mask + g.mask_elements;
  }
  for (size_t row = 0; row < a->batch * a->heads * a->query_tokens; row++) {
    const size_t i = row % a->query_tokens;
    const size_t h = row / a->query_tokens % a->heads;
    const size_t b = row / a->query_tokens / a->heads;
    reference_backward_row(a, keep, given, b, h, i, &g);
  }
  return g;
}

static inline void reference_gradient_destroy(reference_gradient *g) {
  reference_tensor *tensors[] = {&g->query, &g->key, &g->value};
  for (size_t i = 0; i < 3; i++) {
    free(tensors[i]->gradient);
    free(tensors[i]->bound);
  }
  free(g->mask);
}

#endif
