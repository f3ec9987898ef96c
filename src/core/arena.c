#include "core/arena.h"

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
