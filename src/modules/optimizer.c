/* Optimizers over the parameters of a module, which they update where they lie: in panels. */
#include <float.h>
#include <math.h>

#include "modules/gradients.h"
#include "ops/update.h"

/* What is remembered of a parameter. */
typedef struct memory {
  size_t storage; /* the first parameter that shares the value's memory; its moments are all of theirs */
  size_t steps;
  uint32_t present; /* a bit for each moment that is there */
  float *moments[2];
} memory;

struct hw_optimizer {
  hw_module *module;
  size_t count; /* of parameters */
  memory memories[];
};

hw_status hw_optimizer_create(hw_module *module, hw_optimizer **optimizer) {
  const hw_named_parameter *parameter;
  *optimizer = NULL;
  HW_TRY(hw_module_named_parameter(module, 0, &parameter));
  const size_t count = module->parameter_count;
  hw_optimizer *created = hw_allocate_zeroed(sizeof(hw_optimizer) + count * sizeof(memory));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->module = module;
  created->count = count;
  for (size_t i = 0; i < count; i++) {
    while (parameter[created->memories[i].storage].value.gradient != parameter[i].value.gradient) {
      created->memories[i].storage++;
    }
  }
  *optimizer = created;
  return HW_OK;
}

void hw_optimizer_destroy(hw_optimizer *optimizer) {
  for (size_t i = 0; optimizer != NULL && i < optimizer->count; i++) {
    hw_release(optimizer->memories[i].moments[0]);
    hw_release(optimizer->memories[i].moments[1]);
  }
  hw_release(optimizer);
}

/* ---- Passes over many parameters ---- */

typedef struct pass pass;

struct pass {
  hw_module *module;
  const uint32_t *parameters; /* NULL: all */
  size_t count;
  hw_optimizer *optimizer; /* NULL: no moments */
  size_t moments;          /* that the update has */
  hw_update update;
  const hw_adamw_config *adamw; /* NULL, or what the update of each parameter follows from */
  bool of_gradients;            /* the update's values are the gradients */
  double *sum;
};

/* The i-th parameter of a pass. */
static size_t index_of(const pass *p, size_t i) { return p->parameters == NULL ? i : p->parameters[i]; }

static const hw_named_parameter *parameter_at(const pass *p, size_t index) { return p->module->parameters + index; }

/* Lists the parameters, and refuses numbers that there are not. */
static hw_status check_pass(pass *p) {
  const hw_named_parameter *parameter;
  if (p->module == NULL) {
    return HW_ERROR_VALUE;
  }
  p->count = p->parameters == NULL ? hw_module_parameter_count(p->module) : p->count;
  for (size_t i = 0; i < p->count; i++) {
    HW_TRY(hw_module_named_parameter(p->module, index_of(p, i), &parameter));
  }
  return HW_OK;
}

static hw_status make_moment(hw_optimizer *optimizer, size_t index, size_t moment) {
  memory *storage = optimizer->memories + optimizer->memories[index].storage;
  if (storage->moments[moment] == NULL) {
    const size_t bytes = hw_parameter_bytes(&optimizer->module->parameters[index].value);
    storage->moments[moment] = hw_allocate_zeroed(bytes);
  }
  return storage->moments[moment] == NULL ? HW_ERROR_MEMORY : HW_OK;
}

static hw_status make_moments(const pass *p) {
  for (size_t i = 0; i < p->count; i++) {
    const size_t index = index_of(p, i);
    for (size_t m = 0; hw_parameter_has_gradient(&parameter_at(p, index)->value) && m < p->moments; m++) {
      HW_TRY(make_moment(p->optimizer, index, m));
    }
  }
  return HW_OK;
}

static hw_update_arrays arrays_of(const pass *p, size_t index) {
  const hw_parameter *parameter = &parameter_at(p, index)->value;
  float *gradient = parameter->gradient->values;
  float *value = parameter->matrix == NULL ? parameter->array : parameter->matrix->panels;
  hw_update_arrays arrays = {.value = p->of_gradients ? gradient : value, .gradient = gradient};
  for (size_t m = 0; p->optimizer != NULL && m < p->moments; m++) {
    arrays.moments[m] = p->optimizer->memories[p->optimizer->memories[index].storage].moments[m];
  }
  return arrays;
}

static double update_parameter(const hw_run *run, const pass *p, size_t index, const hw_update *update) {
  const hw_parameter *parameter = &parameter_at(p, index)->value;
  const hw_update_arrays arrays = arrays_of(p, index);
  const size_t first = parameter->first_row;
  if (parameter->matrix == NULL) {
    const size_t start = first * parameter->columns;
    return hw_update_forward(run, update, &arrays, start, parameter->rows * parameter->columns);
  }
  const size_t rows = parameter->is_transposed ? parameter->columns : parameter->rows;
  return hw_update_rows(run, update, &arrays, parameter->matrix, first, rows);
}

/* β to the power of n: the library's pow would be a large part of the module. */
static double power(double base, size_t exponent) {
  double product = 1.0;
  for (; exponent > 0; exponent /= 2) {
    product *= exponent % 2 == 1 ? base : 1.0;
    base *= base;
  }
  return product;
}

static hw_update adamw_update(const hw_adamw_config *config, size_t steps) {
  return (hw_update){
      .kernel = hw_update_adamw,
      .rate = (float)(config->lr / (1.0 - power(config->beta1, steps))),
      .decay = (float)(1.0 - config->lr * config->weight_decay),
      .kept = {(float)config->beta1, (float)config->beta2},
      .added = {(float)(1.0 - config->beta1), (float)(1.0 - config->beta2)},
      .root_factor = (float)(1.0 / sqrt(1.0 - power(config->beta2, steps))),
      .eps = (float)config->eps,
  };
}

static hw_update sgd_update(const hw_sgd_config *config) {
  return (hw_update){
      .kernel = hw_update_sgd,
      .rate = (float)config->lr,
      .decay = (float)config->weight_decay,
      .kept = {(float)config->momentum},
      .nesterov = config->nesterov,
  };
}

/* Notes that a parameter is about to be stepped. */
static void count_step(const pass *p, size_t index) {
  memory *remembered = p->optimizer->memories + index;
  remembered->steps += remembered->steps < SIZE_MAX - 1 ? 1 : 0;
  remembered->present |= (1u << p->moments) - 1;
  parameter_at(p, index)->owner->changes++;
}

static void forward(hw_run *run, const void *call) {
  const pass *p = call;
  for (size_t i = 0; i < p->count; i++) {
    const size_t index = index_of(p, i);
    if (!hw_parameter_has_gradient(&parameter_at(p, index)->value)) {
      continue;
    }
    if (p->optimizer != NULL && !hw_run_measures(run)) {
      count_step(p, index);
    }
    const bool is_adamw = p->optimizer != NULL && p->adamw != NULL;
    const hw_update update = is_adamw ? adamw_update(p->adamw, p->optimizer->memories[index].steps) : p->update;
    const double sum = update_parameter(run, p, index, &update);
    if (p->sum != NULL) {
      *p->sum += sum;
    }
  }
}

/* HW_ERROR_VALUE: a parameter that does not exist. */
static hw_status run_pass(hw_context *context, pass *p) {
  HW_TRY(check_pass(p));
  HW_TRY(make_moments(p));
  return hw_run_forward(context, NULL, NULL, forward, p);
}

/* ---- Steps ---- */

/* No NaN, and finite as a float too. */
static bool is_amount(double x) { return x >= 0.0 && x <= (double)FLT_MAX; }

static bool adamw_is_valid(const hw_adamw_config *config) {
  return config != NULL && is_amount(config->lr) && is_amount(config->beta1) && config->beta1 < 1.0 &&
         is_amount(config->beta2) && config->beta2 < 1.0 && is_amount(config->eps) && is_amount(config->weight_decay);
}

static bool sgd_is_valid(const hw_sgd_config *config) {
  return config != NULL && is_amount(config->lr) && is_amount(config->momentum) && is_amount(config->weight_decay) &&
         (!config->nesterov || config->momentum > 0.0);
}

hw_status hw_adamw_step(hw_context *context, hw_optimizer *optimizer, const hw_adamw_config *config,
                        const uint32_t *parameters, size_t count) {
  if (optimizer == NULL || !adamw_is_valid(config)) {
    return HW_ERROR_VALUE;
  }
  pass p = {optimizer->module, parameters, count, optimizer, .moments = 2, .adamw = config};
  return run_pass(context, &p);
}

hw_status hw_sgd_step(hw_context *context, hw_optimizer *optimizer, const hw_sgd_config *config,
                      const uint32_t *parameters, size_t count) {
  if (optimizer == NULL || !sgd_is_valid(config)) {
    return HW_ERROR_VALUE;
  }
  const size_t moments = config->momentum == 0.0 ? 0 : 1;
  pass p = {optimizer->module, parameters, count, optimizer, .moments = moments, .update = sgd_update(config)};
  return run_pass(context, &p);
}

/* ---- Norms ---- */

hw_status hw_module_sum_gradient_squares(hw_context *context, hw_module *module, const uint32_t *parameters,
                                         size_t count, double *sum) {
  if (sum == NULL) {
    return HW_ERROR_VALUE;
  }
  pass p = {module, parameters, count, .update = {.kernel = hw_update_squares}, .sum = sum};
  return run_pass(context, &p);
}

hw_status hw_module_scale_gradients(hw_context *context, hw_module *module, const uint32_t *parameters, size_t count,
                                    float factor) {
  const hw_update update = {.kernel = hw_update_scale, .scale = factor};
  pass p = {module, parameters, count, .update = update, .of_gradients = true};
  return run_pass(context, &p);
}

hw_status hw_clip_grad_norm(hw_context *context, hw_module *module, double max_norm, double *norm) {
  double squares = 0.0;
  if (norm == NULL || !(max_norm >= 0.0)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_module_sum_gradient_squares(context, module, NULL, 0, &squares));
  const double before = sqrt(squares);
  const double factor = max_norm / (before + 1e-6);
  HW_TRY(factor >= 1.0 ? HW_OK : hw_module_scale_gradients(context, module, NULL, 0, (float)factor));
  *norm = before;
  return HW_OK;
}

/* ---- Plain arrays ---- */

typedef struct array_step {
  hw_update update;
  hw_update_arrays arrays;
  size_t count;
} array_step;

static void array_forward(hw_run *run, const void *call) {
  const array_step *f = call;
  hw_update_forward(run, &f->update, &f->arrays, 0, f->count);
}

static hw_status step_array(hw_context *context, const array_step *step) {
  return hw_run_forward(context, NULL, NULL, array_forward, step);
}

hw_status hw_adamw_step_array(hw_context *context, const hw_adamw_config *config, size_t steps, size_t count,
                              float *value, const float *gradient, float *exp_avg, float *exp_avg_sq) {
  const bool data = value != NULL && gradient != NULL && exp_avg != NULL && exp_avg_sq != NULL;
  if (!adamw_is_valid(config) || steps == 0 || (count > 0 && !data)) {
    return HW_ERROR_VALUE;
  }
  const hw_update_arrays arrays = {value, gradient, {exp_avg, exp_avg_sq}};
  return step_array(context, &(array_step){adamw_update(config, steps), arrays, count});
}

hw_status hw_sgd_step_array(hw_context *context, const hw_sgd_config *config, size_t count, float *value,
                            const float *gradient, float *momentum_buffer) {
  if (!sgd_is_valid(config) ||
      (count > 0 && (value == NULL || gradient == NULL || (config->momentum > 0.0 && momentum_buffer == NULL)))) {
    return HW_ERROR_VALUE;
  }
  float *moment = config->momentum > 0.0 ? momentum_buffer : NULL;
  const hw_update_arrays arrays = {value, gradient, {moment, NULL}};
  return step_array(context, &(array_step){sgd_update(config), arrays, count});
}

/* ---- State ---- */

static bool has_parameter(const hw_optimizer *optimizer, size_t index) {
  return optimizer != NULL && index < optimizer->count;
}

static bool has_bit(const hw_optimizer *optimizer, size_t index, hw_moment moment) {
  return (optimizer->memories[index].present >> moment & 1u) != 0;
}

size_t hw_optimizer_steps(const hw_optimizer *optimizer, size_t index) {
  return has_parameter(optimizer, index) ? optimizer->memories[index].steps : 0;
}

hw_status hw_optimizer_set_steps(hw_optimizer *optimizer, size_t index, size_t steps) {
  if (!has_parameter(optimizer, index) || steps == SIZE_MAX) {
    return HW_ERROR_VALUE;
  }
  optimizer->memories[index].steps = steps;
  return HW_OK;
}

static bool is_moment(hw_moment moment) { return moment == HW_MOMENT_FIRST || moment == HW_MOMENT_SECOND; }

bool hw_optimizer_has_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment) {
  return has_parameter(optimizer, index) && is_moment(moment) && has_bit(optimizer, index, moment);
}

/* The moment in place of the parameter's value. */
static hw_parameter moment_of(const hw_optimizer *optimizer, size_t index, hw_moment moment, hw_matrix *matrix) {
  const memory *storage = optimizer->memories + optimizer->memories[index].storage;
  return hw_parameter_with(&optimizer->module->parameters[index].value, storage->moments[moment], matrix);
}

hw_status hw_optimizer_load_moment(hw_optimizer *optimizer, size_t index, hw_moment moment, size_t first_row,
                                   size_t rows, const float *source) {
  const hw_named_parameter *parameter;
  hw_matrix matrix;
  if (!has_parameter(optimizer, index) || !is_moment(moment)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_module_parameter_rows(optimizer->module, index, first_row, rows, source, &parameter));
  HW_TRY(make_moment(optimizer, index, moment));
  const hw_parameter target = moment_of(optimizer, index, moment, &matrix);
  hw_parameter_load(&target, first_row, rows, source);
  optimizer->memories[index].present |= 1u << moment;
  return HW_OK;
}

hw_status hw_optimizer_store_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment, size_t first_row,
                                    size_t rows, float *target) {
  const hw_named_parameter *parameter;
  hw_matrix matrix;
  if (!hw_optimizer_has_moment(optimizer, index, moment)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_module_parameter_rows(optimizer->module, index, first_row, rows, target, &parameter));
  const hw_parameter source = moment_of(optimizer, index, moment, &matrix);
  hw_parameter_store(&source, first_row, rows, target);
  return HW_OK;
}
