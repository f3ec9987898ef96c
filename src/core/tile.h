/*
 * Tile and block sizes, all of them, with the sums that justify them.
 *
 * V8 allocates 15 vector registers on x64. A tile of HW_TILE_ROWS × HW_TILE_COLUMNS keeps its accumulators,
 * one row of the panel and one broadcast in registers, and a product when it is not fused.
 */
#ifndef HW_CORE_TILE_H
#define HW_CORE_TILE_H

#include "core/simd.h"

enum {
  HW_TILE_COLUMNS = 8,
  HW_TILE_VECTORS = HW_TILE_COLUMNS / HW_LANES,
  HW_TILE_ROWS = HW_FUSED ? 6 : 5,

  /* A single row is multiplied by this many panels at once. */
  HW_ROW_PANELS = 4,

  /* Rows of a tile of integers: products are never fused with sums. */
  HW_INT8_ROWS = 5,

  /* Matrix product: columns that stay in the second-level cache while all rows pass by; rows of one item, few, so that threads
   * share the work of small products, too; rows of one item for a single thread, and of those that are interleaved at a time. */
  HW_GEMM_COLUMNS = 256,
  HW_GEMM_ITEM_ROWS = 2 * HW_TILE_ROWS,
  HW_GEMM_ROWS = 16 * HW_TILE_ROWS,
  /* Rows that are interleaved before they are used: some megabytes of the last-level cache. */
  HW_GEMM_BYTES = 4 << 20,
  /* The same for activations between two products. */
  HW_HIDDEN_BYTES = 4 << 20,
  /* Logits that are there at a time, if a product's rows are not more: what the second-level cache holds. */
  HW_LOGITS_BYTES = 1 << 20,

  /* Weights that are loaded at a time: columns, and panels if the source's rows are columns. Of these a row of floats is then
   * some cache lines long. */
  HW_LOAD_COLUMNS = 32,
  HW_LOAD_PANELS = 16,

  /* Weights of 16 bits that are floats at a time, while all rows pass by. */
  HW_EXPANDED_BYTES = 3 << 20,

  /* Gradients of weights: rows that are summed over at a time, so that a strip and a panel of them stay in the first-level
   * cache; columns and rows of one item. */
  HW_GRADIENT_DEPTH = 256,
  HW_GRADIENT_COLUMNS = 32,
  HW_GRADIENT_ROWS = 16 * HW_TILE_ROWS,
  /* Floats of a row so short that a strip is read as fast where it is as from a copy. */
  HW_SHORT_ROW = 64,

  /* Attention: queries and keys per block; rows of scores lie a little further apart than a power of two. */
  HW_QUERY_BLOCK = 22 * HW_TILE_ROWS,
  HW_KEY_BLOCK = 384,
  HW_STRIP_STRIDE = HW_KEY_BLOCK + 16,
  /* Its gradients: queries and keys per block. */
  HW_GRADIENT_QUERIES = 12 * HW_TILE_ROWS,
  HW_GRADIENT_KEYS = 256,
  HW_GRADIENT_STRIDE = HW_GRADIENT_KEYS + 16,
  /* A single query's keys that are scored before any is weighed: as many blocks as the strip's rows have room for. */
  HW_ROW_KEYS = HW_TILE_ROWS * HW_STRIP_STRIDE / HW_KEY_BLOCK * HW_KEY_BLOCK,

  /* Rows of a map's cells that one item pools. */
  HW_MAP_ROWS = 32,

  /* Keys and values that are packed before they are used: about what the second-level cache holds. */
  HW_WAVE_BYTES = 1 << 20,

  /* Fewer multiply-adds than this are done before another thread has woken up; and before one that is awake has seen them. */
  HW_PARALLEL_WORK = 1 << 19,
  HW_AWAKE_WORK = 1 << 17,
};

_Static_assert(HW_TILE_ROWS *HW_TILE_VECTORS + HW_TILE_VECTORS + 1 + (HW_FUSED ? 0 : 1) <= 15,
               "a tile fits V8's registers");
_Static_assert(HW_TILE_ROWS *HW_TILE_VECTORS >= 8, "enough accumulators to hide the latency of an addition");
_Static_assert(HW_ROW_PANELS *HW_TILE_VECTORS >= 8, "the same for a single row");
_Static_assert(HW_ROW_PANELS *HW_TILE_VECTORS + 1 + 1 + (HW_FUSED ? 0 : 1) <= 15, "a single row fits the registers");
_Static_assert(HW_INT8_ROWS *HW_TILE_VECTORS + HW_TILE_VECTORS + 1 + 1 <= 15, "a tile of integers fits the registers");
_Static_assert(HW_GEMM_COLUMNS % (HW_ROW_PANELS * HW_TILE_COLUMNS) == 0,
               "blocks of columns hold whole groups of panels");
_Static_assert(HW_TILE_ROWS <= (int)HW_TILE_COLUMNS,
               "a column that is a tile away from the first row is hidden from all");
_Static_assert(HW_GEMM_ROWS % HW_GEMM_ITEM_ROWS == 0, "some rows are whole items");
_Static_assert(HW_QUERY_BLOCK % HW_TILE_ROWS == 0, "query blocks hold whole tiles");
_Static_assert(HW_KEY_BLOCK % HW_TILE_COLUMNS == 0, "key blocks hold whole panels");
_Static_assert(HW_GRADIENT_KEYS % HW_TILE_COLUMNS == 0, "key blocks of gradients hold whole panels");
_Static_assert(2 * HW_GRADIENT_QUERIES * HW_GRADIENT_STRIDE * 4 <= 256 * 1024,
               "weights and gradients of scores of a block stay in the second-level cache");
_Static_assert(HW_TILE_ROWS *HW_STRIP_STRIDE * 4 <= 16 * 1024,
               "a strip of scores stays in half of the first-level cache");
_Static_assert(2 * HW_KEY_BLOCK * 64 * 4 <= 512 * 1024,
               "keys and values of a block stay in the second-level cache (head width 64)");

#endif
