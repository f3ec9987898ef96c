/* A query that is alone takes another path through memory than one among others: the numbers are the same to the bit,
 * and those of the reference. */
#include "attention_case.h"
#include "core/tile.h"

static const size_t key_counts[] = {1,
                                    7,
                                    8,
                                    9,
                                    HW_KEY_BLOCK - 1,
                                    HW_KEY_BLOCK,
                                    HW_KEY_BLOCK + 1,
                                    3 * HW_KEY_BLOCK + 5,
                                    HW_ROW_KEYS - 1,
                                    HW_ROW_KEYS,
                                    HW_ROW_KEYS + 1,
                                    2 * HW_ROW_KEYS + HW_KEY_BLOCK + 3};

enum { KEY_COUNTS = sizeof key_counts / sizeof *key_counts };

static void test_reference(void) {
  for (size_t i = 0; i < KEY_COUNTS; i++) {
    for (int mask = HW_MASK_NONE; mask <= HW_MASK_FLOAT; mask++) {
      const size_t widths[] = {1, 7, 8, 33, 64};
      for (size_t w = 0; w < 5; w++) {
        const size_t width = widths[w];
        case_run((attention_case){.batch = 1,
                                  .heads = 2,
                                  .queries = 1,
                                  .keys = key_counts[i],
                                  .key_width = width,
                                  .value_width = width + i % 3 * 16,
                                  .is_causal = i % 2 == 0,
                                  .causal_offset = (int32_t)key_counts[i] - 1 - (int32_t)w,
                                  .mask = (hw_mask_kind)mask,
                                  .broadcast = w % 2 == 0 ? BROADCAST_NOTHING : BROADCAST_HEAD,
                                  .records = true,
                                  .dropout = w == 3 ? 0.4 : 0.0});
      }
    }
  }
}

/* Every query of the case by itself: the call with its row of everything, into `out` [rows, value_width]. */
static void run_alone(hw_context *context, const hw_attention *together, size_t query, float *out) {
  hw_attention a = *together;
  a.query += query * a.query_strides.token;
  a.query_tokens = 1;
  a.causal_offset += (int32_t)query;
  const size_t skipped = query * a.mask.query_stride;
  a.mask.data = a.mask.kind == HW_MASK_BOOL    ? (const void *)((const uint8_t *)a.mask.data + skipped)
                : a.mask.kind == HW_MASK_FLOAT ? (const void *)((const float *)a.mask.data + skipped)
                                               : NULL;
  a.output = out;
  a.output_strides = (hw_strides){.head = a.value_width, .token = a.value_width};
  a.weights = NULL;
  a.log_sum_exp = NULL;
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &a), HW_OK);
}

static void compare_alone(attention_case c) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  attention_buffers buffers = case_create(&c);
  const hw_attention *a = &buffers.call;
  float *alone = check_guarded(c.heads * c.value_width);
  CHECK(hw_scaled_dot_product_attention(context, a) == HW_OK, "together");
  for (size_t query = 0; query < c.queries; query++) {
    run_alone(context, a, query, alone);
    for (size_t i = 0; i < c.heads * c.value_width; i++) {
      const size_t at =
          i / c.value_width * a->output_strides.head + query * a->output_strides.token + i % c.value_width;
      CHECK(check_bits(alone[i]) == check_bits(a->output[at]),
            "keys=%zu mask=%d query %zu, %zu: %.9g, among others %.9g", c.keys, (int)c.mask, query, i, (double)alone[i],
            (double)a->output[at]);
    }
  }
  free(alone);
  case_destroy(&buffers);
  hw_context_destroy(context);
}

/* Scores that spread widely, so that maxima rise from block to block. */
static void test_bits(void) {
  for (size_t i = 0; i < KEY_COUNTS; i++) {
    for (int mask = HW_MASK_NONE; mask <= HW_MASK_FLOAT; mask++) {
      const size_t keys = key_counts[i];
      compare_alone((attention_case){.batch = 1,
                                     .heads = 3,
                                     .queries = HW_TILE_ROWS,
                                     .keys = keys,
                                     .key_width = 17,
                                     .value_width = 40,
                                     .is_causal = mask == HW_MASK_NONE,
                                     .causal_offset = keys > HW_TILE_ROWS ? (int32_t)keys - HW_TILE_ROWS : 0,
                                     .mask = (hw_mask_kind)mask,
                                     .magnitude = 3.0F});
    }
  }
}

int main(void) {
  check_seed(14);
  check_run("a single query agrees with the reference, whatever the keys, widths and masks", test_reference);
  check_run("it gives what it gives among others, to the bit", test_bits);
  return check_result();
}
