/*
 * The allocator of the wasm modules, for one thread: blocks of one memory that grows by pages and never shrinks.
 *
 * All lengths and places are counted in units of 64 bytes. The 4 GiB that 32 bits address are 2^26 units, so that no sum
 * of two counts wraps in 32 bits; a count becomes an address only once it is known to lie in memory.
 *
 * Blocks lie side by side from the first to the last unit, each with a header of 16 bytes right before its memory, which
 * begins at a whole unit; a header without a block ends them:
 *
 *   unit     first         first + 3                         end
 *     ...|head|memory ....... |head|memory ..................... |head|
 *         \_ 3 units _________/\_ end - first - 3 units _________/
 *
 * A request gets the smallest free block that holds it; two free blocks never lie side by side (Knuth, The Art of Computer
 * Programming, volume 1, 2.5: best fit, boundary tags). So a request is refused only if no free stretch holds it and memory
 * cannot grow far enough.
 */
#ifndef HW_CORE_HEAP_H
#define HW_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  HW_HEAP_UNIT = 64,
  HW_HEAP_PAGE = 65536,
  HW_HEAP_PAGE_UNITS = HW_HEAP_PAGE / HW_HEAP_UNIT,
  /* The last page of 4 GiB stays out: one past the end of whatever is allocated is still an address. */
  HW_HEAP_MOST_PAGES = 65535,
  /* Powers of two, in units, that a block can be as long as. */
  HW_HEAP_BINS = 26,
};

typedef struct hw_heap {
  unsigned char *origin;        /* where unit 0 begins: address 0 of a wasm memory */
  bool (*grow)(uint32_t pages); /* whether memory has so many more pages now */
  uint32_t end;                 /* the unit that the last header comes right before */
  uint32_t bins[HW_HEAP_BINS];  /* free blocks: bin b has a list of those of 2^b to 2^(b+1) - 1 units, or 0 */
} hw_heap;

/* All of the pages from `first` bytes on, which are HW_HEAP_UNIT at least, is free. The other fields of heap are set. */
void hw_heap_start(hw_heap *heap, size_t first, uint32_t pages);

/* At a multiple of HW_HEAP_UNIT bytes; NULL if there is no such memory. Of 0 bytes: of one. */
void *hw_heap_allocate(hw_heap *heap, size_t bytes);

/* What hw_heap_allocate gave, or NULL. */
void hw_heap_release(hw_heap *heap, void *memory);

#endif
