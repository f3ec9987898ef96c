/* Walks over modules, and the parameters that they find. */
#include <math.h>
#include <string.h>

#include "modules/module.h"

static void append(hw_visit *visit, const char *text) {
  while (*text != '\0' && visit->length < HW_NAME_BYTES - 1) {
    visit->name[visit->length++] = *text++;
  }
  visit->name[visit->length] = '\0';
}

static void append_number(hw_visit *visit, size_t number) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  append(visit, digits + at);
}

static void append_name(hw_visit *visit, const char *name) {
  if (visit->length > 0 && *name != '\0') {
    append(visit, ".");
  }
  append(visit, name);
}

static void cut(hw_visit *visit, size_t length) {
  visit->length = length;
  visit->name[length] = '\0';
}

void hw_visit_module(hw_visit *visit, hw_module *module) {
  hw_module *outer = visit->owner;
  visit->owner = module;
  if (visit->module != NULL) {
    visit->module(visit, module);
  }
  module->type->visit(module, visit);
  visit->owner = outer;
}

/* The child under the name that the visit has by now. */
static void show_child(hw_visit *visit, hw_module *child, const hw_alias *aliases) {
  if (aliases == NULL) {
    hw_visit_module(visit, child);
    return;
  }
  visit->alias_start = visit->length + 1;
  for (visit->alias = aliases; visit->alias->name != NULL; visit->alias++) {
    hw_visit_module(visit, child);
  }
  visit->alias = NULL;
}

void hw_visit_child(hw_visit *visit, const char *name, hw_module *child) {
  const size_t length = visit->length;
  append_name(visit, name);
  hw_visit_module(visit, child);
  cut(visit, length);
}

void hw_visit_modules(hw_visit *visit, const char *name, const hw_modules *modules, const hw_alias *aliases) {
  const size_t length = visit->length;
  append_name(visit, name);
  append(visit, ".");
  for (size_t i = 0, start = visit->length; i < modules->count; i++) {
    append_number(visit, i);
    show_child(visit, modules->all[i], aliases);
    cut(visit, start);
  }
  cut(visit, length);
}

/* Whether the parameter is of the part that the visit's alias names. */
static bool has_alias(const hw_visit *visit) {
  const char *name = visit->name + visit->alias_start;
  const size_t length = strlen(visit->alias->name);
  return strncmp(name, visit->alias->name, length) == 0 && name[length] == '.';
}

static void show_by_alias(hw_visit *visit, const hw_parameter *parameter) {
  const hw_alias *alias = visit->alias;
  char rest[HW_NAME_BYTES];
  strcpy(rest, visit->name + visit->alias_start + strlen(alias->name));
  cut(visit, visit->alias_start);
  append(visit, alias->alias);
  append(visit, rest);
  hw_parameter shown = *parameter;
  if (alias->is_transposed && shown.rank == 2) {
    shown.rows = parameter->columns;
    shown.columns = parameter->rows;
    shown.is_transposed = !parameter->is_transposed;
  }
  visit->parameter(visit, &shown);
}

void hw_visit_parameter(hw_visit *visit, const char *name, const hw_parameter *parameter) {
  if (visit->parameter == NULL) {
    return;
  }
  const size_t length = visit->length;
  append_name(visit, name);
  if (visit->alias == NULL) {
    visit->parameter(visit, parameter);
  } else if (has_alias(visit)) {
    char own[HW_NAME_BYTES];
    strcpy(own, visit->name);
    show_by_alias(visit, parameter);
    strcpy(visit->name, own);
  }
  cut(visit, length);
}

void hw_visit_linear(hw_visit *visit, const char *name, hw_linear *linear) {
  hw_visit_linear_part(visit, name, linear, 0, linear->weight.rows, 1);
}

void hw_visit_linear_part(hw_visit *visit, const char *name, hw_linear *linear, size_t first_row, size_t rows,
                          uint32_t part) {
  const size_t length = visit->length;
  const float bound = (float)(1.0 / sqrt((double)linear->weight.columns));
  append_name(visit, name);
  hw_parameter parameter = {
      .rank = 2,
      .rows = rows,
      .columns = linear->weight.columns,
      .matrix = &linear->weight,
      .first_row = first_row,
      .gradient = &linear->weight_gradient,
      .part = part,
      .drawn = HW_DRAWN_UNIFORM,
      .from = -bound,
      .to = bound,
  };
  hw_visit_parameter(visit, "weight", &parameter);
  if (linear->bias != NULL) {
    parameter.rank = 1;
    parameter.columns = 1;
    parameter.matrix = NULL;
    parameter.array = linear->bias;
    parameter.array_count = hw_linear_bias_count(linear);
    parameter.gradient = &linear->bias_gradient;
    hw_visit_parameter(visit, "bias", &parameter);
  }
  cut(visit, length);
}

void hw_visit_matrix(hw_visit *visit, const char *name, hw_matrix *matrix, hw_gradient *gradient, hw_drawn drawn) {
  const hw_parameter parameter = {
      .rank = 2,
      .rows = matrix->rows,
      .columns = matrix->columns,
      .matrix = matrix,
      .gradient = gradient,
      .part = 1,
      .drawn = drawn,
      .to = 1.0F,
  };
  hw_visit_parameter(visit, name, &parameter);
}

/* ---- Parameters by their number ---- */

/* A visit that counts parameters, and lists them where there is room. */
typedef struct listing {
  hw_visit visit;
  size_t count;
  hw_named_parameter *list;
} listing;

static void list_parameter(hw_visit *visit, const hw_parameter *parameter) {
  listing *l = (listing *)visit;
  if (l->list != NULL) {
    l->list[l->count].value = *parameter;
    l->list[l->count].value.reach = visit->reach;
    l->list[l->count].owner = visit->owner;
    strcpy(l->list[l->count].name, visit->name);
  }
  l->count++;
}

static size_t list_parameters(hw_module *module, hw_named_parameter *list) {
  listing all = {.visit.parameter = list_parameter, .list = list};
  hw_visit_module(&all.visit, module);
  return all.count;
}

size_t hw_module_parameter_count(hw_module *module) {
  if (module != NULL && module->parameter_count == 0) {
    module->parameter_count = list_parameters(module, NULL);
  }
  return module == NULL ? 0 : module->parameter_count;
}

/* One walk for all parameters, not one for each. */
hw_status hw_module_named_parameter(hw_module *module, size_t index, const hw_named_parameter **parameter) {
  const size_t count = hw_module_parameter_count(module);
  if (index >= count) {
    return HW_ERROR_VALUE;
  }
  if (module->parameters == NULL) {
    module->parameters = hw_allocate(count * sizeof(hw_named_parameter));
    if (module->parameters == NULL) {
      return HW_ERROR_MEMORY;
    }
    list_parameters(module, module->parameters);
  }
  *parameter = module->parameters + index;
  return HW_OK;
}

size_t hw_module_find_parameter(hw_module *module, const char *name) {
  const hw_named_parameter *found;
  for (size_t i = 0; name != NULL && hw_module_named_parameter(module, i, &found) == HW_OK; i++) {
    if (strcmp(found->name, name) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

hw_status hw_module_parameter(hw_module *module, size_t index, hw_parameter_info *info) {
  const hw_named_parameter *found;
  HW_TRY(hw_module_named_parameter(module, index, &found));
  if (info == NULL) {
    return HW_ERROR_VALUE;
  }
  *info = (hw_parameter_info){
      .rank = found->value.rank,
      .shape = {found->value.rows, found->value.columns},
      .loads_whole = hw_parameter_loads_whole(&found->value),
  };
  strcpy(info->name, found->name);
  return HW_OK;
}

hw_status hw_module_parameter_rows(hw_module *module, size_t index, size_t first_row, size_t rows, const void *data,
                                   const hw_named_parameter **parameter) {
  const hw_named_parameter *found;
  HW_TRY(hw_module_named_parameter(module, index, &found));
  *parameter = found;
  if (data == NULL) {
    return HW_ERROR_VALUE;
  }
  return first_row > found->value.rows || rows > found->value.rows - first_row ? HW_ERROR_SHAPE : HW_OK;
}

hw_status hw_module_load_as(hw_context *context, hw_module *module, size_t index, size_t first_row, size_t rows,
                            hw_matrix_type type, const void *source) {
  const hw_named_parameter *parameter;
  HW_TRY(hw_module_parameter_rows(module, index, first_row, rows, source, &parameter));
  const hw_parameter *value = &parameter->value;
  if (type >= HW_MATRIX_INT8 || (hw_parameter_loads_whole(value) && rows < value->rows)) {
    return HW_ERROR_VALUE;
  }
  hw_parameter_load_as(context == NULL ? NULL : context->team, value, first_row, rows, type, source);
  parameter->owner->changes++;
  return HW_OK;
}

hw_status hw_module_load(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source) {
  return hw_module_load_as(NULL, module, index, first_row, rows, HW_MATRIX_FLOAT32, source);
}

hw_status hw_module_store(hw_module *module, size_t index, size_t first_row, size_t rows, float *target) {
  const hw_named_parameter *parameter;
  HW_TRY(hw_module_parameter_rows(module, index, first_row, rows, target, &parameter));
  hw_parameter_store(&parameter->value, first_row, rows, target);
  return HW_OK;
}
