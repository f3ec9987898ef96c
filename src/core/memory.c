#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#ifndef NDEBUG
_Thread_local bool hw_in_task;
#endif

void *hw_allocate(size_t bytes) {
  assert(!hw_in_task);
  if (bytes > SIZE_MAX / 2) {
    return NULL;
  }
  const size_t rounded = (bytes / HW_ALIGNMENT + 1) * HW_ALIGNMENT;
  return aligned_alloc(HW_ALIGNMENT, rounded);
}

void *hw_allocate_zeroed(size_t bytes) {
  void *memory = hw_allocate(bytes);
  if (memory != NULL) {
    memset(memory, 0, bytes);
  }
  return memory;
}

void hw_release(void *memory) {
  assert(!hw_in_task);
  free(memory);
}

hw_status hw_arena_reserve(hw_arena *arena, size_t bytes) {
  arena->used = 0;
  if (bytes <= arena->capacity) {
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
