#include "kernels/visibility.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/tile.h"

/* One row of a mask as far as a tile reaches: what is added to scores, -inf where nothing may be seen. */
typedef struct mask_row {
  hw_f32x4 added[HW_TILE_VECTORS];
} mask_row;

/* index, or the nearest end of [0, limit]. */
static size_t within(int64_t index, size_t limit) {
  return index <= 0 ? 0 : (size_t)(index < (int64_t)limit ? index : (int64_t)limit);
}

static hw_key_range keys_between(const hw_visibility *visible, size_t start_row, size_t end_row) {
  return (hw_key_range){within((int64_t)start_row + visible->start_shift, visible->key_tokens),
                        within((int64_t)end_row + visible->end_shift, visible->key_tokens)};
}

hw_key_range hw_keys_of_any(const hw_visibility *visible, size_t row, size_t rows) {
  return keys_between(visible, row, row + rows - 1);
}

hw_sight hw_sight_of(const hw_visibility *visible, size_t row, size_t rows) {
  return (hw_sight){visible, row, rows, hw_keys_of_any(visible, row, rows), keys_between(visible, row + rows - 1, row)};
}

static mask_row load_bool_row(const uint8_t *mask) {
  return (mask_row){{hw_choose_bytes(mask, hw_splat(0.0F), hw_splat(-INFINITY)),
                     hw_choose_bytes(mask + HW_LANES, hw_splat(0.0F), hw_splat(-INFINITY))}};
}

static mask_row load_float_row(const float *mask) { return (mask_row){{hw_load(mask), hw_load(mask + HW_LANES)}}; }

/* Element by element: across the end of the keys, or with strides that leave gaps. */
static mask_row gather_row(const hw_visibility *visible, size_t first, size_t count) {
  float added[HW_TILE_COLUMNS];
  for (size_t j = 0; j < HW_TILE_COLUMNS; j++) {
    const size_t element = first + hw_min(j, count - 1) * visible->key_stride;
    added[j] = visible->mask_kind == HW_MASK_FLOAT              ? ((const float *)visible->mask)[element]
               : ((const uint8_t *)visible->mask)[element] != 0 ? 0.0F
                                                                : -INFINITY;
  }
  return load_float_row(added);
}

static mask_row row_of_mask(const hw_visibility *visible, size_t row, size_t key) {
  const size_t first = row * visible->query_stride + key * visible->key_stride;
  const size_t count = visible->key_tokens - key;
  if (visible->key_stride != 1 || count < HW_TILE_COLUMNS) {
    return gather_row(visible, first, count);
  }
  return visible->mask_kind == HW_MASK_BOOL ? load_bool_row((const uint8_t *)visible->mask + first)
                                            : load_float_row((const float *)visible->mask + first);
}

/* Eight bytes at once; a byte is zero where (word - ones) & ~word has its top bit set. */
static hw_tile_visibility see_bools(const uint8_t *mask, size_t query_stride, size_t rows) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t any = 0;
  uint64_t zeros = 0;
  for (size_t r = 0; r < rows; r++) {
    uint64_t word;
    memcpy(&word, mask + r * query_stride, sizeof word);
    any |= word;
    zeros |= (word - ones) & ~word & (ones << 7);
  }
  return any == 0 ? HW_TILE_HIDDEN : zeros == 0 ? HW_TILE_VISIBLE : HW_TILE_PARTIAL;
}

static hw_tile_visibility see_floats(const float *mask, size_t query_stride, size_t rows) {
  const hw_f32x4 hidden = hw_splat(-INFINITY);
  const hw_f32x4 nothing = hw_splat(0.0F);
  hw_f32x4 all_hidden = hw_equal(nothing, nothing);
  hw_f32x4 all_visible = all_hidden;
  for (size_t r = 0; r < rows; r++) {
    const hw_f32x4 low = hw_load(mask + r * query_stride);
    const hw_f32x4 high = hw_load(mask + r * query_stride + HW_LANES);
    all_hidden = hw_and(all_hidden, hw_and(hw_equal(low, hidden), hw_equal(high, hidden)));
    all_visible = hw_and(all_visible, hw_and(hw_equal(low, nothing), hw_equal(high, nothing)));
  }
  return hw_all_true(all_hidden) ? HW_TILE_HIDDEN : hw_all_true(all_visible) ? HW_TILE_VISIBLE : HW_TILE_PARTIAL;
}

static hw_tile_visibility see_mask(const hw_sight *sight, size_t key) {
  const hw_visibility *visible = sight->visible;
  if (visible->key_stride != 1 || visible->key_tokens - key < HW_TILE_COLUMNS) {
    return HW_TILE_PARTIAL;
  }
  const size_t first = sight->row * visible->query_stride + key;
  return visible->mask_kind == HW_MASK_BOOL
             ? see_bools((const uint8_t *)visible->mask + first, visible->query_stride, sight->rows)
             : see_floats((const float *)visible->mask + first, visible->query_stride, sight->rows);
}

/* Every row sees every key of the tile, the mask apart. */
static bool is_in_sight(const hw_sight *sight, size_t key) {
  return key >= sight->all.start && key + HW_TILE_COLUMNS <= sight->all.end;
}

hw_tile_visibility hw_see_tile(const hw_sight *sight, size_t key) {
  const hw_tile_visibility in_range = is_in_sight(sight, key) ? HW_TILE_VISIBLE : HW_TILE_PARTIAL;
  if (sight->visible->mask_kind == HW_MASK_NONE) {
    return in_range;
  }
  const hw_tile_visibility by_mask = see_mask(sight, key);
  return by_mask == HW_TILE_VISIBLE ? in_range : by_mask;
}

/* Chosen, not added: -inf forbids whatever the score is. */
static void add_mask(const mask_row *mask, float *scores) {
  const hw_f32x4 hidden = hw_splat(-INFINITY);
  for (size_t v = 0; v < HW_TILE_VECTORS; v++) {
    const hw_f32x4 sum = hw_add(hw_load(scores + v * HW_LANES), mask->added[v]);
    hw_store(scores + v * HW_LANES, hw_choose(hw_equal(mask->added[v], hidden), hidden, sum));
  }
}

/* A column of a tile, or one so far away that no row of the tile comes near it. */
static int32_t near_tile(int64_t column) {
  return (int32_t)within(column + HW_TILE_COLUMNS, (size_t)2 * HW_TILE_COLUMNS) - HW_TILE_COLUMNS;
}

/* Loaded, not written as a literal: V8 makes a literal anew in every round of a loop. */
extern float hw_hidden_score;
float hw_hidden_score = -INFINITY;

/* Row r sees the columns from start + r up to end + r, but none from `limit` on. */
static void cut_tile(int32_t start, int32_t end, int32_t limit, size_t rows, float *scores, size_t stride) {
  const hw_f32x4 hidden = hw_load_splat(&hw_hidden_score);
  for (int32_t c = 0; c < HW_TILE_COLUMNS; c += HW_LANES) {
    const hw_f32x4 from_start = hw_integers_from(c - start + 1);
    const hw_f32x4 from_end = hw_integers_from(c - end);
    const hw_f32x4 exists = hw_integer_above(hw_splat_integer(limit - c), hw_integers_from(0));
    for (size_t r = 0; r < rows; r++) {
      const hw_f32x4 row = hw_splat_integer((int32_t)r);
      const hw_f32x4 seen = hw_and(hw_integer_above(from_start, row), hw_integer_above(row, from_end));
      float *four = scores + r * stride + c;
      hw_store(four, hw_choose(hw_and(seen, exists), hw_load(four), hidden));
    }
  }
}

void hw_mask_tile(const hw_sight *sight, size_t key, float *scores, size_t stride) {
  const hw_visibility *visible = sight->visible;
  const int64_t shift = (int64_t)sight->row - (int64_t)key;
  for (size_t r = 0; visible->mask_kind != HW_MASK_NONE && r < sight->rows; r++) {
    const mask_row mask = row_of_mask(visible, sight->row + r, key);
    add_mask(&mask, scores + r * stride);
  }
  if (!is_in_sight(sight, key)) {
    cut_tile(near_tile(shift + visible->start_shift), near_tile(shift + visible->end_shift),
             near_tile((int64_t)visible->key_tokens - (int64_t)key), sight->rows, scores, stride);
  }
}
