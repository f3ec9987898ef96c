/* Gradients of attention of all shapes, masks and options, against float64. */
#include "attention_gradient_case.h"
#include "core/tile.h"
#include "ops/attention.h"

static const attention_case plain = {.batch = 2, .heads = 2, .queries = 9, .keys = 9, .key_width = 5, .value_width = 6};

/* The sum of dy·output, and of dw·weights. */
static double loss_of(const hw_attention *a, const hw_attention_gradient *given) {
  reference_row row = reference_row_create(a->key_tokens);
  double loss = 0.0;
  for (size_t n = 0; n < a->batch * a->heads * a->query_tokens; n++) {
    const size_t i = n % a->query_tokens;
    const size_t h = n / a->query_tokens % a->heads;
    const size_t b = n / a->query_tokens / a->heads;
    reference_attention_row(a, b, h, i, &row);
    const float *gradient = reference_row_of(given->output, &a->output_strides, b, h, i);
    for (size_t j = 0; j < a->key_tokens; j++) {
      const float *value = reference_row_of(a->value, &a->value_strides, b, reference_key_head(a, h), j);
      for (size_t c = 0; c < a->value_width && row.weights[j] != 0.0; c++) {
        loss += row.weights[j] * (double)value[c] * (double)gradient[c];
      }
      const size_t at = b * a->weights_batch_stride + (h * a->query_tokens + i) * a->key_tokens + j;
      loss += given->weights == NULL ? 0.0 : row.weights[j] * (double)given->weights[at];
    }
  }
  reference_row_destroy(&row);
  return loss;
}

/* By differences of the loss as one element moves, to where floats are exact. */
static double slope_of(const hw_attention *a, const hw_attention_gradient *given, const float *element) {
  float *x = (float *)(uintptr_t)element;
  const float before = *x;
  const float h = 0x1p-7F;
  const float steps[] = {h, -h, 2.0F * h, -2.0F * h};
  double losses[4];
  *x = roundf(before * 256.0F) / 256.0F;
  for (size_t i = 0; i < 4; i++) {
    const float middle = *x;
    *x = middle + steps[i];
    losses[i] = loss_of(a, given);
    *x = middle;
  }
  return (8.0 * (losses[0] - losses[1]) - (losses[2] - losses[3])) / (12.0 * (double)h);
}

static void check_differences(const attention_case *c, const float *tensor, hw_strides s, gradient_buffers *b,
                              bool is_value, bool is_key) {
  const hw_attention *a = &b->forward.call;
  const case_shape shape = is_value ? case_value(c) : is_key ? case_key(c) : case_query(c);
  for (size_t t = 0; t < shape.tokens; t += 2) {
    const float *element = tensor + s.head + t * s.token + t % shape.width;
    const double slope = slope_of(a, &b->gradient, element);
    reference_gradient g = reference_backward(c, a, NULL, &b->gradient);
    const reference_tensor *got = is_value ? &g.value : is_key ? &g.key : &g.query;
    const double reference = got->gradient[(shape.tokens + t) * shape.width + t % shape.width];
    CHECK(fabs(slope - reference) <= 1e-6 * (1.0 + fabs(slope)), "token %zu: %.9g, by differences %.9g", t, reference,
          slope);
    check_case();
    reference_gradient_destroy(&g);
  }
}

static void test_reference(void) {
  for (size_t i = 0; i < 2; i++) {
    attention_case c = plain;
    c.is_causal = true;
    c.mask = i == 0 ? HW_MASK_NONE : HW_MASK_FLOAT;
    c.softcap = i == 0 ? 0.0F : 0.7F;
    c.records = i == 1;
    c.heads = 4;
    c.key_heads = 2;
    gradient_buffers b = gradient_create(&c);
    const hw_attention *a = &b.forward.call;
    float *tensors[] = {(float *)(uintptr_t)a->query, (float *)(uintptr_t)a->key, (float *)(uintptr_t)a->value};
    const size_t floats[] = {case_floats(&c, case_query(&c), a->query_strides),
                             case_floats(&c, case_key(&c), a->key_strides),
                             case_floats(&c, case_value(&c), a->value_strides)};
    for (size_t t = 0; t < 3; t++) {
      for (size_t e = 0; e < floats[t]; e++) {
        tensors[t][e] = check_is_guard(tensors[t][e]) ? tensors[t][e] : roundf(tensors[t][e] * 256.0F) / 256.0F;
      }
    }
    check_differences(&c, a->query, a->query_strides, &b, false, false);
    check_differences(&c, a->key, a->key_strides, &b, false, true);
    check_differences(&c, a->value, a->value_strides, &b, true, false);
    gradient_destroy(&b);
  }
}

static void test_shapes(void) {
  const size_t tokens[] = {1, 2, 5, 6, 7, 8, 9, 13, 17};
  for (size_t q = 0; q < 9; q++) {
    for (size_t k = 0; k < 9; k++) {
      attention_case c = plain;
      c.queries = tokens[q];
      c.keys = tokens[k];
      c.key_width = 1 + (q * 3 + k) % 17;
      c.value_width = 1 + (q + k * 5) % 17;
      c.heads_in_row = (q + k) % 2 == 0;
      c.is_causal = k % 3 == 0;
      gradient_case_run(c);
    }
  }
}

/* Around the blocks of queries and keys. */
static void test_block_edges(void) {
  const size_t queries[] = {HW_GRADIENT_QUERIES - 1, HW_GRADIENT_QUERIES, HW_GRADIENT_QUERIES + 1,
                            2 * HW_GRADIENT_QUERIES + 5};
  const size_t keys[] = {HW_GRADIENT_KEYS - 1, HW_GRADIENT_KEYS, HW_GRADIENT_KEYS + 1, 2 * HW_GRADIENT_KEYS + 9};
  for (size_t i = 0; i < 4; i++) {
    for (size_t causal = 0; causal < 2; causal++) {
      gradient_case_run((attention_case){.batch = 1,
                                         .heads = 2,
                                         .key_heads = 1,
                                         .queries = queries[i],
                                         .keys = keys[3 - i],
                                         .key_width = 8,
                                         .value_width = 4,
                                         .is_causal = causal == 1,
                                         .offset_from_end = true});
      gradient_case_run((attention_case){.batch = 1,
                                         .heads = 1,
                                         .queries = keys[i],
                                         .keys = keys[i],
                                         .key_width = 4,
                                         .value_width = 9,
                                         .is_causal = causal == 0,
                                         .is_windowed = true,
                                         .window_left = 70,
                                         .window_right = -1});
    }
  }
}

static void test_options(void) {
  for (size_t i = 0; i < 64; i++) {
    attention_case c = plain;
    /* Of three lengths one is neither nothing nor all. */
    c.batch = 3;
    c.queries = 19;
    c.keys = 23;
    c.key_width = i % 2 == 0 ? 5 : 19;
    c.value_width = i % 2 == 0 ? 17 : 6;
    c.heads = 4;
    c.key_heads = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 4;
    c.is_causal = (i & 1u) != 0;
    c.mask = (hw_mask_kind)(i % 3);
    c.broadcast = (unsigned)(check_random() % 16);
    c.softcap = (i & 4u) != 0 ? 0.8F : 0.0F;
    c.dropout = (i & 8u) != 0 ? 0.3 : 0.0;
    c.has_lengths = (i & 16u) != 0;
    c.is_windowed = (i & 32u) != 0;
    c.window_left = 4;
    c.window_right = 7;
    c.causal_offset = (int32_t)(check_random() % 9) - 4;
    c.magnitude = i % 5 == 0 ? 8.0F : 1.0F;
    gradient_case_run(c);
  }
}

/* Keys [8, 24) of the first two strips of queries. */
static void hide_tiles(const hw_attention *a) {
  unsigned char *data = (unsigned char *)(uintptr_t)a->mask.data;
  const float added = -INFINITY;
  for (size_t i = 0; i < a->batch * a->heads * 2 * HW_TILE_ROWS * 16; i++) {
    const size_t row = i / 16 % (2 * HW_TILE_ROWS);
    const size_t head = i / 16 / (2 * HW_TILE_ROWS);
    const size_t at = reference_mask_index(&a->mask, head / a->heads, head % a->heads, row, 8 + i % 16);
    if (a->mask.kind == HW_MASK_BOOL) {
      data[at] = 0;
    } else {
      memcpy(data + at * sizeof added, &added, sizeof added);
    }
  }
}

/* A mask that hides all of a tile between others. */
static void test_hidden_tiles(void) {
  for (size_t i = 0; i < 16; i++) {
    attention_case c = plain;
    /* Of an even number the keys of a mask lie one after another: only of those tiles are looked at as a whole. */
    c.queries = 4 * HW_TILE_ROWS;
    c.keys = 37;
    c.mask = (i & 1u) != 0 ? HW_MASK_BOOL : HW_MASK_FLOAT;
    c.softcap = (i & 2u) != 0 ? 0.8F : 0.0F;
    c.dropout = (i & 4u) != 0 ? 0.3 : 0.0;
    c.records = (i & 8u) != 0;
    gradient_buffers b = gradient_create(&c);
    hide_tiles(&b.forward.call);
    gradient_run(&b, 1);
    gradient_compare(&c, &b);
    check_case();
    gradient_destroy(&b);
  }
}

static void test_threads(void) {
  const attention_case c = {.batch = 3,
                            .heads = 6,
                            .key_heads = 3,
                            .queries = 71,
                            .keys = 83,
                            .key_width = 16,
                            .value_width = 12,
                            .is_causal = true,
                            .dropout = 0.1};
  gradient_buffers b = gradient_create(&c);
  const hw_attention *a = &b.forward.call;
  gradient_run(&b, 1);
  float *tensors[] = {b.gradient.query, b.gradient.key, b.gradient.value};
  const size_t floats[] = {case_floats(&c, case_query(&c), a->query_strides),
                           case_floats(&c, case_key(&c), a->key_strides),
                           case_floats(&c, case_value(&c), a->value_strides)};
  float *first[3];
  for (size_t t = 0; t < 3; t++) {
    first[t] = check_floats(floats[t]);
    memcpy(first[t], tensors[t], floats[t] * sizeof(float));
  }
  for (size_t threads = 2; threads <= 5; threads++) {
    gradient_run(&b, threads);
    for (size_t t = 0; t < 3; t++) {
      CHECK(memcmp(tensors[t], first[t], floats[t] * sizeof(float)) == 0, "%zu threads, tensor %zu", threads, t);
    }
    check_case();
  }
  for (size_t t = 0; t < 3; t++) {
    free(first[t]);
  }
  gradient_destroy(&b);
}

/* Heads add to the same elements of a mask, in their order. */
static void test_threads_mask(void) {
  const attention_case c = {.batch = 3,
                            .heads = 6,
                            .key_heads = 6,
                            .queries = 71,
                            .keys = 83,
                            .key_width = 16,
                            .value_width = 12,
                            .mask = HW_MASK_FLOAT,
                            .broadcast = 3};
  gradient_buffers b = gradient_create(&c);
  const hw_attention *a = &b.forward.call;
  const size_t count =
      reference_mask_index(&a->mask, a->batch - 1, a->heads - 1, a->query_tokens - 1, a->key_tokens - 1) + 1;
  float *first = check_floats(count);
  b.mask = check_floats(count);
  b.gradient.mask = b.mask;
  for (size_t threads = 1; threads <= 5; threads++) {
    memset(b.mask, 0, count * sizeof *b.mask);
    gradient_run(&b, threads);
    if (threads == 1) {
      memcpy(first, b.mask, count * sizeof *first);
    }
    CHECK(memcmp(b.mask, first, count * sizeof *first) == 0, "%zu threads", threads);
    check_case();
  }
  free(first);
  gradient_destroy(&b);
}

/* What a query does not see may hold anything: keys, values, and queries that see nothing. */
static void check_unseen(float poison, double dropout) {
  enum { tokens = 21, width = 12, unseen = 5, blind = 11 };
  float x[3][tokens * width];
  float out[tokens * width];
  float dy[tokens * width];
  float clean[3][tokens * width];
  float rows[2 * tokens];
  uint32_t kept[tokens];
  uint8_t mask[tokens * tokens];
  for (size_t i = 0; i < tokens * tokens; i++) {
    mask[i] = i / tokens != blind && i % tokens != unseen;
  }
  check_fill(dy, tokens * width);
  const hw_strides s = hw_head_major(1, tokens, width);
  const hw_attention call = {.batch = 1,
                             .heads = 1,
                             .key_heads = 1,
                             .query_tokens = tokens,
                             .key_tokens = tokens,
                             .key_width = width,
                             .value_width = width,
                             .query = x[0],
                             .key = x[1],
                             .value = x[2],
                             .output = out,
                             .query_strides = s,
                             .key_strides = s,
                             .value_strides = s,
                             .output_strides = s,
                             .scale = 0.3F,
                             .mask = {HW_MASK_BOOL, mask, 0, 0, tokens, 1},
                             .dropout = dropout,
                             .kept = kept,
                             .row_maximum = rows,
                             .row_sum = rows + tokens};
  float got[3][tokens * width];
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t round = 0; round < 2; round++) {
    check_seed(77);
    check_fill(x[0], (size_t)3 * tokens * width);
    for (size_t i = 0; round == 1 && i < width; i++) {
      x[0][blind * width + i] = poison;
      x[1][unseen * width + i] = poison;
      x[2][unseen * width + i] = poison;
      dy[blind * width + i] = poison;
    }
    float(*target)[tokens * width] = round == 0 ? clean : got;
    const hw_attention_gradient gradient = {dy, target[0], target[1], target[2], s, s, s, s, NULL, NULL};
    hw_manual_seed(context, 9);
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &call), HW_OK);
    CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &call, &gradient), HW_OK);
  }
  CHECK(memcmp(clean, got, sizeof clean) == 0, "%g shows", (double)poison);
  for (size_t i = 0; i < width; i++) {
    CHECK(got[0][blind * width + i] == 0.0F && got[1][unseen * width + i] == 0.0F && got[2][unseen * width + i] == 0.0F,
          "not zero");
  }
  hw_context_destroy(context);
}

static void test_unseen(void) {
  const float poisons[] = {NAN, INFINITY, -INFINITY, 3e38F};
  for (size_t p = 0; p < 4; p++) {
    check_unseen(poisons[p], 0.0);
    check_unseen(poisons[p], 0.3);
  }
}

/* A value that dropout drops for every query may hold anything. */
static void test_dropped(void) {
  const attention_case c = {
      .batch = 1, .heads = 1, .queries = 1, .keys = 19, .key_width = 5, .value_width = 6, .dropout = 0.5};
  gradient_buffers b = gradient_create(&c);
  hw_attention *a = &b.forward.call;
  float expected[5];
  gradient_run(&b, 1);
  memcpy(expected, b.gradient.query, sizeof expected);
  size_t dropped = 0;
  for (size_t key = 0; key < c.keys; key++) {
    if ((a->kept[0] >> key & 1u) == 0) {
      ((float *)(uintptr_t)a->value)[key * a->value_strides.token] = dropped % 2 == 0 ? INFINITY : NAN;
      dropped++;
    }
  }
  gradient_run(&b, 1);
  CHECK(dropped > 1 && memcmp(b.gradient.query, expected, sizeof expected) == 0, "%zu values show", dropped);
  check_case();
  gradient_destroy(&b);
}

/* Bits that were kept by another call say nothing of one without dropout. */
static void test_kept_of_nothing(void) {
  const attention_case c = plain;
  gradient_buffers b = gradient_create(&c);
  hw_attention *a = &b.forward.call;
  const size_t floats = case_floats(&c, case_query(&c), a->query_strides);
  const size_t bytes = a->batch * a->heads * a->query_tokens * hw_kept_words(a->key_tokens) * sizeof *a->kept;
  float *expected = check_floats(floats);
  gradient_run(&b, 1);
  memcpy(expected, b.gradient.query, floats * sizeof(float));
  a->kept = check_memory(bytes);
  memset(a->kept, 0, bytes);
  gradient_run(&b, 1);
  CHECK(memcmp(b.gradient.query, expected, floats * sizeof(float)) == 0, "another gradient");
  check_case();
  free(expected);
  gradient_destroy(&b);
}

static void forward(hw_run *run, const void *call) { hw_attention_forward(run, call, &(hw_attention_state){0}); }

/* A forward that leaves a trace leaves the same for a backward. */
static void test_traced(void) {
  attention_case c = plain;
  c.dropout = 0.2;
  gradient_buffers b = gradient_create(&c);
  hw_attention a = b.forward.call;
  gradient_run(&b, 1);
  const size_t rows = a.batch * a.heads * a.query_tokens;
  a.row_maximum = check_floats(rows);
  a.row_sum = check_floats(rows);
  a.kept = check_memory(rows * hw_kept_words(a.key_tokens) * sizeof *a.kept);
  hw_trace *trace = NULL;
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(hw_run_forward(context, &(hw_forward_options){.trace = &trace}, NULL, forward, &a), HW_OK);
  CHECK(trace != NULL, "no trace");
  CHECK(memcmp(a.row_maximum, b.forward.call.row_maximum, rows * sizeof(float)) == 0, "maxima");
  CHECK(memcmp(a.row_sum, b.forward.call.row_sum, rows * sizeof(float)) == 0, "sums");
  CHECK(memcmp(a.kept, b.forward.call.kept, rows * hw_kept_words(a.key_tokens) * sizeof *a.kept) == 0, "kept");
  hw_trace_destroy(trace);
  hw_context_destroy(context);
  free(a.row_maximum);
  free(a.row_sum);
  free(a.kept);
  gradient_destroy(&b);
}

static void test_wanted(void) {
  attention_case c = plain;
  gradient_buffers b = gradient_create(&c);
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  hw_attention *a = &b.forward.call;
  CHECK_STATUS(hw_scaled_dot_product_attention(context, a), HW_OK);
  hw_attention_gradient some = b.gradient;
  some.query = some.key = some.value = NULL;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, a, &some), HW_OK);
  some.mask = some.query;
  some.output = NULL;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, a, &some), HW_ERROR_VALUE);
  some = b.gradient;
  some.mask = b.gradient.query;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, a, &some), HW_ERROR_VALUE);
  some = b.gradient;
  some.weights = b.dy;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, a, &some), HW_ERROR_VALUE);
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, NULL, &some), HW_ERROR_VALUE);
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, a, NULL), HW_ERROR_VALUE);
  hw_attention bad = *a;
  bad.row_sum = NULL;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_VALUE);
  bad = *a;
  bad.key_heads = 0;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_SHAPE);
  bad = *a;
  bad.row_maximum = NULL;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_VALUE);
  bad = *a;
  bad.dropout = 0.5;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_VALUE);
  bad = *a;
  bad.weights = bad.output;
  bad.weights_kind = HW_WEIGHTS_SCORES;
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &some), HW_ERROR_VALUE);
  const size_t sizes[] = {SIZE_MAX / 8 + 1, SIZE_MAX / 4 + 1, SIZE_MAX};
  for (size_t i = 0; i < 3; i++) {
    bad = *a;
    bad.key_tokens = sizes[i];
    CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_MEMORY);
    bad = *a;
    bad.key_width = sizes[i];
    CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_MEMORY);
    bad = *a;
    bad.value_width = sizes[i];
    CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, &bad, &b.gradient), HW_ERROR_MEMORY);
  }
  hw_context_destroy(context);
  gradient_destroy(&b);
}

int main(void) {
  check_seed(34);
  check_run("the reference's gradients equal differences of the output in double", test_reference);
  check_run("gradients of all shapes equal float64's, and nothing else is written", test_shapes);
  check_run("around the blocks of queries and keys they do too", test_block_edges);
  check_run("with masks, caps, windows, lengths, grouped heads and dropout they do too", test_options);
  check_run("where a mask hides whole tiles they do too", test_hidden_tiles);
  check_run("every number of threads gives the same bits", test_threads);
  check_run("a mask's gradient adds up in the order of the heads on every number of threads", test_threads_mask);
  check_run("what no query sees, and a query that sees nothing, have zeros and spread nothing", test_unseen);
  check_run("values that dropout drops do not show", test_dropped);
  check_run("without dropout it does not matter what is kept", test_kept_of_nothing);
  check_run("a forward that leaves a trace leaves what a backward needs, too", test_traced);
  check_run("what is not wanted is left out; bad calls and huge sizes are refused", test_wanted);
  return check_result();
}
