/* What JavaScript may call of gradients, with good and bad arguments, before the engine's start and after it: bad ones are a
 * status. The sources are included: they have no header. */
#include "check.h"
#include "headwise.h"
/* NOLINTBEGIN(bugprone-suspicious-include): they have no header */
#include "exports/engine.c"
#include "exports/gradients.c"
/* NOLINTEND(bugprone-suspicious-include) */

static float x[16];
static float y[16];
static const int32_t targets[2] = {1, -100};

#define EXPECT(expected, name, ...) CHECK_STATUS(hw_export_##name(__VA_ARGS__), expected)
#define VALUE(name, ...)            EXPECT(HW_ERROR_VALUE, name, __VA_ARGS__)
#define SHAPE(name, ...)            EXPECT(HW_ERROR_SHAPE, name, __VA_ARGS__)
#define OK(name, ...)               EXPECT(HW_OK, name, __VA_ARGS__)

static hw_cross_entropy_call entropy_of(void) {
  return (hw_cross_entropy_call){x, targets, 2, 4, -100, 0.0F, y, y + 2, 1.0F, NULL};
}

static void test_before_start(void) {
  const hw_cross_entropy_call entropy = entropy_of();
  VALUE(activate, HW_ACTIVATION_SILU, x, y, 4);
  VALUE(activation_backward, HW_ACTIVATION_SILU, x, x, y, 4);
  VALUE(layer_norm_backward, x, 2, 4, NULL, 1e-5, x, y, NULL, NULL);
  VALUE(rms_norm, x, 2, 4, NULL, 1e-5, y);
  VALUE(rms_norm_backward, x, 2, 4, NULL, 1e-5, x, y, NULL);
  VALUE(cross_entropy, &entropy);
}

static void test_elements(void) {
  CHECK_STATUS(hw_export_engine_start(), HW_OK);
  OK(activate, HW_ACTIVATION_SILU, x, y, 4);
  VALUE(activate, 5, x, y, 4);
  VALUE(activate, UINT32_MAX, x, y, 4);
  VALUE(activate, HW_ACTIVATION_SILU, NULL, y, 4);
  OK(activation_backward, HW_ACTIVATION_SILU, x, x, y, 4);
  VALUE(activation_backward, HW_ACTIVATION_SILU, x, NULL, y, 4);
  VALUE(activation_backward, 5, x, x, y, 4);
}

static void test_rows(void) {
  OK(softmax_backward, x, x, y, 2, 4);
  VALUE(softmax_backward, x, NULL, y, 2, 4);
  OK(layer_norm_backward, x, 2, 4, x, 1e-5, x, y, y + 8, y + 12);
  OK(layer_norm_backward, x, 2, 4, NULL, 1e-5, x, NULL, NULL, NULL);
  SHAPE(layer_norm_backward, x, 2, 0, x, 1e-5, x, y, NULL, NULL);
  VALUE(layer_norm_backward, NULL, 2, 4, x, 1e-5, x, y, NULL, NULL);
  OK(rms_norm, x, 2, 4, x, 1e-5, y);
  VALUE(rms_norm, x, 2, 4, x, -1.0, y);
  VALUE(rms_norm, x, 2, 4, x, 1e-5, NULL);
  OK(rms_norm_backward, x, 2, 4, x, 1e-5, x, y, y + 8);
  VALUE(rms_norm_backward, x, 2, 4, x, 1e-5, NULL, y, y + 8);
}

static void test_cross_entropy(void) {
  hw_cross_entropy_call call = entropy_of();
  OK(cross_entropy, &call);
  VALUE(cross_entropy, NULL);
  call.ignore_index = 7;
  VALUE(cross_entropy, &call);
  call.targets = NULL;
  VALUE(cross_entropy, &call);
  call.classes = 0;
  SHAPE(cross_entropy, &call);
}

static void test_attention(void) {
  hw_attention_arguments a = {.batch = 1,
                              .heads = 1,
                              .key_heads = 1,
                              .query_tokens = 2,
                              .key_tokens = 2,
                              .key_width = 2,
                              .value_width = 2,
                              .query = x,
                              .key = x,
                              .value = x,
                              .output = y,
                              .scale = 1.0F,
                              .window_left = -1,
                              .window_right = -1,
                              .row_maximum = y + 4,
                              .row_sum = y + 6};
  const hw_attention call = hw_export_attention(&a);
  const hw_attention_gradient_arguments g = {x, y + 8, y + 8, y + 12, NULL, NULL};
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &call), HW_OK);
  OK(scaled_dot_product_attention_backward, &a, &g);
  VALUE(scaled_dot_product_attention_backward, NULL, &g);
  VALUE(scaled_dot_product_attention_backward, &a, NULL);
  a.row_sum = NULL;
  VALUE(scaled_dot_product_attention_backward, &a, &g);
  a.key_width = 0;
  SHAPE(scaled_dot_product_attention_backward, &a, &g);
}

int main(void) {
  check_run("before the engine's start nothing runs, and nothing crashes", test_before_start);
  check_run("functions of elements refuse NULL and bad numbers", test_elements);
  check_run("functions of rows do, too", test_rows);
  check_run("cross-entropy does, too", test_cross_entropy);
  check_run("attention's gradient does, too", test_attention);
  hw_context_destroy(context);
  return check_result();
}
