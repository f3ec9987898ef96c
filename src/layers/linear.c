#include "layers/linear.h"

#include <math.h>

#include "core/context.h"
#include "core/tile.h"
#include "kernels/gemm.h"

struct hw_linear {
  size_t in_features;
  size_t out_features;
  bool bias;
  float *packed; /* weight and bias live here only: hw_gemm_pack's panels */
};

static float *packed_element(const hw_linear *linear, size_t row, size_t p) {
  return linear->packed + row / HW_TILE_COLUMNS * hw_gemm_panel_stride(linear->in_features) +
         (p + 1) * HW_TILE_COLUMNS + row % HW_TILE_COLUMNS;
}

static float *packed_bias(const hw_linear *linear, size_t row) {
  return packed_element(linear, row, 0) - HW_TILE_COLUMNS;
}

void hw_linear_draw(hw_context *context, hw_linear *linear, size_t first_row, size_t rows) {
  const float bound = (float)(1.0 / sqrt((double)linear->in_features));
  for (size_t row = first_row; row < first_row + rows; row++) {
    for (size_t p = 0; p < linear->in_features; p++) {
      hw_uniform(context, -bound, bound, packed_element(linear, row, p), 1);
    }
  }
  for (size_t row = first_row; linear->bias && row < first_row + rows; row++) {
    hw_uniform(context, -bound, bound, packed_bias(linear, row), 1);
  }
}

/* Zeros, not drawn. */
static hw_status create_blank(size_t in_features, size_t out_features, bool bias, hw_linear **linear) {
  *linear = NULL;
  if (in_features == 0 || out_features == 0) {
    return HW_ERROR_SHAPE;
  }
  hw_linear *created = hw_allocate(sizeof(hw_linear));
  float *packed = hw_allocate_zeroed(hw_size_multiply(hw_gemm_packed_floats(out_features, in_features), sizeof(float)));
  if (created == NULL || packed == NULL) {
    hw_release(created);
    hw_release(packed);
    return HW_ERROR_MEMORY;
  }
  *created = (hw_linear){in_features, out_features, bias, packed};
  *linear = created;
  return HW_OK;
}

hw_status hw_linear_create(hw_context *context, size_t in_features, size_t out_features, bool bias,
                           hw_linear **linear) {
  HW_TRY(create_blank(in_features, out_features, bias, linear));
  if (context != NULL) {
    hw_linear_draw(context, *linear, 0, out_features);
  }
  return HW_OK;
}

void hw_linear_destroy(hw_linear *linear) {
  if (linear != NULL) {
    hw_release(linear->packed);
    hw_release(linear);
  }
}

static hw_status check_rows(const hw_linear *linear, size_t first_row, size_t rows, const float *bias) {
  if (first_row > linear->out_features || rows > linear->out_features - first_row) {
    return HW_ERROR_SHAPE;
  }
  return bias != NULL && !linear->bias ? HW_ERROR_VALUE : HW_OK;
}

hw_status hw_linear_load(hw_linear *linear, size_t first_row, size_t rows, const float *weight, const float *bias) {
  HW_TRY(check_rows(linear, first_row, rows, bias));
  for (size_t r = 0; r < rows; r++) {
    for (size_t p = 0; weight != NULL && p < linear->in_features; p++) {
      *packed_element(linear, first_row + r, p) = weight[r * linear->in_features + p];
    }
    if (bias != NULL) {
      *packed_bias(linear, first_row + r) = bias[r];
    }
  }
  return HW_OK;
}

hw_status hw_linear_store(const hw_linear *linear, size_t first_row, size_t rows, float *weight, float *bias) {
  HW_TRY(check_rows(linear, first_row, rows, bias));
  for (size_t r = 0; r < rows; r++) {
    for (size_t p = 0; weight != NULL && p < linear->in_features; p++) {
      weight[r * linear->in_features + p] = *packed_element(linear, first_row + r, p);
    }
    if (bias != NULL) {
      bias[r] = *packed_bias(linear, first_row + r);
    }
  }
  return HW_OK;
}

static hw_team *team_of(const hw_context *context, const hw_linear *linear, size_t rows) {
  return hw_context_team(context, (double)rows * (double)linear->in_features * (double)linear->out_features);
}

size_t hw_linear_scratch(const hw_linear *linear, size_t rows) {
  return hw_gemm_scratch_bytes(rows, linear->in_features);
}

void hw_linear_run(hw_context *context, const hw_linear *linear, const float *x, size_t x_stride, size_t rows, float *y,
                   size_t y_stride) {
  const size_t mark = context->arena.used;
  hw_team *team = team_of(context, linear, rows);
  const hw_gemm_product product = {
      .a = x,
      .a_stride = x_stride,
      .packed = linear->packed,
      .c = y,
      .c_stride = y_stride,
      .rows = rows,
      .k = linear->in_features,
      .columns = linear->out_features,
      .scratch = hw_arena_take(&context->arena, hw_linear_scratch(linear, rows), 1),
  };
  hw_gemm(team, &product);
  context->arena.used = mark;
}

hw_status hw_linear_forward(hw_context *context, const hw_linear *linear, const float *x, size_t rows, float *y) {
  if (rows == 0) {
    return HW_ERROR_SHAPE;
  }
  HW_TRY(hw_arena_reserve(&context->arena, hw_linear_scratch(linear, rows)));
  hw_linear_run(context, linear, x, linear->in_features, rows, y, linear->out_features);
  return HW_OK;
}
