#include "modules/module.h"

#include <string.h>

#include "modules/asked.h"
#include "ops/attention.h"

/* ---- Life ---- */

/* Rises with every module that is made and every change of mode: what was known of a module before may be wrong. */
static _Atomic uint64_t version;

/* A visit that draws; the generator lies after it. */
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
  created->serial = (size_t)++version;
  created->training = true;
  memcpy((unsigned char *)created + type->config_offset, config, type->config_bytes);
  const hw_status status = type->create(created);
  if (status != HW_OK) {
    hw_module_destroy(created);
    return status;
  }
  /* At the end, so that a creation that fails leaves the generator alone. */
  if (context != NULL && !type->draws_nothing) {
    drawing each = {.visit.parameter = draw, .generator = &context->generator};
    hw_visit_module(&each.visit, created);
  }
  *module = created;
  return HW_OK;
}

void hw_module_destroy(hw_module *module) {
  if (module != NULL) {
    module->type->release(module);
    hw_release(module->parameters);
    hw_release(module);
  }
}

/* A visit that switches a mode. */
typedef struct mode_change {
  hw_visit visit;
  bool is_training; /* or checkpointing */
  bool is_on;
} mode_change;

static void switch_mode(hw_visit *visit, hw_module *module) {
  const mode_change *change = (const mode_change *)visit;
  if (change->is_training) {
    module->modes += module->training == change->is_on ? 0 : 1;
    module->training = change->is_on;
  } else if (module->type->is_block) {
    module->changes += module->checkpointing == change->is_on ? 0 : 1;
    module->checkpointing = change->is_on;
  }
}

static void switch_all(hw_module *module, bool is_training, bool is_on) {
  if (module != NULL) {
    mode_change change = {.visit.module = switch_mode, .is_training = is_training, .is_on = is_on};
    hw_visit_module(&change.visit, module);
    version++;
  }
}

void hw_module_train(hw_module *module, bool training) { switch_all(module, true, training); }

void hw_module_checkpoint(hw_module *module, bool checkpointing) { switch_all(module, false, checkpointing); }

/* A visit that looks for a child by its name. */
typedef struct child_search {
  hw_visit visit;
  const char *name;
  hw_module *found;
} child_search;

static void look_at_child(hw_visit *visit, hw_module *module) {
  child_search *s = (child_search *)visit;
  s->found = strcmp(visit->name, s->name) == 0 ? module : s->found;
}

hw_module *hw_module_child(hw_module *module, const char *name) {
  child_search s = {.visit.module = look_at_child, .name = name};
  if (module != NULL && name != NULL) {
    hw_visit_module(&s.visit, module);
  }
  return s.found;
}

hw_status hw_modules_reserve(size_t count, size_t weight_bytes, hw_modules *modules) {
  if (count == 0) {
    return HW_ERROR_SHAPE;
  }
  /* Refused at once, not after making modules until memory ends. */
  const bool fits = hw_size_multiply(count, weight_bytes) != SIZE_MAX;
  modules->all = fits ? hw_allocate_zeroed(hw_size_multiply(count, sizeof(hw_module *))) : NULL;
  return modules->all == NULL ? HW_ERROR_MEMORY : HW_OK;
}

hw_status hw_modules_add(hw_modules *modules, const hw_module_type *type, const void *config) {
  HW_TRY(hw_module_create(NULL, type, config, &modules->all[modules->count]));
  modules->count++;
  return HW_OK;
}

hw_status hw_modules_create(size_t count, size_t weight_bytes, const hw_module_type *type, const void *config,
                            hw_modules *modules) {
  HW_TRY(hw_modules_reserve(count, weight_bytes, modules));
  while (modules->count < count) {
    HW_TRY(hw_modules_add(modules, type, config));
  }
  return HW_OK;
}

void hw_modules_release(hw_modules *modules) {
  for (size_t i = 0; i < modules->count; i++) {
    hw_module_destroy(modules->all[i]);
  }
  hw_release((void *)modules->all);
}

const hw_linear *hw_modules_out_proj(const hw_modules *modules, size_t layer) {
  const hw_module *module = modules->all[layer];
  return module->type->out_proj(module, 0);
}

/* ---- Forward ---- */

static bool are_outputs_valid(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  bool are = options->replace_count == 0 || (options->replace != NULL && module->type->has_head_mask);
  for (size_t i = 0; are && i < options->replace_count; i++) {
    const hw_head_output *given = options->replace + i;
    const bool rows = given->rows == input->tokens || given->rows == input->batch * input->tokens;
    are = given->layer >= options->start_layer && given->layer < module->layers && given->head < module->heads &&
          given->output != NULL && rows;
  }
  return are;
}

static bool is_start_valid(const hw_module *module, const hw_forward_options *options) {
  const bool is_plain = options->start == NULL && options->residuals == NULL;
  const size_t most = options->start == NULL ? 0 : module->layers;
  return (is_plain || module->type->has_residuals) && options->start_layer <= most &&
         (options->start == NULL || options->cache == NULL);
}

static hw_status check_options(const hw_module *module, const hw_forward_options *options) {
  const bool attends = module->layers > 0;
  const bool has_cache = module->type->cache_shape != NULL;
  const bool fits = (attends || (options->mask.kind == HW_MASK_NONE && options->weights == NULL &&
                                 options->causality == HW_CAUSALITY_DEFAULT)) &&
                    (has_cache || options->cache == NULL) &&
                    (module->type->has_head_mask || options->head_mask == NULL);
  const bool causality = options->causality >= HW_CAUSALITY_DEFAULT && options->causality <= HW_CAUSALITY_OWN;
  return fits && causality && hw_mask_is_valid(&options->mask) && is_start_valid(module, options) ? HW_OK
                                                                                                  : HW_ERROR_VALUE;
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

hw_status hw_lengths_check(const hw_module *module, const hw_input *input) {
  bool fit = input->lengths == NULL || module->type->takes_lengths;
  for (size_t b = 0; input->lengths != NULL && b < input->batch; b++) {
    fit = fit && input->lengths[b] <= input->tokens;
  }
  return fit ? HW_OK : HW_ERROR_VALUE;
}

hw_status hw_module_check(const hw_module *module, const hw_input *input, const float *y,
                          const hw_forward_options *options) {
  if (module == NULL || (options->trace != NULL && module->layers == 0)) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = options->start_layer; options->trace != NULL && i < module->layers; i++) {
    options->trace[i - options->start_layer] = NULL;
  }
  if (input == NULL || module->needs_model) {
    return HW_ERROR_VALUE;
  }
  const hw_module_type *type = module->type;
  if (type->takes_lengths && (input->batch == 0 || input->tokens == 0)) {
    return HW_ERROR_SHAPE;
  }
  const void *data = hw_module_takes_ids(module, input) ? (const void *)input->ids : (const void *)input->x;
  const bool has_output = !type->has_logits || hw_asked_tokens(input) > 0;
  if (data == NULL || (has_output && y == NULL)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(check_options(module, options));
  if (options->cache != NULL) {
    hw_cache_shape shape = type->cache_shape(module);
    shape.batch = input->batch;
    HW_TRY(hw_key_value_cache_check(options->cache, &shape));
  }
  if (input->batch > 0 && input->tokens > SIZE_MAX / input->batch) {
    return HW_ERROR_MEMORY;
  }
  if (!are_outputs_valid(module, input, options)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_lengths_check(module, input));
  return hw_module_type_check(module, input, options);
}

bool hw_ids_fit(const uint32_t *ids, const hw_input *input, size_t limit) {
  bool fit = true;
  for (size_t i = 0; ids != NULL && i < input->batch * input->tokens; i++) {
    fit = fit && ids[i] < limit;
  }
  return fit;
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
  HW_TRY(hw_module_check(module, input, y, asked));
  const hw_scratch_key key = {
      .module = module,
      .version = version,
      .batch = input->batch,
      .tokens = input->tokens,
      .logits = hw_asked_tokens(input),
      .is_head = module->type->takes_rows && input->x != NULL,
  };
  if (asked->cache != NULL) {
    HW_TRY(hw_key_value_cache_begin(asked->cache, input->lengths, input->tokens));
    HW_TRY(hw_key_value_cache_reserve(asked->cache, input->tokens));
  }
  const bool has_key = options == NULL && input->lengths == NULL;
  HW_TRY(hw_run_forward(context, options, has_key ? &key : NULL, forward, &(module_call){module, input, y}));
  if (asked->cache != NULL) {
    hw_key_value_cache_end(asked->cache);
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
  shape.dtype = past == NULL ? HW_MATRIX_FLOAT32 : past->dtype;
  HW_TRY(hw_key_value_cache_create(&shape, cache));
  const hw_status status = past == NULL ? HW_OK : hw_key_value_cache_fill(*cache, past);
  if (status != HW_OK) {
    hw_key_value_cache_destroy(*cache);
    *cache = NULL;
  }
  return status;
}
