/* How a fuzz target draws its case from libFuzzer's bytes, and ends when a check has failed. */
#ifndef HW_TESTS_FUZZ_H
#define HW_TESTS_FUZZ_H

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the bytes; zeros when they are used up. */
typedef struct fuzz_bytes {
  const uint8_t *next;
  size_t left;
} fuzz_bytes;

static inline uint32_t fuzz_byte(fuzz_bytes *bytes) {
  if (bytes->left == 0) {
    return 0;
  }
  bytes->left--;
  return *bytes->next++;
}

/* From least to most. */
static inline size_t fuzz_size(fuzz_bytes *bytes, size_t least, size_t most) {
  const size_t drawn = fuzz_byte(bytes) << 8 | fuzz_byte(bytes);
  return least + drawn % (most - least + 1);
}

static inline int32_t fuzz_int(fuzz_bytes *bytes, int32_t least, int32_t most) {
  return least + (int32_t)fuzz_size(bytes, 0, (size_t)(most - least));
}

static inline bool fuzz_bool(fuzz_bytes *bytes) { return (fuzz_byte(bytes) & 1u) != 0; }

/* libFuzzer keeps the input and says how to run it again. */
static inline int fuzz_end(void) {
  if (check_failures > 0) {
    fflush(stdout);
    abort();
  }
  return 0;
}

#endif
