/* Allocation, sizes that cannot wrap, and the arena that kernels take their scratch from. */
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

/* A byte count under construction: once it has wrapped it stays too large for any allocation. */
static inline size_t hw_size_multiply(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static inline size_t hw_size_add(size_t a, size_t b) {
  size_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t hw_ceil_divide(size_t a, size_t b) { return a / b + (a % b != 0); }

/* a / b where b is mostly 1. */
static inline size_t hw_quotient(size_t a, size_t b) { return b == 1 ? a : a / b; }

static inline size_t hw_min(size_t a, size_t b) { return a < b ? a : b; }

#ifndef NDEBUG
/* Whether this thread runs a task of hw_parallel_for, which must not allocate: the allocator of the wasm modules serves
 * one thread. */
extern _Thread_local bool hw_in_task;
#endif

/* Aligned memory, or NULL; released by hw_release. */
void *hw_allocate(size_t bytes);
void *hw_allocate_zeroed(size_t bytes);
void hw_release(void *memory);

/* Bytes that an array takes in an arena; SIZE_MAX if that does not fit. */
static inline size_t hw_arena_size(size_t count, size_t element_bytes) {
  const size_t bytes = hw_size_add(hw_size_multiply(count, element_bytes), HW_ALIGNMENT - 1);
  return bytes == SIZE_MAX ? SIZE_MAX : bytes / HW_ALIGNMENT * HW_ALIGNMENT;
}

typedef struct hw_arena {
  unsigned char *memory;
  size_t capacity;
  size_t used;
} hw_arena;

/* Empties the arena and makes room: what was taken before is gone. The sum of hw_arena_size of all that the
 * run will take; after HW_ERROR_MEMORY the arena is empty and usable. */
hw_status hw_arena_reserve(hw_arena *arena, size_t bytes);
void hw_arena_release(hw_arena *arena);

/* The size was checked when room was reserved. */
static inline void *hw_arena_take(hw_arena *arena, size_t count, size_t element_bytes) {
  /* Without memory nothing is taken but what is empty. */
  void *memory = arena->memory == NULL ? NULL : arena->memory + arena->used;
  assert(hw_arena_size(count, element_bytes) <= arena->capacity - arena->used);
  arena->used += (count * element_bytes + HW_ALIGNMENT - 1) / HW_ALIGNMENT * HW_ALIGNMENT;
  return memory;
}

static inline float *hw_arena_take_floats(hw_arena *arena, size_t count) {
  return hw_arena_take(arena, count, sizeof(float));
}

#endif
