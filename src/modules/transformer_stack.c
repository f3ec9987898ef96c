#include "modules/block.h"
#include "modules/modules.h"

typedef struct transformer_stack {
  hw_module base;
  hw_transformer_stack_config config;
  hw_modules blocks;
} transformer_stack;

static hw_status create(hw_module *module) {
  transformer_stack *m = (transformer_stack *)module;
  const hw_transformer_block_config *block = &m->config.block;
  m->base.layers = m->config.num_layers;
  m->base.heads = block->num_heads;
  return hw_modules_create(m->config.num_layers, hw_transformer_block_weight_bytes(block), &hw_transformer_block_type,
                           block, &m->blocks);
}

static void release(hw_module *module) { hw_modules_release(&((transformer_stack *)module)->blocks); }

static void visit(hw_module *module, hw_visit *visit) {
  hw_visit_modules(visit, "blocks", &((transformer_stack *)module)->blocks, NULL);
}

static const hw_linear *out_proj(const hw_module *module, size_t layer) {
  return hw_modules_out_proj(&((const transformer_stack *)module)->blocks, layer);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  hw_blocks_run(run, &((const transformer_stack *)module)->blocks, input, y);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  const transformer_stack *m = (const transformer_stack *)module;
  const size_t mark = run->arena->used;
  const size_t rows = hw_input_rows(input);
  float *d = dx == NULL ? hw_run_take_floats(run, rows, m->config.block.d_model) : dx;
  hw_blocks_run_backward(run, &m->blocks, input, dy, d);
  run->arena->used = mark;
}

const hw_module_type hw_transformer_stack_type = {
    HW_MODULE_TYPE(transformer_stack),
    .backward = backward,
    .out_proj = out_proj,
    .has_head_mask = true,
};

HW_MODULE_CREATE(transformer_stack)
