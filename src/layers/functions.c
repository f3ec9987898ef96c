#include "core/context.h"
#include "kernels/gemm.h"
#include "kernels/softmax.h"

hw_status hw_matmul(hw_context *context, const float *a, const float *b, float *c, size_t batch,
                    const uint32_t *a_index, const uint32_t *b_index, size_t m, size_t k, size_t n) {
  if (batch == 0 || m == 0 || k == 0 || n == 0) {
    return HW_ERROR_SHAPE;
  }
  hw_team *team = hw_context_team(context, (double)m * (double)k * (double)n);
  const size_t packed_floats = hw_gemm_packed_floats(n, k);
  const size_t scratch_bytes = hw_gemm_scratch_bytes(m, k);
  HW_TRY(hw_arena_reserve(&context->arena, hw_size_add(hw_arena_size(packed_floats, sizeof(float)), scratch_bytes)));
  float *scratch = hw_arena_take(&context->arena, scratch_bytes, 1);
  float *packed = hw_arena_take_floats(&context->arena, packed_floats);
  for (size_t i = 0; i < batch; i++) {
    if (i == 0 || b_index[i] != b_index[i - 1]) {
      hw_gemm_pack(b + b_index[i] * k * n, 1, n, n, k, packed);
    }
    const hw_gemm_product product = {a + a_index[i] * m * k, k, packed, c + i * m * n, n, m, k, n, scratch};
    hw_gemm(team, &product);
  }
  return HW_OK;
}

void hw_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns) {
  const size_t size = rows * columns;
  for (size_t i = 0; i < batch; i++) {
    for (size_t r = 0; r < rows; r++) {
      for (size_t c = 0; c < columns; c++) {
        y[i * size + c * rows + r] = x[i * size + r * columns + c];
      }
    }
  }
}

void hw_softmax(const float *x, float *y, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; r++) {
    hw_softmax_row(x + r * columns, y + r * columns, columns);
  }
}
