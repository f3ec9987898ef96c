#include "kernels/gemm.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"

size_t hw_gemm_panel_stride(size_t k) { return (k + 1) * HW_TILE_COLUMNS; }

size_t hw_gemm_packed_floats(size_t columns, size_t k) {
  const size_t panel = hw_size_multiply(hw_size_add(k, 1), HW_TILE_COLUMNS);
  return hw_size_multiply(hw_panel_count(columns), panel);
}

void hw_gemm_pack(const float *source, size_t column_stride, size_t k_stride, size_t columns, size_t k, float *packed) {
  const size_t stride = hw_gemm_panel_stride(k);
  hw_pack_panels(source, column_stride, k_stride, columns, k, packed + HW_TILE_COLUMNS, stride);
  for (size_t panel = 0; panel < hw_panel_count(columns); panel++) {
    memset(packed + panel * stride, 0, HW_TILE_COLUMNS * sizeof(float));
  }
}

HW_INLINE void gemm_tile(size_t rows, const float *a, size_t a_stride, const float *panel, size_t k, float *c,
                         size_t c_stride) {
  hw_tile tile;
  hw_tile_fill(tile, panel);
  hw_tile_multiply_add(tile, rows, a, a_stride, panel + HW_TILE_COLUMNS, k);
  hw_tile_store(tile, rows, c, c_stride);
}

static __attribute__((noinline)) void gemm_full_tile(const float *a, size_t a_stride, const float *panel, size_t k,
                                                     float *c, size_t c_stride) {
  gemm_tile(HW_TILE_ROWS, a, a_stride, panel, k, c, c_stride);
}

static void gemm_tile_of(size_t rows, const float *a, size_t a_stride, const float *panel, size_t k, float *c,
                         size_t c_stride) {
  switch (rows) {
    case 1:
      gemm_tile(1, a, a_stride, panel, k, c, c_stride);
      break;
    case 2:
      gemm_tile(2, a, a_stride, panel, k, c, c_stride);
      break;
    case 3:
      gemm_tile(3, a, a_stride, panel, k, c, c_stride);
      break;
    case 4:
      gemm_tile(4, a, a_stride, panel, k, c, c_stride);
      break;
#if HW_FUSED
    case 5:
      gemm_tile(5, a, a_stride, panel, k, c, c_stride);
      break;
#endif
    default:
      gemm_full_tile(a, a_stride, panel, k, c, c_stride);
  }
}

/* The last panel's missing columns are computed into a tile of their own and left there. */
static void gemm_narrow_tile(size_t rows, const float *a, size_t a_stride, const float *panel, size_t k, float *c,
                             size_t c_stride, size_t columns) {
  float whole[HW_TILE_ROWS * HW_TILE_COLUMNS];
  gemm_tile_of(rows, a, a_stride, panel, k, whole, HW_TILE_COLUMNS);
  for (size_t r = 0; r < rows; r++) {
    memcpy(c + r * c_stride, whole + r * HW_TILE_COLUMNS, columns * sizeof(float));
  }
}

void hw_gemm(const float *a, size_t a_stride, const float *packed, float *c, size_t c_stride, size_t rows, size_t k,
             size_t columns) {
  assert(rows > 0 && k > 0 && columns > 0);
  const size_t panel_stride = hw_gemm_panel_stride(k);
  for (size_t chunk = 0; chunk < columns; chunk += HW_GEMM_COLUMNS) {
    const size_t chunk_end = hw_min(columns, chunk + HW_GEMM_COLUMNS);
    for (size_t row = 0; row < rows; row += HW_TILE_ROWS) {
      const size_t tile_rows = hw_min(rows - row, HW_TILE_ROWS);
      for (size_t column = chunk; column < chunk_end; column += HW_TILE_COLUMNS) {
        const float *panel = packed + column / HW_TILE_COLUMNS * panel_stride;
        float *target = c + row * c_stride + column;
        if (columns - column >= HW_TILE_COLUMNS) {
          gemm_tile_of(tile_rows, a + row * a_stride, a_stride, panel, k, target, c_stride);
        } else {
          gemm_narrow_tile(tile_rows, a + row * a_stride, a_stride, panel, k, target, c_stride, columns - column);
        }
      }
    }
  }
}
