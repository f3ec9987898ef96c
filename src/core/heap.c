#include "core/heap.h"

#include <assert.h>

typedef struct hw_block {
  uint32_t units;    /* its length; 0: the last header */
  uint32_t previous; /* the length of the block before it; 0: the first */
  uint32_t next;     /* of a free block: the next of its bin, or 0 */
  uint32_t back;     /* of a free block: the one before it in its bin, or 0; otherwise in_use */
} hw_block;

static const uint32_t in_use = UINT32_MAX;

_Static_assert(HW_HEAP_UNIT >= 2 * sizeof(hw_block), "one unit is a block");
_Static_assert((uint64_t)(HW_HEAP_MOST_PAGES + 1) * HW_HEAP_PAGE_UNITS <= (uint64_t)1 << HW_HEAP_BINS,
               "all have a bin");

static unsigned char *memory_of(const hw_heap *heap, uint32_t unit) {
  return heap->origin + (size_t)unit * HW_HEAP_UNIT;
}

static hw_block *block_at(const hw_heap *heap, uint32_t unit) { return (hw_block *)(void *)memory_of(heap, unit) - 1; }

static uint32_t bin_of(uint32_t units) { return 31 - (uint32_t)__builtin_clz(units); }

/* What points to a free block: the link of the one before it, or its bin. */
static uint32_t *link_to(hw_heap *heap, const hw_block *block) {
  return block->back != 0 ? &block_at(heap, block->back)->next : &heap->bins[bin_of(block->units)];
}

static void take_from_bin(hw_heap *heap, hw_block *block) {
  *link_to(heap, block) = block->next;
  if (block->next != 0) {
    block_at(heap, block->next)->back = block->back;
  }
  block->back = in_use;
}

static void put_into_bin(hw_heap *heap, uint32_t unit) {
  hw_block *block = block_at(heap, unit);
  uint32_t *bin = &heap->bins[bin_of(block->units)];
  if (*bin != 0) {
    block_at(heap, *bin)->back = unit;
  }
  block->next = *bin;
  block->back = 0;
  *bin = unit;
}

static bool is_free(const hw_block *block) { return block->back != in_use; }

static void set_length(const hw_heap *heap, uint32_t unit, uint32_t units) {
  block_at(heap, unit)->units = units;
  block_at(heap, unit + units)->previous = units;
}

/* Frees the block, as one with its free neighbours. */
static void release(hw_heap *heap, uint32_t unit) {
  const uint32_t units = block_at(heap, unit)->units;
  const uint32_t previous = block_at(heap, unit)->previous;
  uint32_t first = unit;
  uint32_t end = unit + units;
  if (is_free(block_at(heap, end))) {
    take_from_bin(heap, block_at(heap, end));
    end += block_at(heap, end)->units;
  }
  if (previous != 0 && is_free(block_at(heap, unit - previous))) {
    first -= previous;
    take_from_bin(heap, block_at(heap, first));
  }
  set_length(heap, first, end - first);
  put_into_bin(heap, first);
}

/* The units [heap->end, end) become a block, then a free one. */
static void extend(hw_heap *heap, uint32_t end) {
  const uint32_t unit = heap->end;
  heap->end = end;
  set_length(heap, unit, end - unit);
  block_at(heap, end)->units = 0;
  block_at(heap, end)->back = in_use;
  release(heap, unit);
}

/* The smallest free block of so many units, or 0. */
static uint32_t find(const hw_heap *heap, uint32_t units) {
  uint32_t best = 0;
  uint32_t best_units = UINT32_MAX;
  for (uint32_t bin = bin_of(units); best == 0 && bin < HW_HEAP_BINS; bin++) {
    for (uint32_t unit = heap->bins[bin]; unit != 0 && best_units > units; unit = block_at(heap, unit)->next) {
      const uint32_t length = block_at(heap, unit)->units;
      if (length >= units && length < best_units) {
        best = unit;
        best_units = length;
      }
    }
  }
  return best;
}

/* Makes the last block a free one of at least so many units; no free block has as many. */
static bool grow(hw_heap *heap, uint32_t units) {
  const uint32_t last = block_at(heap, heap->end)->previous;
  const uint32_t there = last != 0 && is_free(block_at(heap, heap->end - last)) ? last : 0;
  const uint32_t pages = (units - there + HW_HEAP_PAGE_UNITS - 1) / HW_HEAP_PAGE_UNITS;
  if (pages > HW_HEAP_MOST_PAGES - heap->end / HW_HEAP_PAGE_UNITS) {
    return false;
  }
  if (!heap->grow(pages)) {
    return false;
  }
  extend(heap, heap->end + pages * HW_HEAP_PAGE_UNITS);
  return true;
}

void hw_heap_start(hw_heap *heap, size_t first, uint32_t pages) {
  assert(first >= HW_HEAP_UNIT && pages <= HW_HEAP_MOST_PAGES);
  const uint32_t unit = (uint32_t)((first + sizeof(hw_block) - 1) / HW_HEAP_UNIT + 1);
  heap->end = unit;
  block_at(heap, unit)->previous = 0;
  block_at(heap, unit)->back = in_use;
  extend(heap, pages * HW_HEAP_PAGE_UNITS);
}

void *hw_heap_allocate(hw_heap *heap, size_t bytes) {
  if (bytes > (size_t)HW_HEAP_MOST_PAGES * HW_HEAP_PAGE) {
    return NULL;
  }
  const uint32_t units = (uint32_t)(((uint64_t)bytes + sizeof(hw_block) - 1) / HW_HEAP_UNIT + 1);
  uint32_t unit = find(heap, units);
  if (unit == 0 && grow(heap, units)) {
    unit = find(heap, units);
  }
  if (unit == 0) {
    return NULL;
  }
  take_from_bin(heap, block_at(heap, unit));
  const uint32_t rest = block_at(heap, unit)->units - units;
  if (rest > 0) {
    set_length(heap, unit, units);
    set_length(heap, unit + units, rest);
    release(heap, unit + units);
  }
  return memory_of(heap, unit);
}

void hw_heap_release(hw_heap *heap, void *memory) {
  if (memory != NULL) {
    const uint32_t unit = (uint32_t)((size_t)((unsigned char *)memory - heap->origin) / HW_HEAP_UNIT);
    assert(!is_free(block_at(heap, unit)));
    release(heap, unit);
  }
}
