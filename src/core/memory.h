/* Allocation, and sizes that cannot wrap. */
#ifndef HW_CORE_MEMORY_H
#define HW_CORE_MEMORY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headwise.h"

/* One cache line; also enough for any vector. */
#define HW_ALIGNMENT ((size_t)64)

#define HW_TRY(expression)                  \
  do {                                      \
    const hw_status status_ = (expression); \
    if (status_ != HW_OK) {                 \
      return status_;                       \
    }                                       \
  } while (0)

/* Products and sums of byte counts. After an overflow they stay too large for any allocation. The product is no inline
 * function: with its check it is longer than a call. */
size_t hw_size_multiply(size_t a, size_t b);

static inline size_t hw_size_add(size_t a, size_t b) {
  size_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t hw_ceil_divide(size_t a, size_t b) { return a / b + (a % b != 0); }

/* How many items of so many bytes fit: at least one. */
size_t hw_items_within(size_t bytes, size_t item_bytes);

/* a / b where b is mostly 1. */
static inline size_t hw_quotient(size_t a, size_t b) { return b == 1 ? a : a / b; }

static inline size_t hw_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t hw_max(size_t a, size_t b) { return a > b ? a : b; }

/* An item of a job that goes through blocks of a range, again for every number from outside. */
typedef struct hw_block_item {
  size_t outer; /* the number, which changes slowest */
  size_t start; /* the block's part of [0, count) */
  size_t end;
} hw_block_item;

static inline hw_block_item hw_block_item_of(size_t item, size_t count, size_t block) {
  const size_t blocks = hw_ceil_divide(count, block);
  const size_t outer = hw_quotient(item, blocks);
  const size_t start = (item - outer * blocks) * block;
  return (hw_block_item){outer, start, hw_min(count, start + block)};
}

/* Whether this thread runs a task of hw_parallel_for, which must not allocate: the allocator of the wasm modules serves
 * one thread. Native builds with assertions watch for it. */
#if !defined NDEBUG && !defined __wasm__
#define HW_WATCHES_TASKS
extern _Thread_local bool hw_in_task;
#define HW_IN_TASK hw_in_task
#else
#define HW_IN_TASK false
#endif

/* Aligned memory, or NULL; released by hw_release. At most half of what can be addressed: the distance of two pointers
 * into it must be a ptrdiff_t. Of the wasm modules: src/core/heap.h. */
void *hw_allocate(size_t bytes);
void *hw_allocate_zeroed(size_t bytes);
void hw_release(void *memory);

/* Floats `first` on; NULL stays NULL, as pointers are while a run is measured. */
static inline float *hw_floats_from(float *floats, size_t first) { return floats == NULL ? NULL : floats + first; }
static inline const float *hw_const_floats_from(const float *floats, size_t first) {
  return floats == NULL ? NULL : floats + first;
}

#endif
