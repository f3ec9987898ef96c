/* Blocks and stacks of any size, norm and mask, with weights and traces, against float64. */
#include "core/tile.h"
#include "fuzz.h"
#include "reference_modules.h"

typedef struct transformer {
  hw_context *context;
  hw_transformer_block_config config;
  size_t layers;
  hw_module *stack;
  reference_tokens t;
  hw_mask mask;
  void *mask_data;
  const float *head_mask; /* NULL, or of every layer */
  float *x;               /* [batch, tokens, d_model] */
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
                 .is_causal = fuzz_bool(bytes),
                 .attention_bias = fuzz_bool(bytes),
                 .approximate = (hw_gelu_approximation)(fuzz_byte(bytes) % 2),
                 .eps = fuzz_bool(bytes) ? 1e-3 : 0.0},
      .layers = fuzz_size(bytes, 1, 3),
      .t = {.batch = fuzz_size(bytes, 1, 2),
            .tokens = fuzz_byte(bytes) % 8 == 0 ? fuzz_size(bytes, 1, HW_QUERY_BLOCK + 9) : fuzz_size(bytes, 1, 25)},
  };
  CHECK(hw_context_create(&m.context) == HW_OK, "create");
  CHECK(make_stack(m.context, &m.config, m.layers, &m.stack) == HW_OK, "create");
  for (size_t i = 0; i < m.layers; i++) {
    fill_part(part_of(block_of(whole(m.stack), "blocks", i), "ln1"));
    fill_part(part_of(block_of(whole(m.stack), "blocks", i), "ln2"));
  }
  m.count = m.t.batch * m.t.tokens * m.config.d_model;
  m.layer_weights = m.t.batch * heads * m.t.tokens * m.t.tokens;
  m.x = check_floats(m.count);
  check_fill(m.x, m.count);
  draw_mask(bytes, &m);
  static const float head_mask[] = {1.0F, 0.0F, 0.5F, 0.0F, 1.0F, -1.0F, 2.0F, 1.0F, 0.0F};
  m.head_mask = fuzz_bool(bytes) ? head_mask : NULL;
  return m;
}

static void destroy(const transformer *m) {
  hw_module_destroy(m->stack);
  hw_context_destroy(m->context);
  free(m->mask_data);
  free(m->x);
}

/* What the stack gives in double, and how far noise moves it. */
typedef struct expectation {
  double *y;
  double *weights; /* of every layer */
  double moved;
  double moved_weights;
} expectation;

/* The masks of one layer. */
static hw_forward_options options_of(const transformer *m, size_t layer) {
  const float *factors = m->head_mask == NULL ? NULL : m->head_mask + layer * m->config.num_heads;
  return (hw_forward_options){.mask = m->mask, .head_mask = factors};
}

static void reference_blocks(const transformer *m, double *y, double *weights, double noise) {
  for (size_t i = 0; i < m->count; i++) {
    y[i] = (double)m->x[i];
  }
  for (size_t i = 0; i < m->layers; i++) {
    const hw_forward_options asked = options_of(m, i);
    reference_block(block_of(whole(m->stack), "blocks", i), &m->config, &m->t, &asked, y,
                    weights + i * m->layer_weights, noise);
  }
}

static expectation expect(const transformer *m) {
  const size_t cells = m->layers * m->layer_weights;
  double *noisy = reference_doubles(m->count);
  double *noisy_weights = reference_doubles(cells);
  expectation e = {.y = reference_doubles(m->count), .weights = reference_doubles(cells)};
  reference_blocks(m, e.y, e.weights, 0.0);
  for (size_t run = 0; run < REFERENCE_RUNS; run++) {
    reference_blocks(m, noisy, noisy_weights, REFERENCE_NOISE);
    e.moved = fmax(e.moved, reference_distance(e.y, noisy, m->count));
    e.moved_weights = fmax(e.moved_weights, reference_distance(e.weights, noisy_weights, cells));
  }
  free(noisy);
  free(noisy_weights);
  return e;
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
static void run_stack(const transformer *m, const expectation *e) {
  const size_t cells = m->layers * m->layer_weights;
  hw_trace *traces[3] = {NULL, NULL, NULL};
  float *y = check_guarded(m->count);
  float *weights = check_guarded(cells);
  const hw_forward_options all = {.mask = m->mask, .weights = weights, .trace = traces, .head_mask = m->head_mask};
  CHECK(forward_tokens(m->context, m->stack, m->x, m->t.batch, m->t.tokens, y, &all) == HW_OK, "forward");
  reference_compare(y, e->y, e->moved, m->count, "stack");
  reference_compare(weights, e->weights, e->moved_weights, cells, "weights");
  for (size_t i = 0; i < m->layers; i++) {
    compare_trace(m, traces[i], weights + i * m->layer_weights);
    hw_trace_destroy(traces[i]);
  }
  free(y);
  free(weights);
}

/* Block after block in place, with nothing but the masks. */
static void run_blocks(const transformer *m, const expectation *e) {
  for (size_t i = 0; i < m->layers; i++) {
    const hw_forward_options options = options_of(m, i);
    hw_module *block = nth_child(m->stack, "blocks", i);
    CHECK(forward_tokens(m->context, block, m->x, m->t.batch, m->t.tokens, m->x, &options) == HW_OK, "forward");
  }
  reference_compare(m->x, e->y, e->moved, m->count, "blocks in place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  const transformer m = draw(&bytes);
  const expectation e = expect(&m);
  run_stack(&m, &e);
  run_blocks(&m, &e);
  destroy(&m);
  free(e.y);
  free(e.weights);
  return fuzz_end();
}
