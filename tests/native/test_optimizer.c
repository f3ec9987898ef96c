/* Steps of optimizers are those of their formulas in double, wherever in a matrix a parameter lies. */
#include <float.h>

#include "modules.h"
#include "reference_modules.h"

enum { STEPS = 4, MOST = 64 * 64 };

static hw_context *context;

/* A parameter in double, with its moments. */
typedef struct stepped {
  double value[MOST];
  double moments[2][MOST];
} stepped;

static void adamw_reference(const hw_adamw_config *config, size_t step, size_t count, const float *gradient,
                            stepped *p) {
  for (size_t i = 0; i < count; i++) {
    const double g = (double)gradient[i];
    p->value[i] *= 1.0 - config->lr * config->weight_decay;
    p->moments[0][i] = config->beta1 * p->moments[0][i] + (1.0 - config->beta1) * g;
    p->moments[1][i] = config->beta2 * p->moments[1][i] + (1.0 - config->beta2) * g * g;
    const double first = p->moments[0][i] / (1.0 - pow(config->beta1, (double)step));
    const double second = p->moments[1][i] / (1.0 - pow(config->beta2, (double)step));
    p->value[i] -= config->lr * first / (sqrt(second) + config->eps);
  }
}

static void sgd_reference(const hw_sgd_config *config, size_t count, const float *gradient, stepped *p) {
  for (size_t i = 0; i < count; i++) {
    double g = (double)gradient[i] + config->weight_decay * p->value[i];
    if (config->momentum > 0.0) {
      p->moments[0][i] = config->momentum * p->moments[0][i] + g;
      g = config->nesterov ? g + config->momentum * p->moments[0][i] : p->moments[0][i];
    }
    p->value[i] -= config->lr * g;
  }
}

static void expect_near(const float *got, const double *expected, size_t count, const char *what) {
  for (size_t i = 0; i < count; i++) {
    CHECK(fabs((double)got[i] - expected[i]) <= 4e-6 * (fabs(expected[i]) + 0.1), "%s, %zu: %.9g, expected %.9g", what,
          i, (double)got[i], expected[i]);
  }
  check_case();
}

static size_t count_of(hw_module *module, size_t index) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(module, index, &info) == HW_OK, "parameter");
  return info.shape[0] * info.shape[1];
}

static size_t rows_of(hw_module *module, size_t index) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(module, index, &info) == HW_OK, "parameter");
  return info.shape[0];
}

static stepped *read_parameter(hw_module *module, size_t index) {
  static float values[MOST];
  stepped *p = check_memory(sizeof *p);
  memset(p->moments, 0, sizeof p->moments);
  CHECK(hw_module_store(module, index, 0, rows_of(module, index), values) == HW_OK, "store");
  for (size_t i = 0; i < count_of(module, index); i++) {
    p->value[i] = (double)values[i];
  }
  return p;
}

/* Random gradients for the parameters that have one; the step's parameters follow it in double, the others stay. */
typedef struct optimizer_case {
  const hw_adamw_config *adamw; /* or else sgd */
  const hw_sgd_config *sgd;
  const uint32_t *parameters; /* NULL: all */
  size_t count;
  size_t without_gradient; /* a parameter, SIZE_MAX: none */
} optimizer_case;

static bool is_stepped(const optimizer_case *c, size_t index) {
  bool listed = c->parameters == NULL;
  for (size_t i = 0; c->parameters != NULL && i < c->count; i++) {
    listed = listed || c->parameters[i] == index;
  }
  return listed && index != c->without_gradient;
}

static void step(const optimizer_case *c, hw_module *module, hw_optimizer *optimizer, size_t number, stepped **all) {
  static float gradient[MOST];
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    check_fill(gradient, count_of(module, i));
    if (i == c->without_gradient) {
      continue;
    }
    CHECK(hw_module_load_gradient(module, i, 0, rows_of(module, i), gradient) == HW_OK, "gradient");
    if (is_stepped(c, i) && c->adamw != NULL) {
      adamw_reference(c->adamw, number, count_of(module, i), gradient, all[i]);
    } else if (is_stepped(c, i)) {
      sgd_reference(c->sgd, count_of(module, i), gradient, all[i]);
    }
  }
  if (c->adamw != NULL) {
    CHECK_STATUS(hw_adamw_step(context, optimizer, c->adamw, c->parameters, c->count), HW_OK);
  } else {
    CHECK_STATUS(hw_sgd_step(context, optimizer, c->sgd, c->parameters, c->count), HW_OK);
  }
}

static void expect_moments(const optimizer_case *c, hw_module *module, const hw_optimizer *optimizer, size_t index,
                           const stepped *p) {
  static float values[MOST];
  const size_t moments = c->adamw != NULL ? 2 : c->sgd->momentum > 0.0 ? 1 : 0;
  for (size_t m = 0; m < 2; m++) {
    const bool is_there = is_stepped(c, index) && m < moments;
    CHECK(hw_optimizer_has_moment(optimizer, index, (hw_moment)m) == is_there, "moment %zu of %zu", m, index);
    const hw_status status =
        hw_optimizer_store_moment(optimizer, index, (hw_moment)m, 0, rows_of(module, index), values);
    CHECK(status == (is_there ? HW_OK : HW_ERROR_VALUE), "moment %zu of %zu: %d", m, index, (int)status);
    if (is_there) {
      expect_near(values, p->moments[m], count_of(module, index), "moment");
    }
  }
}

static void check_optimizer(const optimizer_case *c, hw_module *module) {
  static float values[MOST];
  const size_t count = hw_module_parameter_count(module);
  hw_optimizer *optimizer = NULL;
  stepped *all[16] = {NULL};
  fill_part(whole(module));
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  for (size_t i = 0; i < count; i++) {
    all[i] = read_parameter(module, i);
  }
  for (size_t number = 1; number <= STEPS; number++) {
    step(c, module, optimizer, number, all);
  }
  for (size_t i = 0; i < count; i++) {
    CHECK(hw_module_store(module, i, 0, rows_of(module, i), values) == HW_OK, "store");
    expect_near(values, all[i]->value, count_of(module, i), "value");
    expect_moments(c, module, optimizer, i, all[i]);
    CHECK(hw_optimizer_steps(optimizer, i) == (is_stepped(c, i) ? STEPS : 0), "steps of %zu", i);
    free(all[i]);
  }
  hw_optimizer_destroy(optimizer);
}

/* Projections that share panels, and a bias. */
static hw_module *make_attention_of(size_t d_in, size_t d_out) {
  const hw_multi_head_attention_config config = {
      .d_in = d_in, .d_out = d_out, .context_length = 4, .num_heads = 1, .qkv_bias = true, .out_proj = true};
  hw_module *module = NULL;
  CHECK_STATUS(hw_multi_head_attention_create(NULL, &config, &module), HW_OK);
  return module;
}

static hw_module *make_attention(size_t d_out) { return make_attention_of(11, d_out); }

static const hw_adamw_config adamw = {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1};
static const hw_sgd_config sgds[] = {
    {.lr = 0.1},
    {.lr = 0.1, .weight_decay = 0.1},
    {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1},
    {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
};

static const size_t widths[] = {1, 3, 5, 8, 13, 24};

static void test_adamw(void) {
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    hw_module *module = make_attention(widths[w]);
    check_optimizer(&(optimizer_case){.adamw = &adamw, .without_gradient = SIZE_MAX}, module);
    hw_module_destroy(module);
  }
  /* Rows that share panels, longer than what is gathered of them at a time. */
  for (size_t d_in = 63; d_in <= 130; d_in += d_in == 65 ? 65 : 1) {
    hw_module *module = make_attention_of(d_in, 5);
    check_optimizer(&(optimizer_case){.adamw = &adamw, .without_gradient = SIZE_MAX}, module);
    hw_module_destroy(module);
  }
}

static void test_sgd(void) {
  for (size_t i = 0; i < sizeof sgds / sizeof *sgds; i++) {
    hw_module *module = make_attention(5);
    check_optimizer(&(optimizer_case){.sgd = &sgds[i], .without_gradient = SIZE_MAX}, module);
    hw_module_destroy(module);
  }
}

static void test_some(void) {
  static const uint32_t keys[] = {2, 3};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    hw_module *module = make_attention(widths[w]);
    check_optimizer(&(optimizer_case){.adamw = &adamw, .parameters = keys, .count = 2, .without_gradient = SIZE_MAX},
                    module);
    hw_module_destroy(module);
    module = make_attention(widths[w]);
    check_optimizer(&(optimizer_case){.adamw = &adamw, .without_gradient = 2}, module);
    hw_module_destroy(module);
  }
}

/* An optimizer that was stored and loaded goes on to the bit. */
static void test_resume(void) {
  static float values[MOST];
  hw_module *module = make_attention(5);
  hw_optimizer *first = NULL;
  hw_optimizer *second = NULL;
  stepped *all[16] = {NULL};
  const optimizer_case c = {.adamw = &adamw, .without_gradient = SIZE_MAX};
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    all[i] = read_parameter(module, i);
  }
  CHECK_STATUS(hw_optimizer_create(module, &first), HW_OK);
  CHECK_STATUS(hw_optimizer_create(module, &second), HW_OK);
  step(&c, module, first, 1, all);
  float *before[16] = {NULL};
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    const size_t rows = rows_of(module, i);
    for (size_t m = 0; m < 2; m++) {
      CHECK_STATUS(hw_optimizer_store_moment(first, i, (hw_moment)m, 0, rows, values), HW_OK);
      CHECK_STATUS(hw_optimizer_load_moment(second, i, (hw_moment)m, 0, rows, values), HW_OK);
    }
    CHECK_STATUS(hw_optimizer_set_steps(second, i, hw_optimizer_steps(first, i)), HW_OK);
    before[i] = check_floats(count_of(module, i));
    CHECK_STATUS(hw_module_store(module, i, 0, rows, before[i]), HW_OK);
  }
  CHECK_STATUS(hw_optimizer_set_steps(second, 0, SIZE_MAX), HW_ERROR_VALUE);
  CHECK_STATUS(hw_adamw_step(context, first, &adamw, NULL, 0), HW_OK);
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    float *after = check_floats(count_of(module, i));
    CHECK_STATUS(hw_module_store(module, i, 0, rows_of(module, i), after), HW_OK);
    CHECK_STATUS(hw_module_load(module, i, 0, rows_of(module, i), before[i]), HW_OK);
    memcpy(before[i], after, count_of(module, i) * sizeof *after);
    free(after);
  }
  CHECK_STATUS(hw_adamw_step(context, second, &adamw, NULL, 0), HW_OK);
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    CHECK_STATUS(hw_module_store(module, i, 0, rows_of(module, i), values), HW_OK);
    CHECK(memcmp(values, before[i], count_of(module, i) * sizeof *values) == 0, "parameter %zu", i);
    free(before[i]);
    free(all[i]);
  }
  /* A count that would begin anew makes weights NaN. */
  CHECK_STATUS(hw_optimizer_set_steps(second, 0, SIZE_MAX - 1), HW_OK);
  for (size_t i = 0; i < 3; i++) {
    CHECK_STATUS(hw_adamw_step(context, second, &adamw, NULL, 0), HW_OK);
  }
  CHECK_STATUS(hw_module_store(module, 0, 0, rows_of(module, 0), values), HW_OK);
  CHECK(isfinite(values[0]), "%g", (double)values[0]);
  hw_optimizer_destroy(first);
  hw_optimizer_destroy(second);
  hw_module_destroy(module);
}

static void test_clip(void) {
  static float gradient[MOST];
  static float clipped[MOST];
  const double limits[] = {0.0, 0.5, 1e3};
  for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
    hw_module *module = make_attention(5);
    double squares = 0.0;
    double norm = -1.0;
    check_seed(4);
    for (size_t i = 1; i < hw_module_parameter_count(module); i++) {
      check_fill(gradient, count_of(module, i));
      CHECK_STATUS(hw_module_load_gradient(module, i, 0, rows_of(module, i), gradient), HW_OK);
      for (size_t e = 0; e < count_of(module, i); e++) {
        squares += (double)gradient[e] * (double)gradient[e];
      }
    }
    CHECK_STATUS(hw_clip_grad_norm(context, module, limits[l], &norm), HW_OK);
    CHECK(fabs(norm - sqrt(squares)) <= 1e-6 * norm, "norm %.9g, expected %.9g", norm, sqrt(squares));
    const double factor = fmin(1.0, limits[l] / (norm + 1e-6));
    check_seed(4);
    for (size_t i = 1; i < hw_module_parameter_count(module); i++) {
      check_fill(gradient, count_of(module, i));
      CHECK_STATUS(hw_module_store_gradient(module, i, 0, rows_of(module, i), clipped), HW_OK);
      for (size_t e = 0; e < count_of(module, i); e++) {
        const double expected = (double)gradient[e] * factor;
        CHECK(fabs((double)clipped[e] - expected) <= 1e-6 * fabs(expected), "%zu: %g, expected %g", e,
              (double)clipped[e], expected);
      }
    }
    CHECK(!hw_module_has_gradient(module, 0), "clipping made a gradient");
    CHECK_STATUS(hw_clip_grad_norm(context, module, -1.0, &norm), HW_ERROR_VALUE);
    CHECK_STATUS(hw_clip_grad_norm(context, module, (double)NAN, &norm), HW_ERROR_VALUE);
    CHECK_STATUS(hw_clip_grad_norm(context, module, 1.0, NULL), HW_ERROR_VALUE);
    hw_module_destroy(module);
  }
}

/* Parameters of several items, and of rows longer than what is gathered of them at a time. */
static void test_squares(void) {
  enum { in = 131, out = 253 };
  static float gradient[in * out];
  hw_module *module = NULL;
  double squares = 0.0;
  double sum = 0.0;
  CHECK_STATUS(make_linear(NULL, in, out, false, &module), HW_OK);
  check_fill(gradient, (size_t)in * out);
  for (size_t i = 0; i < (size_t)in * out; i++) {
    squares += (double)gradient[i] * (double)gradient[i];
  }
  CHECK_STATUS(hw_module_load_gradient(module, 0, 0, out, gradient), HW_OK);
  CHECK_STATUS(hw_module_sum_gradient_squares(context, module, NULL, 0, &sum), HW_OK);
  CHECK(fabs(sum - squares) <= 1e-5 * squares, "%.9g, expected %.9g", sum, squares);
  CHECK_STATUS(hw_module_sum_gradient_squares(context, module, NULL, 0, NULL), HW_ERROR_VALUE);
  hw_module_destroy(module);
}

/* As torch does: a norm is divided by a little more than it is. */
static void test_clip_small(void) {
  static float gradient[MOST];
  hw_module *module = make_attention(5);
  double norm = 0.0;
  gradient[0] = 1e-6F;
  CHECK_STATUS(hw_module_load_gradient(module, 0, 0, rows_of(module, 0), gradient), HW_OK);
  CHECK_STATUS(hw_clip_grad_norm(context, module, 1e-6, &norm), HW_OK);
  CHECK(fabs(norm - 1e-6) <= 1e-12, "norm %g", norm);
  CHECK_STATUS(hw_module_store_gradient(module, 0, 0, rows_of(module, 0), gradient), HW_OK);
  CHECK(fabs((double)gradient[0] - 0.5e-6) <= 1e-12, "%g, expected half of 1e-6", (double)gradient[0]);
  hw_module_destroy(module);
}

static void test_clip_nan(void) {
  static float gradient[MOST];
  hw_module *module = make_attention(5);
  double norm = -1.0;
  for (size_t i = 0; i < 2; i++) {
    check_fill(gradient, count_of(module, i));
    gradient[0] = i == 0 ? NAN : 1.0f;
    CHECK_STATUS(hw_module_load_gradient(module, i, 0, rows_of(module, i), gradient), HW_OK);
  }
  CHECK_STATUS(hw_clip_grad_norm(context, module, 1.0, &norm), HW_OK);
  CHECK(isnan(norm), "norm %g, expected NaN", norm);
  CHECK_STATUS(hw_module_store_gradient(module, 1, 0, rows_of(module, 1), gradient), HW_OK);
  for (size_t e = 0; e < count_of(module, 1); e++) {
    CHECK(isnan(gradient[e]), "%zu: %g, expected NaN", e, (double)gradient[e]);
  }
  hw_module_destroy(module);
}

/* Every tail of a vector, and more than an item. */
static void test_arrays(void) {
  enum { many = 3 << 14 };
  static const size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 100, MOST};
  static stepped p;
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    const size_t count = counts[c];
    float *arrays[4];
    memset(p.moments, 0, sizeof p.moments);
    for (size_t i = 0; i < 4; i++) {
      arrays[i] = check_floats(count);
      memset(arrays[i], 0, count * sizeof(float));
    }
    check_fill(arrays[0], count);
    for (size_t i = 0; i < count; i++) {
      p.value[i] = (double)arrays[0][i];
    }
    for (size_t number = 1; number <= STEPS; number++) {
      check_fill(arrays[1], count);
      CHECK_STATUS(hw_adamw_step_array(context, &adamw, number, count, arrays[0], arrays[1], arrays[2], arrays[3]),
                   HW_OK);
      adamw_reference(&adamw, number, count, arrays[1], &p);
    }
    memset(p.moments[0], 0, sizeof p.moments[0]);
    memset(arrays[2], 0, count * sizeof(float));
    CHECK_STATUS(hw_sgd_step_array(context, &sgds[3], count, arrays[0], arrays[1], arrays[2]), HW_OK);
    sgd_reference(&sgds[3], count, arrays[1], &p);
    expect_near(arrays[0], p.value, count, "value");
    for (size_t i = 0; i < 4; i++) {
      free(arrays[i]);
    }
  }
}

/* Beyond a float a setting would be infinite, and weights with it, or NaN. */
static void test_settings(void) {
  const double refused[] = {-1.0, (double)NAN, (double)INFINITY, 1e300, 2.0 * (double)FLT_MAX};
  float arrays[4][1] = {{1.0f}, {0.5f}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const double x = refused[i];
    check_case();
    const hw_adamw_config adamws[] = {
        {.lr = x}, {.beta1 = x}, {.beta2 = x}, {.eps = x}, {.weight_decay = x},
    };
    for (size_t c = 0; c < sizeof adamws / sizeof *adamws; c++) {
      const hw_status status =
          hw_adamw_step_array(context, adamws + c, 1, 1, arrays[0], arrays[1], arrays[2], arrays[3]);
      CHECK(status == HW_ERROR_VALUE, "AdamW, setting %zu of %g: %d", c, x, (int)status);
    }
    const hw_sgd_config settings[] = {{.lr = x}, {.momentum = x}, {.weight_decay = x}};
    for (size_t c = 0; c < sizeof settings / sizeof *settings; c++) {
      const hw_status status = hw_sgd_step_array(context, settings + c, 1, arrays[0], arrays[1], arrays[2]);
      CHECK(status == HW_ERROR_VALUE, "SGD, setting %zu of %g: %d", c, x, (int)status);
    }
  }
  /* A moment that keeps all of itself never moves: what corrects its start would divide by 0. */
  const hw_adamw_config still[] = {{.lr = 0.1, .beta1 = 1.0}, {.lr = 0.1, .beta2 = 1.0}};
  for (size_t c = 0; c < sizeof still / sizeof *still; c++) {
    CHECK_STATUS(hw_adamw_step_array(context, still + c, 1, 1, arrays[0], arrays[1], arrays[2], arrays[3]),
                 HW_ERROR_VALUE);
  }
  /* Momentum needs where to keep it. */
  const hw_sgd_config momentum = {.lr = 0.1, .momentum = 0.5};
  CHECK_STATUS(hw_sgd_step_array(context, &momentum, 1, arrays[0], arrays[1], NULL), HW_ERROR_VALUE);
  CHECK(arrays[0][0] == 1.0f, "a value changed to %g", (double)arrays[0][0]);
}

/* Whatever a step does not need. */
static void test_moments_stay(void) {
  static float gradient[MOST];
  hw_module *module = make_attention(5);
  hw_optimizer *optimizer = NULL;
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  CHECK_STATUS(hw_module_load_gradient(module, 0, 0, rows_of(module, 0), gradient), HW_OK);
  CHECK_STATUS(hw_adamw_step(context, optimizer, &adamw, NULL, 0), HW_OK);
  for (size_t i = 0; i < 4; i += 2) {
    CHECK_STATUS(hw_sgd_step(context, optimizer, &sgds[i], NULL, 0), HW_OK);
    for (size_t m = 0; m < 2; m++) {
      CHECK(hw_optimizer_has_moment(optimizer, 0, (hw_moment)m), "SGD %zu has lost moment %zu", i, m);
    }
  }
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
}

static void test_refused(void) {
  static float gradient[MOST];
  hw_module *module = make_attention(5);
  hw_optimizer *optimizer = NULL;
  const hw_adamw_config bad = {.lr = -1.0};
  const hw_sgd_config no_momentum = {.lr = 0.1, .nesterov = true};
  const size_t count = hw_module_parameter_count(module);
  const uint32_t beyond[] = {0, (uint32_t)count};
  CHECK_STATUS(hw_optimizer_create(module, &optimizer), HW_OK);
  CHECK_STATUS(hw_module_load_gradient(module, 0, 0, rows_of(module, 0), gradient), HW_OK);
  CHECK_STATUS(hw_adamw_step(context, optimizer, &adamw, beyond, 2), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sgd_step(context, optimizer, &sgds[0], beyond, 2), HW_ERROR_VALUE);
  CHECK_STATUS(hw_adamw_step(context, NULL, &adamw, NULL, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sgd_step(context, NULL, &sgds[0], NULL, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_adamw_step(context, optimizer, &bad, NULL, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_adamw_step(context, optimizer, NULL, NULL, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sgd_step(context, optimizer, &no_momentum, NULL, 0), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sgd_step(context, optimizer, NULL, NULL, 0), HW_ERROR_VALUE);
  CHECK(hw_optimizer_steps(optimizer, 0) == 0, "a step that was refused was counted");
  CHECK_STATUS(hw_optimizer_set_steps(optimizer, count, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_optimizer_set_steps(NULL, 0, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_optimizer_load_moment(optimizer, 0, (hw_moment)2, 0, 1, gradient), HW_ERROR_VALUE);
  hw_optimizer_destroy(optimizer);
  hw_module_destroy(module);
}

/* An array that is missing; of no elements none is needed. */
static void test_arrays_missing(void) {
  float a[4] = {1.0F, 1.0F, 1.0F, 1.0F};
  for (size_t missing = 0; missing < 4; missing++) {
    float *of[4];
    for (size_t i = 0; i < 4; i++) {
      of[i] = i == missing ? NULL : a + i;
    }
    CHECK_STATUS(hw_adamw_step_array(context, &adamw, 1, 1, of[0], of[1], of[2], of[3]), HW_ERROR_VALUE);
    CHECK_STATUS(hw_sgd_step_array(context, &sgds[2], 1, of[0], of[1], of[2]), missing < 3 ? HW_ERROR_VALUE : HW_OK);
    check_case();
  }
  float moment = 7.0F;
  CHECK_STATUS(hw_sgd_step_array(context, &sgds[0], 1, a, a + 1, &moment), HW_OK);
  CHECK(moment == 7.0F, "SGD without momentum wrote one: %g", (double)moment);
  CHECK_STATUS(hw_adamw_step_array(context, &adamw, 0, 1, a, a + 1, a + 2, a + 3), HW_ERROR_VALUE);
  CHECK_STATUS(hw_adamw_step_array(context, &adamw, 1, 0, NULL, NULL, NULL, NULL), HW_OK);
  CHECK_STATUS(hw_sgd_step_array(context, &sgds[2], 0, NULL, NULL, NULL), HW_OK);
}

int main(void) {
  check_seed(15);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  check_run("AdamW steps as its formula says, in panels that parameters share", test_adamw);
  check_run("SGD steps with and without momentum, Nesterov's rule and decay", test_sgd);
  check_run("parameters that are not named or have no gradient stay as they are", test_some);
  check_run("an optimizer goes on to the bit from what another remembers", test_resume);
  check_run("gradients are clipped by the norm of them all", test_clip);
  check_run("squares of a gradient of several items add up", test_squares);
  check_run("a norm of almost nothing is clipped as torch does", test_clip_small);
  check_run("a gradient that is NaN makes all of them NaN", test_clip_nan);
  check_run("settings that no float can hold are refused", test_settings);
  check_run("arrays are stepped to their last element", test_arrays);
  check_run("a step leaves the moments that it has no use for", test_moments_stay);
  check_run("steps of parameters that there are not, and with settings that contradict, are refused", test_refused);
  check_run("arrays that are missing are refused", test_arrays_missing);
  hw_context_destroy(context);
  return check_result();
}
