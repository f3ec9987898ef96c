/* A heap of 4 GiB that nothing lies behind, and beside it what a tester knows of every block: no two overlap, none leaves
 * memory, each keeps its bytes, and a request is refused only where no gap holds it. */
#ifndef HW_TESTS_HEAP_CASE_H
#define HW_TESTS_HEAP_CASE_H

#include <sys/mman.h>

#include "check.h"
#include "core/heap.h"

enum { MOST_BLOCKS = 512, FIRST_BYTES = 70016, FIRST_PAGES = 16 };

typedef struct heap_block {
  size_t start; /* bytes from the memory's beginning */
  size_t bytes;
} heap_block;

static hw_heap heap;
static heap_block blocks[MOST_BLOCKS]; /* in the order of their places */
static size_t block_count;
static size_t pages_there;
static size_t pages_granted; /* that the host has, at most */

/* What has not been granted cannot be touched. */
static bool grow_memory(uint32_t pages) {
  if (pages > pages_granted - pages_there) {
    return false;
  }
  CHECK(mprotect(heap.origin + pages_there * HW_HEAP_PAGE, (size_t)pages * HW_HEAP_PAGE, PROT_READ | PROT_WRITE) == 0,
        "mprotect");
  pages_there += pages;
  return true;
}

/* An empty heap in a memory that the host lets grow to so many pages. */
static inline void start_heap(size_t pages) {
  static const size_t reserved = ((size_t)65536 + 1) * HW_HEAP_PAGE;
  if (heap.origin != NULL) {
    munmap(heap.origin, reserved);
  }
  void *origin = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (origin == MAP_FAILED) {
    printf("no 4 GiB of addresses for the test itself\n");
    exit(1);
  }
  heap = (hw_heap){.origin = origin, .grow = grow_memory};
  block_count = 0;
  pages_there = 0;
  pages_granted = pages;
  CHECK(grow_memory(FIRST_PAGES), "the first pages");
  hw_heap_start(&heap, FIRST_BYTES, FIRST_PAGES);
}

/* What a block of so many bytes takes: a header, and whole units. */
static inline size_t taken(size_t bytes) { return (bytes + 16 + 63) / 64 * 64; }

/* The free bytes before block `index`, headers included: after the last one, up to so many pages. */
static inline size_t gap_before(size_t index, size_t pages) {
  const size_t start =
      index == 0 ? taken(FIRST_BYTES) - 16 : blocks[index - 1].start - 16 + taken(blocks[index - 1].bytes);
  const size_t end = index == block_count ? pages * HW_HEAP_PAGE : blocks[index].start;
  return end - 16 - start;
}

static inline size_t largest_gap(size_t pages) {
  size_t largest = 0;
  for (size_t i = 0; i <= block_count; i++) {
    const size_t gap = gap_before(i, pages);
    largest = gap > largest ? gap : largest;
  }
  return largest;
}

/* That holds so many bytes; SIZE_MAX if none does. */
static inline size_t smallest_gap(size_t bytes, size_t pages) {
  size_t smallest = SIZE_MAX;
  for (size_t i = 0; i <= block_count; i++) {
    const size_t gap = gap_before(i, pages);
    smallest = gap >= taken(bytes) && gap < smallest ? gap : smallest;
  }
  return smallest;
}

/* Pages that memory can have in the end. */
static inline size_t most_pages(void) {
  return pages_granted < HW_HEAP_MOST_PAGES ? pages_granted : HW_HEAP_MOST_PAGES;
}

/* A block's first and last bytes name it. */
static inline unsigned char mark_of(const heap_block *block) { return (unsigned char)(block->start / 64 * 37 + 11); }

static inline void mark_block(const heap_block *block) {
  const size_t edge = block->bytes < 64 ? block->bytes : 64;
  memset(heap.origin + block->start, mark_of(block), edge);
  memset(heap.origin + block->start + block->bytes - edge, mark_of(block), edge);
}

static inline void check_block(const heap_block *block) {
  const size_t edge = block->bytes < 64 ? block->bytes : 64;
  const unsigned char *memory = heap.origin + block->start;
  for (size_t i = 0; i < edge; i++) {
    CHECK(memory[i] == mark_of(block) && memory[block->bytes - edge + i] == mark_of(block),
          "byte %zu of %zu at %zu was overwritten", i, block->bytes, block->start);
  }
}

/* Of the first block behind a place. */
static inline size_t index_behind(size_t start) {
  size_t index = 0;
  while (index < block_count && blocks[index].start < start) {
    index++;
  }
  return index;
}

static inline void insert_block(heap_block block) {
  const size_t at = index_behind(block.start);
  const size_t end = block.start + block.bytes;
  CHECK(block.start % 64 == 0, "%zu is not aligned", block.start);
  CHECK(block.start >= FIRST_BYTES + 16 && end <= pages_there * HW_HEAP_PAGE, "%zu bytes at %zu leave memory",
        block.bytes, block.start);
  CHECK(at == 0 || blocks[at - 1].start + blocks[at - 1].bytes <= block.start, "overlaps the block before it");
  CHECK(at == block_count || end <= blocks[at].start, "overlaps the block behind it");
  memmove(blocks + at + 1, blocks + at, (block_count - at) * sizeof *blocks);
  blocks[at] = block;
  block_count++;
  mark_block(&block);
}

/* Whether there was memory, which there is if a gap holds the request. It is taken from the smallest such gap, and memory
 * grows only if there is none. */
static inline bool allocate_block(size_t bytes) {
  const size_t before = pages_there;
  const bool fits = taken(bytes) <= largest_gap(most_pages());
  const size_t gap = smallest_gap(bytes, before);
  unsigned char *memory = hw_heap_allocate(&heap, bytes);
  CHECK((memory != NULL) == fits, "%zu bytes: %s, the largest gap is %zu", bytes, memory ? "granted" : "refused",
        largest_gap(most_pages()));
  CHECK((pages_there == before) == (gap != SIZE_MAX || !fits), "%zu bytes: %zu pages, then %zu", bytes, before,
        pages_there);
  CHECK(pages_there <= most_pages(), "the last page was taken");
  check_case();
  if (memory == NULL) {
    return false;
  }
  const size_t start = (size_t)(memory - heap.origin);
  const size_t taken_from = gap_before(index_behind(start), before);
  CHECK(gap == SIZE_MAX || taken_from == gap, "%zu bytes of a gap of %zu, not %zu", bytes, taken_from, gap);
  insert_block((heap_block){.start = start, .bytes = bytes});
  return true;
}

static inline void release_block(size_t index) {
  check_block(&blocks[index]);
  hw_heap_release(&heap, heap.origin + blocks[index].start);
  block_count--;
  memmove(blocks + index, blocks + index + 1, (block_count - index) * sizeof *blocks);
}

/* All blocks are as they were left; without them memory is one again. */
static inline void end_heap(void) {
  for (size_t i = 0; i < block_count; i++) {
    check_block(&blocks[i]);
  }
  while (block_count > 0) {
    release_block(check_random() % block_count);
  }
  CHECK(allocate_block(gap_before(0, most_pages()) - 16), "memory is not one again");
  release_block(0);
}

#endif
