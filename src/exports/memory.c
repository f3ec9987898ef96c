/*
 * The allocator of the modules, in place of Emscripten's, which adds addresses in 32 bits: near 4 GiB a sum wraps, and
 * memory that is not there counts as free. Only the modules have it: a program that the library is linked into brings its
 * own.
 */
#include "exports/exports.h"

#ifdef HW_THREADS
/* How often memory has grown, for JavaScript: the views of a shared memory are not detached by growth. */
static uint32_t growths;

HW_EXPORT(uint32_t *, growths_address, (void)) { return &growths; }
#endif

#ifdef __wasm__
#include <stdlib.h>

#include "core/heap.h"

/* The linker's: where data ends. */
extern unsigned char __heap_base;

static bool grow(uint32_t pages) {
  if (__builtin_wasm_memory_grow(0, pages) == SIZE_MAX) {
    return false;
  }
#ifdef HW_THREADS
  growths++;
#endif
  return true;
}

static hw_heap heap = {.grow = grow};

void *aligned_alloc(size_t alignment, size_t bytes) {
  if (heap.end == 0) {
    hw_heap_start(&heap, (size_t)&__heap_base, __builtin_wasm_memory_size(0));
  }
  return alignment > HW_HEAP_UNIT ? NULL : hw_heap_allocate(&heap, bytes);
}

void free(void *memory) { hw_heap_release(&heap, memory); }
#endif
