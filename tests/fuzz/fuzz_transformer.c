/* Blocks and stacks of any size, norm and mask, with weights and traces, against float64. */
#include "core/tile.h"
#include "fuzz.h"
#include "reference_modules.h"

typedef struct transformer {
  hw_context *context;
  hw_transformer_block_config config;
  size_t layers;
  hw_transformer_stack *stack;
  reference_tokens t;
  hw_mask mask;
  void *mask_data;
  float *x; /* [batch, tokens, d_model] */
  size_t count;
  size_t layer_weights; /* of one layer: batch · heads · tokens · tokens */
} transformer;

/* Broadcast along any dimensions. One key in four is masked. */
static void draw_mask(fuzz_bytes *bytes, transformer *m) {
  const size_t heads = m->config.num_heads;
  const size_t tokens = m->t.tokens;
  const size_t strides[] = {heads * tokens * tokens, tokens * tokens, tokens, 1};
  const uint32_t kept = fuzz_byte(bytes);
  const size_t elements = m->t.batch * strides[0];
  m->mask = (hw_mask){
      .kind = (hw_mask_kind)(fuzz_byte(bytes) % 3),
      .batch_stride = (kept & 1u) != 0 ? strides[0] : 0,
      .head_stride = (kept & 2u) != 0 ? strides[1] : 0,
      .query_stride = (kept & 4u) != 0 ? strides[2] : 0,
      .key_stride = (kept & 8u) != 0 ? strides[3] : 0,
  };
  uint8_t *bits = check_memory(elements * sizeof(float));
  float *numbers = (float *)(void *)bits;
  for (size_t i = 0; i < elements; i++) {
    const bool masked = check_random() % 4 == 0;
    if (m->mask.kind == HW_MASK_BOOL) {
      bits[i] = masked ? 0 : 1;
    } else {
      numbers[i] = masked ? -INFINITY : 3.0F * check_random_float();
    }
  }
  m->mask_data = bits;
  m->mask.data = m->mask.kind == HW_MASK_NONE ? NULL : bits;
}

/* One in eight is longer than a block of queries. */
static transformer draw(fuzz_bytes *bytes) {
  const size_t heads = fuzz_size(bytes, 1, 3);
  transformer m = {
      .config = {.d_model = heads * fuzz_size(bytes, 1, 9),
                 .num_heads = heads,
                 .d_ff = fuzz_size(bytes, 1, 40),
                 .norm_first = fuzz_bool(bytes),
                 .is_causal = fuzz_bool(bytes)},
      .layers = fuzz_size(bytes, 1, 3),
      .t = {.batch = fuzz_size(bytes, 1, 2),
            .tokens = fuzz_byte(bytes) % 8 == 0 ? fuzz_size(bytes, 1, HW_QUERY_BLOCK + 9) : fuzz_size(bytes, 1, 25)},
  };
  CHECK(hw_context_create(&m.context) == HW_OK, "create");
  CHECK(hw_transformer_stack_create(m.context, &m.config, m.layers, &m.stack) == HW_OK, "create");
  for (size_t i = 0; i < m.layers; i++) {
    hw_transformer_block *block = hw_transformer_stack_block(m.stack, i);
    hw_layer_norm *const norms[] = {hw_transformer_block_ln1(block), hw_transformer_block_ln2(block)};
    for (size_t n = 0; n < 2; n++) {
      check_fill(hw_layer_norm_weight(norms[n]), m.config.d_model);
      check_fill(hw_layer_norm_bias(norms[n]), m.config.d_model);
    }
  }
  m.count = m.t.batch * m.t.tokens * m.config.d_model;
  m.layer_weights = m.t.batch * heads * m.t.tokens * m.t.tokens;
  m.x = check_floats(m.count);
  check_fill(m.x, m.count);
  draw_mask(bytes, &m);
  return m;
}

static void destroy(const transformer *m) {
  hw_transformer_stack_destroy(m->stack);
  hw_context_destroy(m->context);
  free(m->mask_data);
  free(m->x);
}

/* The stack in double: y, and the weights of every layer. */
static void reference_stack(const transformer *m, double *y, double *weights, double noise) {
  for (size_t i = 0; i < m->layers; i++) {
    hw_transformer_block *block = hw_transformer_stack_block(m->stack, i);
    reference_block(block, &m->config, &m->t, &m->mask, y, weights + i * m->layer_weights, noise);
  }
}

static void compare_trace(const transformer *m, const hw_trace *trace, const float *weights) {
  const size_t tokens = m->t.tokens;
  float *rows = check_guarded(tokens * tokens);
  for (size_t i = 0; i < m->t.batch * m->config.num_heads; i++) {
    const size_t batch = i / m->config.num_heads;
    const size_t head = i % m->config.num_heads;
    CHECK(hw_trace_weights(m->context, trace, batch, head, 0, tokens, rows) == HW_OK, "trace");
    for (size_t j = 0; j < tokens * tokens; j++) {
      const float expected = weights[i * tokens * tokens + j];
      CHECK(fabsf(rows[j] - expected) <= 1e-6F, "traced, %zu: %g, not %g", j, (double)rows[j], (double)expected);
    }
  }
  free(rows);
}

/* All layers, with all that can be asked for. */
static void run_stack(const transformer *m, const double *exact, const double *noisy, const double *exact_weights,
                      const double *noisy_weights) {
  hw_trace *traces[3] = {NULL, NULL, NULL};
  float *y = check_guarded(m->count);
  float *weights = check_guarded(m->layers * m->layer_weights);
  const hw_forward_options all = {.mask = m->mask, .weights = weights, .trace = traces};
  CHECK(hw_transformer_stack_forward(m->context, m->stack, m->x, m->t.batch, m->t.tokens, y, &all) == HW_OK, "forward");
  reference_compare(y, exact, noisy, m->count, "stack");
  reference_compare(weights, exact_weights, noisy_weights, m->layers * m->layer_weights, "weights");
  for (size_t i = 0; i < m->layers; i++) {
    compare_trace(m, traces[i], weights + i * m->layer_weights);
    hw_trace_destroy(traces[i]);
  }
  free(y);
  free(weights);
}

/* Block after block in place, with nothing but the mask. */
static void run_blocks(const transformer *m, const double *exact, const double *noisy) {
  const hw_forward_options options = {.mask = m->mask};
  for (size_t i = 0; i < m->layers; i++) {
    hw_transformer_block *block = hw_transformer_stack_block(m->stack, i);
    CHECK(hw_transformer_block_forward(m->context, block, m->x, m->t.batch, m->t.tokens, m->x, &options) == HW_OK,
          "forward");
  }
  reference_compare(m->x, exact, noisy, m->count, "blocks in place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  const transformer m = draw(&bytes);
  double *exact = reference_widen(m.x, m.count);
  double *noisy = reference_widen(m.x, m.count);
  double *exact_weights = reference_doubles(m.layers * m.layer_weights);
  double *noisy_weights = reference_doubles(m.layers * m.layer_weights);
  reference_stack(&m, exact, exact_weights, 0.0);
  reference_stack(&m, noisy, noisy_weights, REFERENCE_NOISE);
  run_stack(&m, exact, noisy, exact_weights, noisy_weights);
  run_blocks(&m, exact, noisy);
  destroy(&m);
  free(exact);
  free(noisy);
  free(exact_weights);
  free(noisy_weights);
  return fuzz_end();
}
