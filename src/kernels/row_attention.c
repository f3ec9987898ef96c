#include "kernels/row_attention.h"

#include <math.h>

#include "core/memory.h"
#include "kernels/elementwise.h"
#include "kernels/online_softmax.h"
#include "kernels/pack.h"
#include "kernels/row_panels.h"
#include "kernels/softmax.h"

enum {
  SPAN_BLOCKS = HW_ROW_KEYS / HW_KEY_BLOCK,
  GROUP_COLUMNS = HW_ROW_PANELS * HW_TILE_COLUMNS,
};

/* The keys whose scores the strip holds. */
typedef struct hw_span {
  const hw_attention_head *head;
  const hw_strip *strip;
  size_t row;
  size_t key;     /* the first */
  size_t visible; /* columns of keys that exist */
  size_t blocks;
  float factors[SPAN_BLOCKS]; /* what is summed is multiplied by this before the block's values */
} hw_span;

/* The part of a range that lies in a block; empty if its end is not above its start. */
static hw_key_range part_of(hw_key_range range, size_t block) {
  const size_t start = block * HW_KEY_BLOCK;
  return (hw_key_range){range.start > start ? range.start : start, hw_min(range.end, start + HW_KEY_BLOCK)};
}

static float block_maximum(const hw_strip *strip, size_t block) {
  float maximum = -INFINITY;
  for (size_t i = 0; i < strip->range_count; i++) {
    const hw_key_range part = part_of(strip->ranges[i], block);
    if (part.start < part.end) {
      const float largest = hw_row_maximum(strip->scores + part.start, part.end - part.start);
      maximum = largest > maximum ? largest : maximum;
    }
  }
  return maximum;
}

static void weigh_block(hw_span *span, size_t block) {
  const hw_strip *strip = span->strip;
  const hw_attention_head *head = span->head;
  span->factors[block] = hw_raise_maximum(head, span->row, block_maximum(strip, block));
  for (size_t i = 0; i < strip->range_count; i++) {
    const hw_key_range part = part_of(strip->ranges[i], block);
    if (part.start < part.end) {
      const size_t count = hw_min(part.end, span->visible) - part.start;
      const hw_scored_keys keys = {span->key + part.start, part.end - part.start, count};
      hw_weigh_scores(head, span->row, 1, &keys, strip->scores + part.start, head->row_sum + span->row);
    }
  }
}

/* The values of one block, in some of their columns. */
static void add_block(const hw_span *span, size_t block, size_t column, size_t columns, float *weighted) {
  const hw_key_value_panels *panels = &span->head->panels;
  const float *values = panels->values;
  for (size_t i = 0; i < span->strip->range_count; i++) {
    const hw_key_range part = part_of(span->strip->ranges[i], block);
    if (part.start < part.end) {
      hw_row_times_panels(&(hw_row_product){
          .a = span->strip->scores + part.start,
          .k = hw_min(part.end, span->visible) - part.start,
          .panels = values + column * panels->capacity + (span->key + part.start) * HW_TILE_COLUMNS,
          .panel_stride = panels->capacity * HW_TILE_COLUMNS,
          .count = columns / HW_TILE_COLUMNS,
          .start = weighted,
          .start_stride = HW_TILE_COLUMNS,
          .y = weighted,
      });
    }
  }
}

static void add_values(const hw_span *span, float *weighted) {
  const size_t width = hw_whole_panels(span->head->panels.value_width);
  for (size_t column = 0; column < width; column += GROUP_COLUMNS) {
    const size_t columns = hw_min(width - column, GROUP_COLUMNS);
    for (size_t block = 0; block < span->blocks; block++) {
      if (span->factors[block] != 1.0F) {
        hw_row_scale(weighted + column, weighted + column, columns, span->factors[block]);
      }
      add_block(span, block, column, columns, weighted + column);
    }
  }
}

void hw_row_attention(const hw_attention_head *head, size_t row, const float *query, hw_key_range keys, hw_strip *strip,
                      float *weighted) {
  const hw_score_source source = hw_attention_source(head, &head->panels);
  for (size_t key = keys.start; key < keys.end; key += HW_ROW_KEYS) {
    hw_score_strip(&source, query, row, 1, key, key + HW_ROW_KEYS, strip);
    hw_span span = {
        .head = head,
        .strip = strip,
        .row = row,
        .key = key,
        .visible = keys.end - key,
        .blocks = hw_ceil_divide(hw_min(keys.end - key, HW_ROW_KEYS), HW_KEY_BLOCK),
    };
    for (size_t block = 0; block < span.blocks; block++) {
      weigh_block(&span, block);
    }
    add_values(&span, weighted);
  }
}
