/* What JavaScript may call to train, with good and bad arguments. The source is included: it has no header. */
#include "exports.h"
#include "modules.h"

#include "core/context.h"
/* NOLINTBEGIN(bugprone-suspicious-include): they have no header */
#include "exports/engine.c"
#include "exports/training.c"
/* NOLINTEND(bugprone-suspicious-include) */

enum { IN = 3, OUT = 2, ROWS = 4 };

static const hw_input input = {.x = (const float[ROWS * IN]){1.0F, -2.0F, 3.0F}, .batch = 1, .tokens = ROWS};
static const uint32_t list[] = {0, 1};
static const uint32_t beyond[] = {2};
static float y[ROWS * OUT];
static float dx[ROWS * IN];
static hw_module *linear;

static void test_before_start(void) {
  CHECK_STATUS(hw_linear_create(NULL, &(hw_linear_config){IN, OUT, true}, &linear), HW_OK);
  VALUE(module_forward_recorded, linear, &input, y, NULL);
  VALUE(module_sum_gradient_squares, linear, NULL, 0, &(double){0.0});
  VALUE(adamw_step_array, &(hw_adamw_config){0}, 1, 0, NULL, NULL, NULL, NULL);
  CHECK_STATUS(hw_export_engine_start(), HW_OK);
}

static void test_graph(void) {
  hw_input bad = input;
  VALUE(module_forward_recorded, NULL, &input, y, NULL);
  VALUE(module_forward_recorded, linear, NULL, y, NULL);
  VALUE(module_forward_recorded, linear, &input, NULL, NULL);
  CHECK(result_slot == NULL, "left a pointer");
  OK(module_forward_recorded, linear, &input, y, NULL);
  hw_graph *graph = result_slot;
  SOMETHING(graph_is_current, graph, linear);
  NOTHING(graph_is_current, NULL, linear);
  NOTHING(graph_is_current, graph, NULL);
  CHECK(CALL(graph_bytes, graph) > 0 && CALL(graph_bytes, NULL) == 0, "bytes of a graph");
  VALUE(module_backward, NULL, &input, graph, y, dx, NULL);
  VALUE(module_backward, linear, NULL, graph, y, dx, NULL);
  VALUE(module_backward, linear, &input, NULL, y, dx, NULL);
  VALUE(module_backward, linear, &input, graph, NULL, dx, NULL);
  VALUE(module_backward, linear, &input, graph, y, dx, &(hw_option_gradients){.mask = y});
  VALUE(module_backward, linear, &input, graph, y, dx, &(hw_option_gradients){.head_mask = y});
  bad.x = NULL;
  VALUE(module_backward, linear, &bad, graph, y, dx, NULL);
  bad = input;
  bad.tokens++;
  EXPECT(HW_ERROR_SHAPE, module_backward, linear, &bad, graph, y, dx, NULL);
  NOTHING(module_has_gradient, linear, 0);
  OK(module_backward, linear, &input, graph, y, dx, NULL);
  SOMETHING(module_has_gradient, linear, 0);
  CALL(graph_destroy, graph);
  CALL(graph_destroy, NULL);
}

static void test_gradient(void) {
  double sum = 0.0;
  OK(module_store_gradient, linear, 0, 0, OUT, y);
  OK(module_load_gradient, linear, 0, 0, OUT, input.x);
  EXPECT(HW_ERROR_SHAPE, module_store_gradient, linear, 0, 1, OUT, y);
  EXPECT(HW_ERROR_SHAPE, module_load_gradient, linear, 0, 1, OUT, y);
  VALUE(module_store_gradient, linear, 2, 0, 1, y);
  VALUE(module_load_gradient, linear, 2, 0, 1, y);
  VALUE(module_store_gradient, linear, 0, 0, 1, NULL);
  VALUE(module_load_gradient, linear, 0, 0, 1, NULL);
  VALUE(module_store_gradient, NULL, 0, 0, 1, y);
  VALUE(module_load_gradient, NULL, 0, 0, 1, y);
  OK(module_sum_gradient_squares, linear, list, 1, &sum);
  CHECK(sum == 14.0, "%g", sum);
  VALUE(module_sum_gradient_squares, NULL, list, 1, &sum);
  VALUE(module_sum_gradient_squares, linear, beyond, 1, &sum);
  VALUE(module_sum_gradient_squares, linear, list, 1, NULL);
  OK(module_scale_gradients, linear, list, 2, 2.0F);
  VALUE(module_scale_gradients, NULL, list, 2, 2.0F);
  VALUE(module_scale_gradients, linear, beyond, 1, 2.0F);
}

static void test_optimizer(void) {
  const hw_adamw_config adamw = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99};
  const hw_sgd_config sgd = {.lr = 0.1, .momentum = 0.5};
  VALUE(optimizer_create, NULL);
  OK(optimizer_create, linear);
  hw_optimizer *optimizer = result_slot;
  OK(adamw_step, optimizer, &adamw, list, 2);
  VALUE(adamw_step, NULL, &adamw, list, 2);
  VALUE(adamw_step, optimizer, NULL, list, 2);
  VALUE(adamw_step, optimizer, &adamw, beyond, 1);
  VALUE(adamw_step, optimizer, &(hw_adamw_config){.lr = -1.0}, list, 2);
  OK(sgd_step, optimizer, &sgd, NULL, 0);
  VALUE(sgd_step, NULL, &sgd, NULL, 0);
  VALUE(sgd_step, optimizer, NULL, NULL, 0);
  VALUE(sgd_step, optimizer, &(hw_sgd_config){.nesterov = true}, NULL, 0);
  CHECK(CALL(optimizer_steps, optimizer, 0) == 2, "steps");
  NOTHING(optimizer_steps, optimizer, 2);
  NOTHING(optimizer_steps, NULL, 0);
  OK(optimizer_set_steps, optimizer, 0, 7);
  VALUE(optimizer_set_steps, optimizer, 2, 7);
  VALUE(optimizer_set_steps, NULL, 0, 7);
  SOMETHING(optimizer_has_moment, optimizer, 0, 1);
  NOTHING(optimizer_has_moment, optimizer, 0, 2);
  NOTHING(optimizer_has_moment, optimizer, 2, 0);
  OK(optimizer_store_moment, optimizer, 1, 0, 0, OUT, y);
  OK(optimizer_load_moment, optimizer, 1, 0, 0, OUT, y);
  VALUE(optimizer_store_moment, optimizer, 1, 2, 0, OUT, y);
  VALUE(optimizer_load_moment, optimizer, 1, 2, 0, OUT, y);
  VALUE(optimizer_store_moment, NULL, 1, 0, 0, OUT, y);
  VALUE(optimizer_load_moment, NULL, 1, 0, 0, OUT, y);
  VALUE(optimizer_store_moment, optimizer, 1, 0, 0, OUT, NULL);
  EXPECT(HW_ERROR_SHAPE, optimizer_load_moment, optimizer, 1, 0, 0, OUT + 1, y);
  CALL(optimizer_destroy, optimizer);
  CALL(optimizer_destroy, NULL);
}

static void test_arrays(void) {
  const hw_adamw_config adamw = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99};
  const hw_sgd_config sgd = {.lr = 0.1, .momentum = 0.5};
  float value[3] = {1.0F};
  float moments[2][3] = {{0.0F}};
  OK(adamw_step_array, &adamw, 1, 3, value, y, moments[0], moments[1]);
  VALUE(adamw_step_array, &adamw, 0, 3, value, y, moments[0], moments[1]);
  VALUE(adamw_step_array, NULL, 1, 3, value, y, moments[0], moments[1]);
  VALUE(adamw_step_array, &adamw, 1, 3, NULL, y, moments[0], moments[1]);
  VALUE(adamw_step_array, &adamw, 1, 3, value, y, moments[0], NULL);
  OK(sgd_step_array, &sgd, 3, value, y, moments[0]);
  VALUE(sgd_step_array, &sgd, 3, value, y, NULL);
  VALUE(sgd_step_array, &sgd, 3, value, NULL, moments[0]);
  VALUE(sgd_step_array, NULL, 3, value, y, moments[0]);
}

static void test_loss(void) {
  const hw_decoder_config config = gpt2_config(3, ROWS, 1, 2, 1, 2);
  static const uint32_t ids[ROWS] = {0, 1, 2, 0};
  const hw_loss_input good = {ids, NULL, 1, ROWS, -100, NULL, NULL, NULL};
  const hw_loss_input bad = {NULL, NULL, 1, ROWS, -100, NULL, NULL, NULL};
  hw_module *decoder = NULL;
  float loss = 0.0F;
  CHECK_STATUS(hw_decoder_create(&config, &decoder), HW_OK);
  OK(model_loss, decoder, &good, &loss, false);
  OK(model_loss, decoder, &good, &loss, true);
  hw_graph *graph = result_slot;
  VALUE(model_loss, decoder, &bad, &loss, true);
  VALUE(model_loss, decoder, NULL, &loss, true);
  VALUE(model_loss, decoder, &good, NULL, true);
  VALUE(model_loss, NULL, &good, &loss, true);
  VALUE(model_loss, linear, &good, &loss, true);
  CHECK(result_slot == NULL, "left a pointer");
  OK(model_loss_backward, decoder, graph, 1.0F);
  VALUE(model_loss_backward, linear, graph, 1.0F);
  VALUE(model_loss_backward, NULL, graph, 1.0F);
  VALUE(model_loss_backward, decoder, NULL, 1.0F);
  CALL(graph_destroy, graph);
  hw_module_destroy(decoder);
}

static void test_end(void) {
  OK(module_clear_gradient, linear, 0);
  VALUE(module_clear_gradient, linear, 2);
  VALUE(module_clear_gradient, NULL, 0);
  VALUE(module_store_gradient, linear, 0, 0, OUT, y);
  check_source("exports/training.c");
}

int main(void) {
  check_run("before the engine's start nothing is recorded", test_before_start);
  check_run("a graph refuses NULL and other sizes", test_graph);
  check_run("gradients refuse NULL and rows that there are not", test_gradient);
  check_run("an optimizer refuses NULL, bad settings and parameters that there are not", test_optimizer);
  check_run("steps of arrays refuse NULL and bad settings", test_arrays);
  check_run("a loss refuses NULL and modules that have none", test_loss);
  check_run("a gradient that is cleared is gone, and every export is called here", test_end);
  hw_module_destroy(linear);
  hw_context_destroy(context);
  return check_result();
}
