#include "modules/modules.h"

typedef struct wrapper {
  hw_module base;
  hw_multi_head_attention_wrapper_config config;
  hw_modules heads;
} wrapper;

static hw_status create(hw_module *module) {
  wrapper *m = (wrapper *)module;
  const hw_causal_attention_config *head = &m->config.head;
  const size_t weight_bytes = hw_matrix_bytes(HW_MATRIX_FLOAT32, hw_size_multiply(3, head->d_out), head->d_in);
  m->base.layers = 1;
  m->base.heads = m->config.num_heads;
  return hw_modules_create(m->config.num_heads, weight_bytes, &hw_causal_attention_type, head, &m->heads);
}

static void release(hw_module *module) { hw_modules_release(&((wrapper *)module)->heads); }

static void visit(hw_module *module, hw_visit *visit) {
  hw_visit_modules(visit, "heads", &((wrapper *)module)->heads, NULL);
}

static hw_status check(const hw_module *module, const hw_input *input, const hw_forward_options *options) {
  return hw_causal_attention_type.check(((const wrapper *)module)->heads.all[0], input, options);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_modules *heads = &((const wrapper *)module)->heads;
  /* All heads have the same config, so one head's scratch is as large as another's; a tape keeps all of theirs. */
  const size_t count = hw_run_measures(run) && !hw_run_records(run) ? 1 : heads->count;
  for (size_t i = 0; i < count; i++) {
    run->place = (hw_head_place){module, i, heads->count - 1};
    run->layer = 0;
    hw_module_run(run, heads->all[i], input, y);
  }
  run->place = (hw_head_place){0};
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  const hw_modules *heads = &((const wrapper *)module)->heads;
  for (size_t i = heads->count; i > 0; i--) {
    run->place = (hw_head_place){module, i - 1, heads->count - 1};
    run->layer = 1;
    hw_module_run_backward(run, heads->all[i - 1], input, dy, dx);
  }
  run->place = (hw_head_place){0};
}

const hw_module_type hw_multi_head_attention_wrapper_type = {
    HW_MODULE_TYPE(wrapper),
    .backward = backward,
    .check = check,
};

HW_MODULE_CREATE(multi_head_attention_wrapper)
