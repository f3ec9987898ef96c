/*
 * Scratch memory. It is taken in order and released in reverse: set `used` back to its earlier value.
 *
 * A measuring arena has no memory: every take returns NULL, and `peak` becomes the size that the run needs. The same
 * code runs twice, to measure and to compute, so the scratch of a run is described once.
 */
#ifndef HW_CORE_ARENA_H
#define HW_CORE_ARENA_H

#include "core/memory.h"

typedef struct hw_arena {
  unsigned char *memory;
  size_t capacity;
  size_t used;
  size_t peak; /* largest value of `used`; SIZE_MAX: too large for the address space */
  bool measures;
} hw_arena;

/* Bytes that an array takes; SIZE_MAX if that does not fit. */
static inline size_t hw_arena_size(size_t count, size_t element_bytes) {
  const size_t bytes = hw_size_add(hw_size_multiply(count, element_bytes), HW_ALIGNMENT - 1);
  return bytes == SIZE_MAX ? SIZE_MAX : bytes / HW_ALIGNMENT * HW_ALIGNMENT;
}

/* Aligned to HW_ALIGNMENT. Once measured, a size has been checked. */
static inline void *hw_arena_take(hw_arena *arena, size_t count, size_t element_bytes) {
  const size_t start = arena->used;
  arena->used = hw_size_add(start, hw_arena_size(count, element_bytes));
  if (arena->measures) {
    arena->peak = hw_max(arena->used, arena->peak);
    return NULL;
  }
  assert(arena->used <= arena->capacity);
  return arena->memory + start;
}

static inline float *hw_arena_take_floats(hw_arena *arena, size_t count) {
  return hw_arena_take(arena, count, sizeof(float));
}

/* Empties the arena and reserves `bytes`; it has memory for 0 bytes too. Earlier memory becomes invalid. After
 * HW_ERROR_MEMORY the arena is empty and usable. */
hw_status hw_arena_reserve(hw_arena *arena, size_t bytes);
void hw_arena_release(hw_arena *arena);

#endif
