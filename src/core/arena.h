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
size_t hw_arena_size(size_t count, size_t element_bytes);

/* Aligned to HW_ALIGNMENT. Once measured, a size has been checked. */
void *hw_arena_take(hw_arena *arena, size_t count, size_t element_bytes);
float *hw_arena_take_floats(hw_arena *arena, size_t count);

/* Empties the arena and reserves `bytes`; it has memory for 0 bytes too. Earlier memory becomes invalid. After
 * HW_ERROR_MEMORY the arena is empty and usable. */
hw_status hw_arena_reserve(hw_arena *arena, size_t bytes);
void hw_arena_release(hw_arena *arena);

#endif
