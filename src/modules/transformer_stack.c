#include "modules/transformer_stack.h"

#include "modules/modules.h"

typedef struct transformer_stack {
  hw_module base;
  hw_transformer_stack_config config;
  hw_module **blocks;
} transformer_stack;

/* A lower bound of the weights' bytes; SIZE_MAX if they do not fit. */
static size_t weight_bytes(const hw_transformer_stack_config *config) {
  const size_t attn = hw_size_multiply(4, config->block.d_model);
  const size_t ffn = hw_size_multiply(2, config->block.d_ff);
  const size_t block = hw_size_multiply(hw_size_add(attn, ffn), config->block.d_model);
  return hw_size_multiply(hw_size_multiply(block, config->num_layers), sizeof(float));
}

static hw_status create(hw_module *module) {
  transformer_stack *m = (transformer_stack *)module;
  const size_t num_layers = m->config.num_layers;
  if (num_layers == 0) {
    return HW_ERROR_SHAPE;
  }
  m->base.layers = num_layers;
  /* Refused at once, not after making blocks until memory ends. */
  m->blocks = weight_bytes(&m->config) == SIZE_MAX
                  ? NULL
                  : hw_allocate_zeroed(hw_size_multiply(num_layers, sizeof(hw_module *)));
  if (m->blocks == NULL) {
    return HW_ERROR_MEMORY;
  }
  for (size_t i = 0; i < num_layers; i++) {
    HW_TRY(hw_transformer_block_create(NULL, &m->config.block, &m->blocks[i]));
  }
  return HW_OK;
}

static void release(hw_module *module) {
  transformer_stack *m = (transformer_stack *)module;
  for (size_t i = 0; m->blocks != NULL && i < m->config.num_layers; i++) {
    hw_module_destroy(m->blocks[i]);
  }
  hw_release((void *)m->blocks);
}

static void visit(hw_module *module, hw_visit *visit) {
  transformer_stack *m = (transformer_stack *)module;
  for (size_t i = 0; i < m->config.num_layers; i++) {
    hw_visit_child(visit, "blocks", i, m->blocks[i]);
  }
}

hw_module *hw_transformer_stack_block(const hw_module *module, size_t index) {
  return ((const transformer_stack *)module)->blocks[index];
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const transformer_stack *m = (const transformer_stack *)module;
  hw_input layer = *input;
  for (size_t i = 0; i < m->config.num_layers; i++) {
    hw_module_run(run, m->blocks[i], &layer, y);
    layer.x = y;
  }
}

const hw_module_type hw_transformer_stack_type = {
    HW_MODULE_STRUCT(transformer_stack),
    .create = create,
    .release = release,
    .visit = visit,
    .forward = forward,
    .has_head_mask = true,
};

hw_status hw_transformer_stack_create(hw_context *context, const hw_transformer_stack_config *config,
                                      hw_module **module) {
  return hw_module_create(context, &hw_transformer_stack_type, config, module);
}
