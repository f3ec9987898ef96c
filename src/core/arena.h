/*
 * Scratch memory, taken in order and given back in reverse by setting `used` to what it was.
 *
 * An arena that measures has no memory: what is taken from it is NULL, and `peak` becomes what a run takes. So a run needs no
 * second description of its scratch: the code that takes it is run twice.
 */
#ifndef HW_CORE_ARENA_H
#define HW_CORE_ARENA_H

#include "core/memory.h"

typedef struct hw_arena {
  unsigned char *memory;
  size_t capacity;
  size_t used;
  size_t peak; /* the most that was used at a time; SIZE_MAX: more than fits */
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
    arena->peak = arena->used > arena->peak ? arena->used : arena->peak;
    return NULL;
  }
  assert(arena->used <= arena->capacity);
  /* Without memory nothing is taken but what is empty. */
  return arena->memory == NULL ? NULL : arena->memory + start;
}

static inline float *hw_arena_take_floats(hw_arena *arena, size_t count) {
  return hw_arena_take(arena, count, sizeof(float));
}

/* Empties the arena and makes room: what was taken before is gone. After HW_ERROR_MEMORY the arena is empty and
 * usable. */
hw_status hw_arena_reserve(hw_arena *arena, size_t bytes);
void hw_arena_release(hw_arena *arena);

#endif
