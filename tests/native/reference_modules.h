/*
 * Modules in double, from their definitions in headwise.h, without dropout.
 *
 * With a `noise` every intermediate result is off by up to so much of itself, as if numbers had fewer digits: how far the
 * outcome then moves says how far rounding may move the engine's.
 */
#ifndef HW_TESTS_REFERENCE_MODULES_H
#define HW_TESTS_REFERENCE_MODULES_H

#include "modules.h"
#include "reference.h"

typedef struct reference_tokens {
  size_t batch;
  size_t tokens;
  size_t first; /* the first query's token: those before it are keys only */
} reference_tokens;

static inline double *reference_doubles(size_t count) { return check_memory(count * sizeof(double)); }

static inline double *reference_widen(const float *x, size_t count) {
  double *wide = reference_doubles(count);
  for (size_t i = 0; i < count; i++) {
    wide[i] = (double)x[i];
  }
  return wide;
}

static inline double reference_round(double x, double noise) {
  return noise == 0.0 ? x : x * (1.0 + noise * (double)check_random_float());
}

/* The weight [out, in] of a part's linear layer, in rows that may stand under several names (W_query, W_key, W_value), and
 * zeros for biases that it has not. */
typedef struct reference_weights {
  float *weight;
  float *bias;
} reference_weights;

static inline reference_weights reference_stack(const module_part *parts, size_t count, size_t in, size_t out) {
  const reference_weights w = {check_floats(in * out), check_floats(out)};
  size_t row = 0;
  memset(w.bias, 0, out * sizeof(float));
  for (size_t i = 0; i < count; i++) {
    const hw_parameter_info info = parameter_info(parts[i], "weight");
    /* Hugging Face's Conv1D is [in, out]. */
    const bool transposed = strstr(info.name, ".c_") != NULL;
    const size_t rows = info.shape[transposed ? 1 : 0];
    float *weight = stored(parts[i], "weight");
    for (size_t e = 0; e < rows * in; e++) {
      w.weight[(row + e / in) * in + e % in] = transposed ? weight[e % in * rows + e / in] : weight[e];
    }
    free(weight);
    if (has_parameter(parts[i], "bias")) {
      float *bias = stored(parts[i], "bias");
      memcpy(w.bias + row, bias, rows * sizeof(float));
      free(bias);
    }
    row += rows;
  }
  CHECK(row == out, "%zu rows, expected %zu", row, out);
  return w;
}

/* y [rows, out] = x·Wᵀ + b, y not x */
static inline void reference_linears(const module_part *parts, size_t count, size_t in, size_t out, const double *x,
                                     size_t rows, double *y, double noise) {
  const reference_weights w = reference_stack(parts, count, in, out);
  for (size_t row = 0; row < rows; row++) {
    for (size_t o = 0; o < out; o++) {
      double sum = (double)w.bias[o];
      for (size_t p = 0; p < in; p++) {
        sum += reference_round(x[row * in + p] * (double)w.weight[o * in + p], noise);
      }
      y[row * out + o] = reference_round(sum, noise);
    }
  }
  free(w.weight);
  free(w.bias);
}

static inline void reference_linear(module_part linear, size_t in, size_t out, const double *x, size_t rows, double *y,
                                    double noise) {
  reference_linears(&linear, 1, in, out, x, rows, y, noise);
}

/* y may be x */
static inline void reference_layer_norm(module_part norm, size_t dim, double eps, const double *x, size_t rows,
                                        double *y, double noise) {
  float *weight = stored(norm, "weight");
  float *bias = stored(norm, "bias");
  for (size_t row = 0; row < rows; row++) {
    double mean = 0.0;
    double variance = 0.0;
    for (size_t i = 0; i < dim; i++) {
      mean += x[row * dim + i] / (double)dim;
    }
    for (size_t i = 0; i < dim; i++) {
      variance += (x[row * dim + i] - mean) * (x[row * dim + i] - mean) / (double)dim;
    }
    for (size_t i = 0; i < dim; i++) {
      const double scaled = (x[row * dim + i] - mean) / sqrt(variance + eps);
      const double weighted = scaled * (double)weight[i] + (double)bias[i];
      y[row * dim + i] = reference_round(weighted, noise);
    }
  }
  free(weight);
  free(bias);
}

static inline double reference_gelu(hw_gelu_approximation approximate, double x) {
  const double argument = sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x);
  return approximate == HW_GELU_TANH ? 0.5 * x * (1.0 + tanh(argument)) : 0.5 * x * erfc(-x / sqrt(2.0));
}

static inline void reference_feed_forward(module_part module, const hw_feed_forward_config *config, const double *x,
                                          size_t rows, double *y, double noise) {
  double *hidden = reference_doubles(rows * config->d_ff);
  reference_linear(part_of(module, "fc1"), config->d_model, config->d_ff, x, rows, hidden, noise);
  for (size_t i = 0; i < rows * config->d_ff; i++) {
    hidden[i] = reference_round(reference_gelu(config->approximate, hidden[i]), noise);
  }
  reference_linear(part_of(module, "fc2"), config->d_ff, config->d_model, hidden, rows, y, noise);
  free(hidden);
}

/* What is added to a score: 0, a number, or -inf. */
static inline double reference_added(const hw_multi_head_attention_config *config, const hw_mask *mask, size_t batch,
                                     size_t head, size_t query, size_t key) {
  if (mask->kind == HW_MASK_NONE) {
    return config->is_causal && key > query ? -(double)INFINITY : 0.0;
  }
  const size_t index = reference_mask_index(mask, batch, head, query, key);
  if (mask->kind == HW_MASK_BOOL) {
    return ((const uint8_t *)mask->data)[index] != 0 ? 0.0 : -(double)INFINITY;
  }
  return (double)((const float *)mask->data)[index];
}

/* weights [tokens] of one query; zeros if every key is masked. */
static inline void reference_softmax(double *scores, size_t count) {
  double largest = -(double)INFINITY;
  double sum = 0.0;
  for (size_t j = 0; j < count; j++) {
    largest = fmax(largest, scores[j]);
  }
  for (size_t j = 0; j < count; j++) {
    scores[j] = scores[j] == -(double)INFINITY ? 0.0 : exp(scores[j] - largest);
    sum += scores[j];
  }
  for (size_t j = 0; j < count && sum != 0.0; j++) {
    scores[j] /= sum;
  }
}

/*
 * x [batch, tokens, d_in] → y [batch, tokens - first, d_out], weights [batch, heads, tokens - first, tokens]. Of what
 * is asked, mask and head_mask count; the mask is over the queries from `first`. A causal module's queries see the keys up
 * to themselves.
 */
static inline void reference_multi_head_attention(module_part module, const hw_multi_head_attention_config *config,
                                                  const double *x, const reference_tokens *t,
                                                  const hw_forward_options *asked, double *y, double *weights,
                                                  double noise) {
  const size_t d_out = config->d_out;
  const size_t width = d_out / config->num_heads;
  const size_t queries = t->tokens - t->first;
  double *qkv = reference_doubles(t->batch * t->tokens * 3 * d_out);
  double *merged = reference_doubles(t->batch * queries * d_out);
  const module_part projections[] = {part_of(module, "W_query"), part_of(module, "W_key"), part_of(module, "W_value")};
  const module_part packed = part_of(module, "qkv_proj");
  const bool is_packed = has_parameter(packed, "weight");
  reference_linears(is_packed ? &packed : projections, is_packed ? 1 : 3, config->d_in, 3 * d_out, x,
                    t->batch * t->tokens, qkv, noise);
  for (size_t i = 0; i < t->batch * config->num_heads * queries; i++) {
    const size_t b = i / queries / config->num_heads;
    const size_t h = i / queries % config->num_heads;
    const size_t query = i % queries;
    const size_t shift = asked->mask.kind == HW_MASK_NONE ? t->first : 0;
    const double factor = asked->head_mask == NULL ? 1.0 : (double)asked->head_mask[h];
    const double *rows = qkv + b * t->tokens * 3 * d_out + h * width;
    double *scores = weights + i * t->tokens;
    for (size_t j = 0; j < t->tokens; j++) {
      double score = 0.0;
      for (size_t p = 0; p < width; p++) {
        score += reference_round(rows[(t->first + query) * 3 * d_out + p] * rows[(j * 3 + 1) * d_out + p], noise);
      }
      scores[j] = reference_round(score, noise) / sqrt((double)width) +
                  reference_added(config, &asked->mask, b, h, query + shift, j);
    }
    reference_softmax(scores, t->tokens);
    for (size_t p = 0; p < width; p++) {
      double sum = 0.0;
      for (size_t j = 0; j < t->tokens; j++) {
        sum += scores[j] == 0.0 ? 0.0 : reference_round(scores[j] * rows[(j * 3 + 2) * d_out + p], noise);
      }
      merged[(b * queries + query) * d_out + h * width + p] = reference_round(sum, noise) * factor;
    }
  }
  if (config->out_proj) {
    reference_linear(part_of(module, "out_proj"), d_out, d_out, merged, t->batch * queries, y, noise);
  } else {
    memcpy(y, merged, t->batch * queries * d_out * sizeof *y);
  }
  free(qkv);
  free(merged);
}

static inline void reference_add(const double *branch, size_t count, double *sum, double noise) {
  for (size_t i = 0; i < count; i++) {
    sum[i] = reference_round(sum[i] + branch[i], noise);
  }
}

/* x [batch, tokens, d_model] becomes the block's output; weights [batch, heads, tokens, tokens]. */
static inline void reference_block(module_part block, const hw_transformer_block_config *config,
                                   const reference_tokens *t, const hw_forward_options *asked, double *x,
                                   double *weights, double noise) {
  const hw_multi_head_attention_config attn = {.d_in = config->d_model,
                                               .d_out = config->d_model,
                                               .num_heads = config->num_heads,
                                               .qkv_bias = config->attention_bias,
                                               .out_proj = true,
                                               .out_bias = config->attention_bias,
                                               .is_causal = config->is_causal};
  const hw_feed_forward_config ffn = {
      .d_model = config->d_model, .d_ff = config->d_ff, .approximate = config->approximate};
  const double eps = config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps;
  const size_t rows = t->batch * t->tokens;
  const size_t count = rows * config->d_model;
  const module_part ln1 = part_of(block, "ln1");
  double *normed = reference_doubles(count);
  double *branch = reference_doubles(count);
  memcpy(normed, x, count * sizeof *x);
  if (config->norm_first) {
    reference_layer_norm(ln1, config->d_model, eps, x, rows, normed, noise);
  }
  reference_multi_head_attention(part_of(block, "attn"), &attn, normed, t, asked, branch, weights, noise);
  reference_add(branch, count, x, noise);
  if (!config->norm_first) {
    reference_layer_norm(ln1, config->d_model, eps, x, rows, x, noise);
  }
  if (!config->attention_only) {
    const module_part ln2 = part_of(block, "ln2");
    memcpy(normed, x, count * sizeof *x);
    if (config->norm_first) {
      reference_layer_norm(ln2, config->d_model, eps, x, rows, normed, noise);
    }
    reference_feed_forward(part_of(block, "ffn"), &ffn, normed, rows, branch, noise);
    reference_add(branch, count, x, noise);
    if (!config->norm_first) {
      reference_layer_norm(ln2, config->d_model, eps, x, rows, x, noise);
    }
  }
  free(normed);
  free(branch);
}

/* About what a float's rounding is; sums are rounded more often than the noise says. */
#define REFERENCE_NOISE 0x1p-22

/* Runs with noise: of one number, one run may by chance move next to nothing. */
enum { REFERENCE_RUNS = 6 };

/* The largest distance. */
static inline double reference_distance(const double *exact, const double *noisy, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs(noisy[i] - exact[i]));
  }
  return largest;
}

/* Compares with the exact numbers, which noise has moved by at most so much. */
static inline void reference_compare(const float *got, const double *exact, double moved, size_t count,
                                     const char *what) {
  for (size_t i = 0; i < count; i++) {
    const double tolerance = 16.0 * moved + 1e-6 * fabs(exact[i]) + 1e-30;
    CHECK(fabs((double)got[i] - exact[i]) <= tolerance, "%s, %zu of %zu: %.9g, expected %.9g within %.3g", what, i,
          count, (double)got[i], exact[i], tolerance);
  }
}

#endif
