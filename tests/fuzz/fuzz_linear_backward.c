/* Gradients of a linear layer of any sizes, against float64. */
#include "fuzz.h"
#include "linear_case.h"

/* One in four goes over the blocks that are summed at a time. */
static size_t fuzz_rows(fuzz_bytes *bytes, size_t block) {
  return fuzz_size(bytes, 1, fuzz_byte(bytes) % 4 == 0 ? block + 9 : 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  linear_case_run((linear_case){
      .count = fuzz_rows(&bytes, HW_GRADIENT_DEPTH),
      .in = fuzz_rows(&bytes, HW_GRADIENT_ROWS),
      .out = fuzz_rows(&bytes, HW_GRADIENT_COLUMNS),
      .adds = fuzz_bool(&bytes),
  });
  return fuzz_end();
}
