#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef HW_WATCHES_TASKS
_Thread_local bool hw_in_task;
#endif

size_t hw_size_multiply(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t hw_items_within(size_t bytes, size_t item_bytes) { return hw_max(1, bytes / hw_max(1, item_bytes)); }

void *hw_allocate(size_t bytes) {
  assert(!HW_IN_TASK);
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
  assert(!HW_IN_TASK);
  free(memory);
}
