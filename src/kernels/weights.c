#include "kernels/weights.h"

#include <string.h>

#include "core/half.h"
#include "kernels/pack.h"

/* A float16's bits in a float's place are its value times 2^-112, but for infinity and NaN. */
HW_INLINE hw_f32x4 float16_to_float(hw_f32x4 halves) {
  const hw_f32x4 x = hw_multiply(hw_float16_bits_to_float(hw_shift_left(halves, 16)), hw_splat(0x1p112F));
  const hw_f32x4 special = hw_above(hw_absolute(x), hw_splat(65504.0F));
  return hw_or(x, hw_and(special, hw_splat_integer(0x7f800000)));
}

static void from_halves(bool is_float16, const uint16_t *source, size_t count, float *floats) {
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    const hw_f32x4 halves = hw_load_halves(source + i);
    hw_store(floats + i, is_float16 ? float16_to_float(halves) : hw_shift_left(halves, 16));
  }
  for (; i < count; i++) {
    floats[i] = is_float16 ? hw_float_of_float16(source[i]) : hw_float_of_bfloat16(source[i]);
  }
}

void hw_floats_of(hw_matrix_type type, const void *source, size_t count, float *floats) {
  if (type == HW_MATRIX_FLOAT32) {
    memcpy(floats, source, count * sizeof(float));
  } else {
    from_halves(type == HW_MATRIX_FLOAT16, source, count, floats);
  }
}

void hw_read_block(const hw_weights *source, size_t row, size_t rows, size_t column, size_t columns, float *block) {
  const hw_weights *s = source;
  const size_t first = row * s->row_stride + column * s->column_stride;
  const unsigned char *data = (const unsigned char *)s->data + first * hw_element_bytes(s->type);
  if (s->type == HW_MATRIX_FLOAT32) {
    hw_pack_panels((const float *)data, s->row_stride, s->column_stride, rows, columns, block, 0);
  } else if (s->column_stride == 1) {
    float floats[HW_TILE_COLUMNS * HW_LOAD_COLUMNS];
    for (size_t r = 0; r < rows; r++) {
      hw_floats_of(s->type, data + r * s->row_stride * 2, columns, floats + r * HW_LOAD_COLUMNS);
    }
    hw_pack_panels(floats, HW_LOAD_COLUMNS, 1, rows, columns, block, 0);
  } else {
    for (size_t p = 0; p < columns; p++) {
      hw_fill(block + p * HW_TILE_COLUMNS, HW_TILE_COLUMNS, hw_splat(0.0F));
      hw_floats_of(s->type, data + p * s->column_stride * 2, rows, block + p * HW_TILE_COLUMNS);
    }
  }
}

void hw_widen_range(const float *block, size_t columns, hw_rows_range *range) {
  for (size_t v = 0; v < HW_TILE_COLUMNS; v += HW_LANES) {
    hw_f32x4 largest = hw_load(range->largest + v);
    hw_f32x4 zero = hw_load(range->zero + v);
    for (size_t p = 0; p < columns; p++) {
      const hw_f32x4 x = hw_load(block + p * HW_TILE_COLUMNS + v);
      largest = hw_larger(largest, hw_absolute(x));
      zero = hw_add(zero, hw_multiply(x, hw_splat(0.0F)));
    }
    hw_store(range->largest + v, largest);
    hw_store(range->zero + v, zero);
  }
}
