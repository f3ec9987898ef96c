#include "modules/causal_attention.h"
#include "modules/modules.h"
#include "ops/trace.h"

typedef struct wrapper {
  hw_module base;
  hw_multi_head_attention_wrapper_config config;
  hw_module **heads;
} wrapper;

static hw_status create(hw_module *module) {
  wrapper *m = (wrapper *)module;
  const hw_multi_head_attention_wrapper_config *config = &m->config;
  if (config->num_heads == 0) {
    return HW_ERROR_SHAPE;
  }
  m->base.layers = 1;
  /* Refused at once, not after making heads until memory ends. */
  if (hw_size_multiply(config->num_heads, hw_causal_attention_weight_bytes(&config->head)) == SIZE_MAX) {
    return HW_ERROR_MEMORY;
  }
  m->heads = hw_allocate_zeroed(hw_size_multiply(config->num_heads, sizeof(hw_module *)));
  if (m->heads == NULL) {
    return HW_ERROR_MEMORY;
  }
  for (size_t h = 0; h < config->num_heads; h++) {
    HW_TRY(hw_causal_attention_create(NULL, &config->head, &m->heads[h]));
  }
  return HW_OK;
}

static void release(hw_module *module) {
  wrapper *m = (wrapper *)module;
  for (size_t h = 0; m->heads != NULL && h < m->config.num_heads; h++) {
    hw_module_destroy(m->heads[h]);
  }
  hw_release((void *)m->heads);
}

static void visit(hw_module *module, hw_visit *visit) {
  wrapper *m = (wrapper *)module;
  for (size_t h = 0; h < m->config.num_heads; h++) {
    hw_visit_child(visit, "heads", h, m->heads[h]);
  }
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  return hw_causal_attention_type.check(((const wrapper *)module)->heads[0], input, options);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const wrapper *m = (const wrapper *)module;
  const size_t num_heads = m->config.num_heads;
  const hw_attention call = hw_causal_attention_call(run, m->heads[0], input, module->training);
  hw_head_place place = {
      .num_heads = num_heads, .trace = hw_trace_push(run, &call, num_heads), .training = module->training};
  /* All heads have the same config, so one head's scratch is as large as another's. */
  for (; place.head < (hw_run_measures(run) ? 1 : num_heads); place.head++) {
    hw_causal_attention_head_forward(run, m->heads[place.head], input, y, &place);
  }
}

const hw_module_type hw_multi_head_attention_wrapper_type = {
    HW_MODULE_STRUCT(wrapper), .create = create, .release = release, .visit = visit, .check = check, .forward = forward,
};

hw_status hw_multi_head_attention_wrapper_create(hw_context *context,
                                                 const hw_multi_head_attention_wrapper_config *config,
                                                 hw_module **module) {
  return hw_module_create(context, &hw_multi_head_attention_wrapper_type, config, module);
}
