/*
 * Gradients of whole modules against finite differences of their definitions in double.
 *
 * A case says what a module computes, in double, as reads of its parameters give them. The loss is the sum of outputs times fixed
 * random numbers, which are dy.
 */
#ifndef HW_TESTS_GRADIENT_CASE_H
#define HW_TESTS_GRADIENT_CASE_H

#include "modules.h"
#include "reference_modules.h"

typedef struct gradient_case gradient_case;

struct gradient_case {
  const char *name;
  hw_module *module;
  const void *config; /* of the module, for `reference` */
  hw_input input;
  size_t x_count; /* floats of input.x; 0: the module takes ids */
  size_t y_count;
  const hw_forward_options *options;
  /* What the options point at, of which gradients are checked too, or NULL. */
  float *mask, *head_mask;
  size_t mask_count, head_mask_count;
  /* y in double, from the parameters as they are; x NULL if the module takes ids */
  void (*reference)(const gradient_case *c, const double *x, double *y);
};

static inline double gradient_loss(const gradient_case *c, const double *x, const float *dy) {
  double *y = reference_doubles(c->y_count);
  double sum = 0.0;
  c->reference(c, x, y);
  for (size_t i = 0; i < c->y_count; i++) {
    sum += y[i] * (double)dy[i];
  }
  free(y);
  return sum;
}

/* Differences over one and two steps, by which the error's first term cancels. */
static inline double gradient_of_differences(const double losses[4], double step) {
  const double narrow = (losses[1] - losses[2]) / (2.0 * step);
  const double wide = (losses[0] - losses[3]) / (4.0 * step);
  return narrow + (narrow - wide) / 3.0;
}

static inline double gradient_of_x(const gradient_case *c, double *x, size_t i, const float *dy) {
  static const double at[4] = {2.0, 1.0, -1.0, -2.0};
  const double step = 0x1p-9;
  const double before = x[i];
  double losses[4];
  for (size_t p = 0; p < 4; p++) {
    x[i] = before + at[p] * step;
    losses[p] = gradient_loss(c, x, dy);
  }
  x[i] = before;
  return gradient_of_differences(losses, step);
}

/* values: all of the parameter, of which element i is moved by what floats can tell. */
static inline double gradient_of_element(const gradient_case *c, size_t index, const hw_parameter_info *info,
                                         float *values, size_t i, const double *x, const float *dy) {
  static const float at[4] = {2.0F, 1.0F, -1.0F, -2.0F};
  const size_t row = i / info->shape[1];
  float *values_of_row = values + row * info->shape[1];
  const float before = values[i];
  const float step = 0x1p-9F;
  double losses[4];
  for (size_t p = 0; p < 4; p++) {
    values[i] = before + at[p] * step;
    CHECK(hw_module_load(c->module, index, row, 1, values_of_row) == HW_OK, "load");
    losses[p] = gradient_loss(c, x, dy);
  }
  values[i] = before;
  CHECK(hw_module_load(c->module, index, row, 1, values_of_row) == HW_OK, "load");
  return gradient_of_differences(losses, (double)step);
}

static inline void gradient_compare(const char *name, const char *of, size_t i, float got, double expected,
                                    double largest) {
  const double tolerance = 2e-5 * largest + 1e-6;
  CHECK(fabs((double)got - expected) <= tolerance, "%s, gradient of %s, %zu: %.9g, expected %.9g within %.3g", name, of,
        i, (double)got, expected, tolerance);
}

/* Numbers that stay exact when a step is added. */
static inline void gradient_fill_floats(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    values[i] = roundf(check_random_float() * 0x1p12F) * 0x1p-12F;
  }
}

static inline void gradient_fill(hw_module *module) {
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(module, i, &info) == HW_OK, "parameter");
    const size_t count = info.shape[0] * info.shape[1];
    float *values = check_floats(count);
    gradient_fill_floats(values, count);
    CHECK(hw_module_load(module, i, 0, info.shape[0], values) == HW_OK, "load");
    free(values);
  }
}

static inline void gradient_check_parameter(const gradient_case *c, size_t index, const double *x, const float *dy) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(c->module, index, &info) == HW_OK, "parameter");
  const size_t count = info.shape[0] * info.shape[1];
  float *values = check_floats(count);
  float *got = check_floats(count);
  double *expected = reference_doubles(count);
  double largest = 0.0;
  CHECK(hw_module_store(c->module, index, 0, info.shape[0], values) == HW_OK, "store");
  CHECK(hw_module_store_gradient(c->module, index, 0, info.shape[0], got) == HW_OK, "%s: no gradient of %s", c->name,
        info.name);
  for (size_t i = 0; i < count; i++) {
    expected[i] = gradient_of_element(c, index, &info, values, i, x, dy);
    largest = fmax(largest, fabs(expected[i]));
  }
  for (size_t i = 0; i < count; i++) {
    gradient_compare(c->name, info.name, i, got[i], expected[i], largest);
  }
  check_case();
  free(values);
  free(got);
  free(expected);
}

static inline void gradient_check_x(const gradient_case *c, double *x, const float *dy, const float *dx) {
  double *expected = reference_doubles(c->x_count);
  double largest = 0.0;
  for (size_t i = 0; i < c->x_count; i++) {
    expected[i] = gradient_of_x(c, x, i, dy);
    largest = fmax(largest, fabs(expected[i]));
  }
  for (size_t i = 0; i < c->x_count; i++) {
    gradient_compare(c->name, "x", i, dx[i], expected[i], largest);
  }
  check_case();
  free(expected);
}

/* Of an option's floats, which the reference reads; got: what a backward has added to ones. */
static inline void gradient_check_option(const gradient_case *c, const char *name, float *values, size_t count,
                                         const double *x, const float *dy, const float *got) {
  static const float at[4] = {2.0F, 1.0F, -1.0F, -2.0F};
  const float step = 0x1p-9F;
  double *expected = reference_doubles(count);
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    const float before = values[i];
    double losses[4];
    for (size_t p = 0; p < 4; p++) {
      values[i] = before + at[p] * step;
      losses[p] = gradient_loss(c, x, dy);
    }
    values[i] = before;
    expected[i] = gradient_of_differences(losses, (double)step);
    largest = fmax(largest, fabs(expected[i]));
  }
  for (size_t i = 0; i < count; i++) {
    gradient_compare(c->name, name, i, got[i] - 1.0F, expected[i], fmax(largest, 1.0));
  }
  check_case();
  free(expected);
}

/* A guarded array of ones, or NULL for none. */
static inline float *gradient_ones(size_t count) {
  float *ones = count == 0 ? NULL : check_guarded(count);
  for (size_t i = 0; i < count; i++) {
    ones[i] = 1.0F;
  }
  return ones;
}

/* A recorded forward gives the forward's numbers; its backward gives the gradients. */
static inline void gradient_check(hw_context *context, const gradient_case *c) {
  hw_graph *graph = NULL;
  float *y = check_guarded(c->y_count);
  float *plain = check_guarded(c->y_count);
  float *dy = check_floats(c->y_count);
  float *dx = check_guarded(c->x_count);
  double *x = c->x_count == 0 ? NULL : reference_widen(c->input.x, c->x_count);
  check_fill(dy, c->y_count);
  CHECK_STATUS(hw_module_forward(context, c->module, &c->input, plain, c->options), HW_OK);
  if (c->options != NULL && c->options->trace != NULL) {
    hw_trace_destroy(*c->options->trace); /* of one layer */
  }
  CHECK_STATUS(hw_module_forward_recorded(context, c->module, &c->input, y, c->options, &graph), HW_OK);
  CHECK(memcmp(y, plain, c->y_count * sizeof *y) == 0, "%s: recorded, another output", c->name);
  const hw_option_gradients asked = {.mask = gradient_ones(c->mask_count),
                                     .head_mask = gradient_ones(c->head_mask_count)};
  CHECK_STATUS(hw_module_backward(context, c->module, &c->input, graph, dy, c->x_count == 0 ? NULL : dx, &asked),
               HW_OK);
  for (size_t i = 0; i < hw_module_parameter_count(c->module); i++) {
    gradient_check_parameter(c, i, x, dy);
  }
  if (x != NULL) {
    gradient_check_x(c, x, dy, dx);
  }
  gradient_check_option(c, "mask", c->mask, c->mask_count, x, dy, asked.mask);
  gradient_check_option(c, "head_mask", c->head_mask, c->head_mask_count, x, dy, asked.head_mask);
  hw_graph_destroy(graph);
  free(asked.mask);
  free(asked.head_mask);
  free(y);
  free(plain);
  free(dy);
  free(dx);
  free(x);
}

#endif
