/* Attention in double, one query at a time, straight from the definition in headwise.h. */
#ifndef HW_TESTS_REFERENCE_H
#define HW_TESTS_REFERENCE_H

#include "check.h"
#include "core/random.h"
#include "headwise.h"

/* One query's results. */
typedef struct reference_row {
  double *weights; /* [key_tokens], before dropout */
  double *scores;  /* [key_tokens], of the call's weights_kind */
  bool *visible;   /* [key_tokens] */
  double log_sum_exp;
  double relative; /* bound of the engine's relative error of one weight */
  bool poisoned;   /* a visible score is NaN or +inf: the row is NaN */
} reference_row;

static inline reference_row reference_row_create(size_t keys) {
  return (reference_row){.weights = check_memory(keys * sizeof(double)),
                         .scores = check_memory(keys * sizeof(double)),
                         .visible = check_memory(keys * sizeof(bool))};
}

static inline void reference_row_destroy(reference_row *row) {
  free(row->weights);
  free(row->scores);
  free(row->visible);
}

static inline size_t reference_mask_index(const hw_mask *m, size_t b, size_t h, size_t i, size_t j) {
  return b * m->batch_stride + h * m->head_stride + i * m->query_stride + j * m->key_stride;
}

/* Whether causal mask, window and length let the query see the key. */
static inline bool reference_is_in_range(const hw_attention *a, size_t b, size_t i, size_t j) {
  const int64_t length = a->key_lengths == NULL ? (int64_t)a->key_tokens : (int64_t)a->key_lengths[b];
  const int64_t from_end = a->offset_from_end ? length - (int64_t)a->query_tokens : 0;
  const int64_t diagonal = (int64_t)i + a->causal_offset + from_end;
  const int64_t key = (int64_t)j;
  const bool left = !a->is_windowed || a->window_left < 0 || key >= diagonal - a->window_left;
  const bool right = !a->is_windowed || a->window_right < 0 || key <= diagonal + a->window_right;
  return key < length && left && right && (!a->is_causal || key <= diagonal);
}

/* What the mask adds: 0, a number, or -inf. */
static inline double reference_mask(const hw_attention *a, size_t b, size_t h, size_t i, size_t j) {
  if (!reference_is_in_range(a, b, i, j)) {
    return -(double)INFINITY;
  }
  if (a->mask.kind == HW_MASK_NONE) {
    return 0.0;
  }
  const size_t index = reference_mask_index(&a->mask, b, h, i, j);
  if (a->mask.kind == HW_MASK_BOOL) {
    return ((const uint8_t *)a->mask.data)[index] != 0 ? 0.0 : (double)-INFINITY;
  }
  return (double)((const float *)a->mask.data)[index];
}

static inline size_t reference_key_head(const hw_attention *a, size_t h) { return h / (a->heads / a->key_heads); }

static inline void reference_scores(const hw_attention *a, size_t b, size_t h, size_t i, reference_row *row) {
  const float *query = a->query + b * a->query_strides.batch + h * a->query_strides.head + i * a->query_strides.token;
  const float *keys = a->key + b * a->key_strides.batch + reference_key_head(a, h) * a->key_strides.head;
  double magnitude = 0.0;
  row->poisoned = false;
  for (size_t j = 0; j < a->key_tokens; j++) {
    const double added = reference_mask(a, b, h, i, j);
    row->visible[j] = added != (double)-INFINITY;
    row->weights[j] = -(double)INFINITY;
    double score = 0.0;
    double terms = 0.0;
    for (size_t p = 0; p < a->key_width; p++) {
      const double term = (double)query[p] * (double)keys[j * a->key_strides.token + p];
      score += term;
      terms += fabs(term);
    }
    const double cap = (double)a->softcap;
    const double scaled = score * (double)a->scale;
    const double capped = cap == 0.0 ? scaled : cap * tanh(scaled / cap);
    row->scores[j] = a->weights_kind == HW_WEIGHTS_SCORES       ? scaled
                     : a->weights_kind == HW_WEIGHTS_SOFTCAPPED ? capped
                     : row->visible[j]                          ? capped + added
                                                                : added;
    if (row->visible[j] || a->weights_kind != HW_WEIGHTS_PROBABILITIES) {
      magnitude = fmax(magnitude, terms * fabs((double)a->scale) + (row->visible[j] ? fabs(added) : 0.0));
    }
    if (!row->visible[j]) {
      continue;
    }
    row->weights[j] = capped + added;
    row->poisoned = row->poisoned || isnan(row->weights[j]) || row->weights[j] == (double)INFINITY;
  }
  /* Two scores are subtracted, each off by key_width + 6 roundings of its terms and 8 of a soft cap; then exp2, sums and
   * quotient. */
  const double roundings = (double)a->key_width + 6.0 + (a->softcap == 0.0F ? 0.0 : 8.0);
  row->relative = (2.0 * magnitude * roundings + 2.0 * (double)a->key_tokens + 24.0) * 0x1p-24;
}

static inline void reference_attention_row(const hw_attention *a, size_t b, size_t h, size_t i, reference_row *row) {
  reference_scores(a, b, h, i, row);
  double largest = -(double)INFINITY;
  for (size_t j = 0; j < a->key_tokens; j++) {
    largest = fmax(largest, row->weights[j]);
  }
  double sum = 0.0;
  for (size_t j = 0; j < a->key_tokens; j++) {
    row->weights[j] = row->visible[j] ? exp(row->weights[j] - largest) : 0.0;
    sum += row->weights[j];
  }
  for (size_t j = 0; j < a->key_tokens && sum != 0.0; j++) {
    row->weights[j] /= sum;
  }
  row->log_sum_exp = sum == 0.0 ? (double)-INFINITY : largest + log(sum);
}

/* Dropout's mask of a call, [batch, heads, query_tokens, hw_kept_words], drawn by a copy of the context's generator. */
static inline uint32_t *reference_keep(const hw_attention *a, hw_generator generator) {
  const size_t rows = a->batch * a->heads * a->query_tokens;
  uint32_t *bits = check_memory(rows * hw_kept_words(a->key_tokens) * sizeof *bits);
  hw_generator_draw_kept(&generator, a->dropout, bits, rows, a->key_tokens);
  return bits;
}

static inline bool reference_is_kept(const hw_attention *a, const uint32_t *bits, size_t row, size_t j) {
  return bits == NULL || (bits[row * hw_kept_words(a->key_tokens) + j / 32] >> (j % 32) & 1u) != 0;
}

#endif
