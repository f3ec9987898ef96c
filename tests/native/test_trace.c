/* Traces give the weights of their forward to the bit, from any module, with any mask, for any rows. */
#include "core/tile.h"
#include "headwise.h"
#include "modules.h"

enum { D_IN = 7, BATCH = 2, WIDTH = 5 };

typedef enum module_kind { CAUSAL, WRAPPER, FUSED, MODULES } module_kind;

typedef struct traced {
  module_kind kind;
  size_t heads;
  size_t tokens;
  double dropout;
  hw_mask_kind mask;
  bool broadcast; /* of the mask, over everything but the keys */
} traced;

typedef struct forward_result {
  float *weights;
  hw_trace *trace;
} forward_result;

static hw_status forward(hw_context *context, const traced *t, const float *x, const hw_forward_options *options) {
  const hw_causal_attention_config head = {D_IN, WIDTH, t->tokens, t->dropout, false, true, false};
  const hw_multi_head_attention_config fused = {.d_in = D_IN,
                                                .d_out = t->heads * WIDTH,
                                                .context_length = t->tokens,
                                                .num_heads = t->heads,
                                                .dropout = t->dropout,
                                                .out_proj = true,
                                                .is_causal = true};
  hw_module *causal = NULL;
  hw_module *wrapper = NULL;
  hw_module *module = NULL;
  float *y = check_guarded(BATCH * t->tokens * t->heads * WIDTH);
  hw_status status = HW_OK;
  if (t->kind == CAUSAL) {
    CHECK(hw_causal_attention_create(context, &head, &causal) == HW_OK, "create");
    status = forward_tokens(context, causal, x, BATCH, t->tokens, y, options);
  } else if (t->kind == WRAPPER) {
    CHECK(make_wrapper(context, &head, t->heads, &wrapper) == HW_OK, "create");
    status = forward_tokens(context, wrapper, x, BATCH, t->tokens, y, options);
  } else {
    CHECK(hw_multi_head_attention_create(context, &fused, &module) == HW_OK, "create");
    status = forward_tokens(context, module, x, BATCH, t->tokens, y, options);
  }
  /* The trace must not need the module. */
  hw_module_destroy(causal);
  hw_module_destroy(wrapper);
  hw_module_destroy(module);
  free(y);
  return status;
}

static void *create_mask(const traced *t, hw_mask *mask) {
  *mask = (hw_mask){.kind = t->mask, .key_stride = 1};
  if (t->mask == HW_MASK_NONE) {
    return NULL;
  }
  if (!t->broadcast) {
    mask->query_stride = t->tokens;
    mask->head_stride = t->tokens * t->tokens;
    mask->batch_stride = t->heads * mask->head_stride;
  }
  const size_t elements = t->broadcast ? t->tokens : BATCH * t->heads * t->tokens * t->tokens;
  const size_t element_bytes = t->mask == HW_MASK_BOOL ? 1 : sizeof(float);
  unsigned char *data = check_memory(elements * element_bytes);
  for (size_t i = 0; i < elements; i++) {
    const bool allows = i / t->tokens % 3 != 1 && check_random() % 3 != 0;
    const float added = allows ? check_random_float() : -INFINITY;
    if (t->mask == HW_MASK_BOOL) {
      data[i] = allows ? 1 : 0;
    } else {
      memcpy(data + i * sizeof(float), &added, sizeof added);
    }
  }
  mask->data = data;
  return data;
}

/* Everything of the forward but weights and trace is gone when this returns. */
static forward_result run_forward(const traced *t) {
  hw_context *context = NULL;
  forward_result result = {.weights = check_guarded(BATCH * t->heads * t->tokens * t->tokens)};
  float *x = check_floats(BATCH * t->tokens * D_IN);
  check_fill(x, BATCH * t->tokens * D_IN);
  hw_forward_options options = {.weights = result.weights, .trace = &result.trace};
  void *mask = create_mask(t, &options.mask);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK_STATUS(forward(context, t, x, &options), HW_OK);
  hw_context_destroy(context);
  free(mask);
  free(x);
  return result;
}

static void check_rows(hw_context *context, const traced *t, const forward_result *r, size_t head, size_t start,
                       size_t end) {
  float *out = check_guarded((end - start) * t->tokens);
  const float *expected = r->weights + (head * t->tokens + start) * t->tokens;
  CHECK_STATUS(hw_trace_weights(context, r->trace, head / t->heads, head % t->heads, start, end, out), HW_OK);
  CHECK(memcmp(out, expected, (end - start) * t->tokens * sizeof(float)) == 0,
        "module %d heads=%zu tokens=%zu mask=%d dropout=%g, head %zu, rows %zu to %zu differ", (int)t->kind, t->heads,
        t->tokens, (int)t->mask, t->dropout, head, start, end);
  free(out);
}

static void check_map(hw_context *context, const traced *t, const forward_result *r, size_t head, size_t size) {
  const size_t n = t->tokens;
  const float *weights = r->weights + head * n * n;
  float *out = check_guarded(size * size);
  CHECK_STATUS(hw_trace_map(context, r->trace, head / t->heads, head % t->heads, size, out), HW_OK);
  for (size_t cell = 0; cell < size * size; cell++) {
    const size_t row = cell / size * n / size;
    const size_t column = cell % size * n / size;
    const size_t row_end = (cell / size + 1) * n / size;
    const size_t column_end = (cell % size + 1) * n / size;
    float largest = 0.0F;
    for (size_t i = row; i < (row_end > row ? row_end : row + 1); i++) {
      for (size_t j = column; j < (column_end > column ? column_end : column + 1); j++) {
        largest = fmaxf(largest, weights[i * n + j]);
      }
    }
    CHECK(out[cell] == largest, "tokens=%zu size=%zu, cell %zu: %g, expected %g", n, size, cell, (double)out[cell],
          (double)largest);
  }
  free(out);
}

static void run_trace(traced t) {
  forward_result r = run_forward(&t);
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  const hw_trace_shape shape = hw_trace_get_shape(r.trace);
  CHECK(shape.batch == BATCH && shape.heads == t.heads && shape.query_tokens == t.tokens &&
            shape.key_tokens == t.tokens,
        "shape %zu %zu %zu %zu", shape.batch, shape.heads, shape.query_tokens, shape.key_tokens);
  CHECK(hw_trace_bytes(r.trace) >= 2 * BATCH * t.heads * t.tokens * WIDTH * sizeof(float), "%zu bytes",
        hw_trace_bytes(r.trace));
  for (size_t head = 0; head < BATCH * t.heads; head++) {
    check_rows(context, &t, &r, head, 0, t.tokens);
    for (size_t i = 0; i < 6; i++) {
      const size_t start = check_random_below(t.tokens);
      check_rows(context, &t, &r, head, start, start + 1 + check_random_below(t.tokens - start));
    }
    const size_t sizes[] = {1, 3, t.tokens, t.tokens + 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      check_map(context, &t, &r, head, sizes[i]);
    }
  }
  hw_context_destroy(context);
  hw_trace_destroy(r.trace);
  free(r.weights);
}

static void sweep(double dropout) {
  const size_t tokens[] = {1, 4, 5, 6, 8, 9, 33, HW_QUERY_BLOCK + 1};
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    for (int kind = 0; kind < MODULES; kind++) {
      const size_t heads = kind == CAUSAL ? 1 : 3;
      run_trace((traced){(module_kind)kind, heads, tokens[i], dropout, HW_MASK_NONE, false});
      for (int mask = HW_MASK_BOOL; mask <= HW_MASK_FLOAT; mask++) {
        run_trace((traced){(module_kind)kind, heads, tokens[i], dropout, (hw_mask_kind)mask, false});
        run_trace((traced){(module_kind)kind, heads, tokens[i], dropout, (hw_mask_kind)mask, true});
      }
    }
  }
}

static void test_without_dropout(void) { sweep(0.0); }

static void test_with_dropout(void) { sweep(0.3); }

static void test_with_all_dropped(void) { sweep(1.0); }

static void test_key_blocks(void) {
  run_trace((traced){WRAPPER, 2, HW_KEY_BLOCK + 1, 0.0, HW_MASK_NONE, false});
  run_trace((traced){FUSED, 2, HW_KEY_BLOCK + 1, 0.3, HW_MASK_FLOAT, true});
}

int main(void) {
  check_seed(6);
  check_run("a trace's weights and maps are its forward's, after module, mask and context are gone",
            test_without_dropout);
  check_run("they are after dropout too", test_with_dropout);
  check_run("they are where dropout leaves nothing", test_with_all_dropped);
  check_run("they are beyond one block of keys too", test_key_blocks);
  return check_result();
}
