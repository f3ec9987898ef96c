/* Scaled dot-product attention around every tile and block, with every mask, against float64. */
#include "attention_case.h"
#include "core/tile.h"
#include "kernels/attention.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static attention_case plain(size_t queries, size_t keys, size_t key_width, size_t value_width) {
  return (attention_case){.batch = 1,
                          .heads = 1,
                          .queries = queries,
                          .keys = keys,
                          .key_width = key_width,
                          .value_width = value_width,
                          .records = true};
}

/* Without a mask, causal at both alignments and beyond, and with each kind of mask. */
static void run_masks(attention_case c) {
  const int32_t difference = (int32_t)c.keys - (int32_t)c.queries;
  const int32_t offsets[] = {0, difference, -1, -(int32_t)c.queries, 3, (int32_t)c.keys, INT32_MAX, INT32_MIN};
  case_run(c);
  c.is_causal = true;
  for (size_t i = 0; i < COUNT(offsets); i++) {
    c.causal_offset = offsets[i];
    case_run(c);
  }
  c.causal_offset = 1;
  for (c.mask = HW_MASK_BOOL; c.mask <= HW_MASK_FLOAT; c.mask++) {
    case_run(c);
    c.is_causal = false;
    case_run(c);
  }
}

static void test_small_tiles(void) {
  for (size_t queries = 1; queries <= 2 * HW_TILE_ROWS + 1; queries++) {
    for (size_t keys = 1; keys <= 2 * HW_TILE_COLUMNS + 1; keys++) {
      run_masks(plain(queries, keys, 5, 3));
    }
  }
}

static void test_widths(void) {
  const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64};
  for (size_t k = 0; k < COUNT(widths); k++) {
    for (size_t v = 0; v < COUNT(widths); v++) {
      run_masks(plain(HW_TILE_ROWS + 2, HW_TILE_COLUMNS + 3, widths[k], widths[v]));
    }
  }
}

static void test_query_blocks(void) {
  for (size_t queries = HW_QUERY_BLOCK - 1; queries <= HW_QUERY_BLOCK + 1; queries++) {
    run_masks(plain(queries, 9, 8, 8));
    run_masks(plain(queries, queries, 7, 9));
  }
  run_masks(plain(2 * HW_QUERY_BLOCK + 1, 3, 2, 2));
}

static void test_key_blocks(void) {
  for (size_t keys = HW_KEY_BLOCK - 1; keys <= HW_KEY_BLOCK + 1; keys++) {
    run_masks(plain(HW_TILE_ROWS + 1, keys, 8, 8));
  }
  run_masks(plain(7, 2 * HW_KEY_BLOCK + 1, 5, 3));
  attention_case whole = plain(HW_QUERY_BLOCK + 1, 2 * HW_KEY_BLOCK + 1, 16, 8);
  case_run(whole);
  whole.is_causal = true;
  whole.causal_offset = HW_KEY_BLOCK - 3; /* rows end on both sides of a block's edge */
  case_run(whole);
  whole.mask = HW_MASK_FLOAT; /* a third of the rows sees no key of the first block's even ones */
  case_run(whole);
}

static void test_heads_and_batches(void) {
  for (size_t heads = 1; heads <= 3; heads++) {
    for (size_t batch = 1; batch <= 3; batch++) {
      for (int in_row = 0; in_row <= 1; in_row++) {
        attention_case c = plain(7, 10, 5, 9);
        c.batch = batch;
        c.heads = heads;
        c.heads_in_row = in_row != 0;
        run_masks(c);
        c.records = false;
        run_masks(c);
      }
    }
  }
}

static void test_mask_broadcasts(void) {
  for (unsigned broadcast = 0; broadcast <= 15; broadcast++) {
    for (size_t keys = 9; keys <= HW_KEY_BLOCK + 2; keys += HW_KEY_BLOCK - 7) {
      attention_case c = plain(6 + broadcast % 2, keys, 5, 3);
      c.batch = 2;
      c.heads = 3;
      c.broadcast = broadcast;
      run_masks(c);
    }
  }
}

static void test_large_logits(void) {
  const float magnitudes[] = {10.0F, 100.0F, 1000.0F};
  for (size_t i = 0; i < COUNT(magnitudes); i++) {
    for (size_t keys = 5; keys <= HW_KEY_BLOCK + 5; keys += HW_KEY_BLOCK / 2) {
      attention_case c = plain(7, keys, 8, 5);
      c.magnitude = magnitudes[i];
      run_masks(c);
    }
  }
}

static void test_dropout(void) {
  const double dropouts[] = {0.1, 0.5, 0.9, 1.0};
  for (size_t i = 0; i < COUNT(dropouts); i++) {
    for (size_t keys = 31; keys <= HW_KEY_BLOCK + 33; keys += HW_KEY_BLOCK / 4) {
      attention_case c = plain(HW_TILE_ROWS + 2, keys, 5, 9);
      c.batch = 2;
      c.heads = 2;
      c.dropout = dropouts[i];
      run_masks(c);
      c.records = false;
      run_masks(c);
    }
  }
}

static void test_dropout_is_reproducible(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  attention_case c = plain(9, 40, 5, 9);
  c.dropout = 0.5;
  attention_buffers buffers = case_create(&c);
  float *first = check_floats(buffers.output_floats);
  for (uint64_t seed = 0; seed < 10; seed++) {
    hw_manual_seed(context, seed);
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    memcpy(first, buffers.call.output, buffers.output_floats * sizeof(float));
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    CHECK(memcmp(first, buffers.call.output, buffers.output_floats * sizeof(float)) != 0, "drew the same mask twice");
    hw_manual_seed(context, seed);
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    CHECK(memcmp(first, buffers.call.output, buffers.output_floats * sizeof(float)) == 0, "seed gave another mask");
  }
  free(first);
  case_destroy(&buffers);
  hw_context_destroy(context);
}

static void test_scales(void) {
  const float scales[] = {0.0F, 1.0F, -0.5F, 3.0F};
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t i = 0; i < COUNT(scales); i++) {
    attention_case c = plain(7, 11, 5, 3);
    attention_buffers buffers = case_create(&c);
    buffers.call.scale = scales[i];
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    case_compare(&buffers, NULL);
    case_destroy(&buffers);
  }
  hw_context_destroy(context);
}

/* Beyond the packed keys and values. */
static void test_scratch_of_a_thread(void) {
  for (size_t width = 1; width <= 256; width++) {
    const size_t bytes = hw_attention_scratch_of(HW_MATRIX_FLOAT32, width, width).bytes;
    CHECK(bytes < 1u << 20, "%zu bytes for width %zu", bytes, width);
    check_case();
  }
}

static void test_grouped_heads(void) {
  const size_t groups[][2] = {{2, 1}, {4, 2}, {6, 3}, {6, 1}, {5, 5}};
  for (size_t i = 0; i < COUNT(groups); i++) {
    for (int in_row = 0; in_row <= 1; in_row++) {
      attention_case c = plain(7, 10, 5, 9);
      c.batch = 2;
      c.heads = groups[i][0];
      c.key_heads = groups[i][1];
      c.heads_in_row = in_row != 0;
      run_masks(c);
    }
  }
  attention_case many = plain(3, 2 * HW_KEY_BLOCK + 1, 16, 8);
  many.batch = 2;
  many.heads = 12;
  many.key_heads = 6; /* more than are packed at a time */
  run_masks(many);
}

static void test_softcap(void) {
  const float caps[] = {HW_SMALLEST_SOFTCAP, 1e-3F, 0.5F, 1.0F, 50.0F, 1e4F, HW_LARGEST_SOFTCAP};
  const float magnitudes[] = {1.0F, 10.0F, 300.0F};
  for (size_t i = 0; i < COUNT(caps); i++) {
    for (size_t m = 0; m < COUNT(magnitudes); m++) {
      for (size_t keys = 5; keys <= HW_KEY_BLOCK + 13; keys += HW_KEY_BLOCK / 2) {
        attention_case c = plain(HW_TILE_ROWS + 2, keys, 8, 5);
        c.softcap = caps[i];
        c.magnitude = magnitudes[m];
        run_masks(c);
        c.queries = 1;
        run_masks(c);
      }
    }
  }
}

static void test_key_lengths(void) {
  for (size_t batch = 1; batch <= 5; batch += 2) {
    for (size_t keys = 1; keys <= 2 * HW_KEY_BLOCK + 9; keys = 2 * keys + 7) {
      attention_case c = plain(HW_TILE_ROWS + 2, keys, 5, 3);
      c.batch = batch;
      c.heads = 2;
      c.has_lengths = true;
      run_masks(c);
      c.offset_from_end = true;
      run_masks(c);
      c.queries = 1;
      run_masks(c);
    }
  }
}

static void test_offset_from_end(void) {
  for (size_t keys = 1; keys <= 2 * HW_TILE_COLUMNS + 1; keys++) {
    attention_case c = plain(HW_TILE_ROWS + 4, keys, 5, 3);
    c.offset_from_end = true;
    run_masks(c);
  }
}

static void test_windows(void) {
  const int32_t windows[][2] = {{0, 0}, {3, -1}, {-1, 2}, {7, 8}, {100, 1}, {INT32_MAX, INT32_MAX}};
  for (size_t i = 0; i < COUNT(windows); i++) {
    for (size_t keys = 3; keys <= 2 * HW_KEY_BLOCK + 9; keys = 3 * keys + 5) {
      attention_case c = plain(2 * HW_TILE_ROWS + 3, keys, 5, 3);
      c.is_windowed = true;
      c.window_left = windows[i][0];
      c.window_right = windows[i][1];
      run_masks(c);
      c.batch = 3;
      c.has_lengths = true;
      c.offset_from_end = true;
      run_masks(c);
    }
  }
}

static void test_kinds_of_weights(void) {
  for (hw_weights_kind kind = HW_WEIGHTS_SCORES; kind <= HW_WEIGHTS_MASKED; kind++) {
    for (size_t keys = 1; keys <= 2 * HW_KEY_BLOCK + 9; keys = 3 * keys + 5) {
      attention_case c = plain(HW_TILE_ROWS + 2, keys, 5, 3);
      c.kind = kind;
      c.batch = 3;
      c.heads = 4;
      c.key_heads = 2;
      run_masks(c);
      c.softcap = 0.5F;
      c.has_lengths = true;
      c.dropout = 0.5;
      run_masks(c);
    }
  }
}

/* Everything at once, in every combination. */
static void test_combinations(void) {
  for (unsigned bits = 0; bits < 64; bits++) {
    attention_case c = plain(HW_TILE_ROWS + 3, HW_KEY_BLOCK + 21, 7, 9);
    c.batch = 3;
    c.heads = 4;
    c.key_heads = bits & 1u ? 2 : 4;
    c.softcap = bits & 2u ? 1.5F : 0.0F;
    c.has_lengths = (bits & 4u) != 0;
    c.offset_from_end = (bits & 8u) != 0;
    c.is_windowed = (bits & 16u) != 0;
    c.window_left = 40;
    c.window_right = 9;
    c.dropout = bits & 32u ? 0.25 : 0.0;
    run_masks(c);
  }
}

int main(void) {
  check_seed(3);
  check_run("attention around the tile equals float64's, with every mask", test_small_tiles);
  check_run("key and value widths may differ", test_widths);
  check_run("query blocks meet at HW_QUERY_BLOCK", test_query_blocks);
  check_run("key blocks meet at HW_KEY_BLOCK", test_key_blocks);
  check_run("batches and heads lie where their strides say, and nothing between is touched", test_heads_and_batches);
  check_run("masks broadcast along any of their dimensions", test_mask_broadcasts);
  check_run("large scores do not overflow", test_large_logits);
  check_run("dropout drops what the generator draws, in weights and output alike", test_dropout);
  check_run("dropout repeats with its seed", test_dropout_is_reproducible);
  check_run("any scale is taken", test_scales);
  check_run("grouped heads share keys and values", test_grouped_heads);
  check_run("a soft cap bends scores before the mask", test_softcap);
  check_run("keys beyond a batch entry's length are not there", test_key_lengths);
  check_run("the diagonal may count from the end", test_offset_from_end);
  check_run("windows move with the query", test_windows);
  check_run("scores come back before and after cap and mask", test_kinds_of_weights);
  check_run("grouped heads, cap, lengths, offset, window and dropout combine", test_combinations);
  check_run("a thread needs less than a megabyte", test_scratch_of_a_thread);
  return check_result();
}
