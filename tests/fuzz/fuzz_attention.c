/* One attention call of any shape, strides, mask and options, and its gradients, against float64. */
#include "attention_gradient_case.h"
#include "core/tile.h"
#include "fuzz.h"

/* One in two is short, one in eight goes over a block of keys. */
static size_t fuzz_tokens(fuzz_bytes *bytes, size_t block) {
  const uint32_t kind = fuzz_byte(bytes) % 8;
  return kind < 4 ? fuzz_size(bytes, 1, 9) : fuzz_size(bytes, 1, kind == 7 ? block + 20 : 70);
}

static attention_case draw(fuzz_bytes *bytes) {
  static const float magnitudes[] = {1.0F, 1e-3F, 8.0F, 60.0F};
  static const float softcaps[] = {0.0F, 0.5F, 30.0F, HW_LARGEST_SOFTCAP};
  const size_t key_heads = fuzz_size(bytes, 1, 3);
  attention_case c = {
      .batch = fuzz_size(bytes, 1, 3),
      .heads = key_heads * fuzz_size(bytes, 1, 3),
      .key_heads = key_heads,
      .queries = fuzz_tokens(bytes, HW_QUERY_BLOCK),
      .keys = fuzz_tokens(bytes, HW_KEY_BLOCK),
      .key_width = fuzz_size(bytes, 1, 40),
      .value_width = fuzz_size(bytes, 1, 40),
      .is_causal = fuzz_bool(bytes),
      .causal_offset = fuzz_bool(bytes) ? fuzz_int(bytes, -80, 450) : 0,
      .mask = (hw_mask_kind)(fuzz_byte(bytes) % 3),
      .broadcast = fuzz_byte(bytes) % 16,
      .heads_in_row = fuzz_bool(bytes),
      .records = fuzz_bool(bytes),
      .dropout = fuzz_byte(bytes) % 8 == 0 ? 0.3 : 0.0,
      .magnitude = magnitudes[fuzz_byte(bytes) % 4],
      .softcap = softcaps[fuzz_byte(bytes) % 4],
      .has_lengths = fuzz_bool(bytes),
      .offset_from_end = fuzz_bool(bytes),
      .is_windowed = fuzz_bool(bytes),
      .window_left = fuzz_int(bytes, -1, 400),
      .window_right = fuzz_int(bytes, -1, 400),
      .kind = (hw_weights_kind)(fuzz_byte(bytes) % 4),
  };
  if (fuzz_byte(bytes) % 16 == 0) {
    c.causal_offset = fuzz_bool(bytes) ? INT32_MAX : INT32_MIN + 1;
    c.window_left = fuzz_bool(bytes) ? INT32_MAX : c.window_left;
    c.window_right = fuzz_bool(bytes) ? INT32_MAX : c.window_right;
  }
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  const attention_case c = draw(&bytes);
  case_run(c);
  gradient_case_run(c);
  return fuzz_end();
}
