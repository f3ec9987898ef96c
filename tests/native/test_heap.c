/* The allocator of the wasm modules, in 4 GiB: filled to the last page, near 2^32, and in any order. */
#include "heap_case.h"

static const size_t mib = (size_t)1 << 20;

/* Memory that ends below 4 GiB, at the last page that may be used, and where the host has more than that. */
static const size_t memories[] = {FIRST_PAGES, 17, 1000, 49152, 65534, 65535, 65536};
enum { MEMORIES = sizeof memories / sizeof *memories };

static void test_wrap(void) {
  start_heap(65536);
  for (size_t i = 0; i < 3; i++) {
    CHECK(allocate_block(1024 * mib), "GiB %zu", i);
  }
  CHECK(allocate_block(256 * mib), "a quarter");
  CHECK(allocate_block(100 * mib), "what is given back");
  release_block(block_count - 1);
  CHECK(!allocate_block(1024 * mib), "a GiB more");
  CHECK(allocate_block(100 * mib), "what there is");
  end_heap();
}

static void test_sizes(void) {
  static const size_t sizes[] = {UINT32_MAX, UINT32_MAX - 15, UINT32_MAX - 64, UINT32_MAX - 65536,  (size_t)1 << 32,
                                 SIZE_MAX,   SIZE_MAX - 16,   SIZE_MAX - 64,   SIZE_MAX / 2 + 64000};
  start_heap(65536);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    CHECK(hw_heap_allocate(&heap, sizes[i]) == NULL, "%zu bytes", sizes[i]);
    CHECK(allocate_block(i), "%zu bytes after it", i);
  }
  hw_heap_release(&heap, NULL);
  end_heap();
}

/* The sizes one after another, until none of them fits; then the rest of memory, gap by gap. */
static void fill(const size_t *sizes, size_t count) {
  for (size_t refused = 0, i = 0; refused < count && i < 40; i++) {
    refused = allocate_block(sizes[i % count]) ? 0 : refused + 1;
  }
  for (size_t gap; (gap = largest_gap(most_pages())) > 0;) {
    if (!allocate_block(gap - 16)) {
      return;
    }
  }
  CHECK(pages_there == most_pages(), "%zu pages of %zu", pages_there, most_pages());
  CHECK(!allocate_block(0), "more than all");
}

/* The next permutation in lexicographic order (Knuth 7.2.1.2, algorithm L). */
static bool permute(size_t *sizes, size_t count) {
  size_t i = count - 1;
  while (i > 0 && sizes[i - 1] >= sizes[i]) {
    i--;
  }
  if (i == 0) {
    return false;
  }
  size_t j = count - 1;
  while (sizes[j] <= sizes[i - 1]) {
    j--;
  }
  const size_t swapped = sizes[i - 1];
  sizes[i - 1] = sizes[j];
  sizes[j] = swapped;
  for (size_t k = count - 1; i < k; i++, k--) {
    const size_t held = sizes[i];
    sizes[i] = sizes[k];
    sizes[k] = held;
  }
  return true;
}

static void test_orders(void) {
  for (size_t m = 0; m < MEMORIES; m++) {
    size_t sizes[] = {1, 70000, 90 * mib + 48, 500 * mib + 1, 1300 * mib};
    do {
      start_heap(memories[m]);
      fill(sizes, 5);
      /* Every second block makes room; then for larger ones. */
      for (size_t i = 0; i < block_count; i++) {
        release_block(i);
      }
      fill(sizes, 5);
      for (size_t i = 0; i + 1 < block_count; i++) {
        release_block(i);
        release_block(i);
      }
      fill(sizes, 5);
      end_heap();
    } while (permute(sizes, 5));
  }
}

/* Mostly small, of all magnitudes, and some as large as a gap or one byte larger. */
static size_t random_size(void) {
  const size_t gap = largest_gap(most_pages());
  switch (check_random() % 8) {
    case 0:
      return gap > 16 ? gap - 16 : 0;
    case 1:
      return gap > 16 ? gap - 15 : 0;
    case 2:
      return check_random() % 300;
    default:
      return check_random() >> (32 + check_random() % 30);
  }
}

static void test_random(void) {
#ifdef CHECK_SANITIZED
  enum { ROUNDS = 20, STEPS = 4000 };
#else
  enum { ROUNDS = 40, STEPS = 10000 };
#endif
  for (size_t round = 0; round < ROUNDS; round++) {
    start_heap(memories[round % MEMORIES]);
    for (size_t step = 0; step < STEPS; step++) {
      /* Memory fills and empties again. */
      const bool fills = (check_random() % 8 < 5) == (step / 500 % 2 == 0);
      if (fills && block_count < MOST_BLOCKS) {
        allocate_block(random_size());
      } else if (block_count > 0) {
        release_block(check_random() % block_count);
      }
    }
    end_heap();
  }
}

static void test_refused_growth(void) {
  start_heap(FIRST_PAGES);
  CHECK(allocate_block(100000), "of the first pages");
  CHECK(!allocate_block(2 * mib), "more than the host has");
  pages_granted = 65536;
  CHECK(allocate_block(2 * mib), "what the host has now");
  end_heap();
}

int main(void) {
  check_seed(20);
  check_run("with 3.25 GiB held, a GiB more is refused and the rest is not", test_wrap);
  check_run("sizes near and beyond 2^32 are refused", test_sizes);
  check_run("memory is filled to the last page in every order of sizes", test_orders);
  check_run("any blocks given and taken back keep apart, and what fits is granted", test_random);
  check_run("a memory that did not grow grows later", test_refused_growth);
  return check_result();
}
