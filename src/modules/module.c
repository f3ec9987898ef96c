#include "modules/module.h"

#include <math.h>
#include <string.h>

#include "ops/attention.h"

/* ---- Life ---- */

/* A visit that draws; the generator lies behind it. */
typedef struct drawing {
  hw_visit visit;
  hw_generator *generator;
} drawing;

static void draw(hw_visit *visit, const hw_parameter *parameter) {
  hw_parameter_draw(parameter, ((drawing *)visit)->generator);
}

hw_status hw_module_create(hw_context *context, const hw_module_type *type, const void *config, hw_module **module) {
  *module = NULL;
  hw_module *created = hw_allocate_zeroed(type->bytes);
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->type = type;
  created->training = true;
  memcpy((unsigned char *)created + type->config_offset, config, type->config_bytes);
  const hw_status status = type->create(created);
  if (status != HW_OK) {
    hw_module_destroy(created);
    return status;
  }
  /* At the end, so that a creation that fails leaves the generator alone. */
  if (context != NULL) {
    drawing each = {.visit.parameter = draw, .generator = &context->generator};
    hw_visit_module(&each.visit, created);
  }
  *module = created;
  return HW_OK;
}

void hw_module_destroy(hw_module *module) {
  if (module != NULL) {
    module->type->release(module);
    hw_release(module);
  }
}

static void set_training(hw_visit *visit, hw_module *module) {
  (void)visit;
  module->training = true;
}

static void set_evaluation(hw_visit *visit, hw_module *module) {
  (void)visit;
  module->training = false;
}

void hw_module_train(hw_module *module, bool training) {
  if (module == NULL) {
    return;
  }
  hw_visit visit = {.module = training ? set_training : set_evaluation};
  hw_visit_module(&visit, module);
}

/* A visit that looks for a child by its name. */
typedef struct child_search {
  hw_visit visit;
  const char *name;
  hw_module *found;
} child_search;

static void look_at_child(hw_visit *visit, hw_module *module) {
  child_search *s = (child_search *)visit;
  if (strcmp(visit->name, s->name) == 0) {
    s->found = module;
    visit->done = true;
  }
}

hw_module *hw_module_child(hw_module *module, const char *name) {
  child_search s = {.visit.module = look_at_child, .name = name};
  if (module != NULL && name != NULL) {
    hw_visit_module(&s.visit, module);
  }
  return s.found;
}

/* ---- Forward ---- */

static hw_status check_options(const hw_module *module, const hw_forward_options *options) {
  const bool attends = module->layers > 0;
  const bool has_cache = module->type->cache_shape != NULL;
  const bool fits = (attends || (options->mask.kind == HW_MASK_NONE && options->weights == NULL &&
                                 options->causality == HW_CAUSALITY_DEFAULT)) &&
                    (has_cache || options->cache == NULL) &&
                    (module->type->has_head_mask || options->head_mask == NULL);
  const bool causality = options->causality >= HW_CAUSALITY_DEFAULT && options->causality <= HW_CAUSALITY_OWN;
  return fits && causality && hw_mask_is_valid(&options->mask) ? HW_OK : HW_ERROR_VALUE;
}

bool hw_forward_is_causal(const hw_forward_options *options, bool module_is_causal) {
  switch (options->causality) {
    case HW_CAUSALITY_OFF:
      return false;
    case HW_CAUSALITY_ON:
      return true;
    case HW_CAUSALITY_OWN:
      return module_is_causal;
    default:
      return module_is_causal && options->mask.kind == HW_MASK_NONE;
  }
}

static hw_status check(const hw_module *module, const hw_input *input, const float *y,
                       const hw_forward_options *options) {
  const hw_module_type *type = module->type;
  if (input->batch == 0 || input->tokens == 0) {
    return HW_ERROR_SHAPE;
  }
  const void *data = type->takes_ids ? (const void *)input->ids : (const void *)input->x;
  const bool has_output = !type->has_logits || input->logits_start != input->logits_end;
  if (data == NULL || (has_output && y == NULL)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(check_options(module, options));
  if (options->cache != NULL) {
    hw_cache_shape shape = type->cache_shape(module);
    shape.batch = input->batch;
    HW_TRY(hw_key_value_cache_check(options->cache, &shape, input->tokens));
  }
  if (input->tokens > SIZE_MAX / input->batch) {
    return HW_ERROR_MEMORY;
  }
  return type->check == NULL ? HW_OK : type->check(module, input, options);
}

typedef struct module_call {
  const hw_module *module;
  const hw_input *input;
  float *y;
} module_call;

static void forward(hw_run *run, const void *call) {
  const module_call *f = call;
  hw_module_run(run, f->module, f->input, f->y);
}

hw_status hw_module_forward(hw_context *context, const hw_module *module, const hw_input *input, float *y,
                            const hw_forward_options *options) {
  static const hw_forward_options nothing;
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  if (module == NULL || (asked->trace != NULL && module->layers == 0)) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; asked->trace != NULL && i < module->layers; i++) {
    asked->trace[i] = NULL;
  }
  if (input == NULL) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(check(module, input, y, asked));
  HW_TRY(hw_run_forward(context, asked, forward, &(module_call){module, input, y}));
  if (asked->cache != NULL) {
    asked->cache->length += input->tokens;
  }
  return HW_OK;
}

hw_status hw_module_create_cache(const hw_module *module, size_t batch, const hw_past *past,
                                 hw_key_value_cache **cache) {
  *cache = NULL;
  if (module == NULL || module->type->cache_shape == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_cache_shape shape = module->type->cache_shape(module);
  shape.batch = batch;
  HW_TRY(hw_key_value_cache_create(&shape, cache));
  const hw_status status = past == NULL ? HW_OK : hw_key_value_cache_fill(*cache, past);
  if (status != HW_OK) {
    hw_key_value_cache_destroy(*cache);
    *cache = NULL;
  }
  return status;
}

/* ---- Visits ---- */

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
  if (visit->done) {
    return;
  }
  if (visit->module != NULL) {
    visit->module(visit, module);
  }
  module->type->visit(module, visit);
}

void hw_visit_child_by_aliases(hw_visit *visit, const char *name, size_t index, hw_module *child,
                               const hw_alias *aliases) {
  const size_t length = visit->length;
  append_name(visit, name);
  if (index != SIZE_MAX) {
    append(visit, ".");
    append_number(visit, index);
  }
  if (aliases == NULL) {
    hw_visit_module(visit, child);
  }
  for (const hw_alias *alias = aliases; alias != NULL && alias->name != NULL; alias++) {
    visit->alias = alias;
    visit->alias_start = visit->length + 1;
    hw_visit_module(visit, child);
    visit->alias = NULL;
  }
  cut(visit, length);
}

void hw_visit_child(hw_visit *visit, const char *name, size_t index, hw_module *child) {
  hw_visit_child_by_aliases(visit, name, index, child, NULL);
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
  if (visit->parameter == NULL || visit->done) {
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

void hw_visit_linear(hw_visit *visit, const char *name, hw_linear *linear, size_t first_row, size_t rows) {
  const size_t length = visit->length;
  const float bound = (float)(1.0 / sqrt((double)linear->weight.columns));
  append_name(visit, name);
  hw_parameter parameter = {
      .rank = 2,
      .rows = rows,
      .columns = linear->weight.columns,
      .matrix = &linear->weight,
      .first_row = first_row,
      .drawn = HW_DRAWN_UNIFORM,
      .from = -bound,
      .to = bound,
  };
  hw_visit_parameter(visit, "weight", &parameter);
  if (linear->bias != NULL) {
    parameter.rank = 1;
    parameter.columns = 1;
    parameter.matrix = NULL;
    parameter.array = linear->bias + first_row;
    hw_visit_parameter(visit, "bias", &parameter);
  }
  cut(visit, length);
}

/* ---- Parameters by their number ---- */

/* A visit that looks for one parameter, by its number or its name. */
typedef struct search {
  hw_visit visit;
  size_t count; /* parameters seen before it */
  size_t wanted;
  const char *name;
  hw_parameter found;
  char found_name[HW_NAME_BYTES];
} search;

static void look(hw_visit *visit, const hw_parameter *parameter) {
  search *s = (search *)visit;
  if (s->count == s->wanted || (s->name != NULL && strcmp(s->name, visit->name) == 0)) {
    s->found = *parameter;
    strcpy(s->found_name, visit->name);
    visit->done = true;
  } else {
    s->count++;
  }
}

static search search_for(const hw_module *module, size_t index, const char *name) {
  search s = {.visit.parameter = look, .wanted = index, .name = name};
  if (module != NULL) {
    hw_visit_module(&s.visit, (hw_module *)module);
  }
  return s;
}

size_t hw_module_parameter_count(const hw_module *module) { return search_for(module, SIZE_MAX, NULL).count; }

size_t hw_module_find_parameter(const hw_module *module, const char *name) {
  const search s = search_for(module, SIZE_MAX, name);
  return s.visit.done ? s.count : SIZE_MAX;
}

hw_status hw_module_parameter(const hw_module *module, size_t index, hw_parameter_info *info) {
  const search s = search_for(module, index, NULL);
  if (!s.visit.done || info == NULL) {
    return HW_ERROR_VALUE;
  }
  *info = (hw_parameter_info){.rank = s.found.rank, .shape = {s.found.rows, s.found.columns}};
  memcpy(info->name, s.found_name, HW_NAME_BYTES);
  return HW_OK;
}

static hw_status find_rows(const hw_module *module, size_t index, size_t first_row, size_t rows, const void *data,
                           hw_parameter *parameter) {
  const search s = search_for(module, index, NULL);
  if (!s.visit.done || data == NULL) {
    return HW_ERROR_VALUE;
  }
  *parameter = s.found;
  return first_row > parameter->rows || rows > parameter->rows - first_row ? HW_ERROR_SHAPE : HW_OK;
}

hw_status hw_module_load(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source) {
  hw_parameter parameter;
  HW_TRY(find_rows(module, index, first_row, rows, source, &parameter));
  hw_parameter_load(&parameter, first_row, rows, source);
  return HW_OK;
}

hw_status hw_module_store(const hw_module *module, size_t index, size_t first_row, size_t rows, float *target) {
  hw_parameter parameter;
  HW_TRY(find_rows(module, index, first_row, rows, target, &parameter));
  hw_parameter_store(&parameter, first_row, rows, target);
  return HW_OK;
}
