/* Gradients of modules are those of their definitions, by finite differences in double. */
#include "gradient_case.h"

static hw_context *context;

/* ---- Linear ---- */

static void linear_reference(const gradient_case *c, const double *x, double *y) {
  const hw_linear_config *config = c->config;
  reference_linear(whole(c->module), config->in_features, config->out_features, x, c->input.tokens, y, 0.0);
}

static void test_linear(void) {
  const hw_linear_config configs[] = {{7, 5, true}, {7, 19, false}, {1, 1, true}, {24, 8, true}};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
    const hw_linear_config *config = &configs[i];
    enum { rows = 11 };
    float *x = check_floats(rows * config->in_features);
    gradient_case c = {
        .name = "Linear",
        .config = config,
        .input = {.x = x, .batch = 1, .tokens = rows},
        .x_count = rows * config->in_features,
        .y_count = rows * config->out_features,
        .reference = linear_reference,
    };
    check_fill(x, c.x_count);
    CHECK_STATUS(hw_linear_create(NULL, config, &c.module), HW_OK);
    gradient_fill(c.module);
    gradient_check(context, &c);
    hw_module_destroy(c.module);
    free(x);
  }
}

int main(void) {
  check_seed(15);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("gradients of Linear are those of its definition", test_linear);
  hw_context_destroy(context);
  return check_result();
}
