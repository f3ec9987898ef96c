/* Attention and feed-forward with norms and residual connections: what blocks of all kinds are made of. */
#ifndef HW_MODULES_BLOCK_H
#define HW_MODULES_BLOCK_H

#include "modules/layer_norm.h"

/* A layer of a model. The model's config is read on creation. */
typedef struct hw_model_block_config {
  const hw_model_config *model;
  size_t layer;
  bool is_causal;
} hw_model_block_config;

typedef struct hw_block {
  hw_module base;
  union {
    hw_transformer_block_config transformer;
    hw_model_block_config model;
  } config;
  size_t d_model;
  double dropout; /* of both branches, in training mode */
  hw_norm_place norm_place;
  bool is_parallel;
  hw_module *ln1;
  hw_module *after1; /* after the branch, with HW_NORM_BOTH; else NULL */
  hw_module *attn;
  hw_module *ln2; /* NULL if the block is attention only */
  hw_module *after2;
  hw_module *ffn; /* NULL if the block is attention only */
} hw_block;

/* The functions of a type whose struct is hw_block. */
void hw_block_release(hw_module *module);
void hw_block_visit(hw_module *module, hw_visit *visit);
const hw_linear *hw_block_out_proj(const hw_module *module, size_t layer);
void hw_block_forward(hw_run *run, const hw_module *module, const hw_input *input, float *y);
void hw_block_backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx);

/* Blocks one after another, from the first that the run's options ask for: each one's output is the next one's input. Before each
 * and after the last the residual stream is given if asked for. */
void hw_blocks_run(hw_run *run, const hw_modules *blocks, const hw_input *input, float *y);

/* The input is the forward's, and needs no x. dx may be dy, and is wanted. */
void hw_blocks_run_backward(hw_run *run, const hw_modules *blocks, const hw_input *input, const float *dy, float *dx);

/* What a block with norms after its parts gave, again: in a backward whose tape ends with what the block kept. */
void hw_block_restore_output(const hw_run *run, const hw_module *module, size_t rows, float *y);

/* `field` of the union is the type's config. */
#define HW_BLOCK_TYPE(field)                                                                          \
  {                                                                                                   \
    .bytes = sizeof(hw_block), .config_bytes = sizeof(((hw_block *)NULL)->config.field),              \
    .config_offset = offsetof(hw_block, config.field), .create = create, .release = hw_block_release, \
    .visit = hw_block_visit, .forward = hw_block_forward, .backward = hw_block_backward,              \
    .out_proj = hw_block_out_proj, .has_head_mask = true, .is_block = true,                           \
  }

/* A layer of a model: its type, a lower bound of the bytes of its weights (SIZE_MAX if they do not fit), and whether a
 * model's config is sound (errors as hw_decoder_create's). */
extern const hw_module_type hw_model_block_type;
size_t hw_model_block_weight_bytes(const hw_model_config *model);
hw_status hw_model_check(const hw_model_config *model);

/* A norm as all of the model's are but those of queries and keys. */
hw_norm_config hw_model_norm(const hw_model_config *model);

#endif
