/* The allocator of the wasm modules: any blocks asked for and given back in a memory that ends anywhere up to 4 GiB. */
#include "fuzz.h"
#include "heap_case.h"

/* Of any magnitude, with its low bits drawn, or as large as the largest gap, less or more by a few bytes. */
static size_t draw_bytes(fuzz_bytes *bytes) {
  const uint32_t shift = fuzz_byte(bytes) % 40;
  const size_t drawn = fuzz_size(bytes, 0, 65535);
  const size_t gap = largest_gap(most_pages());
  return shift < 32 ? (drawn << shift) >> 8 : gap - (gap < 64 ? gap : 48) + drawn % 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  const size_t pages = fuzz_size(&bytes, 0, 65535);
  start_heap(fuzz_bool(&bytes) ? HW_HEAP_MOST_PAGES : FIRST_PAGES + pages);
  while (bytes.left > 0 && block_count < MOST_BLOCKS) {
    if (fuzz_byte(&bytes) % 3 > 0 || block_count == 0) {
      allocate_block(draw_bytes(&bytes));
    } else {
      release_block(fuzz_size(&bytes, 0, block_count - 1));
    }
  }
  end_heap();
  return fuzz_end();
}
