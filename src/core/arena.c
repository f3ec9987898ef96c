#include "core/arena.h"

size_t hw_arena_size(size_t count, size_t element_bytes) {
  const size_t bytes = hw_size_add(hw_size_multiply(count, element_bytes), HW_ALIGNMENT - 1);
  return bytes == SIZE_MAX ? SIZE_MAX : bytes / HW_ALIGNMENT * HW_ALIGNMENT;
}

void *hw_arena_take(hw_arena *arena, size_t count, size_t element_bytes) {
  const size_t start = arena->used;
  if (arena->measures) {
    arena->used = hw_size_add(start, hw_arena_size(count, element_bytes));
    arena->peak = hw_max(arena->used, arena->peak);
    return NULL;
  }
  assert(hw_arena_size(count, element_bytes) <= arena->capacity - start);
  arena->used = start + (count * element_bytes + HW_ALIGNMENT - 1) / HW_ALIGNMENT * HW_ALIGNMENT;
  return arena->memory + start;
}

float *hw_arena_take_floats(hw_arena *arena, size_t count) { return hw_arena_take(arena, count, sizeof(float)); }

hw_status hw_arena_reserve(hw_arena *arena, size_t bytes) {
  arena->used = 0;
  if (arena->memory != NULL && bytes <= arena->capacity) {
    return HW_OK;
  }
  /* Freed first: nothing in it is needed, and both at once may not fit. */
  hw_release(arena->memory);
  arena->memory = hw_allocate(bytes);
  arena->capacity = arena->memory == NULL ? 0 : bytes;
  return arena->memory == NULL ? HW_ERROR_MEMORY : HW_OK;
}

void hw_arena_release(hw_arena *arena) {
  hw_release(arena->memory);
  *arena = (hw_arena){0};
}
